"""A critic that returns the same value for every state."""

from __future__ import annotations

from tests.rules.specification import WARN, Boundary, Contrast, RuleCase, RuleTests


# fmt: off
class TestCriticSameValue(RuleTests):
    """Same value for every state."""

    rule = "critic-same-value"
    examples = (
        RuleCase({"explained_variance": lambda i: 1e-7 * (i % 3 - 1)},
            {"explained_variance": lambda i: 1e-5 if i == 0 else 0.0}),
        Contrast("the script does not round", {"explained_variance": 0.0}, {}, WARN, 0,
            otherwise_trainer="custom"),
        Contrast("rewards differ at all", {"explained_variance": 0.0}, {"reward_mean": 3.0}, WARN,
            0),
        Boundary("exact", lambda x: {"explained_variance": x}, WARN, -1),
    )
