"""Language models, and diagnoses across metrics: what rules about them depend on."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from tests.rules.cases import after, at, fallen, rise
from tests.rules.specifications import FLAT, Contrast, steady_gain
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan

STILL: DrawnColumns = {"reward_mean": lambda i: 0.5 + jitter(i, 0.02)}
"""A score that does not move."""

GAINS: DrawnColumns = {"reward_mean": lambda i: 0.2 + 0.02 * min(i, 20) + jitter(i, 0.02)}
"""A score that was gained and then stays."""

RISES: DrawnColumns = {"reward_mean": lambda i: 0.1 + 0.012 * i + jitter(i, 0.02)}
FALLS: DrawnColumns = {"reward_mean": lambda i: min(0.9, 0.1 + 0.04 * i) - 0.04 * max(0, i - 35)}

# fmt: off
REFERENCE_PAIRS = (
    Contrast("ref-kl-high", "the responses are long", {"ref_kl": 25.0, "resp_len_mean": 240.0},
         {"resp_len_mean": 260.0}, WARN, WATCH, family="rlhf"),
    Contrast("ref-kl-high", "the longest response is known", {"ref_kl": 25.0, "resp_len_mean":
         None}, {}, WARN, WATCH, family="rlhf", differs_config={"max_completion_length": 260}),
    Contrast("ref-kl-high", "it is half a nat a token", {"ref_kl": 15.0, "resp_len_mean": 29.0,
         **STILL}, {"resp_len_mean": 31.0}, CRIT, WATCH, family="rlhf"),
    Contrast("ref-kl-high", "the score is stuck", {"ref_kl": 60.0, "resp_len_mean": None,
         **STILL}, RISES, CRIT, WARN, family="rlhf"),
    Contrast("ref-kl-high", "it accelerates threefold", {"ref_kl": lambda i: 11.0 + 0.163 *
         max(0, i - 35), "resp_len_mean": None}, {"ref_kl": lambda i: 11.0 + 0.153 * max(0, i -
         35)}, WARN, WATCH, family="rlhf"),
    Contrast("ref-kl-token-high", "rules pay for it", {"ref_kl_token": after(30, 0.5, 0.06),
         **STILL}, RISES, WARN, INFO, family="grpo"),
    Contrast("ref-kl-token-high", "a learned model judges, which can be exploited",
         {"ref_kl_token": after(30, 0.5, 0.06), **RISES, "reward_component_mean{reward-model}":
         0.5}, {"reward_component_mean{reward-model}": None}, WATCH, INFO, family="grpo"),
    Contrast("ref-kl-token-high", "a model with a version judges", {"ref_kl_token": after(30,
         0.5, 0.06), **RISES, "reward_component_mean{judge1.5}": 0.5},
         {"reward_component_mean{judge1.5}": None}, WATCH, INFO, family="grpo"),
    Contrast("ref-kl-token-high", "it leaps by half a nat", {"ref_kl_token": at(40, 0.62, 0.1),
         **STILL}, {"ref_kl_token": at(40, 0.58, 0.1)}, WARN, 0, family="grpo"),
    Contrast("ref-kl-token-high", "it leaps from the lowest of five", {"ref_kl_token": lambda i:
         0.62 if i == 40 else 0.1 if i < 36 else 0.2, **STILL}, {"ref_kl_token": lambda i: 0.62
         if i == 40 else 0.1 if i < 35 else 0.2}, WARN, 0, family="grpo"),
    Contrast("ref-kl-token-high", "it is ten times the usual", {"ref_kl_token": at(40, 0.33,
         0.032), **STILL}, {"ref_kl_token": at(40, 0.33, 0.034)}, WARN, 0, family="grpo"),
    Contrast("ref-kl-negative", "the estimate of a token is never below 0", {"ref_kl_token":
         -1.1e-3}, {"ref_kl_token": -0.9e-3}, CRIT, 0, family="grpo"),
    Contrast("ref-kl-negative", "an estimate that is negative by chance is so for long",
         {"ref_kl_token": -0.0103}, {"ref_kl_token": -0.0097}, WARN, 0, family="grpo",
         trainer="verl"),
    Contrast("ref-kl-negative", "it is more than a moment", {"ref_kl": after(30, -0.5, 1.0)},
         {"ref_kl": lambda i: -0.5 if i > 30 and i % 3 == 0 else 1.0}, WARN, 0, family="rlhf"),
    Contrast("ref-kl-zero", "it was thirty times as much before", {"ref_kl": lambda i: 0.31 if i
         < 30 else 0.001, **STILL}, {"ref_kl": lambda i: 0.29 if i < 30 else 0.001}, WATCH, 0,
         family="rlhf", count=48),
    Contrast("ref-kl-zero", "fifty updates have passed", {"ref_kl": 0.001, **STILL}, {}, INFO,
         0, family="rlhf", count=58, otherwise_count=55),
    Contrast("ref-kl-zero", "the score moves", {"ref_kl": 0.001, **STILL}, RISES, INFO, 0,
         family="rlhf", count=70),
    Contrast("ref-kl-zero", "a hundred and fifty updates have passed", {"ref_kl": 0.001,
         **STILL}, {}, WATCH, INFO, family="rlhf", count=158, otherwise_count=155),
    Contrast("drift-without-gain", "the score moves", {"ref_kl": lambda i: 1 + 0.15 * i,
         **STILL}, RISES, WATCH, 0, family="rlhf"),
    Contrast("drift-without-gain", "it climbs at all", {"ref_kl": lambda i: 1 + 0.15 * i,
         **STILL}, {"ref_kl": lambda i: 9.0 + jitter(i, 1)}, WATCH, 0, family="rlhf"),
    Contrast("drift-without-gain", "it has reached five nats", {"ref_kl": lambda i: 0.1 + 0.089
         * i, **STILL}, {"ref_kl": lambda i: 0.1 + 0.079 * i}, WATCH, 0, family="rlhf"),
    Contrast("drift-without-gain", "it climbed by two nats", {"ref_kl": lambda i: 8.0 + 0.087 *
         i, **STILL}, {"ref_kl": lambda i: 8.0 + 0.080 * i}, WATCH, 0, family="rlhf"),
)

PENALTY_PAIRS = (
    Contrast("kl-coef-rising", "the KL does not come down", {"kl_coef": lambda i: 0.05 *
         1.02**i, "ref_kl": 8.0, **STILL}, {"ref_kl": lambda i: 8.0 * 0.97**i}, WATCH, INFO,
         family="rlhf"),
    Contrast("kl-coef-rising", "it rose by a fifth in twenty updates", {"kl_coef": lambda i:
         0.05 * 1.0099 ** max(0, i - 36), "ref_kl": 8.0}, {"kl_coef": lambda i: 0.05 * 1.0089 **
         max(0, i - 36), "ref_kl": 8.0}, WATCH, 0, family="rlhf"),
    Contrast("kl-coef-rising", "it rose by half in fifty updates", {"kl_coef": lambda i: 0.05 *
         (1.0085**i if i < 52 else 1.0085**52), "ref_kl": 1.0}, {"kl_coef": lambda i: 0.05 *
         1.0080**i, "ref_kl": 1.0}, INFO, 0, family="rlhf"),
    Contrast("kl-penalty-dominates", "it costs half a standard deviation", {"non_score_reward":
         -0.52, "reward_std": 1.0, **STILL}, {"non_score_reward": -0.48}, WATCH, 0,
         family="rlhf"),
    Contrast("kl-penalty-dominates", "the score gained more", {"non_score_reward": -0.52,
         "reward_std": 1.0, **STILL}, {"reward_mean": lambda i: 0.2 + 0.05 * i}, WATCH, 0,
         family="rlhf"),
    Contrast("kl-penalty-dominates", "the cost is counted a token", {"non_score_reward":
         -0.0103, "reward_std": 1.0, "resp_len_mean": 50.0, **STILL}, {"non_score_reward":
         -0.0097}, WATCH, 0, family="rlhf", trainer="trl-legacy"),
    Contrast("rlhf-reward-falls", "it falls", {"reward_mean": lambda i: 0.2 + 0.05 * i +
         jitter(i, 0.05), "rlhf_reward": lambda i: 2 - 0.05 * i + jitter(i, 0.05)},
         {"rlhf_reward": lambda i: 0.2 + 0.05 * i + jitter(i, 0.05)}, WATCH, 0, family="rlhf"),
)

SIGNAL_PAIRS = (
    Contrast("zero-variance-groups", "nearly all groups are solved", {"frac_zero_std": after(35,
         0.9, 0.2), "reward_mean": lambda i: min(0.85, 0.2 + 0.03 * i) + jitter(i, 0.02)},
         {"reward_mean": lambda i: min(0.93, 0.2 + 0.03 * i) + jitter(i, 0.01)}, WARN, WATCH,
         family="grpo"),
    Contrast("zero-variance-groups", "what a reward of another scale gained is kept",
         {"frac_zero_std": after(50, 0.9, 0.2), "reward_mean": lambda i: -5.0 + jitter(i, 0.2)},
         {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2)}, WARN, WATCH,
         family="grpo"),
    Contrast("zero-variance-groups", "advantages are scaled over the batch", {"frac_zero_std":
         0.9}, {}, WARN, 0, family="grpo", differs_config={"scale_rewards": "batch"}),
    Contrast("zero-variance-groups", "a hard task has just begun", {"frac_zero_std": 0.93,
         "reward_mean": lambda i: 0.11 + jitter(i, 0.005)}, {"reward_mean": lambda i: 0.09 +
         jitter(i, 0.005)}, WARN, WATCH, family="grpo", count=40),
    Contrast("zero-variance-groups", "all advantages are exactly 0", {"frac_zero_std": None,
         "adv_max": 0.0, "adv_min": 0.0}, {"adv_max": 0.1}, CRIT, 0, family="grpo"),
    Contrast("zero-variance-groups", "rewards of the groups differ", {"frac_zero_std": None,
         "group_reward_std": 1e-7}, {"group_reward_std": 1.1e-6}, CRIT, 0, family="grpo"),
    Contrast("reward-spread-gone", "it was there at the start", {"reward_std": after(30, 0.01,
         1.0)}, {"reward_std": 0.01}, WATCH, 0, family="grpo"),
    Contrast("reward-parts-diverge", "one of them falls", {"reward_component_mean{format}":
         lambda i: 0.9 - 0.01 * i}, {"reward_component_mean{format}": lambda i: 0.9 - jitter(i,
         0.1)}, WATCH, 0, family="grpo"),
    Contrast("reward-part-flat", "it never was more than 0", {"reward_component_mean{format}":
         0.0, **GAINS}, {"reward_component_mean{format}": lambda i: 0.1 * (i % 9 == 0)}, WATCH,
         0, family="grpo"),
    Contrast("reward-part-flat", "it was never learned and lost", {**GAINS,
         "reward_component_mean{format}": lambda i: 0.3 + jitter(i, 0.1)},
         {"reward_component_mean{format}": lambda i: (0.7 if 40 <= i < 90 else 0.3) + jitter(i,
         0.1)}, WATCH, 0, family="grpo", count=150),
    Contrast("reward-part-flat", "it is as high as at the start", {**GAINS,
         "reward_component_mean{format}": lambda i: 0.3 + jitter(i, 0.1)},
         {"reward_component_mean{format}": lambda i: 0.7 if i < 2 else 0.0}, WATCH, 0,
         family="grpo", count=150),
    Contrast("reward-part-flat", "it was not learned within a few updates", {**GAINS,
         "reward_component_mean{format}": lambda i: 0.5 + jitter(i, 0.1)},
         {"reward_component_mean{format}": lambda i: (0.2 if i < 3 else 0.5) + jitter(i, 0.1)},
         WATCH, 0, family="grpo", count=150),
    Contrast("clip-one-sided", "entropy falls", {"clip_low": 0.002, "clip_high": 0.03},
         {"entropy": 0.6}, INFO, 0, family="grpo"),
    Contrast("clip-one-sided", "anything is clipped", {"clip_low": 0.0, "clip_high": 1.1e-3},
         {"clip_high": 0.9e-3}, INFO, 0, family="grpo"),
)

TEXT_PAIRS = (
    Contrast("preference-inverted", "no margin is logged that rises", {"preference_accuracy":
         0.3, "preference_margin": None}, {"preference_margin": lambda i: 0.1 + 0.01 * i}, WARN,
         0, family="preference"),
    Contrast("reward-plateau", "more than four fifths of the groups tie", {"reward_mean":
         lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02), "frac_zero_std": 0.82},
         {"frac_zero_std": 0.78}, WATCH, INFO, family="grpo", count=120),
    Contrast("reward-plateau", "the learning rate has all but run out", {"reward_mean":
         lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02), "lr": lambda i: 1e-6 if i == 0 else
         0.97e-8}, {"lr": lambda i: 1e-6 if i == 0 else 1.03e-8}, WATCH, INFO, family="grpo",
         count=120),
    Contrast("reward-plateau", "a tenth of the first entropy is left", {"reward_mean":
         lambda i: min(1.0, 0.05 * i) + jitter(i, 0.02), "entropy": after(40, 0.097, 1.0)},
         {"entropy": after(40, 0.103, 1.0)}, WATCH, INFO, family="grpo", count=120),
    Contrast("preference-inverted", "it gets worse", {"preference_accuracy": 0.3,
         "preference_margin": lambda i: -0.01 * i}, {"preference_margin": lambda i: -0.5 + 0.01 *
         i}, WARN, 0, family="preference"),
    Contrast("preference-inverted", "it does not rise", {"preference_accuracy": 0.3,
         "preference_margin": lambda i: -0.01 * i}, {"preference_accuracy": lambda i: 0.2 +
         0.002 * i}, WARN, 0, family="preference"),
    Contrast("preference-inverted", "the margin falls below 0", {"preference_accuracy": 0.3,
         "preference_margin": lambda i: 0.1 - 0.01 * i}, {"preference_margin": lambda i: 1.0 -
         0.01 * i}, WARN, 0, family="preference"),
    Contrast("preference-not-learned", "the loss never left its start", {"total_loss": 0.693},
         {"total_loss": lambda i: 0.6 if i == 5 else 0.693}, WATCH, 0, family="preference"),
    Contrast("completions-truncated", "it was so from the start", {"truncated_frac": 0.5},
         {"truncated_frac": after(10, 0.5, 0.05)}, WATCH, WARN, family="grpo"),
    Contrast("completions-truncated", "it grew by a tenth", {"truncated_frac": after(10, 0.406,
         0.3)}, {"truncated_frac": after(10, 0.394, 0.3)}, WARN, WATCH, family="grpo"),
    Contrast("completions-truncated", "all of them are", {"truncated_frac": 1.0},
         {"truncated_frac": 0.99}, CRIT, WATCH, family="grpo"),
    Contrast("completions-truncated", "nine of ten are for twenty updates", {"truncated_frac":
         0.95, **STILL}, {}, WARN, WATCH, family="grpo", count=23, otherwise_count=20),
    Contrast("completions-truncated", "more than nine of ten are", {"truncated_frac": 0.91,
         **STILL}, {"truncated_frac": 0.89}, WARN, WATCH, family="grpo"),
    Contrast("completions-truncated", "the reward does not rise beside it", {"truncated_frac":
         0.95, **STILL}, RISES, WARN, WATCH, family="grpo"),
    Contrast("length-runaway", "the reward does not rise", {"resp_len_mean": after(30, 250.0,
         120.0), **STILL}, RISES, WATCH, 0, family="grpo"),
    Contrast("length-runaway", "it doubled", {"resp_len_mean": after(30, 246.0, 120.0),
         **STILL}, {"resp_len_mean": after(30, 234.0, 120.0)}, WATCH, 0, family="grpo"),
    Contrast("length-runaway", "three tenths are left", {"resp_len_mean": after(30, 35.0,
         120.0), **STILL}, {"resp_len_mean": after(30, 37.0, 120.0)}, WATCH, 0, family="grpo"),
    Contrast("no-eos", "no completion ended", {"eos_count": None, "term_len_mean": 0.0},
         {"term_len_mean": 1.0}, WARN, 0, family="grpo"),
    Contrast("no-eos", "all were cut off", {"truncated_frac": 1.0}, {"truncated_frac": 0.99},
         WARN, 0, family="grpo"),
    Contrast("no-eos", "none holds the token", {"eos_count": 0.0}, {"eos_count": 1.0}, WARN, 0,
         family="rlhf"),
    Contrast("prompts-changed", "they became shorter by half", {"query_len_mean": after(30,
         14.6, 30.0)}, {"query_len_mean": after(30, 15.4, 30.0)}, INFO, 0, family="rlhf"),
    Contrast("logprobs-shift", "the reference moves", {"logprobs_dist": -1.0,
         "ref_logprobs_dist": after(30, -3.05, -2.0)}, {"ref_logprobs_dist": after(30, -2.95,
         -2.0)}, WATCH, 0, family="rlhf"),
    Contrast("logprobs-shift", "it moves against the reference", {"logprobs_dist": after(30,
         -1.0, -2.05), "ref_logprobs_dist": -2.0}, {"logprobs_dist": after(30, -1.0, -1.95)},
         WATCH, 0, family="rlhf"),
    Contrast("logprobs-shift", "it is nearly certain", {"logprobs_dist": -0.048,
         "ref_logprobs_dist": -0.5}, {"logprobs_dist": -0.052}, INFO, 0, family="rlhf"),
    Contrast("sampler-mismatch", "the mean ratio is halved", {"is_ratio_mean": 0.485},
         {"is_ratio_mean": 0.515}, WARN, 0, family="grpo"),
    Contrast("sampler-mismatch", "the mean ratio is doubled", {"is_ratio_mean": 2.06},
         {"is_ratio_mean": 1.94}, WARN, 0, family="grpo"),
    Contrast("sampler-mismatch", "the mean ratio is a tenth", {"is_ratio_mean": 0.097},
         {"is_ratio_mean": 0.103}, CRIT, WARN, family="grpo"),
    Contrast("sampler-mismatch", "the mean ratio is tenfold", {"is_ratio_mean": 10.3},
         {"is_ratio_mean": 9.7}, CRIT, WARN, family="grpo"),
    Contrast("sampler-mismatch", "ratios are of whole sequences", {"is_ratio_mean": 0.3}, {},
         WARN, 0, family="grpo", differs_config={"importance_sampling_mode": "sequence_mask"}),
    Contrast("sampler-mismatch", "a fifth of the sequences' ratios is left", {"is_ratio_mean":
         0.194, "logp_diff_mean": 0.06}, {"is_ratio_mean": 0.206}, WARN, 0, family="grpo",
         config={"importance_sampling_mode": "sequence_mask"}),
    Contrast("sampler-mismatch", "log-probs of the sequences differ as well", {"is_ratio_mean":
         0.19, "logp_diff_mean": 0.0515}, {"logp_diff_mean": 0.0485}, WARN, 0, family="grpo",
         config={"importance_sampling_mode": "sequence_mask"}),
    Contrast("sampler-mismatch", "ratios are capped at 3, and some masked", {"is_ratio_mean":
         0.3, "is_ratio_min": 0.0, "is_ratio_max": 3.1}, {"is_ratio_max": 3.0}, WARN, 0,
         family="grpo"),
    Contrast("sampler-mismatch", "no ratio is masked", {"is_ratio_mean": 0.3, "is_ratio_min":
         0.1, "is_ratio_max": 3.0}, {"is_ratio_min": 0.0}, WARN, 0, family="grpo"),
    Contrast("sampler-mismatch", "gaps are of probabilities", {"logp_diff_mean": 0.05}, {}, 0,
         WARN, family="grpo", otherwise_trainer="verl"),
)

DIVERGENCE: DrawnColumns = {"approx_kl": after(36, 0.5, 0.01), "reward_mean": fallen}

DIAGNOSIS_PAIRS = (
    Contrast("updates-too-large", "the reward falls", DIVERGENCE, {"reward_mean": rise}, CRIT,
         0),
    Contrast("updates-too-large", "updates are large", DIVERGENCE, {"approx_kl": 0.01}, CRIT, 0),
    Contrast("updates-too-large", "the KL to the reference jumped by half a nat",
         {"ref_kl_token": lambda i: 0.1 if i < 36 else 0.62, **FALLS, "approx_kl": None,
         "clip_fraction": None, "clip_low": None, "clip_high": None}, {"ref_kl_token": lambda i:
         0.1 if i < 36 else 0.58}, WARN, 0, family="grpo"),
    Contrast("learning-rate-too-high", "the loss is bad as well", {"approx_kl": after(30, 0.5,
         0.01), "policy_loss": after(30, 0.1, -0.01)}, {"policy_loss": -0.01}, CRIT, 0),
    Contrast("clip-too-wide", "the reward falls", {"approx_kl": after(36, 0.2, 0.01),
         "clip_fraction": after(36, 0.01, 0.1), "reward_mean": fallen}, {"reward_mean": rise},
         CRIT, 0),
    Contrast("diverged", "something went wrong before", {"approx_kl": lambda i: 0.5 if i > 30
         else 0.01, "value_loss": after(40, NAN, 5.0)}, {"approx_kl": 0.01}, CRIT, 0),
    Contrast("environment-changed", "episodes became longer by half", {"reward_mean": fallen,
         "ep_len": after(40, 152.0, 100.0)}, {"ep_len": after(40, 148.0, 100.0)}, WATCH, 0),
    Contrast("environment-changed", "a third of the episodes' length is gone", {"reward_mean":
         fallen, "ep_len": after(40, 66.0, 100.0)}, {"ep_len": after(40, 68.0, 100.0)}, WATCH,
         0),
    Contrast("environment-changed", "updates look well", {"reward_mean": fallen, "ep_len":
         after(40, 50.0, 100.0)}, {"approx_kl": after(36, 0.5, 0.01)}, WATCH, 0),
    Contrast("environment-changed", "the policy is logged at all", {"reward_mean": fallen,
         "ep_len": after(40, 50.0, 100.0)}, {"approx_kl": None, "clip_fraction": None}, WATCH,
         0),
    Contrast("premature-convergence", "the reward is stuck", {"entropy": after(12, 0.05, 1.0),
         **FLAT}, {"reward_mean": steady_gain}, CRIT, 0),
    Contrast("premature-convergence", "something was gained before it stuck", {"entropy":
         after(12, 0.05, 1.0), **FLAT}, {"entropy": 0.69}, CRIT, 0),
    Contrast("critic-failing", "its loss grows by half", {"explained_variance": -0.5,
         "value_loss": lambda i: 10 * 1.03**i, **FLAT}, {"value_loss": 10.0}, CRIT, 0),
    Contrast("nothing-learns", "the reward does not move", {"approx_kl": 1e-8, "clip_fraction":
         0.0, "entropy": 0.69, **FLAT}, {"approx_kl": 0.01}, WARN, 0),
    Contrast("learning-rate-decayed", "a twentieth of the rate is left", {"lr": lambda i: 3e-4 *
         max(0.0485, 1 - i / 50), "approx_kl": after(40, 5e-4, 0.01), "clip_fraction": after(40,
         0.0, 0.1)}, {"lr": lambda i: 3e-4 * max(0.0515, 1 - i / 50)}, INFO, 0),
    Contrast("learning-rate-decayed", "updates have become small with it", {"lr": lambda i: 3e-4
         * max(0.01, 1 - i / 50), "approx_kl": after(40, 0.97e-3, 0.01), "clip_fraction":
         after(40, 0.0, 0.1)}, {"approx_kl": after(40, 1.03e-3, 0.01)}, INFO, 0),
    Contrast("learning-rate-decayed", "little is clipped any more", {"lr": lambda i: 3e-4 *
         max(0.01, 1 - i / 50), "approx_kl": after(40, 5e-4, 0.01), "clip_fraction": after(40,
         0.0097, 0.1)}, {"clip_fraction": after(40, 0.0103, 0.1)}, INFO, 0),
    Contrast("reward-hacking", "the length changed by three tenths", {"ref_kl": lambda i: 1 +
         0.3 * i, "resp_len_mean": after(25, 66.0, 50.0)}, {"resp_len_mean": after(25, 64.0,
         50.0)}, WATCH, 0, family="rlhf"),
    Contrast("reward-hacking", "the KL rises with it", {"ref_kl": lambda i: 1 + 0.3 * i,
         "resp_len_mean": after(25, 66.0, 50.0)}, {"ref_kl": 1.0}, WATCH, 0, family="rlhf"),
    Contrast("reward-hacking", "a model rewards: longer answers that rules reward are reasoning",
         {"ref_kl_token": lambda i: 0.01 * i, "resp_len_mean": lambda i: 100.0 + 5.0 * i, **RISES,
         "reward_component_mean{reward-model}": 0.5}, {"reward_component_mean{reward-model}":
         None, "reward_component_mean{accuracy}": 0.5}, WATCH, 0, family="grpo"),
    Contrast("reward-hacking", "what was gained is kept", {"ref_kl": lambda i: 1 + 0.3 * i,
         "resp_len_mean": after(25, 66.0, 50.0), "reward_mean": lambda i: 0.1 * min(i, 35)},
         {"reward_mean": lambda i: 0.1 * i if i < 25 else 0.0}, WATCH, 0, family="rlhf"),
    Contrast("length-runaway", "longer answers have gained nothing", {"resp_len_mean": lambda i:
         100.0 + 5.0 * i, **STILL}, {"reward_mean": lambda i: 0.1 * min(i, 20)}, WATCH, 0,
         family="grpo"),
    Contrast("runaway-generation", "more than a tenth of the text is cut", {"entropy": after(30,
         3.0, 0.6), **FALLS, "truncated_frac": lambda i: 0.05 + 0.002 * max(0, i - 25)},
         {"truncated_frac": lambda i: 0.02 + 0.002 * max(0, i - 25)}, CRIT, 0, family="grpo",
         count=60),
    Contrast("reward-hacking", "reward is gained", {"ref_kl": lambda i: 1 + 0.3 * i,
         "resp_len_mean": after(25, 66.0, 50.0)}, STILL, WATCH, 0, family="rlhf"),
    Contrast("length-spread", "it was not 0 at the start", {"resp_len_std": after(30, 90.0, 5.0)},
         {"resp_len_std": after(30, 90.0, 0.0)}, WATCH, 0, family="grpo"),
    Contrast("reward-hacking", "the reward has risen", {"ref_kl": lambda i: 0.5 + 0.4 * i,
         "resp_len_mean": lambda i: 50.0 + 4.0 * i, "reward_mean": lambda i: 0.1 * min(i, 35)},
         {"reward_mean": 1.0}, WATCH, 0, family="rlhf"),
    Contrast("no-learning-signal", "all groups tie", {"frac_zero_std": 1.0, **STILL},
         {"frac_zero_std": 0.95}, CRIT, 0, family="grpo"),
    Contrast("no-learning-signal", "most is still to be learned", {"frac_zero_std":
         after(60, 1.0, 0.9), "reward_mean": lambda i: min(0.85, 0.02 * i) + jitter(i, 0.01)},
         {"reward_mean": lambda i: min(0.95, 0.02 * i) + jitter(i, 0.01)}, CRIT, WATCH,
         family="grpo", count=80),
    Contrast("mismatch-collapse", "gradients treble", {"logp_diff_mean": after(30, 0.3, 0.01),
         "grad_norm": lambda i: 0.8 * 1.15 ** max(0, i - 30)}, {"grad_norm": 0.8}, CRIT, 0,
         family="grpo"),
    Contrast("mismatch-collapse", "the reward falls", {"logp_diff_mean": 0.5, "is_ratio_mean":
         0.3, **FALLS}, RISES, CRIT, 0, family="grpo"),
    Contrast("runaway-generation", "the text runs to the limit", {"entropy": after(30, 3.0,
         0.6), "truncated_frac": after(30, 0.6, 0.05), **FALLS}, {"truncated_frac": 0.05}, CRIT,
         0, family="grpo"),
    Contrast("runaway-generation", "the reward falls", {"entropy": after(30, 3.0, 0.6),
         "truncated_frac": after(30, 0.6, 0.05), **FALLS}, RISES, CRIT, 0, family="grpo"),
    Contrast("sampler-exploited", "the reward rises", {"ref_kl": after(20, -2.0, 0.1)}, STILL,
         CRIT, 0, family="rlhf"),
    Contrast("kl-controller-saturated", "the KL is high", {"kl_coef": lambda i: 0.05 * 1.02**i,
         "ref_kl": 15.0, "resp_len_mean": None}, {"ref_kl": 9.0}, WATCH, 0, family="rlhf"),
    Contrast("kl-penalty-too-strong", "the score is flat", {"non_score_reward": -0.6,
         "reward_std": 1.0, **STILL}, {"reward_mean": lambda i: 0.2 + 0.006 * i + jitter(i,
         0.02)}, WATCH, 0, family="rlhf"),
)

PAIRS = (
    *REFERENCE_PAIRS, *PENALTY_PAIRS, *SIGNAL_PAIRS, *TEXT_PAIRS, *DIAGNOSIS_PAIRS,
)
