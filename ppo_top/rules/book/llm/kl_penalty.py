"""The KL penalty: its controller, its cost, and what it buys."""

from __future__ import annotations

from ppo_top.rules.book.llm.reference_kl import reference_kl
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.stats import SIGNIFICANT, theil_sen_rise
from ppo_top.rules.engine.terms import INFO, LLM_FAMILIES, RLHF, WARN
from ppo_top.rules.engine.wording import num


def controller(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The adaptive KL coefficient rises; a fault if the KL does not come down."""
    history = run.histories["kl_coef"]
    if history.high <= history.low:
        return None
    points, kl = int(limits["points"]), reference_kl(run)
    before = history.newest(points)[0]
    if before <= 0.0:
        return None
    up = history.last / before
    if up > limits["losing"] and kl is not None and _stays(kl, points, limits):
        message = f"KL controller is losing: coefficient x {num(up)}, KL still {num(kl.last)}"
        return Assessment(WARN, history.last, None, message)
    since = history.newest(int(limits["rise_points"]))[0]
    if since > 0.0 and history.last / since >= limits["rise"]:
        message = f"KL coefficient rose x {num(history.last / since)}: the controller reacts"
        return Assessment(INFO, history.last, None, message)
    return None


def _stays(kl: History, points: int, limits: RuleLimits) -> bool:
    """Whether a KL is what it was so many values ago, and does not come down."""
    return kl.level >= limits["kept"] * kl.newest(points)[0] and not kl.falling()


def penalty_off(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The adaptive KL coefficient has fallen to almost zero."""
    history = run.histories["kl_coef"]
    if history.last > limits["low"] or history.high <= limits["low"]:
        return None
    return Assessment(INFO, history.last, limits["low"], f"KL penalty is off ({num(history.last)})")


def penalty_dominates(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL penalty outweighs the gain in score; of a score that never differs it cannot."""
    cost, reward = -run.values["non_score_reward"], run.reward
    if "non-score-reward-per-token" in run.facts:
        length = run.value("resp_len_mean")
        if length is None:
            return None
        cost *= length
    if reward is None or run.reward_concept != "reward_mean":
        return None
    gain = reward.history.last - reward.baseline
    spread = run.value("reward_std")
    floor = limits["spreads"] * spread if spread is not None else limits["noise"] * reward.noise
    if floor == gain == 0.0:
        return None
    if cost <= abs(gain) or cost <= floor:
        return None
    message = f"KL penalty (-{num(cost)}) outweighs the change of the score ({gain:+.3g})"
    return Assessment(WARN, cost, abs(gain), message)


def penalised_reward_falls(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL-penalised reward falls, or stays where it was while the score rises."""
    whole, score = run.histories["rlhf_reward"], run.histories.get("reward_mean")
    reward = run.reward
    if score is None or reward is None:
        return None
    points, noise = int(limits["trend_points"]), limits["noise"] * reward.noise
    falls, rises = whole.trend(points), score.trend(points)
    moved = f"RLHF reward {num(falls.values[0])} -> {num(whole.last)}"
    if falls.z < -SIGNIFICANT and theil_sen_rise(falls.values) < -noise:
        message = f"{moved}: the KL penalty takes more than the score gives"
        if theil_sen_rise(rises.values) > noise:
            message = (
                f"score rises ({num(rises.values[0])} -> {num(score.last)}) only by spending more "
                f"KL than it earns ({moved})"
            )
        return Assessment(WARN, whole.last, None, message)
    gain, base = whole.level - whole.initial_level, whole.initial_level
    if whole.count >= limits["points"] and reward.gained and gain < noise:
        message = f"RLHF reward has not risen from {num(base)} in {whole.count} updates"
        return Assessment(WARN, whole.last, base, f"{message}, though the score has")
    return None


RULES = (
    Rule(
        id="kl-coef-rising",
        title="KL coefficient rising, KL not falling",
        description="the adaptive KL coefficient rises and the KL does not come down",
        concepts=("kl_coef",),
        related=("ref_kl",),
        assess=controller,
        families=LLM_FAMILIES,
        limits={
            "points": 20,
            "kept": 0.95,
            "rise_points": 50,
            "rise": 1.5,
            "losing": 1.2,
            "warmup": 20,
        },
        causes=("the policy drifts faster than the coefficient grows",),
        remedies=(
            "lower {learning_rate}",
            "start with a larger coefficient: {kl_penalty}",
            "a smaller horizon: {kl_horizon}",
        ),
        source="TRL's guide: kl_coef 'often increases before numerical instabilities'",
    ),
    Rule(
        id="kl-penalty-off",
        title="KL penalty vanished",
        description="the adaptive KL coefficient has fallen to almost zero",
        concepts=("kl_coef",),
        assess=penalty_off,
        families=LLM_FAMILIES,
        limits={"low": 1e-4, "warmup": 5},
        causes=("the KL stays below its target",),
        remedies=("a lower target: {ref_kl_target}", "a fixed coefficient: {kl_penalty}"),
        source="TRL's guide: watch values that collapse to 0",
    ),
    Rule(
        id="kl-penalty-dominates",
        title="KL penalty dominates the reward",
        description="the KL penalty is larger than the gain in score",
        concepts=("non_score_reward",),
        related=("ref_kl", "kl_coef"),
        assess=penalty_dominates,
        families=frozenset({RLHF}),
        limits={"spreads": 0.5, "noise": 4, "warmup": 20},
        persistence=k_of_n(8, 10),
        causes=("KL penalty too strong, or policy drifted too far",),
        remedies=("lower the KL penalty: {kl_penalty}", "lower {learning_rate} if the KL is large"),
        source="TRL practice: the KL penalty 'should not dominate rewards'",
    ),
    Rule(
        id="rlhf-reward-falls",
        title="KL-penalised reward not rising",
        description="the KL-penalised reward falls, or stays where it was while the score rises",
        concepts=("rlhf_reward",),
        related=("reward_mean", "non_score_reward"),
        assess=penalised_reward_falls,
        families=frozenset({RLHF}),
        limits={"points": 60, "trend_points": 25, "noise": 2.0, "warmup": 25},
        persistence=k_of_n(3, 3),
        causes=("the gain in score costs more KL than it is worth",),
        remedies=(
            "lower {learning_rate}",
            "raise the KL penalty: {kl_penalty}",
            "stop at the best evaluated checkpoint",
        ),
        source="TRL's guide: rlhf_reward 'should keep going up'",
    ),
)
