"""Entropy and action spread: too little too early, too much for too long, or frozen."""

from __future__ import annotations

from ppo_top.rules.history import History
from ppo_top.rules.rule import (
    CRIT,
    CTRL,
    GRPO,
    INFO,
    LLM,
    WARN,
    WATCH,
    Limits,
    Reading,
    Rule,
    between,
    persist,
)
from ppo_top.rules.run import Run
from ppo_top.rules.say import num, pct
from ppo_top.rules.stats import swings


def start(history: History) -> float:
    """The entropy that the run began with: the median of its first three values."""
    return history.base(3)


def most(history: History) -> float:
    """The highest of the first three entropies: a policy may collapse in its first update."""
    return max(history.first[:3])


def is_discrete(run: Run) -> bool:
    """Whether entropy is that of a distribution over choices: never below 0, no action std."""
    if "policy_std" in run.histories:
        return False
    entropy = run.histories.get("entropy")
    return entropy is not None and entropy.low >= -1e-3 and start(entropy) > 0.0


def entropy_collapsed(run: Run, limits: Limits) -> Reading | None:
    """E1: little of the initial entropy is left, and the reward does not justify it."""
    history = run.histories["entropy"]
    first, value = most(history), history.last
    if value > limits["clear"] * first or not is_discrete(run):
        return None
    if value > limits["share"] * first:
        return between(value, limits["share"] * first)
    when = f"within {history.count} updates" if history.count <= 40 else "over the run"
    level = _collapse_level(run, limits, history.count, value < limits["crit"] * first)
    why = "premature convergence" if level >= WARN else "what reward was gained has used it up"
    message = f"entropy fell from {num(first)} to {num(value)} {when}: {why}"
    return Reading(level, value, limits["share"] * first, message)


def _collapse_level(run: Run, limits: Limits, count: int, deep: bool) -> int:
    """A fall that reward pays for is normal; one that it does not pay for is not."""
    if run.at_max or (run.learned and not run.falling):
        return INFO
    crashed = run.open.get("reward-crash", 0) >= WARN
    early = count <= limits["early"]
    if crashed or run.falling or early or (run.flat and not run.gained):
        return CRIT if deep else WARN
    return WATCH if run.flat else INFO


def policy_dead(run: Run, limits: Limits) -> Reading | None:
    """E1d: nothing is left to explore and nothing moves, so every other value looks healthy."""
    history = run.histories["entropy"]
    first = most(history)
    if history.last > 5 * limits["share"] * first or not is_discrete(run) or run.at_max:
        return None
    kl, clip = run.value("approx_kl", 1), run.value("clip_fraction", 1)
    moves = kl is None or abs(kl) > limits["kl"] or (clip is not None and clip > 0.0)
    if history.last > limits["share"] * first or moves:
        return between(history.last)
    message = (
        f"the policy is frozen at entropy {num(history.last)}: KL, clipping and loss look green "
        "because nothing can change any more"
    )
    return Reading(CRIT, history.last, limits["share"] * first, message)


def entropy_stays(run: Run, limits: Limits) -> Reading | None:
    """E2: the policy is still as random as at the start, and the reward has not moved."""
    history = run.histories["entropy"]
    first, value, reward = start(history), history.last, run.reward
    if value < limits["some"] * first or not is_discrete(run) or reward is None:
        return None
    budget = run.budget
    if run.at_max or reward.rising or (budget is not None and budget < 0.1):
        return between(value)
    small = reward.gain < max(3 * reward.noise, 0.05 * abs(reward.base))
    if value > limits["share"] * first and small:
        left = pct(value / first)
        message = f"policy is still random (entropy {left} of its start) and reward has not moved"
        return Reading(WARN, value, limits["share"] * first, message)
    slow = history.trend(20).effect() > -0.03 * first if history.count >= 45 else False
    if slow and reward.history.trend(25).tau <= 0.2 and reward.count >= 40:
        message = (
            f"policy is still nearly random (entropy {pct(value / first)} of its start) "
            "although reward has stopped rising"
        )
        return Reading(WARN, value, limits["some"] * first, message)
    return between(value)


def entropy_explodes(run: Run, limits: Limits) -> Reading | None:
    """E3: a language model's entropy rises while something else gets worse."""
    history = run.histories["entropy"]
    first, value = start(history), history.last
    if first <= 0.0 or value <= 1.25 * first:
        return None
    climbed = history.rising() and value - history.before(25)[0] > 0.5 * first
    if not (value > limits["times"] * first or climbed):
        return between(value)
    cut = run.histories.get("truncated_frac")
    grad = run.histories.get("grad_norm")
    worse = (
        run.falling
        or (cut is not None and cut.rising())
        or (grad is not None and grad.last > 3 * grad.level(30))
    )
    message = f"entropy rose from {num(first)} to {num(value)}"
    return Reading(WARN if worse else WATCH, value, limits["times"] * first, message)


def action_spread(run: Run, limits: Limits) -> Reading | None:
    """E4: the spread of a Gaussian policy's actions explodes or vanishes."""
    history = run.histories["policy_std"]
    first, value = start(history), history.last
    if first <= 0.0 or run.learned or run.at_max:
        return None
    if value > limits["times"] * first:
        message = f"action std grew from {num(first)} to {num(value)} while reward does not rise"
        level = CRIT if value > limits["crit_times"] * first else WARN
        return Reading(level, value, limits["times"] * first, message)
    if value < limits["share"] * first and run.flat:
        message = f"action std fell from {num(first)} to {num(value)} and reward is flat"
        return Reading(WARN, value, limits["share"] * first, message)
    return None


def entropy_swings(run: Run, limits: Limits) -> Reading | None:
    """E5: entropy goes up and down by a large share of its start."""
    history = run.histories["entropy"]
    leg = limits["leg"] * start(history)
    recent = history.recent[-20:]
    if leg <= 0.0 or max(recent) - min(recent) <= leg or not is_discrete(run):
        return None
    turns = swings(recent, leg)
    if turns < limits["turns"]:
        return between(history.last) if turns >= 2 else None
    message = f"entropy oscillates ({turns} turns in 20 updates): learning rate too high?"
    return Reading(WARN, history.last, None, message)


MORE_EXPLORATION = (
    "raise the entropy bonus: {ent_coef}, to 0.001-0.05",
    "lower {learning_rate}",
    "fewer passes over the same data: {n_epochs}",
    "larger batches or more environments: {batches}",
    "restart from a checkpoint before the fall",
    "clip higher: {clip_range_high:name} 0.28, prompts with mixed outcomes, {temperature:name} 1.0",
)

RULES = (
    Rule(
        id="entropy-collapsed",
        title="Entropy collapsed",
        codes=("E1",),
        sees="entropy has fallen to a small share of its start without reward to show for it",
        concepts=("entropy",),
        read=entropy_collapsed,
        on=("entropy",),
        limits={"share": 0.10, "crit": 0.02, "clear": 0.15, "early": 20, "warmup": 3},
        persist=persist(3, 4),
        causes=(
            "too little exploration: the entropy bonus is too small",
            "learning rate too high, or too many epochs over one batch",
        ),
        tries=MORE_EXPLORATION,
        source="entropy falls slowly; 'drops to 0 too fast' is premature (SB3 practice, TRL)",
        grade="C",
    ),
    Rule(
        id="policy-dead",
        title="The policy is dead",
        codes=("E1d", "C15"),
        sees="entropy, KL and clipping are all zero, and the reward is not at its ceiling",
        concepts=("entropy",),
        beside=(
            "approx_kl",
            "clip_fraction",
        ),
        read=policy_dead,
        on=("entropy",),
        limits={"share": 0.01, "kl": 1e-5, "warmup": 5},
        persist=persist(4, 5),
        causes=("a collapse earlier in the run left the policy certain of one action",),
        tries=(
            "restart from a checkpoint before the collapse: nothing else helps",
            "then lower {learning_rate}",
            "raise the entropy bonus: {ent_coef}",
        ),
        source="labelled runs: after a collapse all step-size values return to green",
        grade="C",
        members=("entropy-collapsed", "policy-still", "premature-convergence"),
    ),
    Rule(
        id="entropy-stays",
        title="Entropy does not fall",
        codes=("E2", "E2b"),
        sees="the policy stays as random as at the start and reward does not move",
        concepts=("entropy",),
        read=entropy_stays,
        on=("entropy",),
        families=frozenset({CTRL}),
        limits={"share": 0.97, "some": 0.90, "warmup": 25},
        persist=persist(5, 5),
        causes=(
            "rewards far too large or too small for the learner",
            "entropy bonus too high",
            "learning rate too small, or reward never reached",
        ),
        tries=(
            "normalise rewards (SB3: VecNormalize)",
            "lower the entropy bonus: {ent_coef}",
            "raise {learning_rate}",
            "check that reward can be reached by chance, and that observations carry information",
        ),
        source="SB3 practice: entropy that 'never decreases' is a warning sign; SB3#2240",
        grade="C",
    ),
    Rule(
        id="entropy-explodes",
        title="Entropy explodes",
        codes=("E3",),
        sees="a language model's entropy rises while reward, length or gradients get worse",
        concepts=("entropy",),
        beside=(
            "truncated_frac",
            "grad_norm",
        ),
        read=entropy_explodes,
        on=("entropy",),
        families=LLM,
        limits={"times": 3.0, "warmup": 25},
        persist=persist(3, 4),
        causes=("learning rate too high", "entropy bonus too high", "sampler and trainer disagree"),
        tries=(
            "lower {learning_rate}",
            "remove or decay the entropy bonus: {ent_coef}",
            "raise the KL penalty: {kl_penalty}",
            "compare the sampler's log-probabilities with the trainer's",
        ),
        source="verl#1051, verl#2738, rllm#116",
        grade="D",
    ),
    Rule(
        id="action-spread",
        title="Action spread out of bounds",
        codes=("E4",),
        sees="the std of a Gaussian policy explodes or vanishes without reward",
        concepts=("policy_std",),
        read=action_spread,
        on=("policy_std",),
        families=frozenset({CTRL}),
        limits={"times": 3.0, "crit_times": 10.0, "share": 0.02, "warmup": 20},
        persist=persist(3, 4),
        causes=("entropy bonus too high", "unbounded log-std"),
        tries=(
            "lower the entropy bonus: {ent_coef}",
            "bound the log-std, normalise actions",
            "normalise rewards",
        ),
        source="IsaacLab#1999, IsaacLab#4570: a growing std ends in NaN",
        grade="C",
    ),
    Rule(
        id="entropy-swings",
        title="Entropy oscillates",
        codes=("E5",),
        sees="entropy goes up and down by a large share of its start",
        concepts=("entropy",),
        read=entropy_swings,
        on=("entropy",),
        families=frozenset({CTRL, GRPO}),
        limits={"leg": 0.3, "turns": 4, "warmup": 15},
        persist=persist(2, 3),
        causes=("learning rate too high",),
        tries=("lower {learning_rate}", "larger batches: {batches}"),
        source="Andy Jones, Debugging RL: oscillation points at the learning rate",
        grade="C",
    ),
)
