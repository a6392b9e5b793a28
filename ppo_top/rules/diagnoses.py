"""Diagnoses across metrics: rules that speak at the same time have one cause."""

from __future__ import annotations

from ppo_top.model import Severity
from ppo_top.rules.rule import (
    CRIT,
    CTRL,
    EVERY,
    INFO,
    WARN,
    Limits,
    Reading,
    Rule,
    between,
    persist,
)
from ppo_top.rules.run import Run
from ppo_top.rules.say import num, pct, show

STEP_SIZE = ("kl-high", "clip-high", "policy-loss-positive", "ratio-off", "kl-spike")
CRITIC = ("critic-not-learning", "value-loss-rising", "value-loss-spike", "critic-lost")


def _value(run: Run, concept: str) -> str:
    value = run.value(concept, 3)
    return "?" if value is None else show(concept, value)


def _peak(run: Run, concept: str) -> float:
    """The highest of the last values: a diagnosis often comes when the worst is just over."""
    history = run.histories.get(concept)
    return max(history.recent[-8:]) if history is not None else 0.0


def diverged(run: Run, limits: Limits) -> Reading | None:
    """C0: NaN, and what stood before it."""
    if run.level("non-finite") < CRIT:
        return None
    if not any(run.level(rule, 20) >= Severity.WATCH for rule in (*STEP_SIZE, *CRITIC, *GRADIENT)):
        return between(0.0)
    return Reading(
        CRIT, float("nan"), None, "diverged: numbers became NaN after updates went wrong"
    )


GRADIENT = ("grad-high", "grad-spike", "reward-scale", "reward-crash")


def too_large(run: Run, limits: Limits) -> Reading | None:
    """C1: KL or clipping up, reward down."""
    if not _step_size_bad(run):
        return None
    if not (run.falling or run.level("reward-crash") >= WARN):
        return between(0.0)
    kl, signs = max(_peak(run, "approx_kl"), _peak(run, "approx_kl_k1")), []
    if kl:
        signs.append(f"KL up to {num(kl)}")
    if clip := _peak(run, "clip_fraction"):
        signs.append(f"up to {pct(clip)} clipped")
    if run.level("ratio-off") >= WARN:
        signs.append(f"ratio {_value(run, 'ratio_mean')}")
    message = f"updates too large: {', '.join(signs)}, and reward falls{_rate(run)}"
    return Reading(CRIT, kl, limits["kl"], message)


def _step_size_bad(run: Run) -> bool:
    return (
        run.level("kl-high") >= WARN
        or run.level("clip-high") >= WARN
        or run.level("ratio-off") >= WARN
    )


def _rate(run: Run) -> str:
    """O3: a learning rate that is high for its kind is named."""
    rate = run.setting("learning_rate", "lr")
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
        parts.append(f"policy loss {_value(run, 'policy_loss')}")
    if entropy >= WARN:
        parts.append(f"entropy {_value(run, 'entropy')}")
    message = f"learning rate far too high: {', '.join(parts)}, before reward shows it{_rate(run)}"
    return Reading(CRIT, _peak(run, "approx_kl"), limits["kl"], message)


def premature(run: Run, limits: Limits) -> Reading | None:
    """C2: no exploration left, and reward stuck."""
    entropy, reward = run.level("entropy-collapsed"), run.reward
    if not entropy or reward is None or reward.at_max:
        return None
    goal = run.profile.goal
    missed = goal is not None and run.level("reward-plateau") and reward.best < goal
    if not ((entropy >= WARN and reward.stuck) or missed):
        return between(0.0)
    far = not reward.gained or (goal is not None and reward.best < 0.5 * goal)
    message = f"premature convergence: entropy {_value(run, 'entropy')}, reward stuck at {num(reward.smooth)}"
    return Reading(CRIT if far else WARN, run.value("entropy", 3) or 0.0, None, message)


def critic_failing(run: Run, limits: Limits) -> Reading | None:
    """C4: the critic explains nothing and its loss grows or reward swings."""
    if run.level("critic-not-learning") < WARN:
        return None
    loss = run.histories.get("value_loss")
    rises = loss is not None and loss.rising() and loss.level(5) > 1.5 * loss.base(5)
    if not (run.level("value-loss-rising") >= WARN or run.level("reward-swings") >= WARN or rises):
        return between(0.0)
    message = (
        f"critic is failing (explained variance {_value(run, 'explained_variance')}): "
        "policy gradients are noise"
    )
    return Reading(CRIT, run.value("explained_variance", 3) or 0.0, 0.0, message)


def nothing_learns(run: Run, limits: Limits) -> Reading | None:
    """C10: updates change nothing, entropy stays, reward stays."""
    if run.level("policy-still") < WARN:
        return None
    if not (run.level("entropy-stays") or run.level("reward-never-moves")):
        return between(0.0)
    message = (
        "nothing is learning: KL 0, entropy and reward where they started; "
        "learning rate too small, frozen weights or zero advantages"
    )
    return Reading(WARN, run.value("approx_kl", 3) or 0.0, None, message)


def scale_too_large(run: Run, limits: Limits) -> Reading | None:
    """C12: rewards so large that the policy cannot learn either."""
    if run.level("reward-scale") < WARN:
        return None
    if not (run.level("entropy-stays") or run.level("reward-never-moves")):
        return between(0.0)
    message = f"reward scale too large for this learner: value loss {_value(run, 'value_loss')}"
    return Reading(WARN, run.value("value_loss", 3) or 0.0, None, message)


def clip_too_wide(run: Run, limits: Limits) -> Reading | None:
    """C16: far steps, nothing clipped, reward down."""
    if run.level("clip-not-binding") < WARN:
        return None
    if not run.falling:
        return between(0.0)
    kl, clip = _peak(run, "approx_kl"), _value(run, "clip_fraction")
    message = f"clip range too wide: KL up to {num(kl)}, only {clip} clipped, reward falls"
    return Reading(CRIT, kl, None, message)


def decayed(run: Run, limits: Limits) -> Reading | None:
    """C11: learning rate, KL and clipping have gone to zero together, reward steady."""
    rate = run.histories.get("lr")
    if rate is None or rate.count < 10 or rate.last > 0.05 * rate.high or run.falling:
        return None
    kl, clip = run.value("approx_kl", 1), run.value("clip_fraction", 1)
    if kl is None or abs(kl) > limits["kl"] or (clip is not None and clip > limits["clip"]):
        return None
    message = "learning rate has decayed, updates are small: the normal end of training"
    return Reading(INFO, rate.last, None, message)


def environment_changed(run: Run, limits: Limits) -> Reading | None:
    """C18: reward fell, yet policy and critic gave no sign before."""
    if run.level("reward-crash", 0) < WARN:
        return None
    signs = (*STEP_SIZE, *CRITIC, "entropy-collapsed", "policy-dead", "entropy-swings")
    if any(run.level(rule, 10) >= Severity.WATCH for rule in signs) or not _shifted(run):
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
        tries=(BACK, "lower {learning_rate} by 10", "clip gradients: {max_grad_norm}"),
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
            "lower {learning_rate} by 3 to 10, from the best checkpoint",
            "set {target_kl:name} to 0.02",
            "fewer passes over the same data: {n_epochs}",
            "{normalise:name} on",
        ),
        source="KL above 0.03 and clipping above 30 % risk collapse (SB3 practice); TRL's guide",
        grade="C",
        members=(
            *STEP_SIZE,
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
        tries=("set {clip_range} to 0.2", "set {target_kl:name} to 0.02", "lower {learning_rate}"),
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
            "lower {learning_rate} by 10",
            "set {target_kl:name} to 0.02",
            "fewer passes over the same data: {n_epochs}",
        ),
        source="labelled runs: learning rate x 100; 3e-2 oscillates or collapses (a known experiment)",
        grade="C",
        members=(*STEP_SIZE, "entropy-collapsed", "clip-not-binding", "value-loss-spike"),
    ),
    Rule(
        id="premature-convergence",
        title="Premature convergence",
        codes=("C2",),
        sees="entropy is gone and reward is stuck below its ceiling",
        concepts=("entropy", "reward_mean"),
        read=premature,
        persist=DIAGNOSIS,
        causes=("too little exploration", "a learning rate that made the policy certain too early"),
        tries=(
            "raise the entropy bonus: {ent_coef}, to 0.01",
            "restart from a checkpoint before the fall",
            "lower {learning_rate}",
            "clip higher: {clip_range_high:name} 0.28",
        ),
        source="entropy that drops to 0 too fast is premature convergence (SB3 practice, TRL)",
        grade="C",
        members=(
            "entropy-collapsed",
            "reward-plateau",
            "reward-never-moves",
            "policy-dead",
            "policy-still",
        ),
    ),
    Rule(
        id="critic-failing",
        title="Critic is failing",
        codes=("C4",),
        sees="the critic explains nothing while its loss grows or reward swings",
        concepts=("explained_variance", "value_loss"),
        read=critic_failing,
        persist=DIAGNOSIS,
        causes=("the critic is not trained, too small, or its targets are too large",),
        tries=(
            "check that the critic is trained: {vf_coef} above 0",
            "normalise rewards (SB3: VecNormalize)",
            "more epochs ({n_epochs}) or a larger critic learning rate",
        ),
        source="explained variance at or below 0 and a value loss that rises (SB3 practice)",
        grade="C",
        members=(
            "critic-not-learning",
            "value-loss-rising",
            "value-loss-spike",
            "reward-swings",
            "critic-lost",
        ),
    ),
    Rule(
        id="reward-scale-too-large",
        title="Reward scale too large",
        codes=("C12",),
        sees="huge value loss, entropy and reward do not move",
        concepts=("value_loss", "entropy", "reward_mean"),
        read=scale_too_large,
        persist=DIAGNOSIS,
        causes=("rewards are far larger than the learner can fit",),
        tries=("normalise rewards (SB3: VecNormalize) or divide them", "lower {learning_rate}"),
        source="SB3#2240",
        grade="C",
        members=("reward-scale", "entropy-stays", "reward-never-moves", "critic-not-learning"),
    ),
    Rule(
        id="nothing-learns",
        title="Nothing is learning",
        codes=("C10",),
        sees="KL is zero, entropy and reward stay where they were",
        concepts=("approx_kl", "entropy", "reward_mean"),
        read=nothing_learns,
        persist=DIAGNOSIS,
        causes=("learning rate too small", "frozen weights", "advantages are zero"),
        tries=(
            "raise {learning_rate} by 10",
            "check which parameters are trained",
            "check the spread of advantages and rewards",
        ),
        source="KL that falls to 0 means under-training (TRL practice)",
        grade="C",
        members=("policy-still", "entropy-stays", "reward-never-moves", "reward-plateau"),
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
    Rule(
        id="learning-rate-decayed",
        title="Learning rate has decayed",
        codes=("C11",),
        sees="learning rate, KL and clipping have gone to zero together",
        concepts=("lr", "approx_kl", "clip_fraction"),
        read=decayed,
        on=("lr",),
        limits={"kl": 1e-3, "clip": 0.01},
        persist=persist(2, 2),
        causes=("the schedule comes to its end",),
        tries=(),
        source="linear decay ends with KL 0.0005 and 0 % clipped (a known run)",
        grade="A",
    ),
)
