"""Facts about causes: which rows and how many each rests on, and what no log can answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest

from ppo_top.model import ConfigValue, Profile
from ppo_top.rules.advice.symptoms import FACTS, facts_seen
from ppo_top.rules.engine.judged_run import JudgedRun
from tests.rules.courses import after, at, within
from tests.rules.test_critic_symptoms import COSTS
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    VALUE_BASED_COLUMNS,
    DrawnColumns,
    draw_rows,
)

BASES: dict[str, DrawnColumns] = {
    "on-policy": CTRL_COLUMNS, "off-policy": COSTS, "value-based": VALUE_BASED_COLUMNS,
    "grpo": GRPO_COLUMNS,
}  # fmt: skip


@dataclass(frozen=True)
class FactPair:
    """Columns in which a fact holds after so many rows, and others in which it does not."""

    fact: str
    holds: DrawnColumns
    not_in: DrawnColumns = field(default_factory=dict)
    count: int = 30
    other_count: int = 30
    family: str = "on-policy"
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    other_config: Mapping[str, ConfigValue] = field(default_factory=dict)


def seen(
    columns: DrawnColumns, count: int, family: str, config: Mapping[str, ConfigValue]
) -> dict[str, bool]:
    """The facts that a drawn log answers."""
    run = JudgedRun(Profile(TRAINER_BY_FAMILY[family], family, config))
    for row in draw_rows(columns, count):
        run.add_row(row)
    return facts_seen(run)


def each(rows: int, value: float) -> Callable[[int], float | None]:
    """A metric that is logged with one in so many rows, as that of a new batch is."""
    return lambda i: value if i % rows == 0 else None


def falls_to(value: float, i: int) -> float:
    """A reward that rises to 170 until row 17 and then is at this value."""
    return 10.0 * i if i <= 17 else value


# fmt: off
CONTROL = (
    FactPair("learning rate cut", {"lr": lambda i: 1.0 if i < 9 else 0.21 if i < 20 else 0.002},
         {"lr": lambda i: 1.0 if i < 9 else 0.19 if i < 20 else 0.0018}),
    FactPair("learning rate cut", {"lr": after(1, 1e-6, 1e-3)}, count=2, other_count=1),
    FactPair("learning rate far below its default", {"lr": 1e-8}, {"lr": after(20, 1e-8, 3e-4)}),
    FactPair("entropy below a fifth of its start", {"entropy": after(20, 0.19, 1.0)},
         {"entropy": -1.0}),
    FactPair("learning rate jumped", {"lr": after(1, 1e-3, 1e-4)}, count=2, other_count=1),
    FactPair("learning rate jumped", {"lr": after(20, 1e-3, 1e-4)},
         {"lr": lambda i: 1e-4 * i + 1e-5}),
    FactPair("more than 30 epochs an update", {}, config={"n_epochs": 31},
         other_config={"n_epochs": 30}),
    FactPair("more than 30 epochs an update", {"n_updates": lambda i: 31.0 * i},
         {"n_updates": lambda i: 30.0 * i}),
    FactPair("more than 30 epochs an update", {"n_updates": lambda i: 10.0 * i + 21 * (i == 29)},
         {"n_updates": lambda i: 10.0 * i + 21 * (i == 27)}),
    FactPair("more than 30 epochs an update", {"n_updates": lambda i: 31.0 * i}, count=2,
         other_count=1),
    FactPair("fewer than 64 steps an update", {"iteration": lambda i: 16.0 * i, "n_updates": None},
         {"iteration": lambda i: 15.0 * i, "n_updates": None}),
    FactPair("reward constant", {"reward_mean": 1.0}, count=3, other_count=2),
    FactPair("reward always 0", {"reward_mean": 0.0}, {"reward_mean": at(5, 0.1, 0.0)}),
    FactPair("reward fell within a few rows", {"reward_mean": lambda i: falls_to(105.0, i)},
         {"reward_mean": lambda i: falls_to(110.0, i)}),
    FactPair("reward fell within a few rows", {"reward_mean": lambda i: falls_to(100.0, i)},
         {"reward_mean": lambda i: falls_to(100.0, i)}, other_count=31),
    FactPair("reward grew a hundredfold", {"reward_mean": at(25, 103.0, 1.0)},
         {"reward_mean": at(24, 103.0, 1.0)}),
    FactPair("reward grew a hundredfold",
         {"reward_mean": lambda i: 2.0 if i == 5 else 1.0 if i < 20 else 150.0},
         {"reward_mean": lambda i: 2.0 if i == 4 else 1.0 if i < 20 else 150.0}),
    FactPair("critic loss near 0", {"value_loss": 0.97e-4, "reward_mean": 100.0},
         {"value_loss": 1.03e-4, "reward_mean": 100.0}),
    FactPair("never NaN or infinite", {"value_loss": 1.0, "explained_variance": math.nan},
         {"value_loss": at(29, math.nan, 1.0)}),
    FactPair("never NaN or infinite", {"action_std": math.nan},
         {"action_std": at(29, math.nan, 1.0)}),
    FactPair("approx KL above 0.05", {"approx_kl": at(25, 0.06, 0.01)},
         {"approx_kl": at(24, 0.06, 0.01)}),
    FactPair("explained variance below -1", {"explained_variance": at(25, -2.0, 0.5)},
         {"explained_variance": at(24, -2.0, 0.5)}),
    FactPair("explained variance always exactly 0", {"explained_variance": 0.97e-6},
         {"explained_variance": 1.03e-6}),
    FactPair("explained variance always exactly 0", {"explained_variance": 0.0},
         {"explained_variance": at(0, -0.01, 0.0)}),
    FactPair("explained variance always exactly 0", {"explained_variance": 0.0}, count=3,
         other_count=2),
    FactPair("entropy below nine tenths of its start", {"entropy": after(20, -1.11, -1.0)},
         {"entropy": after(20, -1.09, -1.0)}),
    FactPair("entropy below nine tenths of its start", {"entropy": after(3, 0.5, 1.0)}, count=6,
         other_count=5),
    FactPair("entropy or std above its start", {"policy_std": after(20, 1.53, 1.0)},
         {"policy_std": after(20, 1.47, 1.0)}),
    FactPair("entropy unmoved", {"entropy": 1.0}, count=5, other_count=4),
    FactPair("entropy unmoved", {"entropy": at(5, 1.029, 1.0)}, {"entropy": at(5, 1.031, 1.0)}),
    FactPair("nothing learned yet", {"reward_mean": 1.0, "entropy": at(20, 0.91, 1.0)},
        {"reward_mean": 1.0, "entropy": at(20, 0.89, 1.0)}),
    FactPair("nothing learned yet", {"reward_mean": 1.0, "entropy": 1.0},
        {"reward_mean": lambda i: 1.0 + i, "entropy": 1.0}),
    FactPair("learning rate cut", {"lr": lambda i: 1.0 if i < 9 else 0.21 if i < 20 else 0.0097},
         {"lr": lambda i: 1.0 if i < 9 else 0.21 if i < 20 else 0.0103}),
    FactPair("learning rate cut", {"lr": after(20, 1e-6, 1e-3)},
         {"lr": within(20, 27, 1e-6, 1e-3)}),
    FactPair("learning rate larger than most runs survive", {"lr": at(5, 0.01, 1e-4)},
         {"lr": at(5, 0.0097, 1e-4)}),
    FactPair("critic loss next to 0 from the first, though rewards are logged",
         {"value_loss": 0.0097, "reward_mean": 100.0, "ep_len": 50.0},
         {"value_loss": 0.0103, "reward_mean": 100.0, "ep_len": 50.0}),
    FactPair("critic loss next to 0 from the first, though rewards are logged",
         {"value_loss": 0.0024, "reward_mean": 25.0, "ep_len": 50.0},
         {"value_loss": 0.0026, "reward_mean": 25.0, "ep_len": 50.0}),
    FactPair("critic loss next to 0 from the first, though rewards are logged",
         {"value_loss": 0.005, "reward_mean": 100.0, "ep_len": 50.0},
         {"value_loss": at(0, 1.0, 0.005), "reward_mean": 100.0, "ep_len": 50.0}),
    FactPair("only the evaluation NaN or infinite", {"eval_reward_mean": at(29, math.nan, 1.0)},
         {"eval_reward_mean": at(29, math.nan, 1.0), "value_loss": at(29, math.nan, 1.0)}),
    FactPair("entropy back at its start", {"entropy": at(18, 0.85, 1.0)},
         {"entropy": at(17, 0.85, 1.0)}),
    FactPair("entropy back at its start", {"entropy": at(20, 0.89, 1.0)},
         {"entropy": at(20, 0.91, 1.0)}),
    FactPair("entropy back at its start",
         {"entropy": lambda i: 0.8 if i == 20 else 0.942 if i > 20 else 1.0},
         {"entropy": lambda i: 0.8 if i == 20 else 0.938 if i > 20 else 1.0}),
    FactPair("entropy back at its start", {"entropy": at(4, 0.8, 1.0)}, count=8, other_count=7),
    FactPair("entropy back at its start", {"entropy": within(26, 27, 0.8, 1.0)},
         {"entropy": within(26, 28, 0.8, 1.0)}),
    FactPair("reward below its start", {"reward_mean": lambda i: 10.0 * (i % 2) - 40.0 * (i > 9)},
         {"reward_mean": lambda i: 10.0 * (i % 2)}),
    FactPair("reward below its start", {"reward_mean": lambda i: falls_to(-200.0, i)},
         {"reward_mean": lambda i: falls_to(50.0, i)}),
)

REPLAY = (
    FactPair("actor loss ten times its start", {"actor_loss": after(5, 40.0, 1.0)}, count=10,
         other_count=9),
    FactPair("critic loss 30 times its start", {"critic_loss": after(5, 40.0, 1.0)}, count=10,
         other_count=9),
    FactPair("episodes shorter than at the start", {"ep_len": after(5, 30.0, 60.0)}, count=10,
         other_count=9),
    FactPair("entropy coefficient above its start", {"entropy_coef": after(2, 3.0, 1.0)},
         {"entropy_coef": after(1, 3.0, 1.0)}),
    FactPair("entropy coefficient above its start", {"entropy_coef": after(3, 3.0, 1.0)}, count=5,
         other_count=4),
    FactPair("entropy coefficient vanished", {"entropy_coef": after(2, 0.001, 1.0)},
         {"entropy_coef": after(1, 0.001, 1.0)}),
    FactPair("entropy coefficient vanished", {"entropy_coef": after(3, 0.001, 1.0)}, count=5,
         other_count=4),
    FactPair("reward stuck at one value", {"reward_mean": after(2, 5.0, 1.0)}, count=10,
         other_count=9),
    FactPair("reward at its lowest",
         {"reward_mean": lambda i: -600.0 if i < 10 else -700.0 if i == 20 else -690.3},
         {"reward_mean": lambda i: -600.0 if i < 10 else -700.0 if i == 20 else -689.7}),
    FactPair("reward varies less than at the start",
         {"reward_mean": lambda i: 0.001 * i - (10.0 if i < 20 else 2.0) * (i % 2)}, count=40,
         other_count=39),
    FactPair("reward varies more than at the start",
         {"reward_mean": lambda i: 0.001 * i - (1.0 if i < 29 else 9.0) * (i % 2)},
         {"reward_mean": lambda i: 0.001 * i - (1.0 if i < 31 else 9.0) * (i % 2)}, count=40,
         other_count=40),
    FactPair("action values beyond all returns", {"actor_loss": 700.0}, count=3, other_count=2),
    FactPair("critic loss beyond the squared returns", {"critic_loss": 1e6}, count=3,
         other_count=2),
)

BETTER = "evaluated better than training ever was"

EPSILON = (
    FactPair(BETTER, {"reward_mean": at(5, 24.0, 20.0), "eval_reward_mean": 24.1},
         {"reward_mean": at(5, 24.0, 20.0), "eval_reward_mean": 23.9}),
    FactPair(BETTER, {"reward_mean": lambda i: 20.0 + i % 2, "eval_reward_mean": 30.0},
         {"reward_mean": lambda i: 20.0 + i % 2, "eval_reward_mean": 22.0}),
    FactPair(BETTER, {"reward_mean": lambda i: 20.0 + i % 2, "eval_reward_mean": 90.0},
         {"reward_mean": lambda i: 20.0 + i, "eval_reward_mean": 90.0}),
    FactPair("epsilon rose again", {"exploration_rate": within(10, 20, 0.147, 0.3)},
         {"exploration_rate": within(10, 20, 0.153, 0.3)}),
    FactPair("critic loss beyond the squared returns", {"total_loss": 1.03e4, "reward_mean": 100.0},
         {"total_loss": 0.97e4, "reward_mean": 100.0}),
    FactPair("action values never shrank", {"value_mean": at(15, 5.2, 10.0)},
         {"value_mean": at(15, 4.8, 10.0)}),
    FactPair("action values never shrank", {"value_mean": -10.0}, count=10, other_count=9),
    FactPair("epsilon 0.1 or below", {"exploration_rate": 0.097}, {"exploration_rate": 0.103}),
    FactPair("epsilon 0.1 or below", {"exploration_rate": None},
         config={"exploration_final": 0.05, "exploration_fraction": 0.5, "total_timesteps": 55e3},
         other_config={"exploration_final": 0.05, "exploration_fraction": 0.5,
         "total_timesteps": 65e3}),
    FactPair("reward lost though epsilon only fell",
         {"exploration_rate": lambda i: 1.0 - 0.01 * i,
         "reward_mean": lambda i: falls_to(100.0, i)},
         {"exploration_rate": lambda i: 1.0 - 0.01 * min(i, 28) + 0.01 * (i > 28),
         "reward_mean": lambda i: falls_to(100.0, i)}),
    FactPair("reward lost though epsilon only fell",
         {"exploration_rate": lambda i: 1.0 - 0.01 * i,
         "reward_mean": lambda i: falls_to(100.0, i)},
         {"exploration_rate": lambda i: 1.0 - 0.01 * i,
         "reward_mean": lambda i: falls_to(160.0, i)}),
    FactPair("critic loss beyond all returns from the first",
         {"total_loss": 1.03e5, "reward_mean": 100.0},
         {"total_loss": 0.97e5, "reward_mean": 100.0}),
    FactPair("critic loss beyond all returns from the first",
         {"total_loss": 10.3, "reward_mean": 0.5}, {"total_loss": 9.7, "reward_mean": 0.5}),
    FactPair("critic loss beyond all returns from the first",
         {"total_loss": 2e5, "reward_mean": 100.0},
         {"total_loss": at(0, 1.0, 2e5), "reward_mean": 100.0}),
)

LANGUAGE = (
    FactPair("samples without entropy from the start", {"entropy": after(2, 0.5, 0.0097)},
         {"entropy": after(2, 0.5, 0.0103)}),
    FactPair("samples without entropy from the start", {"entropy": 0.0, "reward_std": 0.0},
         {"entropy": 0.0, "reward_std": 0.3}),
    FactPair("samples without entropy from the start", {"entropy": after(2, 0.5, 0.001)},
         {"entropy": after(1, 0.5, 0.001)}),
    FactPair("entropy above 1.5 nats a token from the start", {"entropy": after(2, 0.5, 1.53)},
         {"entropy": after(2, 0.5, 1.47)}),
    FactPair("KL to the reference 0", {"ref_kl_token": after(20, 0.97e-5, 1e-7)},
         {"ref_kl_token": after(20, 1.03e-5, 1e-7)}),
    FactPair("KL to the reference 0", {"ref_kl_token": 0.0}, count=10, other_count=9),
    FactPair("KL to the reference stays tiny", {"ref_kl_token": 0.00291},
         {"ref_kl_token": 0.00309}),
    FactPair("KL to the reference stays tiny", {"ref_kl_token": after(24, 0.001, 0.01)},
         {"ref_kl_token": after(28, 0.001, 0.01)}),
    FactPair("KL to the reference stays tiny", {"ref_kl_token": 1.03e-5},
         {"ref_kl_token": 0.97e-5}),
    FactPair("KL to the reference above 0.1 a token within 20 updates",
         {"ref_kl_token": at(19, 0.103, 0.01)}, {"ref_kl_token": at(19, 0.097, 0.01)}),
    FactPair("KL to the reference above 0.1 a token within 20 updates",
         {"ref_kl_token": after(19, 0.2, 0.01)}, {"ref_kl_token": after(20, 0.2, 0.01)}),
    FactPair("samples clipped, more than 15 %", {"clip_fraction": 0.155},
         {"clip_fraction": 0.145}),
    FactPair("samples clipped, more than 15 %",
         {"clip_fraction": None, "clip_low": 0.08, "clip_high": 0.075},
         {"clip_fraction": None, "clip_low": 0.08, "clip_high": 0.065}),
    FactPair("never clipped, though batches are used again",
         {"ref_kl_token": 0.2, "clip_high": 0.0, "reward_mean": each(2, 0.5)},
         {"ref_kl_token": 0.2, "clip_high": at(4, 1e-4, 0.0), "reward_mean": each(2, 0.5)}),
    FactPair("never clipped, though batches are used again",
         {"ref_kl_token": 0.2, "clip_high": 0.0, "reward_mean": each(2, 0.5)},
         {"ref_kl_token": 0.2, "clip_high": 0.0, "reward_mean": 0.5}),
    FactPair("never clipped, though batches are used again",
         {"ref_kl_token": 0.2, "clip_high": 0.0, "reward_mean": each(2, 0.5)},
         {"ref_kl_token": 0.09, "clip_high": 0.0, "reward_mean": each(2, 0.5)}),
    FactPair("gradient 0", {"grad_norm": 0.97e-6}, {"grad_norm": at(3, 1.03e-6, 0.0)}),
    FactPair("groups of equal rewards", {"frac_zero_std": 0.82}, {"frac_zero_std": 0.78}),
    FactPair("rewards average nothing beside their spread",
         {"reward_mean": lambda i: 0.145 + (-1) ** i, "reward_std": 10.0},
         {"reward_mean": lambda i: 1.6 + (-1) ** i, "reward_std": 10.0}),
    FactPair("rewards average nothing beside their spread",
         {"reward_mean": 0.1, "reward_std": 10.0}, count=5, other_count=4),
    FactPair("completions never at the length limit", {"truncated_frac": at(5, 0.19, 0.0)},
         {"truncated_frac": at(5, 0.21, 0.0)}),
    FactPair("more than 8 updates a batch of completions", {"reward_mean": each(8, 0.5)},
         {"reward_mean": each(7, 0.5)}, count=56, other_count=56),
)
# fmt: on

PAIRS = (
    *CONTROL,
    *(replace(pair, family="grpo") for pair in LANGUAGE),
    *(replace(pair, family="off-policy") for pair in REPLAY),
    *(replace(pair, family="value-based") for pair in EPSILON),
)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.fact)
def test_a_fact_rests_on_these_rows(pair: FactPair) -> None:
    """It holds in the first log; in the other one it does not, or cannot be told."""
    base = BASES[pair.family]
    other = {**base, **(pair.not_in or pair.holds)}
    assert seen({**base, **pair.holds}, pair.count, pair.family, pair.config)[pair.fact]
    found = seen(other, pair.other_count, pair.family, pair.other_config)
    assert not found.get(pair.fact)


@pytest.mark.parametrize("rule", ["non-finite", "hidden-nan"])
def test_what_was_no_number_once_is_not_forgotten(rule: str) -> None:
    """The value itself may have been followed by others."""
    run = JudgedRun(Profile("sb3", "on-policy"))
    for row in draw_rows(CTRL_COLUMNS, 5):
        run.add_row(row)
    assert facts_seen(run)["never NaN or infinite"]
    run.opened_rows[rule] = 2
    assert not facts_seen(run)["never NaN or infinite"]


def test_a_start_to_compare_with_takes_three_points() -> None:
    """Before that nobody knows where the reward began."""
    assert "reward below its start" not in seen(CTRL_COLUMNS, 2, "on-policy", {})
    assert seen(CTRL_COLUMNS, 3, "on-policy", {})["reward below its start"] is False


def drawn_base(family: str) -> DrawnColumns:
    """All metrics that a family's facts may rest on."""
    return {
        **HEALTHY_COLUMNS[family],
        **BASES.get(family, {}),
        "policy_std": 1.0,
        "value_mean": 5.0,
    }


@pytest.mark.parametrize("family", sorted(HEALTHY_COLUMNS))
@pytest.mark.parametrize("count", [0, 1, 4, 12])
def test_any_log_can_be_asked(family: str, count: int) -> None:
    """One metric alone, and all but one, however short: every answer is yes, no, or none."""
    base = drawn_base(family)
    logs = [{name: base[name]} for name in base]
    logs += [{other: base[other] for other in base if other != name} for name in base]
    for columns in logs:
        assert set(seen(columns, count, family, {})) <= set(FACTS)
