"""The machine that the training runs on, as far as a tracker measures it."""

from __future__ import annotations

from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import ALL_FAMILIES, INFO
from ppo_top.rules.engine.wording import pct


def gpu_idle(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The training's GPU does nothing while updates go on."""
    busy = run.value("gpu_busy")
    if busy is None or busy > limits["clear"] or not _uses_gpu(run, limits):
        return None
    if busy > limits["idle"]:
        return borderline(busy)
    message = f"the GPU is busy {pct(busy)} of the time: updates wait for something else"
    return Assessment(INFO, busy, limits["idle"], message)


def _uses_gpu(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the training holds memory of the GPU or, where that is not known, once worked on it.

    A node may have a GPU that the training has nothing to do with.
    """
    memory = run.histories.get("gpu_memory")
    if memory is not None:
        return memory.last >= limits["memory"]
    return run.histories["gpu_busy"].high >= limits["used"]


RULES = (
    Rule(
        id="gpu-idle",
        title="GPU idle",
        description="the GPU that holds the model does nothing while updates go on",
        concepts=("gpu_busy",),
        related=("gpu_memory", "cpu_busy", "fps"),
        assess=gpu_idle,
        families=ALL_FAMILIES,
        limits={"warmup": 3, "idle": 0.1, "clear": 0.2, "memory": 0.02, "used": 0.3},
        persistence=k_of_n(8, 10),
        causes=(
            "the environment, the data or a reward function on the CPU takes most of the time",
        ),
        remedies=(
            "run more environments in parallel, or vectorise them",
            "profile one update: which part of it runs on the CPU?",
            "a small network is often faster on the CPU alone",
        ),
        source="utilization.gpu of NVML: share of the time in which a kernel ran",
        grade="D",
    ),
)
