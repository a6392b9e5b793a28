"""What a console reports by itself: how a process died, and warnings of libraries."""

from __future__ import annotations

from functools import partial

from ppo_top.rules.engine.calm import always
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits
from ppo_top.rules.engine.terms import ALL_FAMILIES


def only_console_text(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """For rules that fire on console text alone: no row raises or clears them."""
    return None


PrintedRule = partial(
    Rule, concepts=(), assess=only_console_text, stays_calm=always, families=ALL_FAMILIES
)
"""A rule on what is printed alone, whatever trains."""

RULES = (
    PrintedRule(
        id="out-of-memory",
        title="Out of memory",
        description="the console reports that memory ran out",
        is_moment=True,
        causes=("batch, sequence length or model too large for the device's memory",),
        remedies=(
            "fewer samples at once: {memory_batch}",
            "{in_text}shorter completions: {max_completion_length}",
            "{in_text}gradient checkpointing",
            "{in_text}a smaller share of memory for the sampler: {gpu_memory_utilization}",
            "{in_control}fewer environments, shorter rollouts ({n_steps}), a smaller buffer",
            "a smaller network, or fewer processes on the device",
        ),
        source="text printed by PyTorch",
        grade="A",
    ),
    PrintedRule(
        id="disk-full",
        title="Disk full",
        description="the console reports that a file could not be written for want of space",
        is_moment=True,
        causes=("the disk, or the quota on it, is full: most often of checkpoints",),
        remedies=(
            "look at what is left: df -h, and the quota where there is one",
            "delete checkpoints that are not needed, and {fewer_checkpoints}",
            "restart from the last checkpoint that is whole: the newest may be cut off",
        ),
        source="text printed by the system and by PyTorch",
        grade="A",
    ),
    PrintedRule(
        id="crashed",
        title="Training process crashed",
        description="the log says that its process failed: a traceback, an exit code",
        is_moment=True,
        causes=("an unhandled exception, or a fault in compiled code (a driver, a simulator)",),
        remedies=(
            "read the last lines of the console log",
            "restart from the last checkpoint, if there is one",
        ),
        source="text printed by Python and Slurm; the state that a tracker stores",
        grade="A",
    ),
    PrintedRule(
        id="killed",
        title="Training process killed",
        description="the log says that its process was killed from outside, as for want of memory",
        is_moment=True,
        causes=("the memory of the machine, or of the job, ran out (not that of the device)",),
        remedies=(
            "ask the system what it ended, and why: dmesg, or sacct of a Slurm job",
            "{in_control}more memory for the job, fewer environments, or a smaller replay buffer",
            "{in_text}more memory for the job, or less that is kept or loaded on the host",
            "restart from the last checkpoint, if there is one",
        ),
        source="text printed by the shell, the kernel and Slurm",
        grade="A",
    ),
    PrintedRule(
        id="numpy-warning",
        title="NumPy invalid value or overflow",
        description="NumPy warns of an invalid value, an overflow or a division by zero",
        causes=("division by zero or overflow in the environment or reward",),
        remedies=(
            "make it an error to find it: np.seterr(all='raise')",
            "{in_control}clip observations and rewards",
        ),
        source="text printed by numpy",
        grade="B",
    ),
)
