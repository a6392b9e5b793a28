"""Which faults a task can have, and the order of the runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from corpus.control_task import ON_POLICY, ControlTask
from corpus.tasks import FAMILY_TASKS, FURTHER_TASKS
from corpus.unseen_tasks import LATER_TASKS, SHAPE_TASKS

START_FAULTS = (
    "lr-x100", "lr-x30", "lr-1e-8", "clip-off", "clip-off-lr-x10", "epochs-80",
    "entropy-punished", "entropy-bonus", "critic-untrained", "reward-x1000", "reward-zero",
    "reward-flipped", "observations-zero",
)  # fmt: skip
MIDWAY_FAULTS = (
    "lr-x100-midway", "reward-flipped-midway", "reward-nan-midway", "observations-zero-midway",
    "critic-reset-midway", "reward-x1000-midway",
)  # fmt: skip
MAIN_FAULTS = (
    "lr-x100", "lr-1e-8", "clip-off-lr-x10", "entropy-punished", "critic-untrained",
    "lr-x100-midway", "reward-nan-midway", "critic-reset-midway",
)  # fmt: skip
CONFIGURATION_FAULTS = (
    "gamma-0", "gradient-tiny", "clip-tiny", "value-clip-tiny", "advantages-raw", "rollout-tiny",
)  # fmt: skip
BROKEN_PART_FAULTS = (
    "observations-x1e4", "reward-noise", "lr-0-midway", "policy-frozen-midway",
    "actions-random-midway", "noise-raised-midway",
)  # fmt: skip
OTHER_FAULTS = tuple(fault for fault in START_FAULTS + MIDWAY_FAULTS if fault not in MAIN_FAULTS)
SLOW_FAULTS = ("epochs-80",)  # eight times the work of a healthy run, so on one task only

PlannedRun = tuple[str, str, int]
"""Task, fault, seed."""

PlannedRuns = tuple[str, tuple[str, ...], tuple[int, ...]]
RunPlan = Iterable[PlannedRuns]
RUN_PLAN: tuple[PlannedRuns, ...] = (
    ("cartpole", ("none",), (1, 2, 3)),
    ("cartpole", MAIN_FAULTS, (11,)),
    ("pendulum", ("none",), (1, 2, 3)),
    ("pendulum", MAIN_FAULTS, (11,)),
    ("acrobot", ("none",), (1, 2, 3)),
    ("acrobot", MAIN_FAULTS, (11,)),
    ("hopper", ("none",), (1, 2, 3)),
    ("cartpole-zoo", ("none",), (1, 2, 3)),
    ("mountaincar", ("none",), (1,)),
    ("frozenlake", ("none",), (1,)),
    ("inverted-pendulum", ("none",), (1,)),
    ("mountaincar-discrete", ("none",), (1,)),
    ("cartpole-dqn", ("none",), (1, 2, 3)),
    ("cartpole-a2c", ("none",), (1, 2, 3)),
    ("halfcheetah", ("none",), (1,)),
    ("reacher", ("none",), (1,)),
    ("cartpole", CONFIGURATION_FAULTS, (31,)),
    ("cartpole", BROKEN_PART_FAULTS, (31,)),
    ("acrobot", ("lr-x30", "clip-off", "reward-x1000", "reward-x1000-midway"), (11,)),
    ("mountaincar", ("none",), (2, 3)),
    ("lunarlander", ("none",), (1,)),
    ("frozenlake", ("entropy-bonus", "reward-flipped-midway", "observations-zero-midway"), (11,)),
    ("mountaincar-discrete", ("entropy-bonus", "reward-flipped-midway", "reward-flipped"), (11,)),
    ("cartpole-zoo", ("entropy-bonus", "reward-flipped-midway", "lr-x100-midway"), (11,)),
    ("pendulum", ("lr-0-midway", "actions-random-midway", "noise-raised-midway"), (31,)),
    ("frozenlake", ("none",), (2,)),
    ("hopper", ("lr-x100-midway", "critic-untrained"), (11,)),
    ("lunarlander", ("none",), (2,)),
    ("acrobot", ("lr-x100", "critic-untrained", "reward-flipped-midway"), (12,)),
    ("lunarlander", ("lr-x100-midway", "critic-untrained", "reward-flipped-midway"), (11,)),
    ("mountaincar-discrete", ("none",), (2,)),
    ("lunarlander", ("none",), (3,)),
    ("acrobot", ("gradient-tiny", "actions-random-midway", "gamma-0"), (31,)),
    ("acrobot", ("epochs-80",), (11,)),
    ("pendulum", ("gamma-0", "value-clip-tiny", "advantages-raw", "reward-noise"), (31,)),
    ("reacher", ("none",), (2,)),
    ("reacher", ("reward-flipped-midway", "entropy-bonus"), (11,)),
    ("swimmer", ("none",), (1,)),
    ("pendulum-sac", ("none",), (1, 2, 3)),
    ("inverted-pendulum", ("none",), (2,)),
    ("hopper", ("lr-x100", "entropy-punished"), (11,)),
    ("halfcheetah", ("none",), (2,)),
    ("mountaincar-discrete", ("observations-zero-midway",), (11,)),
    ("acrobot", START_FAULTS + MIDWAY_FAULTS, (12,)),
    ("pendulum", (*CONFIGURATION_FAULTS, *BROKEN_PART_FAULTS), (31,)),
    ("pendulum", START_FAULTS + MIDWAY_FAULTS, (11, 12)),
    ("cartpole", START_FAULTS + MIDWAY_FAULTS, (11, 12)),
    ("hopper", OTHER_FAULTS, (11,)),
)
"""Task, faults and seeds of every run, in order of priority."""


MIDWAY_ANYWHERE = (
    "reward-flipped-midway", "weights-reloaded-midway", "lr-x100-midway",
    "observations-zero-midway", "actions-random-midway", "reward-nan-midway",
)  # fmt: skip
ANYWHERE = (
    "lr-x100", "reward-flipped", "lr-1e-8", "observations-zero", "loss-reversed", "reward-zero",
    "gamma-0", "reward-x1000",
)  # fmt: skip
ON_POLICY_FAULTS = (*ANYWHERE, "entropy-bonus", "critic-untrained", *MIDWAY_ANYWHERE)
TRUST_REGION_FAULTS = (
    *(fault for fault in ANYWHERE if not fault.startswith("lr-")),
    "kl-limit-x500", "kl-limit-tiny",
    *(fault for fault in MIDWAY_ANYWHERE if not fault.startswith("lr-")),
)  # fmt: skip
VALUE_FAULTS = (
    *ANYWHERE, "epsilon-stuck", "collecting-only", "target-frozen", *MIDWAY_ANYWHERE,
    "epsilon-back-midway",
)  # fmt: skip
ACTOR_CRITIC_FAULTS = (
    *ANYWHERE, "collecting-only", "target-frozen", "target-copied", "critic-frozen",
    *MIDWAY_ANYWHERE,
)  # fmt: skip
FAULTS_BY_ALGORITHM = {
    "PPO": (*ON_POLICY_FAULTS, "clip-off-lr-x10"),
    "A2C": ON_POLICY_FAULTS,
    "TRPO": TRUST_REGION_FAULTS,
    "RecurrentPPO": ON_POLICY_FAULTS,
    "MaskablePPO": ON_POLICY_FAULTS,
    "DQN": VALUE_FAULTS,
    "QRDQN": VALUE_FAULTS,
    "SAC": (*ACTOR_CRITIC_FAULTS, "ent-coef-50", "target-entropy-5"),
    "TQC": (*ACTOR_CRITIC_FAULTS, "target-entropy-5", "ent-coef-50"),
    "TD3": (*ACTOR_CRITIC_FAULTS, "action-noise-5"),
    "DDPG": (*ACTOR_CRITIC_FAULTS, "action-noise-5"),
}
OWN_FAULTS = {
    "PPO": (*ON_POLICY_FAULTS, "clip-off-lr-x10"),
    "REINFORCE": tuple(fault for fault in ON_POLICY_FAULTS if fault != "critic-untrained"),
    "DQN": tuple(fault for fault in VALUE_FAULTS if fault != "epsilon-back-midway"),
}


FURTHER_FAULTS = {
    "DQN": (
        "lr-x0.001", "epsilon-short", "observations-x1e4", "reward-one", "reward-noise", "lr-x30",
    ),
    "SAC": (
        "lr-x0.001", "actions-weak", "observations-x1e4", "reward-one", "lr-0-midway", "lr-x30",
    ),
    "PPO": ("lr-x0.001", "reward-one", "observations-x1e4", "lr-0-midway"),
}  # fmt: skip
"""Faults of `FURTHER_TASKS` only, by the algorithm that stands for its family."""

REPRESENTED_BY = {
    "QRDQN": "DQN",
    "TD3": "SAC",
    "DDPG": "SAC",
    "TQC": "SAC",
    "REINFORCE": "PPO",
    "A2C": "PPO",
}


def further_faults(task: ControlTask) -> tuple[str, ...]:
    """The faults of one of `FURTHER_TASKS`: the usual ones of its algorithm, and new ones."""
    named = REPRESENTED_BY.get(task.algorithm, task.algorithm)
    return (*faults_of(task), *FURTHER_FAULTS[named])


def faults_of(task: ControlTask) -> tuple[str, ...]:
    """The faults that a task can have."""
    own = task.producer == "own"
    return (OWN_FAULTS if own else FAULTS_BY_ALGORITHM)[task.algorithm]


def family_runs(
    tasks: Iterable[ControlTask],
    seeds: tuple[int, ...],
    share: int,
    faults: Callable[[ControlTask], tuple[str, ...]] = faults_of,
    first: int = 0,
) -> RunPlan:
    """Healthy runs with these seeds, and each task's share (one in `share`) of its faults.

    Tasks of one algorithm take turns, so that together they have all faults; a fault's seed is 11
    plus its place in the list, so that the ways of logging take turns too. `first` is the share of
    the first task.
    """
    for number, task in enumerate(tasks, first):
        yield task.name, ("none",), seeds
        for place, fault in list(enumerate(faults(task)))[number % share :: share]:
            yield task.name, (fault,), (11 + place,)


def all_planned() -> RunPlan:
    """The families in turns, so that each gets its share of the time; then `RUN_PLAN`."""
    plans: list[RunPlan] = []
    for split in ("tune", "check"):
        tasks = [task for task in FAMILY_TASKS if task.split == split]
        own = [task for task in tasks if task.producer == "own"]
        on_policy = [task for task in tasks if task.algorithm in ON_POLICY and task not in own]
        collecting = [task for task in tasks if task not in own and task not in on_policy]
        plans += [
            family_runs(collecting, (1, 2, 3, 4), 3),
            family_runs(own, (1, 2, 3, 4, 5), 2),
            family_runs(on_policy, (1, 2), 4),
        ]
    plans += [
        family_runs(
            [task for task in FURTHER_TASKS if (task.producer == "own") == own],
            (1, 2, 3), 3 if own else 2, further_faults,
        )
        for own in (False, True)
    ]  # fmt: skip
    plans += [family_runs(LATER_TASKS, (1, 2, 3), 3, further_faults, first) for first in (0, 1)]
    plans.append(family_runs(SHAPE_TASKS, (1, 2, 3, 4), 3, further_faults))
    for turn in zip_longest(*plans):
        yield from (each for each in turn if each is not None)
    yield from RUN_PLAN


def planned_runs() -> Iterator[PlannedRun]:
    """Every run (task, fault, seed) once, in order of priority."""
    seen = set()
    for task, faults, seeds in all_planned():
        for run in ((task, fault, seed) for fault in faults for seed in seeds):
            slow = run[1] in SLOW_FAULTS and (run[0] != "acrobot" or run[2] not in (11, 12))
            if run not in seen and not slow:
                seen.add(run)
                yield run


def drawn_runs(
    commit: str, faults: Mapping[str, Sequence[str]], healthy: int, faulty: int
) -> list[PlannedRun]:
    """The runs of a last part: faults and seeds follow from the commit's hash alone.

    `faults` are those that each task can have; `healthy` and `faulty` (at most) are runs a task.
    """
    draw = random.Random(commit)
    runs: list[PlannedRun] = []
    for name, known in faults.items():
        keys = ["none"] * healthy + draw.sample(known, min(faulty, len(known)))
        seeds = draw.sample(range(1_000, 1_000_000), len(keys))
        runs += [(name, key, seed) for key, seed in zip(keys, seeds, strict=True)]
    return runs
