"""The progress of the run: steps, updates, speed, restarts, its end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from operator import ne

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import TRAINING_LOSSES
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import ALL_FAMILIES, INFO, LLM_FAMILIES, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct


def step_stuck(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Records arrive, but their step does not advance."""
    step = run.mark.step
    if step != run.previous.step or step == 0 or run.updates == 1:
        return None
    message = f"step stays at {step:,} though records arrive"
    return Assessment(WARN, step, None, message)


TRAINER_COUNTERS = ("n_updates", "num_tokens", "episode", "iteration")


def _counters(run: JudgedRun) -> Iterator[str]:
    """The counters that every update raises; an episode of a control task may last for several."""
    whole = run.family in LLM_FAMILIES
    return (name for name in TRAINER_COUNTERS if whole or name != "episode")


def updates_stuck(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The trainer's own counter stands still while steps continue."""
    logged = ((name, run.histories.get(name)) for name in _counters(run))
    rising = ((n, each) for n, each in logged if each is not None and each.last_row == run.mark.row)
    name, history = next(rising, ("", None))
    if history is None or history.previous(1) != [history.last]:
        return None
    if history.high <= history.low:
        return None  # a count of each call, such as one SGD step, is no running count
    if run.mark.step <= run.previous.step:
        return borderline(history.last)
    words = f"{name} stays at {num(history.last)} while steps go on: collecting, but not training"
    return Assessment(WARN, history.last, None, words)


def _counter_changes(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """The counter that is looked at changes from row to row of the block."""
    name = next((name for name in _counters(run) if name in block.columns), "")
    history = run.histories.get(name)
    counts = [*(history.newest(1) if history is not None else ()), *block.columns.get(name, ())]
    return all(map(ne, counts, counts[1:]))


def slow(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Throughput is far below that at the start: to be looked at, but what is learned is sound."""
    speed, learns = run.speed, float(run.has_losses)
    if speed is None:
        return None
    memo = run.memos.get("slow", ())
    if not memo or memo[0] != learns:  # filling a replay buffer is faster
        memo = (learns, 0.0)
    _, slowed, *speeds = memo
    usual = median(speeds[1:]) if len(speeds) >= limits["points"] else speed
    share = speed / usual
    if share < limits["info"]:
        slowed += 1.0
    elif slowed < limits["warmup_points"]:
        slowed = 0.0
    if not learns and slowed == limits["warmup_points"]:
        # No losses are logged: it was a replay buffer that filled, once in a run.
        speeds, slowed, share = [], limits["warmup_points"] + 1.0, 1.0
    if len(speeds) < limits["points"]:
        speeds.append(speed)
    run.memos["slow"] = (learns, slowed, *speeds)
    # Where gradient steps fall on every third row, as many rows are as slow from the start.
    as_slow = sum(each <= speed for each in speeds[1:])
    if share > limits["clear"] or as_slow >= limits["as_slow"]:
        return None
    first_fall = not learns and slowed < limits["warmup_points"]
    if share >= max(limits["watch"], limits["info"]) or first_fall:
        return borderline(speed)
    message = f"{pct(share)} of the speed at the start{_longer(run)}"
    # Without losses the log does not say what the program did at its start, when it was fast.
    severity = WATCH if learns and share < limits["watch"] else INFO
    return Assessment(severity, speed, usual, message)


def _keeps_speed(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No row of the block comes much later than at the usual speed."""
    learns, slowed, *speeds = run.memos.get("slow", (0.0, 0.0))
    begins = not learns and any(name in block.columns for name in TRAINING_LOSSES)
    if begins or slowed or len(speeds) < limits["points"]:
        return False
    slowest = max(limits["clear"], limits["info"]) * median(speeds[1:])
    steps = pairwise((run.mark.step, *block.steps))
    times = pairwise((run.mark.time, *block.times))
    return all(d - c > slowest * (b - a) > 0.0 for (a, b), (c, d) in zip(times, steps, strict=True))


def _longer(run: JudgedRun) -> str:
    """Names longer completions or episodes where they explain it."""
    for concept in ("resp_len_mean", "ep_len"):
        history = run.histories.get(concept)
        usual = history.initial_level if history is not None else 0.0
        if history is not None and history.last > 1.5 * usual > 0.0:
            what = "episodes" if concept == "ep_len" else "completions"
            return f"; {what} are {num(history.last / usual)} times longer"
    return ""


def restarted(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The step went back: the run was resumed, or a training began anew in the same log."""
    if not 0 < run.segment <= limits["most"] or run.updates > 3:
        return None
    what = "the run was resumed" if run.start_step > run.first_step else "a training began anew"
    message = f"{what} at step {run.mark.step:,}: baselines start again"
    return Assessment(INFO, float(run.mark.step), None, message)


def _steps_rise(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Steps rise within a block; whether they do at its start remains to be seen."""
    return block.steps[0] > run.mark.step


def _not_restarted(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return run.segment == 0 or run.updates > 3


RULES = (
    Rule(
        id="restarted",
        title="Run resumed or begun anew",
        description="the step goes back: a restart from a checkpoint, or from the first step",
        concepts=(),
        assess=restarted,
        stays_calm=_not_restarted,
        families=ALL_FAMILIES,
        limits={"most": 3},
        persistence=AT_ONCE,
        causes=("a restart from a checkpoint", "another training that appends to the same log"),
        remedies=(),
        source="step of the records",
        grade="A",
    ),
    Rule(
        id="step-stuck",
        title="Step not advancing",
        description="records keep arriving with the same step",
        concepts=("step",),
        assess=step_stuck,
        stays_calm=_steps_rise,
        judged_at=(),
        families=ALL_FAMILIES,
        persistence=k_of_n(5, 5),
        causes=("the step is not passed to the logger", "the environment is not stepping"),
        remedies=("check what is passed as the step to the logger", "check the environment's loop"),
        source="step counters that stop mean that training has stalled (SB3 practice)",
        grade="A",
    ),
    Rule(
        id="updates-stuck",
        title="Update counter not advancing",
        description="the trainer's update counter stands still while steps continue",
        concepts=("n_updates",),
        assess=updates_stuck,
        stays_calm=_counter_changes,
        judged_at=TRAINER_COUNTERS,
        families=ALL_FAMILIES,
        limits={"warmup": 3},
        persistence=k_of_n(3, 3),
        causes=("the learner is not running (replay warm-up, hung worker, paused updates)",),
        remedies=(
            "look at the learner's process",
            "look for a callback or a condition that skips the update",
            "check {learning_starts}: until then nothing is learned",
        ),
        source="n_updates: 'if it suddenly stops increasing, training has stalled' (SB3 practice)",
        grade="A",
    ),
    Rule(
        id="slow",
        title="Training slowed down",
        description="throughput is far below that at the start",
        concepts=("fps",),
        related=("resp_len_mean", "ep_len"),
        assess=slow,
        stays_calm=_keeps_speed,
        judged_at=(),
        families=ALL_FAMILIES,
        limits={
            "points": 12,
            "clear": 0.7,
            "info": 0.4,
            "watch": 0.15,
            "warmup_points": 5,
            "as_slow": 3,
        },
        persistence=k_of_n(5, 6),
        causes=("slower environment, longer episodes or completions, or a busy machine",),
        remedies=("look at the machine's load", "look at the environment's time per step"),
        source="fps shows training speed (SB3 practice)",
        grade="C",
    ),
)
