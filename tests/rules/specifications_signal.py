"""Language models: groups that tie, parts of the reward, and metrics that only some scripts log."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.cases import after, at
from tests.rules.specifications import ENDED, Contrast, RowLog, within
from tests.rules.specifications_llm import RISES, STILL
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
GRPO, RLHF, DPO = "grpo", "rlhf", "preference"
AT_LAST = RowLog(left_open=True)
"""What is open when the log ends."""

TIES: DrawnColumns = {"frac_zero_std": 1.0, "reward_mean": lambda i: 0.5 + jitter(i, 0.02)}
NO_SHARE: DrawnColumns = {"frac_zero_std": None, "reward_std": None}
LOST_SPREAD: DrawnColumns = {"reward_std": after(20, 0.01, 1.0), **STILL}
PARTS: DrawnColumns = {
    "reward_component_mean{format}": lambda i: 0.9 - 0.01 * i + jitter(i, 0.01),
    "reward_component_mean{accuracy}": lambda i: 0.1 + 0.01 * i + jitter(i, 0.01),
}  # fmt: skip
CONTROLLED: DrawnColumns = {"kl_coef": lambda i: 0.05 * 1.03 ** max(0, i - 45), "ref_kl": 10.0}
"""A coefficient that begins to rise late."""

PENALTY: DrawnColumns = {
    "non_score_reward": -0.52, "reward_std": 1.0, "reward_mean": None, "rlhf_reward": 0.5,
}  # fmt: skip
CAPPED: DrawnColumns = {"is_ratio_mean": 0.3, "is_ratio_min": 0.0, "is_ratio_max": 3.0}
SEQUENCES = {"importance_sampling_mode": "sequence_mask"}


def up_and_down(column: float) -> DrawnColumns:
    """A KL to the reference in every other row, and one of a token in the others."""
    return {
        "ref_kl": lambda i: column if i % 2 else None,
        "ref_kl_token": lambda i: None if i % 2 else 0.01,
    }


# fmt: off
GROUP_PAIRS = (
    Contrast("zero-variance-groups", "more than six of ten groups tie to the end",
         {"frac_zero_std": lambda i: 0.1 if i < 20 else 0.9 if i < 40 else 0.65, **STILL},
         {"frac_zero_std": within(20, 40, 0.9, 0.1)}, WARN, 0, family=GRPO, log=AT_LAST),
    Contrast("zero-variance-groups", "groups that tie are not solved where nothing was gained",
         {"frac_zero_std": after(35, 0.9, 0.2), "reward_mean": lambda i: 0.95 + jitter(i, 0.01)},
         {"reward_mean": lambda i: min(0.95, 0.2 + 0.05 * i) + jitter(i, 0.01)}, WARN, WATCH,
         family=GRPO),
    Contrast("zero-variance-groups", "a single group ties by chance at first, where rewards differ",
         TIES, {"reward_mean": None}, WATCH, CRIT, family=GRPO, count=12),
    Contrast("zero-variance-groups", "only advantages are logged, and all are 0", {**NO_SHARE,
         "adv_max": 0.0, "adv_min": 0.0, **STILL}, {"adv_max": 1.0}, CRIT, 0, family=GRPO),
    Contrast("zero-variance-groups", "a task at its floor is hard at first, and all groups tie",
         {**TIES, "reward_mean": lambda i: 0.05 + jitter(i, 0.01), "frac_zero_std": after(3, 1.0,
         0.93)}, {"reward_mean": lambda i: 0.2 + jitter(i, 0.01)}, WARN, CRIT, family=GRPO,
         count=30),
    Contrast("zero-variance-groups", "the most of a reward a little beyond 1 is not known",
         {"frac_zero_std": after(35, 0.9, 0.2), "reward_mean": lambda i: 0.2 + 0.012 * i +
         jitter(i, 0.02)}, {"reward_mean": lambda i: min(0.98, 0.2 + 0.012 * i) + jitter(i,
         0.01)}, WARN, WATCH, family=GRPO, count=120),
    Contrast("reward-spread-gone", "it does not come back", LOST_SPREAD, {"reward_std":
         within(20, 40, 0.01, 1.0)}, WATCH, 0, family=GRPO, log=AT_LAST),
    Contrast("reward-spread-gone", "most of sixteen rows have none", {"reward_std": lambda i: 0.01
         if i > 20 and i % 5 else 1.0, **STILL}, {"reward_std": lambda i: 0.01 if i > 20 and not i
         % 5 else 1.0}, WATCH, 0, family=GRPO),
    Contrast("reward-spread-gone", "most of the last sixteen rows have none", LOST_SPREAD, {},
         WATCH, 0, family=GRPO, count=44, otherwise_count=28),
    Contrast("clip-one-sided", "the upper side is clipped in the row", {"clip_low": 0.002,
         "clip_high": 0.03}, {"clip_high": None}, INFO, 0, family=GRPO),
    Contrast("reward-parts-diverge", "both are parts of the reward", PARTS,
         {"reward_component_mean{accuracy}": None, "clip_low": lambda i: 0.01 * i}, WATCH, 0,
         family=GRPO),
    Contrast("reward-parts-diverge", "a part falls by more than chance", PARTS,
         {"reward_component_mean{format}": lambda i: 0.5 + gauss(i, 0.1)}, WATCH, 0, family=GRPO),
    Contrast("reward-part-flat", "the whole was gained", {"reward_component_mean{format}": 0.0},
         STILL, WATCH, 0, family=GRPO, count=70),
    Contrast("reward-part-flat", "a part that never differs is a constant, not learned badly",
         {"reward_component_mean{cost}": lambda i: -1.0 + jitter(i, 0.1)},
         {"reward_component_mean{cost}": -1.0}, WATCH, 0, family=GRPO, count=125),
)

PENALTY_PAIRS = (
    Contrast("kl-coef-rising", "the KL does not come down", CONTROLLED, {"ref_kl": lambda i: 10.0 -
         0.02 * max(0, i - 45)}, WATCH, 0, family=RLHF, count=62),
    Contrast("kl-coef-rising", "the KL is no lower than twenty updates ago", CONTROLLED, {"ref_kl":
         after(45, 5.0, 10.0)}, WATCH, 0, family=RLHF, count=62),
    Contrast("kl-penalty-dominates", "the reward before the penalty is logged", {**PENALTY,
         **STILL}, {"reward_mean": None}, WATCH, 0, family=RLHF),
    Contrast("kl-penalty-dominates", "any reward is logged", {**PENALTY, **STILL}, {"reward_mean":
         None, "rlhf_reward": None}, WATCH, 0, family=RLHF),
    Contrast("rlhf-reward-falls", "it falls by more than chance", {"rlhf_reward": lambda i: 2 -
         0.05 * i + gauss(i, 0.1), **STILL}, {"rlhf_reward": lambda i: 2 + gauss(i, 1.0)}, WATCH, 0,
         family=RLHF),
)

KL_PAIRS = (
    Contrast("ref-kl-negative", "it stays negative", {"ref_kl": after(20, -0.5, 1.0)}, {"ref_kl":
         within(20, 40, -0.5, 1.0)}, WARN, 0, family=RLHF, log=AT_LAST),
    Contrast("ref-kl-negative", "that of a sequence counts in rows that hold it",
         {**up_and_down(-2.0), **STILL}, up_and_down(2.0), CRIT, 0, family=RLHF),
)

SAMPLER_PAIRS = (
    Contrast("sampler-mismatch", "ratios without a largest one are not known to be capped",
         {**CAPPED, "is_ratio_max": None}, {"is_ratio_max": 3.0}, WARN, 0, family=GRPO),
    Contrast("sampler-mismatch", "ratios without a smallest one are not known to be masked",
         {**CAPPED, "is_ratio_min": None}, {"is_ratio_min": 0.0}, WARN, 0, family=GRPO),
    Contrast("sampler-mismatch", "a trainer that masks no ratio logs them as they are", {**CAPPED,
         "logp_diff_mean": None}, {}, 0, WARN, family=GRPO, otherwise_trainer="verl"),
    Contrast("sampler-mismatch", "log-probs of the sequences are logged", {"is_ratio_mean": 0.1,
         "logp_diff_mean": 0.06}, {"logp_diff_mean": None}, WARN, 0, family=GRPO,
         config=SEQUENCES),
    Contrast("sampler-mismatch", "samples grow ever older", {"staleness": lambda i: 1.0 + 0.1 * i},
         {"staleness": lambda i: 1.0 if i < 5 or i % 5 == 0 else 5.0}, WATCH, 0, family=GRPO),
)

OUTPUT_PAIRS = (
    Contrast("completions-truncated", "nearly all text was always cut, and no reward comes of it",
         {"truncated_frac": 0.95, **STILL}, RISES, WARN, WATCH, family=GRPO),
    Contrast("completions-truncated", "text is cut in more than the very last updates",
         {"truncated_frac": after(55, 0.5, 0.05)}, {"truncated_frac": after(58, 0.5, 0.05)}, WARN,
         0, family=GRPO, log=ENDED),
    Contrast("prompts-changed", "prompts had any length at the start", {"query_len_mean":
         after(30, 60.0, 30.0)}, {"query_len_mean": after(30, 60.0, 0.0)}, INFO, 0, family=RLHF),
    Contrast("logprobs-shift", "the policy's own log-probs are logged", {"logprobs_dist": -1.0,
         "ref_logprobs_dist": after(30, -3.1, -2.0)}, {"logprobs_dist": None}, WATCH, 0,
         family=RLHF),
    Contrast("logprobs-shift", "the reference's log-probs are logged", {"logprobs_dist": after(30,
         -1.0, -2.1), "ref_logprobs_dist": -2.0}, {"ref_logprobs_dist": None}, WATCH, 0,
         family=RLHF),
    Contrast("preference-not-learned", "the run is over", {"total_loss": 0.693}, {}, WARN, WATCH,
         family=DPO, log=ENDED, otherwise_log=RowLog()),
    Contrast("preference-not-learned", "the loss did not rise either", {"total_loss": at(20, 0.703,
         0.693)}, {"total_loss": at(20, 0.71, 0.693)}, WATCH, 0, family=DPO),
)
# fmt: on

PAIRS = (*GROUP_PAIRS, *PENALTY_PAIRS, *KL_PAIRS, *SAMPLER_PAIRS, *OUTPUT_PAIRS)
