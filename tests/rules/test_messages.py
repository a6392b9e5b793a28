"""What findings say: a message names what is seen in the run, and nothing that is not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from ppo_top.model import ConfigValue, Profile
from tests.rules.courses import (
    FALLS,
    FLAT,
    NO_LOSS,
    NO_SIZES,
    RISES,
    STILL,
    after,
    at,
    fallen,
    learned,
    steady_gain,
    surprised,
)
from tests.rules.specification import UPDATE_MEANS, rule_cases
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    SB3_TAGS,
    TRAINER_BY_FAMILY,
    DrawnColumns,
    draw_rows,
    findings,
    jitter,
)


@dataclass(frozen=True)
class Words:
    """Words of a rule's message in a course, and what is replaced in one where they do not stand.

    The rule speaks in both.
    """

    rule: str
    text: str
    course: DrawnColumns
    differs: DrawnColumns = field(default_factory=dict)
    family: str = "on-policy"
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    differs_config: Mapping[str, ConfigValue] = field(default_factory=dict)
    trainer: str = ""

    def messages(self, *, differs: bool) -> str:
        """All that the rule says of one of the courses."""
        columns = {
            **HEALTHY_COLUMNS[self.family],
            **self.course,
            **(self.differs if differs else {}),
        }
        config = {**self.config, **(self.differs_config if differs else {})}
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        samples = {"reward_mean": UPDATE_MEANS}
        profile = Profile(trainer, self.family, config, samples=samples, tags=SB3_TAGS)
        found = findings(profile, draw_rows(columns))
        return "\n".join(each.message for each in found if each.rule == self.rule)


LARGE: DrawnColumns = {"approx_kl": after(36, 0.5, 0.01), "reward_mean": fallen}
FAR: DrawnColumns = {"approx_kl": after(30, 0.9, 0.01), **FLAT}
JUMPED: DrawnColumns = {
    "ref_kl_token": after(36, 0.7, 0.1), **FALLS, "clip_fraction": None, "clip_low": None,
    "clip_high": None,
}  # fmt: skip
NO_SPREAD: DrawnColumns = {
    "frac_zero_std": None, "reward_std": after(30, 0.0, 1.0), "grad_norm": after(30, 1e-9, 0.8),
}  # fmt: skip
RAMBLES: DrawnColumns = {
    "entropy": after(30, 3.0, 0.6), "truncated_frac": after(30, 0.6, 0.05), **FALLS,
}  # fmt: skip
CLIMBS: DrawnColumns = {"ref_kl": lambda i: 1 + 0.3 * i, "value_clip_fraction": 0.5}

# fmt: off
WORDS = (
    Words("updates-too-large", "KL up to 0.5", LARGE, {"approx_kl": after(36, 0.2, 0.01)}),
    Words("updates-too-large", "up to 60 % clipped", {**LARGE, "clip_fraction": after(36, 0.6,
          0.1)}, {"clip_fraction": None}),
    Words("updates-too-large", "clipped", LARGE, {"clip_fraction": None}),
    Words("updates-too-large", "ratio 1.7", {**LARGE, "ratio_mean": after(34, 1.7, 1.0)},
          {"ratio_mean": 1.0}),
    Words("updates-too-large", "KL to the reference up to 0.7 a token", JUMPED, {"approx_kl":
          after(36, 0.5, 0.01)}, "grpo"),
    Words("updates-too-large", "updates too large: learning rate jumped, and", {**NO_SIZES, "lr":
          after(36, 3e-2, 3e-4), "reward_mean": fallen}, {"clip_fraction": after(36, 0.6, 0.1)}),
    Words("updates-too-large", "learning rate 0.01 is high", {**LARGE, "lr": None}, {}, config=
          {"learning_rate": 0.01}, differs_config={"learning_rate": 1e-3}),
    Words("updates-too-large", "learning rate 0.01 is high", {**LARGE, "lr": None}, {"lr": 1e-3},
          config={"learning_rate": 0.01}),
    Words("updates-too-large", "learning rate 0.0002 is high", {**JUMPED, "lr": 2e-4}, {"lr":
          1e-6}, "grpo"),
    Words("updates-too-large", "clip range 0.6 is wide", {**LARGE, "clip_range": 0.6},
          {"clip_range": 0.2}),
    Words("learning-rate-too-high", "policy loss 0.1", {**FAR, "policy_loss": after(30, 0.1,
          -0.01)}, {"policy_loss": -0.01, "entropy": after(20, 0.002, 0.69)}),
    Words("learning-rate-too-high", "entropy 0.002", {**FAR, "policy_loss": after(30, 0.1, -0.01),
          "entropy": after(20, 0.002, 0.69)}, {"entropy": 0.69}),
    Words("reward-hacking", "evaluation falls", {**CLIMBS, "resp_len_mean": after(25, 80.0, 50.0),
          "eval_reward_mean": lambda i: 1.0 - 0.05 * i if i % 5 == 0 else None},
          {"eval_reward_mean": None}, "rlhf"),
    Words("reward-hacking", "completion length +60%", {**CLIMBS, "resp_len_mean": after(25, 80.0,
          50.0)}, {"resp_len_mean": after(25, 20.0, 50.0)}, "rlhf"),
    Words("no-learning-signal", "all rewards are equal within each group", {"frac_zero_std": 1.0,
          **STILL}, NO_SPREAD, "grpo"),
    Words("no-learning-signal", "the gradient is zero", {"frac_zero_std": after(32, 1.0, 0.2),
          **STILL, "grad_norm": after(30, 1e-9, 0.8)}, {"grad_norm": 0.8}, "grpo"),
    Words("mismatch-collapse", "log-probs differ by 0.3", {"logp_diff_mean": after(30, 0.3, 0.01),
          "is_ratio_mean": after(30, 0.3, 1.0), **FALLS}, {"logp_diff_mean": None}, "grpo"),
    Words("runaway-generation", "60 % of the text", RAMBLES, {"truncated_frac": after(30, 0.7,
          0.05)}, "grpo"),
    Words("sampler-exploited", "KL to the reference is -2", {"ref_kl": after(20, -2.0, 0.1),
          **RISES}, {"ref_kl": after(20, -3.0, 0.1)}, "rlhf"),
    Words("premature-convergence", "entropy 0.05", {"entropy": after(12, 0.05, 1.0), **FLAT},
          {"entropy": after(12, 0.02, 1.0)}),
    Words("reward-parts-diverge", "but format -", {"reward_component_mean{format}": lambda i: 0.9 -
          0.01 * i, "reward_component_mean{accuracy}": lambda i: 0.1 + 0.01 * i},
          {"reward_component_mean{format}": lambda i: 0.1 + 0.01 * i,
          "reward_component_mean{accuracy}": lambda i: 0.9 - 0.01 * i}, "grpo"),
    Words("reward-part-flat", "format is still 0 after", {"reward_component_mean{format}": 0.0},
          {"reward_component_mean{format}": None, "reward_component_mean{style}": 0.0}, "grpo"),
    Words("length-runaway", "short answers pay", {"resp_len_mean": after(20, 10.0, 100.0),
          **RISES}, STILL, "grpo"),
    Words("rlhf-reward-falls", "score rises", {"rlhf_reward": lambda i: 2 - 0.05 * i, **RISES},
          STILL, "rlhf"),
    Words("setting-extreme", "the critic is not trained", {"explained_variance": 0.1}, {},
          config={"vf_coef": 0.0}, differs_config={"vf_coef": -1.0}),
    Words("at-ceiling", "unless more than that is possible", {"reward_mean": lambda i: min(500.0,
          20.0 + 16.0 * i)}, {"reward_mean": lambda i: min(1.0, 0.05 * i)}),
    Words("at-ceiling", "reward has reached its goal (300)", {"reward_mean": lambda i: min(500.0,
          20.0 + 16.0 * i)}, config={"reward_threshold": 300}, differs_config={"reward_threshold":
          400}),
    Words("no-op-updates", "the clip range 0.001 holds the policy: 31 % clipped", {"approx_kl":
          1e-8, "clip_fraction": 0.31, "entropy": 0.69, **FLAT}, {"clip_fraction": 0.0}, config=
          {"clip_range": 0.001}),
    Words("clip-not-binding", "although 6 % is clipped", {"clip_fraction": 0.06, "approx_kl": 0.06,
          "clip_range": 0.4}, {"clip_fraction": 0.04}),
    Words("clip-not-binding", "the clip range 0.4 is wide", {"clip_fraction": 0.0, "clip_range":
          0.4}, {"clip_range": 0.5}),
    Words("reward-never-moves", "has not risen above", {"reward_mean": lambda i: jitter(i, 6) +
          (100.0 if i < 6 else 84.0), "ep_len": 100.0}, {"reward_mean": lambda i: jitter(i, 6) +
          (100.0 if i < 6 else 96.0)}, config={"total_timesteps": 60_000}),
    Words("returns-changed", "explained variance 0.9 -> 0.1", surprised(), {"explained_variance":
          at(40, 0.2, 0.9)}),
    Words("exploration-not-falling", ": epsilon has not fallen", {**FLAT, "exploration_rate": 0.9},
          {"exploration_rate": lambda i: 0.95 - 0.004 * i}, "value-based", {"total_timesteps":
          60_000}),
    Words("exploration-not-falling", "of the run", {**FLAT, "exploration_rate": lambda i: 0.95 -
          0.004 * i}, {"exploration_rate": 0.9}, "value-based", {"total_timesteps": 60_000}),
    Words("value-loss-rising", "the critic cannot keep up", {"explained_variance": 0.1,
          "value_loss": lambda i: 5.0 * 1.05**i, **FLAT}, {"reward_mean": learned}),
    Words("value-loss-rising", "the critic cannot keep up", {"explained_variance": 0.1,
          "value_loss": lambda i: 5.0 * 1.05**i, "reward_mean": lambda i: 0.02 * learned(i)},
          {"value_loss": 60.0}, "rlhf"),
    Words("reward-length-diverge", "; at first they moved together", {"ep_len": lambda i: 20 + 3.0
          * i if i < 35 else 125 - 3.0 * (i - 35)}, {"ep_len": lambda i: 125 - 3.0 * i if i < 35
          else 20 + 3.0 * (i - 35)}),
    Words("eval-gap", "evaluation falls (190 -> 60)", {"reward_mean": steady_gain,
          "eval_reward_mean": lambda i: {30: 200.0, 35: 190.0, 40: 120.0, 45: 60.0}.get(i)},
          {"eval_reward_mean": lambda i: {30: 200.0, 35: 180.0, 40: 120.0, 45: 60.0}.get(i)}),
    Words("long-tails", "the distribution of rewards has", {"reward_p1": -1.0, "reward_p50": 0.0,
          "reward_p99": 9.0}, {"reward_p1": None, "adv_p1": -1.0, "adv_p50": 0.0, "adv_p99": 9.0},
          "rlhf"),
    Words("nothing-learns", "entropy and reward where they started", {"approx_kl": 1e-9,
          "clip_fraction": 0.0, "entropy": 0.692, **FLAT}, {"entropy": None}, config=
          {"total_timesteps": 60_000}),
    Words("nothing-learns", "entropy and reward where they started", {"approx_kl": 1e-9,
          "clip_fraction": 0.0, "entropy": 0.692, **FLAT}, {"entropy": after(12, 0.09, 1.0)},
          config={"total_timesteps": 60_000}),
    Words("no-reward", "the reward has been NaN in every update", {"reward_mean": math.nan,
          "ep_len": math.nan}, {"reward_mean": None}),
    Words("at-ceiling", "unless more than that is possible", {"reward_mean": lambda i: min(1.0,
          -0.5 + 0.05 * i)}, {"reward_mean": lambda i: min(1.0, 0.05 * i)}),
    Words("at-ceiling", "unless more than that is possible", {"reward_mean": lambda i: min(2.0,
          0.1 * i)}, {"reward_mean": lambda i: min(1.0, 0.05 * i)}),
    Words("non-finite", "value loss became NaN", {"value_loss": after(30, math.nan, 5.0)},
          {"value_loss": math.nan}),
    Words("non-finite", ", and 4 more: ", {name: after(30, math.nan, 5.0) for name in ("value_loss",
          "policy_loss", "total_loss", "approx_kl", "entropy")}, {"entropy": 5.0}),
    Words("non-finite", "value loss became NaN, and 1 more: policy loss", {"value_loss": after(30,
          math.nan, 5.0), "policy_loss": after(30, math.nan, 5.0)}, {"policy_loss": 5.0}),
    Words("clip-not-binding", "is wide", {"clip_fraction": 0.0, "approx_kl": 0.2,
          "clip_range": 0.5}, {"clip_range": 0.2}),
    Words("entropy-collapsed", "from 1 to 0.05 within 15 updates", {"entropy": after(12, 0.05,
          1.0), **FLAT}, {"entropy": after(40, 0.05, 1.0)}),
    Words("entropy-collapsed", "over the run", {"entropy": after(40, 0.05, 1.0), **FLAT},
          {"entropy": after(12, 0.05, 1.0)}),
    Words("not-training", "beyond the end", NO_LOSS, {}, "off-policy", {"total_timesteps": 60_000,
          "learning_starts": 1e9}, differs_config={"learning_starts": 1000}),
)
# fmt: on


@pytest.mark.parametrize("words", WORDS, ids=lambda words: f"{words.rule}: {words.text}")
def test_a_message_names_what_is_seen(words: Words) -> None:
    """The words stand where the log shows it, and not where it does not."""
    assert words.text in words.messages(differs=False)
    otherwise = words.messages(differs=True)
    assert otherwise and words.text not in otherwise


VALUE_OF = {
    "premature-convergence": "entropy", "critic-failing": "explained_variance",
    "nothing-learns": "approx_kl", "reward-scale-too-large": "value_loss",
    "sampler-exploited": "ref_kl", "kl-controller-saturated": "ref_kl",
    "kl-penalty-too-strong": "non_score_reward", "reward-hacking": "ref_kl_token",
    "no-learning-signal": "frac_zero_std", "mismatch-collapse": "logp_diff_mean",
    "runaway-generation": "truncated_frac",
}  # fmt: skip
"""The metric whose value stands for a diagnosis across several."""


@pytest.mark.parametrize("rule", VALUE_OF)
def test_a_diagnosis_holds_the_value_it_rests_on(rule: str) -> None:
    """Reports and scripts are given the metric's value in the row where it became as bad."""
    case = rule_cases()[rule]
    rows = case.rows(case.sick)
    finding = next(each for each in findings(case.profile, rows) if each.rule == rule)
    assert finding.value == rows[finding.changes[-1].mark.row].values[VALUE_OF[rule]]


@pytest.mark.parametrize("rule", [rule for rule, case in rule_cases().items() if case.sick])
def test_a_message_does_not_begin_with_the_title_above_it(rule: str) -> None:
    """`No learning signal`, and below it `all rewards are equal within each group`."""
    case = rule_cases()[rule]
    found = [each for each in findings(case.profile, case.rows(case.sick)) if each.rule == rule]
    assert found
    assert not any(each.message.lower().startswith(f"{each.title.lower()}:") for each in found)


@pytest.mark.parametrize(
    ("rule", "family", "course", "limit"),
    [
        ("ratio-off", "on-policy", {"ratio_mean": 1.7}, 1.0),
        ("ratio-off", "on-policy", {"ratio_mean": 3.0}, 1.0),
        ("sampler-mismatch", "grpo", {"is_ratio_mean": 3.0}, 1.0),
        ("sampler-mismatch", "grpo", {"is_ratio_mean": 20.0}, 1.0),
        ("clip-high", "on-policy", {"clip_fraction": 0.6}, 0.2),
        ("critic-not-learning", "on-policy", {"explained_variance": -0.5, **FLAT}, 0.05),
        ("preference-at-chance", "preference", {"preference_accuracy": 0.5}, 0.56),
        ("ref-kl-high", "rlhf", {"ref_kl": 30.0}, 10.0),
        ("ref-kl-negative", "rlhf", {"ref_kl": -0.5}, 0.0),
        ("kl-early-stop", "on-policy", {"n_updates": lambda i: 3.0 * i}, 10.0),
    ],
)
def test_a_value_is_held_against_the_limit_it_passed(
    rule: str, family: str, course: DrawnColumns, limit: float
) -> None:
    """Or what it should be: it stands beside the value in reports, and is drawn in charts."""
    config: dict[str, ConfigValue] = {"n_epochs": 10, "target_kl": 0.01, "max_steps": 60_000}
    about = Profile(TRAINER_BY_FAMILY[family], family, config)
    found = findings(about, draw_rows({**HEALTHY_COLUMNS[family], **course}))
    assert {each.limit for each in found if each.rule == rule} == {limit}
