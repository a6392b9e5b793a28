"""Diagnoses of oversized updates: rules that fire together share one cause."""

from __future__ import annotations

from ppo_top.rules.advice.symptoms import LIMITS
from ppo_top.rules.book.diagnoses.shared import (
    BEST_CHECKPOINT_REMEDY,
    DIAGNOSIS_PERSISTENCE,
    last_value_text,
)
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CRIT,
    LLM_FAMILIES,
    ON_POLICY,
    POLICY_GRADIENT,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct

STEP_SIZE_RULES = ("kl-high", "clip-high", "policy-loss-positive", "ratio-off", "kl-spike")


CRITIC_RULES = (
    "critic-not-learning",
    "value-loss-rising",
    "value-loss-spike",
    "explained-variance-dropped",
    "returns-changed",
)


def _peak(run: JudgedRun, concept: str) -> float:
    """The maximum of the last values: a diagnosis often fires just after the worst."""
    history = run.histories.get(concept)
    return max(history.recent[-8:]) if history is not None else 0.0


def _peak_kl(run: JudgedRun) -> float:
    """The highest of the last estimates of the update KL, whichever is logged."""
    return max(_peak(run, "approx_kl"), _peak(run, "approx_kl_k1"))


HIGH_RATE, HIGH_TEXT_RATE = 3e-3, 1e-4
"""A learning rate from which it is named beside updates that are too large."""

TRACED_ROWS = 10
"""A sign, or a learning rate, of so many rows ago still counts."""

SEVERE_STEP_RULES = ("ref-kl-token-high", "policy-loss-positive", "value-loss-spike")


def diverged(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Values became NaN after another rule had fired."""
    if run.severity_of("non-finite") < CRIT:
        return None
    began = run.opened_rows["non-finite"]
    if not any(
        run.severity_of(rule, 20) >= WARN and run.opened_rows[rule] <= began
        for rule in (*STEP_SIZE_RULES, *CRITIC_RULES, *GRADIENT_RULES)
    ):
        return borderline(0.0)
    message = "diverged: numbers became NaN after updates went wrong"
    return Assessment(CRIT, float("nan"), None, message, concepts=tuple(run.non_finite))


GRADIENT_RULES = ("grad-high", "grad-spike", "reward-scale", "reward-crash")


def too_large(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """KL or clipping is high and the reward falls."""
    if not (_step_size_bad(run) or _jumped_from_reference(run, limits)):
        return None
    if not (run.falling or run.severity_of("reward-crash") >= WARN):
        return borderline(0.0)
    kl, signs = _peak_kl(run), []
    if kl:
        signs.append(f"KL up to {num(kl)}")
    elif drift := _peak(run, "ref_kl_token"):
        signs.append(f"KL to the reference up to {num(drift)} a token")
    if clip := _peak(run, "clip_fraction"):
        signs.append(f"up to {pct(clip)} clipped")
    if run.severity_of("ratio-off") >= WARN:
        signs.append(f"ratio {last_value_text(run, 'ratio_mean')}")
    if not signs:
        signs.append("learning rate jumped")
    message = f"updates too large: {', '.join(signs)}, and reward falls{_blamed_text(run)}"
    level, about = CRIT if _certain(run) else WARN, ("approx_kl", "clip_fraction", "reward_mean")
    return Assessment(level, kl, limits["kl"], message, concepts=_with_blamed(run, about))


def _certain(run: JudgedRun) -> bool:
    """A small drop of the reward with slightly large updates may be chance."""
    step_rules = ("kl-high", "clip-high", "ratio-off", *SEVERE_STEP_RULES)
    severe = any(run.severity_of(rule) >= CRIT for rule in step_rules)
    return severe or run.severity_of("reward-crash") >= WARN


def _jumped_from_reference(run: JudgedRun, limits: RuleLimits) -> bool:
    """Where no update KL is logged: the KL to the reference jumped in ten updates, or at once."""
    history = run.histories.get("ref_kl_token")
    if history is None or run.severity_of("ref-kl-token-high") < WARN:
        return False
    recent = history.newest(int(limits["points"]))
    return history.count <= limits["early"] or max(recent) - min(recent) > limits["leap"]


def _step_size_bad(run: JudgedRun) -> bool:
    rules = ("kl-high", "clip-high", "ratio-off")
    too_far = any(run.severity_of(rule) >= WARN for rule in rules)
    return too_far or "learning-rate-jump" in run.open_severities


def _blamed_settings(run: JudgedRun) -> dict[str, str]:
    """The settings that make updates large, by metric, each with what to say of it."""
    rate = run.value("lr", TRACED_ROWS)
    if rate is None:
        rate = run.config_number("learning_rate")
    high = HIGH_TEXT_RATE if run.family in LLM_FAMILIES else HIGH_RATE
    blamed = {}
    if rate is not None and rate >= high:
        blamed["lr"] = f"learning rate {num(rate)} is high"
    clip = run.setting("clip_range") or 0.0
    if clip > LIMITS["clip_wide"]:
        blamed["clip_range"] = f"clip range {num(clip)} is wide"
    return blamed


def _blamed_text(run: JudgedRun) -> str:
    return "".join(f"; {words}" for words in _blamed_settings(run).values())


def _with_blamed(run: JudgedRun, concepts: tuple[str, ...]) -> tuple[str, ...]:
    """These metrics and the settings that are blamed: they are marked, too."""
    return (*run.judged_as(concepts), *_blamed_settings(run))


def rate_too_high(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Updates are far too large, before the reward shows it."""
    if run.severity_of("kl-high") < CRIT:
        return None
    loss, entropy = run.severity_of("policy-loss-positive"), run.severity_of("entropy-collapsed")
    if max(loss, entropy) < WARN or run.severity_of("updates-too-large"):
        return borderline(0.0)
    parts = [f"KL up to {num(_peak_kl(run))}"]
    if loss >= WARN:
        parts.append(f"policy loss {last_value_text(run, 'policy_loss')}")
    if entropy >= WARN:
        parts.append(f"entropy {last_value_text(run, 'entropy')}")
    signs = ", ".join(parts)
    message = f"{signs}, before reward shows it{_blamed_text(run)}"
    about = _with_blamed(run, ("approx_kl", "policy_loss", "entropy"))
    return Assessment(CRIT, _peak_kl(run), limits["kl"], message, concepts=about)


def clip_too_wide(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Large updates, nothing clipped, reward down."""
    if run.severity_of("clip-not-binding") < WARN:
        return None
    if not run.falling:
        return borderline(0.0)
    kl, clip = _peak_kl(run), pct(_peak(run, "clip_fraction"))
    message = f"KL up to {num(kl)}, at most {clip} clipped, reward falls"
    about = _with_blamed(run, ("approx_kl", "clip_fraction", "reward_mean"))
    return Assessment(CRIT, kl, None, message, concepts=about)


_TROUBLE_SIGNS = (
    *STEP_SIZE_RULES,
    *CRITIC_RULES,
    "entropy-collapsed",
    "policy-collapsed",
    "entropy-swings",
)


def environment_changed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward fell without a sign from policy or critic, though the policy is logged."""
    if run.severity_of("reward-crash", 0) < WARN:
        return None
    watched = any(concept in run.histories for concept in ("approx_kl", "clip_fraction"))
    signed = any(run.severity_of(rule, TRACED_ROWS) >= WATCH for rule in _TROUBLE_SIGNS)
    if signed or not watched or not _shifted(run, limits):
        return borderline(0.0)
    reward = run.reward
    if reward is None:
        return None
    words = (
        f"{run.reward_words} fell ({num(reward.best)} -> {num(reward.smooth)}) without a sign from "
        "policy or critic: did the environment or data change?"
    )
    return Assessment(WARN, reward.smooth, None, words)


def _shifted(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the length of episodes or prompts changed."""
    for concept in ("ep_len", "query_len_mean"):
        history = run.histories.get(concept)
        if history is not None:
            usual, now = history.newest(int(limits["points"]))[0], history.recent_median(3)
            if usual > 0.0 and not limits["shorter"] <= now / usual <= limits["longer"]:
                return True
    return False


RULES = (
    Rule(
        id="diverged",
        title="Diverged (NaN/Inf)",
        description="metrics become NaN or infinite after other rules have fired",
        concepts=(),
        assess=diverged,
        needs=("non-finite",),
        families=ALL_FAMILIES,
        persistence=AT_ONCE,
        causes=("updates grew until values overflowed",),
        remedies=(
            BEST_CHECKPOINT_REMEDY,
            "lower {learning_rate:, by 10 times}",
            "clip gradients: {max_grad_norm:above 0.1}",
        ),
        source="TRL's guide: values that diverge; NaN when not going well",
        grade="A",
        dated_by=("non-finite",),
        members=("non-finite", *STEP_SIZE_RULES, *CRITIC_RULES, *GRADIENT_RULES),
    ),
    Rule(
        id="updates-too-large",
        title="Destructively large updates",
        description="KL or clipping is high while the reward falls",
        concepts=("approx_kl", "clip_fraction", "reward_mean"),
        assess=too_large,
        needs=("kl-high", "clip-high", "ratio-off", "learning-rate-jump", "ref-kl-token-high"),
        families=POLICY_GRADIENT,
        limits={"points": 10, "leap": 0.5, "early": 12, "kl": 0.02},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("learning rate too high", "too many epochs", "advantages not normalised"),
        remedies=(
            "lower {learning_rate:, by 3 to 10 times}, from the best checkpoint",
            "{kl_limit}",
            "fewer passes over the same data: {n_epochs:above 1}",
            "see that {normalise:off} is on",
        ),
        source="KL above 0.03 and clipping above 30 % risk collapse (SB3 practice); TRL's guide",
        grade="C",
        members=(
            *STEP_SIZE_RULES,
            "learning-rate-jump",
            "ref-kl-token-high",
            "reward-crash",
            "reward-swings",
            "entropy-collapsed",
            *CRITIC_RULES,
            "learning-rate-too-high",
            "entropy-swings",
            "clip-not-binding",
        ),
    ),
    Rule(
        id="clip-too-wide",
        title="Clip range too wide",
        description="the KL is high, hardly anything is clipped, and the reward falls",
        concepts=("approx_kl", "clip_fraction", "reward_mean"),
        assess=clip_too_wide,
        needs=("clip-not-binding",),
        families=frozenset({ON_POLICY}),
        persistence=DIAGNOSIS_PERSISTENCE,
        causes=("clip range too wide to constrain the policy",),
        remedies=("lower {clip_range:above 0.2} to 0.2", "{kl_limit}", "lower {learning_rate}"),
        source="clip range 0.5: clipping falls, KL rises (a known experiment)",
        grade="C",
        members=("clip-not-binding", "kl-high", "reward-crash"),
    ),
    Rule(
        id="learning-rate-too-high",
        title="Learning rate far too high",
        description="very high KL with positive policy loss or lost entropy, before reward falls",
        concepts=("approx_kl", "policy_loss", "entropy"),
        assess=rate_too_high,
        asks_about=("updates-too-large",),
        needs=("kl-high",),
        families=POLICY_GRADIENT,
        limits={"kl": 0.02},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("learning rate an order of magnitude too high",),
        remedies=(
            "lower {learning_rate:, by 10 times}",
            "{kl_limit}",
            "fewer passes over the same data: {n_epochs:above 1}",
        ),
        source="labelled runs: learning rate x 100; 3e-2 oscillates or collapses (an experiment)",
        grade="C",
        members=(*STEP_SIZE_RULES, "entropy-collapsed", "clip-not-binding", "value-loss-spike"),
    ),
    Rule(
        id="environment-changed",
        title="Environment or data changed",
        description="the reward falls without any sign of trouble in policy or critic",
        concepts=("reward_mean", "ep_len", "query_len_mean"),
        assess=environment_changed,
        asks_about=_TROUBLE_SIGNS,
        needs=("reward-crash",),
        families=POLICY_GRADIENT,
        limits={"points": 20, "shorter": 0.67, "longer": 1.5},
        persistence=DIAGNOSIS_PERSISTENCE,
        ranks_causes=True,
        causes=("the curriculum, environment, reward or data changed",),
        remedies=("check the environment and the curriculum", "check the data of these updates"),
        source="labelled runs: a learner's fault shows in KL, clipping or critic before reward",
        members=("reward-crash",),
    ),
)
