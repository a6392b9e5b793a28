"""Language models: windows, counts and conditions of rules that the other tables leave open."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.cases import after, at
from tests.rules.specifications import Contrast
from tests.rules.specifications_llm import RISES, STILL
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
JUDGED: DrawnColumns = {"reward_component_mean{reward-model}": 0.5}
"""A part of the reward that a model gives, which can be exploited."""

# fmt: off
DRIFT_PAIRS = (
    Contrast("ref-kl-token-high", "a leap ends above three tenths", {"ref_kl_token": at(40,
         0.31, 0.02), **STILL}, {"ref_kl_token": at(40, 0.29, 0.02)}, WARN, 0, family="grpo"),
    Contrast("ref-kl-token-high", "the usual is that of twenty updates", {"ref_kl_token":
         lambda i: 0.33 if i == 40 else 0.02 if 20 <= i < 30 else 0.04, **STILL},
         {"ref_kl_token": at(40, 0.33, 0.04)}, WARN, 0, family="grpo"),
    Contrast("ref-kl-token-high", "the score is stuck beyond a nat", {"ref_kl_token": 1.03,
         **STILL, **JUDGED}, RISES, CRIT, WARN, family="grpo"),
    Contrast("ref-kl-zero", "a reference is known to be there", {"ref_kl_token": 1e-9,
         **STILL}, {"ref_kl_token": 0.0}, INFO, 0, family="grpo", trainer="openrlhf", count=70),
    Contrast("ref-kl-zero", "a KL of 0 says that there is no reference", {"ref_kl_token": 0.0,
         **STILL}, {}, INFO, 0, family="grpo", trainer="verl", otherwise_trainer="openrlhf",
         count=70),
    Contrast("drift-without-gain", "a token's KL doubles", {"ref_kl_token": lambda i: 0.06 *
         2.06 ** (i / 24), **STILL}, {"ref_kl_token": lambda i: 0.06 * 1.94 ** (i / 24)}, WATCH,
         0, family="grpo"),
    Contrast("drift-without-gain", "a token's KL has reached a tenth", {"ref_kl_token": lambda
         i: min(0.103, 0.01 * 1.08**i), **STILL}, {"ref_kl_token": lambda i: min(0.097, 0.01 *
         1.08**i)}, WATCH, 0, family="grpo"),
    Contrast("drift-without-gain", "three pairs of four rise", {"ref_kl": lambda i: 6.0 + 0.1 *
         i + jitter(i, 1.6), **STILL}, {"ref_kl": lambda i: 6.0 + 0.1 * i + jitter(i, 9.0)},
         WATCH, 0, family="rlhf"),
    Contrast("rlhf-reward-falls", "the score was gained in vain", {**RISES, "rlhf_reward": 0.3},
         STILL, WATCH, 0, family="rlhf", count=90),
    Contrast("rlhf-reward-falls", "it falls by more than noise", {**STILL, "rlhf_reward":
         lambda i: 2.0 - 0.05 * i}, {"rlhf_reward": lambda i: 2.0 - 0.0005 * i}, WATCH, 0,
         family="rlhf"),
)

TIE_PAIRS = (
    Contrast("zero-variance-groups", "all groups of sixteen rows tie", {"frac_zero_std": 1.0,
         **STILL}, {"frac_zero_std": lambda i: 0.5 if i % 16 == 0 else 1.0}, CRIT, WARN,
         family="grpo"),
    Contrast("zero-variance-groups", "sixteen rows of one group are known", {"frac_zero_std":
         1.0, **STILL}, {}, CRIT, WATCH, family="grpo", count=22, otherwise_count=15),
    Contrast("zero-variance-groups", "more than four fifths of sixteen rows tie",
         {"frac_zero_std": lambda i: 0.0 if i % 16 in (0, 5) else 1.0, **STILL},
         {"frac_zero_std": lambda i: 0.0 if i % 16 in (0, 5, 9, 13) else 1.0}, WARN, WATCH,
         family="grpo"),
    Contrast("zero-variance-groups", "rewards never differ at all", {"frac_zero_std": 1.0,
         "reward_mean": 0.5}, STILL, CRIT, WATCH, family="grpo", count=12),
    Contrast("zero-variance-groups", "the reward is below its ceiling", {"frac_zero_std": after(20,
         0.93, 0.2), "reward_mean": lambda i: 0.8 + jitter(i, 0.02)}, {"reward_mean": lambda i:
         0.98 + 0.02 * (i % 2)}, WARN, INFO, family="grpo"),
    Contrast("zero-variance-groups", "a hard task is no longer new", {"frac_zero_std": 0.93,
         "reward_mean": lambda i: 0.05 + jitter(i, 0.005)}, {}, WARN, WATCH, family="grpo",
         count=58, otherwise_count=48),
    Contrast("zero-variance-groups", "rewards are at the lowest they can be", {"frac_zero_std":
         0.93, "reward_mean": lambda i: -0.05 + jitter(i, 0.005)}, {"reward_mean": lambda i:
         0.05 + jitter(i, 0.005)}, WARN, WATCH, family="grpo", count=40),
    Contrast("zero-variance-groups", "both ends of the advantages are 0", {"frac_zero_std":
         None, "adv_max": 0.0, "adv_min": 0.0}, {"adv_min": -0.1}, CRIT, 0, family="grpo"),
    Contrast("zero-variance-groups", "the std of all rewards stands for the groups'",
         {"frac_zero_std": None, "reward_std": 0.97e-6}, {"reward_std": 1.03e-6}, CRIT, 0,
         family="grpo"),
    Contrast("reward-spread-gone", "seven of ten rows have none", {"reward_std": lambda i: 1.0
         if i < 24 or i % 10 in (1, 5) else 0.01}, {"reward_std": lambda i: 1.0 if i < 24 or i %
         10 in (1, 3, 5, 7) else 0.01}, WATCH, 0, family="grpo"),
    Contrast("reward-spread-gone", "the task is not solved", {"reward_std": after(30, 0.01,
         1.0), **STILL}, {"reward_mean": lambda i: 0.98 + 0.02 * (i % 2)}, WATCH, INFO,
         family="grpo"),
    Contrast("clip-one-sided", "the lower side is hardly clipped", {"clip_low": 0.0029,
         "clip_high": 0.03}, {"clip_low": 0.0031}, INFO, 0, family="grpo"),
    Contrast("reward-part-flat", "it is not at its top", {"reward_component_mean{format}":
         lambda i: 0.5 + jitter(i, 0.3), **RISES}, {"reward_component_mean{format}": lambda i:
         0.98 + jitter(i, 0.01)}, WATCH, 0, family="grpo", count=150),
)

TEXT_PAIRS = (
    Contrast("completions-truncated", "three of ten are", {"truncated_frac": after(10, 0.31,
         0.1)}, {"truncated_frac": after(10, 0.29, 0.1)}, WARN, 0, family="grpo"),
    Contrast("completions-truncated", "the last five rows were cut off whole",
         {"truncated_frac": 1.0}, {"truncated_frac": lambda i: 0.9 if i % 5 == 0 else 1.0},
         CRIT, WATCH, family="grpo"),
    Contrast("length-runaway", "short answers are no shortcut to rewards", {"resp_len_mean":
         after(30, 30.0, 120.0), **STILL}, {"resp_len_mean": 120.0}, WATCH, 0, family="grpo"),
    Contrast("length-runaway", "ten lengths make the usual one", {"resp_len_mean": lambda i:
         100.0 if i < 4 else 110.0 if i < 10 else 223.0, **STILL}, {"resp_len_mean": lambda i:
         100.0 if i < 4 else 110.0 if i < 10 else 217.0}, WATCH, 0, family="grpo"),
    Contrast("prompts-changed", "ten prompts of each time are compared", {"query_len_mean":
         lambda i: 20.0 if i < 6 else 31.0}, {"query_len_mean": lambda i: 20.0 if i < 5 else
         31.0}, INFO, 0, family="rlhf"),
    Contrast("logprobs-shift", "the reference is far less certain", {"logprobs_dist": -0.01,
         "ref_logprobs_dist": -0.35}, {"ref_logprobs_dist": -0.05}, INFO, 0, family="rlhf"),
    Contrast("sampler-mismatch", "samples grow twice as old", {"staleness": lambda i: 2.0 +
         0.05 * i}, {"staleness": lambda i: 2.0 + 0.02 * i}, WATCH, 0, family="grpo", count=50),
    Contrast("sampler-mismatch", "samples grew old in twenty updates", {"staleness": lambda i:
         1.0 + 0.3 * i}, {}, WATCH, 0, family="grpo", count=25, otherwise_count=20),
)

PAIRS = (*DRIFT_PAIRS, *TIE_PAIRS, *TEXT_PAIRS)
