"""Entropy that is lost too early, or gone together with all updates."""

from __future__ import annotations

from ppo_top.rules.book.exploration.entropy_facts import (
    has_settled,
    highest_initial_entropy,
    is_discrete,
    is_of_prompts,
    levels_of_prompts,
)
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, INFO, LLM_FAMILIES, POLICY_GRADIENT, WARN, WATCH
from ppo_top.rules.engine.wording import label, num


def entropy_collapsed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Little of the initial entropy is left, and the reward does not justify it."""
    history = run.histories.get("entropy")
    if history is None:
        return _sequence_entropy_collapsed(run, limits)
    if history.last_row != run.mark.row or not is_discrete(run):
        return None
    first, value = highest_initial_entropy(history), history.last
    if run.family in LLM_FAMILIES:
        if max(first, value) < limits["none"]:
            return _never_random(run, limits, value)
        if value <= limits["clear"] * first and is_of_prompts(history):
            first, value = levels_of_prompts(history)
    return _collapse(run, limits, value, first, "entropy")


def _never_random(run: JudgedRun, limits: RuleLimits, value: float) -> Assessment:
    """A language model that was never sampled with any entropy: there is nothing to choose from."""
    message = f"entropy is {num(value)} nats a token, and was from the start: all samples are alike"
    paid = run.at_max or run.rising
    level = INFO if paid else WARN if run.stuck else WATCH
    return Assessment(level, value, limits["none"], message)


def _sequence_entropy_collapsed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The entropy of whole responses, where none per token is logged: shorter ones have less."""
    history, length = run.histories["seq_entropy"], run.histories.get("resp_len_mean")
    first, value = highest_initial_entropy(history), history.last
    if run.family not in LLM_FAMILIES or not first > 0.0 or history.low < 0.0:
        return None
    if length is not None and 0.0 < length.last < length.start:
        value *= length.start / length.last
    return _collapse(run, limits, value, first, "seq_entropy")


def _collapse(
    run: JudgedRun, limits: RuleLimits, value: float, first: float, concept: str
) -> Assessment | None:
    limit, count = limits["share"] * first, run.histories[concept].count
    if value > limits["clear"] * first:
        return None
    if value > limit:
        return borderline(value, limit)
    when = f"within {count} updates" if count <= limits["soon"] else "over the run"
    level = _collapse_level(run, limits, count, value < limits["crit"] * first)
    why = _COLLAPSE_WORDS.get(level, "premature convergence")
    message = f"{label(concept)} fell from {num(first)} to {num(value)} {when}: {why}"
    return Assessment(level, value, limit, message, concepts=(concept,))


_COLLAPSE_WORDS = {
    int(INFO): "the price of the reward that was gained",
    int(WATCH): "converged, or stuck: reward no longer rises",
}


def _collapse_level(run: JudgedRun, limits: RuleLimits, count: int, deep: bool) -> int:
    """Severity of a fall: losing entropy is normal while the reward is gained for it."""
    if run.at_max or (run.rising and not run.falling) or _reward_pays(run, limits):
        return INFO
    crashed = run.open_severities.get("reward-crash", 0) >= WARN
    if not crashed and "kl-high" not in run.opened_rows and run.reward and run.reward.is_up:
        return WATCH  # something was gained in steps of a usual size, hardly more than noise
    if crashed or count <= limits["early"] or (run.stuck and not run.gained):
        return CRIT if deep else WARN
    return WATCH if run.flat else INFO


def _reward_pays(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether a language model gained much within its first updates, the last of it just now.

    Most of its entropy is spent in the first updates of a good run (arXiv 2505.22617).
    """
    reward = run.reward
    if run.family not in LLM_FAMILIES or reward is None or not reward.gained:
        return False
    return reward.count < limits["first"] and reward.count - reward.notable_best_count <= 1


def policy_collapsed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """No entropy is left and nothing moves, so every other value looks healthy."""
    history = run.histories["entropy"]
    first = highest_initial_entropy(history)
    if history.last > limits["clear"] * first or not is_discrete(run) or run.at_max:
        return None
    kl, clip = run.value("approx_kl"), run.value("clip_fraction")
    moves = kl is None or abs(kl) > limits["kl"] or (clip is not None and clip > 0.0)
    if history.last > limits["share"] * first or moves or has_settled(run):
        return borderline(history.last)
    message = (
        f"the policy is frozen at entropy {num(history.last)}: KL, clipping and loss are small "
        "because nothing can change any more"
    )
    return Assessment(CRIT, history.last, limits["share"] * first, message)


MORE_EXPLORATION = (
    "{more_entropy}",
    "lower {learning_rate}",
    "fewer passes over the same data: {n_epochs:above 1}",
    "{in_groups}clip higher: {clip_range_high:below 0.28} to 0.28",
    "{in_groups}prompts with mixed outcomes",
    "{larger_batches}",
    "restart from a checkpoint before the fall",
)


def _keeps_some_entropy(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No entropy of the block is below the limit, a share of the highest initial one."""
    history = run.histories.get("entropy")
    if history is None or history.count < 3:
        return False
    return block.low("entropy") > max(limits["clear"] * highest_initial_entropy(history), 0.0)


def _keeps_entropy(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    if run.family in LLM_FAMILIES and block.low("entropy") < limits["none"]:
        return False
    return _keeps_some_entropy(run, block, limits)


RULES = (
    Rule(
        id="entropy-collapsed",
        title="Entropy collapsed",
        description="entropy falls to a small share of its initial value without a gain in reward, "
        "or a language model is sampled with none from the start",
        concepts=("entropy",),
        assess=entropy_collapsed,
        asks_about=("reward-crash", "kl-high"),
        stays_calm=_keeps_entropy,
        families=POLICY_GRADIENT,
        judged_at=("entropy", "seq_entropy"),
        limits={
            "share": 0.10,
            "crit": 0.02,
            "clear": 0.15,
            "early": 20,
            "none": 0.005,
            "soon": 40,
            "first": 15,
            "warmup": 3,
        },
        persistence=k_of_n(3, 4),
        ranks_causes=True,
        causes=(
            "too little exploration (entropy bonus too small)",
            "learning rate too high, or too many epochs per batch",
        ),
        remedies=MORE_EXPLORATION,
        source="entropy falls slowly; 'drops to 0 too fast' is premature (SB3 practice, TRL)",
        grade="C",
    ),
    Rule(
        id="policy-collapsed",
        title="Policy collapsed (entropy ~ 0)",
        description="entropy, KL and clipping are all zero, and the reward is not at its ceiling",
        concepts=("entropy",),
        related=("approx_kl", "clip_fraction"),
        assess=policy_collapsed,
        stays_calm=_keeps_some_entropy,
        families=POLICY_GRADIENT,
        judged_at=("entropy",),
        limits={"clear": 0.05, "share": 0.01, "kl": 1e-5, "warmup": 5},
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        inherits_causes=True,
        causes=("the policy became deterministic in an earlier collapse",),
        remedies=(
            "restart from a checkpoint before the collapse: this policy does not come back",
            "then lower {learning_rate}",
            "raise the entropy bonus: {ent_coef:below 0.05}",
        ),
        source="labelled runs: after a collapse all step-size values return to green",
        grade="C",
        members=(
            "updates-too-large",
            "learning-rate-too-high",
            "kl-high",
            "entropy-collapsed",
            "premature-convergence",
            "no-op-updates",
            "reward-crash",
            "returns-changed",
        ),
        dated_by=("no-op-updates",),
    ),
)
