"""Rewards below their start: a sick log beside one that is nearly so."""

from __future__ import annotations

from tests.rules.specification import AT_LAST, WARN, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, gauss, jitter


def begins_at(start: float) -> DrawnColumn:
    """A noisy reward of 20 whose first three values were others."""
    return lambda i: (start if i < 3 else 20.0) + gauss(i, 3.0)


def sinking_beside(outlier: float) -> DrawnColumn:
    """A reward that loses two of its units of noise, beside a single one that is far lower."""
    return lambda i: -outlier if i == 20 else jitter(i) - 0.05 * i


def sank_early(level: float) -> DrawnColumn:
    """A noisy reward that has sunk by 30 within eight updates; `level`: where it is after 60."""
    return lambda i: (-30.0 * min(1.0, i / 8) if i < 60 else level) + gauss(i, 4.0)


def in_longer_episodes(longer: float, dearer: float = 1.0) -> DrawnColumns:
    """Costs of episodes that are so many times as long from the ninth row on, and of a step."""
    return {
        "ep_len": lambda i: 100.0 * (1.0 if i < 8 else longer),
        "reward_mean": lambda i: -50.0 * (1.0 if i < 8 else longer * dearer) + jitter(i, 1),
    }


class TestRewardWrongWay(RuleTests):
    """Reward below start."""

    rule = "reward-wrong-way"
    examples = (
        RuleCase(
            {"reward_mean": lambda i: -100.0 - 5 * i + jitter(i, 3)},
            {"reward_mean": lambda i: -100.0 - 0.1 * i + jitter(i, 3)},
        ),
        Contrast(
            "its first values were far above, though its quarters are not",
            {"reward_mean": begins_at(50.0), "ep_len": 20.0},
            {"reward_mean": begins_at(30.0)},
            WARN,
            0,
            count=100,
        ),
        Contrast(
            "a quarter of the run is over",
            {"reward_mean": lambda i: (40.0 if i < 14 else 10.0) + jitter(i, 2), "ep_len": 50.0},
            {},
            WATCH,
            WARN,
            config={"total_timesteps": 600_000},
            differs_config={"total_timesteps": 70_000},
        ),
        Contrast(
            "a hundred episodes earned far more at the start",
            {"reward_mean": lambda i: jitter(i, 1) + 7.0 * (i < 6), "ep_len": 50.0},
            {"reward_mean": lambda i: jitter(i, 1) + 4.0 * (i < 6)},
            WARN,
            0,
            count=200,
            log=AT_LAST,
        ),
        Contrast(
            "it sinks from quarter to quarter",
            {"reward_mean": lambda i: jitter(i) - 0.05 * i, "ep_len": 20.0},
            {"reward_mean": lambda i: jitter(i) - 0.02 * i},
            WARN,
            0,
        ),
        Contrast(
            "what sank long ago has not risen since",
            {"reward_mean": sank_early(-30.0), "ep_len": 20.0},
            {"reward_mean": sank_early(-8.0)},
            WARN,
            0,
            count=140,
            log=AT_LAST,
        ),
        Contrast(
            "it sinks by a share of its range that is to be seen",
            {"reward_mean": sinking_beside(100.0), "ep_len": 20.0},
            {"reward_mean": sinking_beside(300.0)},
            WATCH,
            0,
        ),
        Contrast(
            "the first episodes may have been cut short",
            in_longer_episodes(2.0),
            {},
            WARN,
            0,
            otherwise_trainer="rsl_rl",
        ),
        Contrast(
            "episodes are hardly longer than they were",
            in_longer_episodes(1.45),
            in_longer_episodes(1.55),
            WARN,
            0,
            trainer="rsl_rl",
        ),
        Contrast(
            "their steps cost more than they did",
            in_longer_episodes(2.0, 1.3),
            in_longer_episodes(2.0, 1.2),
            WARN,
            0,
            trainer="rsl_rl",
        ),
    )
