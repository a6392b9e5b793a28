"""The machine that the training runs on, as far as a tracker measures it."""

from __future__ import annotations

from tests.rules.courses import after
from tests.rules.specification import INFO, Contrast, RuleCase, RuleTests


# fmt: off
class TestGpuIdle(RuleTests):
    """GPU idle."""

    rule = "gpu-idle"
    examples = (
        RuleCase({"gpu_busy": after(20, 0.03, 0.8), "gpu_memory": 0.4},
            {"gpu_busy": lambda i: 0.02 if i % 3 == 0 else 0.8, "gpu_memory": 0.4}, INFO),
        Contrast("the training holds memory of the GPU", {"gpu_busy": 0.02, "gpu_memory": 0.021},
            {"gpu_memory": 0.019}, INFO, 0),
        Contrast("where the memory is not known, it once worked on the GPU",
            {"gpu_busy": after(20, 0.02, 0.31)}, {"gpu_busy": after(20, 0.02, 0.29)}, INFO, 0),
    )
