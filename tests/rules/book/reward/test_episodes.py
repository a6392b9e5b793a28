"""Episodes that end where they begin."""

from __future__ import annotations

from tests.rules.courses import after, flat, learned, rise, within
from tests.rules.specification import WARN, Boundary, Contrast, RuleCase, RuleTests


# fmt: off
class TestEpisodesOfOneStep(RuleTests):
    """Episodes of one step."""

    rule = "episodes-of-one-step"
    examples = (
        RuleCase({"ep_len": 1.0, "reward_mean": flat}, {"ep_len": 1.05, "reward_mean": flat}),
        Contrast("nothing was learned", {"ep_len": 1.0, "reward_mean": flat}, {"reward_mean": rise},
            WARN, 0),
        Contrast("a length was measured", {"ep_len": 1.0, "reward_mean": flat}, {"ep_len": 0.0}),
        Contrast("twenty episodes of one step were the first",
            {"ep_len": within(0, 21, 1.0, 50.0), "reward_mean": flat},
            {"ep_len": within(0, 20, 1.0, 50.0)}, WARN, 0),
        Contrast("they were longer before, and for ten updates are not",
            {"ep_len": within(30, 41, 1.0, 2.1), "reward_mean": flat},
            {"ep_len": within(30, 41, 1.0, 1.9)}, WARN, 0),
        Contrast("they were longer before, whatever was learned",
            {"ep_len": after(40, 1.0, 50.0), "reward_mean": learned}, {"ep_len": 1.0}, WARN, 0),
        Boundary("steps", lambda x: {"ep_len": x, "reward_mean": flat}, WARN, -1),
    )
