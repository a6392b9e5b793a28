"""Diagnoses of updates that are too large: rules that speak together have one cause."""

from __future__ import annotations

from ppo_top.model import Severity
from ppo_top.rules.engine.context import Run
from ppo_top.rules.engine.rule import Limits, Reading, Rule, between, persist
from ppo_top.rules.engine.terms import CRIT, CTRL, EVERY, WARN
from ppo_top.rules.engine.wording import num, pct, show

STEP_SIZE = ("kl-high", "clip-high", "policy-loss-positive", "ratio-off", "kl-spike")


CRITIC = (
    "critic-not-learning",
    "value-loss-rising",
    "value-loss-spike",
    "critic-lost",
    "returns-changed",
)


def shown(run: Run, concept: str) -> str:
    value = run.value(concept, 3)
    return "?" if value is None else show(concept, value)


def _peak(run: Run, concept: str) -> float:
    """The highest of the last values: a diagnosis often comes when the worst is just over."""
    history = run.histories.get(concept)
    return max(history.recent[-8:]) if history is not None else 0.0


LOUD = ("ref-kl-token-high", "policy-loss-positive", "value-loss-spike")


def diverged(run: Run, limits: Limits) -> Reading | None:
    """C0: NaN, and what stood before it."""
    if run.level("non-finite") < CRIT:
        return None
    began = run.opened["non-finite"]
    if not any(
        run.level(rule, 20) >= WARN and run.opened[rule] <= began
        for rule in (*STEP_SIZE, *CRITIC, *GRADIENT)
    ):
        return between(0.0)
    return Reading(
        CRIT, float("nan"), None, "diverged: numbers became NaN after updates went wrong"
    )


GRADIENT = ("grad-high", "grad-spike", "reward-scale", "reward-crash")


def too_large(run: Run, limits: Limits) -> Reading | None:
    """C1: KL or clipping up, reward down."""
    if not (_step_size_bad(run) or _leapt(run)):
        return None
    if not (run.falling or run.level("reward-crash") >= WARN):
        return between(0.0)
    kl, signs = max(_peak(run, "approx_kl"), _peak(run, "approx_kl_k1")), []
    if kl:
        signs.append(f"KL up to {num(kl)}")
    if not kl:
        signs.append(f"KL to the reference up to {num(_peak(run, 'ref_kl_token'))} a token")
    if clip := _peak(run, "clip_fraction"):
        signs.append(f"up to {pct(clip)} clipped")
    if run.level("ratio-off") >= WARN:
        signs.append(f"ratio {shown(run, 'ratio_mean')}")
    message = f"updates too large: {', '.join(signs)}, and reward falls{_rate(run)}"
    return Reading(CRIT if _certain(run) else WARN, kl, limits["kl"], message)


def _certain(run: Run) -> bool:
    """A dip of the reward while steps are a little large may be chance; more than that is not."""
    return run.level("reward-crash") >= WARN or any(
        run.level(rule) >= CRIT for rule in ("kl-high", "clip-high", "ratio-off", *LOUD)
    )


def _leapt(run: Run) -> bool:
    """Where no update KL is logged, a leap away from the reference within ten updates tells."""
    history = run.histories.get("ref_kl_token")
    if history is None or run.level("ref-kl-token-high") < WARN:
        return False
    recent = history.recent[-10:]
    return max(recent) - min(recent) > 0.5 or (history.count <= 12 and max(recent) > 0.5)


def _step_size_bad(run: Run) -> bool:
    return (
        run.level("kl-high") >= WARN
        or "learning-rate-jump" in run.open
        or run.level("clip-high") >= WARN
        or run.level("ratio-off") >= WARN
    )


def _rate(run: Run) -> str:
    """O3: a learning rate that is high for its kind is named."""
    rate = run.value("lr", 10)
    if rate is None:
        rate = run.number("learning_rate")
    high = 3e-3 if run.family == CTRL else 1e-4
    return f"; learning rate {num(rate)} is high" if rate is not None and rate >= high else ""


def rate_too_high(run: Run, limits: Limits) -> Reading | None:
    """C14: step-size signs that no reward shows yet."""
    if run.level("kl-high") < CRIT:
        return None
    loss, entropy = run.level("policy-loss-positive"), run.level("entropy-collapsed")
    if max(loss, entropy) < WARN or run.level("updates-too-large"):
        return between(0.0)
    parts = [f"KL up to {num(_peak(run, 'approx_kl'))}"]
    if loss >= WARN:
        parts.append(f"policy loss {shown(run, 'policy_loss')}")
    if entropy >= WARN:
        parts.append(f"entropy {shown(run, 'entropy')}")
    message = f"learning rate far too high: {', '.join(parts)}, before reward shows it{_rate(run)}"
    return Reading(CRIT, _peak(run, "approx_kl"), limits["kl"], message)


def clip_too_wide(run: Run, limits: Limits) -> Reading | None:
    """C16: far steps, nothing clipped, reward down."""
    if run.level("clip-not-binding") < WARN:
        return None
    if not run.falling:
        return between(0.0)
    kl, clip = _peak(run, "approx_kl"), shown(run, "clip_fraction")
    message = f"clip range too wide: KL up to {num(kl)}, only {clip} clipped, reward falls"
    return Reading(CRIT, kl, None, message)


def environment_changed(run: Run, limits: Limits) -> Reading | None:
    """C18: reward fell, yet policy and critic gave no sign before, though the policy is logged."""
    if run.level("reward-crash", 0) < WARN:
        return None
    signs = (*STEP_SIZE, *CRITIC, "entropy-collapsed", "policy-dead", "entropy-swings")
    watched = any(concept in run.histories for concept in ("approx_kl", "clip_fraction"))
    signed = any(run.level(rule, 10) >= Severity.WATCH for rule in signs)
    if signed or not watched or not _shifted(run):
        return between(0.0)
    message = (
        "reward fell without a sign from policy or critic: did the environment or data change?"
    )
    reward = run.reward
    return Reading(WARN, reward.smooth if reward is not None else 0.0, None, message)


def _shifted(run: Run) -> bool:
    """Episodes or prompts have another length than before."""
    for concept in ("ep_len", "query_len_mean"):
        history = run.histories.get(concept)
        if history is not None and history.count >= 20:
            usual, now = history.recent[-20], history.level(3)
            if usual > 0.0 and not 0.67 <= now / usual <= 1.5:
                return True
    return False


BACK = "go back to the best checkpoint"


DIAGNOSIS = persist(2, 3)


RULES = (
    Rule(
        id="diverged",
        title="Diverged",
        codes=("C0",),
        sees="numbers became NaN after other rules had spoken",
        concepts=(),
        read=diverged,
        families=EVERY,
        persist=persist(1, 1),
        causes=("updates grew until numbers overflowed",),
        tries=(
            BACK,
            "lower {learning_rate:, by 10 times}",
            "clip gradients: {max_grad_norm:above 0.1}",
        ),
        source="TRL's guide: values that diverge; NaN when not going well",
        grade="A",
        members=("non-finite", *STEP_SIZE, *CRITIC, *GRADIENT),
    ),
    Rule(
        id="updates-too-large",
        title="Updates too large",
        codes=("C1", "O3"),
        sees="KL and clipping are up while reward falls",
        concepts=("approx_kl", "clip_fraction", "reward_mean"),
        read=too_large,
        limits={"kl": 0.02},
        persist=DIAGNOSIS,
        causes=("learning rate too high", "too many epochs", "advantages not normalised"),
        tries=(
            "lower {learning_rate:, by 3 to 10 times}, from the best checkpoint",
            "{kl_limit}",
            "fewer passes over the same data: {n_epochs:above 1}",
            "see that {normalise:off} is on",
        ),
        source="KL above 0.03 and clipping above 30 % risk collapse (SB3 practice); TRL's guide",
        grade="C",
        members=(
            *STEP_SIZE,
            "learning-rate-jump",
            "ref-kl-token-high",
            "reward-crash",
            "reward-swings",
            "entropy-collapsed",
            *CRITIC,
            "learning-rate-too-high",
            "entropy-swings",
            "clip-not-binding",
        ),
    ),
    Rule(
        id="clip-too-wide",
        title="Clip range too wide",
        codes=("C16",),
        sees="high KL, hardly anything clipped, reward falls",
        concepts=("approx_kl", "clip_fraction", "reward_mean"),
        read=clip_too_wide,
        families=frozenset({CTRL}),
        persist=DIAGNOSIS,
        causes=("the clip range is too wide to hold the policy",),
        tries=("lower {clip_range:above 0.2} to 0.2", "{kl_limit}", "lower {learning_rate}"),
        source="clip range 0.5: clipping falls, KL rises (a known experiment)",
        grade="C",
        members=("clip-not-binding", "kl-high", "reward-crash"),
    ),
    Rule(
        id="learning-rate-too-high",
        title="Learning rate far too high",
        codes=("C14", "O3"),
        sees="very high KL with a positive policy loss or lost entropy, before reward falls",
        concepts=("approx_kl", "policy_loss", "entropy"),
        read=rate_too_high,
        limits={"kl": 0.02},
        persist=DIAGNOSIS,
        causes=("the learning rate is too high by an order of magnitude",),
        tries=(
            "lower {learning_rate:, by 10 times}",
            "{kl_limit}",
            "fewer passes over the same data: {n_epochs:above 1}",
        ),
        source="labelled runs: learning rate x 100; 3e-2 oscillates or collapses (an experiment)",
        grade="C",
        members=(*STEP_SIZE, "entropy-collapsed", "clip-not-binding", "value-loss-spike"),
    ),
    Rule(
        id="environment-changed",
        title="Environment or data changed",
        codes=("C18",),
        sees="reward fell without any sign from policy or critic",
        concepts=("reward_mean", "ep_len", "query_len_mean"),
        read=environment_changed,
        persist=DIAGNOSIS,
        causes=("curriculum, environment, reward or data changed",),
        tries=("check the environment and the curriculum", "check the data of these updates"),
        source="labelled runs: a learner's fault shows in KL, clipping or critic before reward",
        grade="D",
        members=("reward-crash",),
    ),
)
