"""The healthy range of a value and its colour, judged without memory.

A value may be outside its range without a finding (one spike), and a finding may stay open while
the newest value is back inside. Limits come from the run's own configuration where known.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ppo_top.catalogue import (
    GRPO,
    ON_POLICY,
    PREFERENCE,
    RLHF,
    Trainer,
    facts_about,
    option_default,
    trainer_tables,
)
from ppo_top.model import Profile, Status, as_number
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.wording import format_value, num


class HealthyRange(NamedTuple):
    """A healthy range: None is an open end; `text` is the range in words, `origin` its source."""

    low: float | None
    high: float | None
    text: str
    origin: str


class Band(NamedTuple):
    """Green and red limits of a metric, amber between them. None: no limit on that side.

    Values below `usual_low` are named, not coloured.
    """

    low: float | None
    high: float | None
    red_low: float | None
    red_high: float | None
    origin: str
    text: str = ""
    red_status: Status = Status.CRIT
    usual_low: float | None = None

    def colour(self, value: float) -> Status:
        """The colour of a finite value."""
        if is_outside(value, self.red_low, self.red_high):
            return self.red_status
        return Status.WATCH if is_outside(value, self.low, self.high) else Status.OK


ROUNDING = 1e-6
"""What is no further below 0 is a 0 of numbers with seven digits."""


def is_outside(value: float, low: float | None, high: float | None) -> bool:
    """Whether a value is beyond one of two limits, each of which may be open."""
    if low == 0.0:
        low = -ROUNDING
    return (low is not None and value < low) or (high is not None and value > high)


PPO_PRACTICE = "common PPO practice"
TRL_DOCS = "TRL's documentation"
VERL_DOCS = "verl's documentation"
USUAL_VALUES = "typical values"
EXPLAINED = ">= 0.5, good > 0.8"

_ON_POLICY_BANDS: dict[str, Band] = {
    "approx_kl": Band(None, 0.02, None, 0.03, PPO_PRACTICE, "0.001-0.02", usual_low=0.001),
    "approx_kl_k1": Band(-0.02, 0.02, -0.03, 0.03, PPO_PRACTICE, "about 0, +/- 0.02"),
    "clip_fraction": Band(None, 0.2, None, 0.3, PPO_PRACTICE),
    "ratio_mean": Band(0.9, 1.1, 0.5, 1.5, PPO_PRACTICE),
    "policy_loss": Band(None, 0.01, -1.0, 1.0, PPO_PRACTICE, "about 0, < 0.01"),
    "explained_variance": Band(0.5, None, None, None, PPO_PRACTICE, EXPLAINED),
}

_RLHF_BANDS: dict[str, Band] = {
    "approx_kl": Band(None, 0.05, None, 0.1, PPO_PRACTICE),
    "clip_fraction": Band(None, 0.2, None, 0.3, PPO_PRACTICE),
    "ratio_mean": Band(0.9, 1.1, 0.5, 1.5, TRL_DOCS),
    "ratio_dist": Band(0.9, 1.1, 0.5, 1.5, TRL_DOCS),
    "ratio_dist{max}": Band(None, 10.0, None, 200.0, TRL_DOCS),
    "ratio_var": Band(None, 0.01, None, 0.1, USUAL_VALUES, "", Status.WARN),
    "ref_kl": Band(0.0, 10.0, -1.0, 20.0, TRL_DOCS),
    "explained_variance": Band(0.5, None, None, None, PPO_PRACTICE, EXPLAINED),
    "value_clip_fraction": Band(None, 0.2, None, 0.5, USUAL_VALUES, "", Status.WARN),
    "adv_mean": Band(-0.1, 0.1, None, None, PPO_PRACTICE, "about 0"),
}

_GRPO_BANDS: dict[str, Band] = {
    "approx_kl": Band(-0.02, 0.02, -0.05, 0.05, USUAL_VALUES),
    "approx_kl_k1": Band(-0.02, 0.02, -0.05, 0.05, USUAL_VALUES),
    "clip_fraction": Band(None, 0.1, None, 0.3, USUAL_VALUES),
    "clip_low": Band(None, 0.1, None, 0.3, USUAL_VALUES),
    "clip_high": Band(None, 0.1, None, 0.3, USUAL_VALUES),
    "ratio_mean": Band(0.9, 1.1, 0.5, 1.5, TRL_DOCS),
    "ref_kl_token": Band(0.0, 0.1, -0.01, 0.3, USUAL_VALUES),
    "truncated_frac": Band(None, 0.1, None, 0.3, USUAL_VALUES, "", Status.WARN),
    "frac_zero_std": Band(None, 0.5, None, 0.8, USUAL_VALUES, "", Status.WARN),
    "logp_diff_mean": Band(None, 0.05, None, 0.1, USUAL_VALUES),
    "is_ratio_mean": Band(0.9, 1.1, 0.5, 2.0, VERL_DOCS, "", Status.WARN),
    "ess": Band(0.5, None, 0.3, None, VERL_DOCS, "", Status.WARN),
    "rollout_kl": Band(-0.05, 0.05, -0.1, 0.1, VERL_DOCS),
    "value_clip_fraction": Band(None, 0.2, None, 0.5, USUAL_VALUES, "", Status.WARN),
    "explained_variance": Band(0.5, None, None, None, PPO_PRACTICE, EXPLAINED),
    "tool_fail_freq": Band(None, 0.5, None, None, USUAL_VALUES),
}

BANDS_BY_FAMILY = {ON_POLICY: _ON_POLICY_BANDS, RLHF: _RLHF_BANDS, GRPO: _GRPO_BANDS}

_PROBABILITY_GAP_BAND = Band(None, 0.005, None, 0.01, VERL_DOCS)

RELATIVE_RANGES = {
    "reward_mean": "should rise",
    "rlhf_reward": "should rise",
    "eval_reward_mean": "should rise",
    "success_rate": "should rise",
    "eval_success_rate": "should rise",
    "eval_win_rate": "should rise",
    "elo": "should rise",
    "entropy": "slow decay, stays > 0",
    "seq_entropy": "slow decay, stays > 0",
    "value_loss": "no spike, no NaN",
    "value_error": "smooth decay",
    "total_loss": "no spike",
    "grad_norm": "no spike",
    "non_score_reward": "smaller than the score",
    "kl_coef": "should be stable",
    "reward_std": "moderate, > 0",
    "reward_dist": "balanced, short tails",
    "adv_dist": "about 0, balanced",
    "ratio_dist": "about 1, short tails",
    "logprobs_dist": "near the reference's",
    "ref_logprobs_dist": "should be stable",
    "value_mean": "near return mean",
    "value_var": "stable, like returns",
    "return_mean": "stable or rising",
    "return_var": "should be stable",
    "reward_component_mean": "should rise",
    "ep_len": "tracks reward",
    "resp_len_mean": "should be stable",
    "resp_len_std": "should be stable",
    "query_len_mean": "should be stable",
    "n_updates": "increasing",
    "lr": "follows schedule",
    "approx_kl_k1": "about 0 (sign is noise)",
}
"""Healthy ranges in words, where no number can be given."""

_WITHOUT_RANGE = {PREFERENCE: ("entropy",)}
"""What has no range in words in a family: preference's entropy, of given answers, may rise."""


def find_band(concept: str, profile: Profile) -> Band | None:
    """The band of a metric for a run, or None where there are no absolute limits."""
    table = BANDS_BY_FAMILY.get(profile.family)
    if table is None:
        return None
    default = table.get(concept)
    build = _CONFIGURED_BANDS.get(concept)
    return build(profile, default) if build is not None else default


def healthy_range(concept: str, profile: Profile) -> HealthyRange | None:
    """The healthy range of a metric for a run, or None where there is none."""
    found = find_band(concept, profile)
    if found is None:
        if concept in _WITHOUT_RANGE.get(profile.family, ()):
            return None
        words = RELATIVE_RANGES.get(concept.partition("{")[0])
        return HealthyRange(None, None, words, "") if words else None
    words = found.text or _range_text(concept, found.low, found.high)
    return HealthyRange(found.low, found.high, words, found.origin)


def colour(concept: str, value: float, profile: Profile) -> Status:
    """The colour of a value by itself: `ok`, `watch`, `warn` or `crit`."""
    if not math.isfinite(value):
        return Status.OK if may_be_nan(concept, value) else Status.CRIT
    found = find_band(concept, profile)
    return Status.OK if found is None else found.colour(value)


def is_below_usual(concept: str, value: float, profile: Profile) -> bool:
    """Whether a value lies below its stated range without harm: small updates late in a run."""
    found = find_band(concept, profile)
    return found is not None and found.usual_low is not None and value < found.usual_low


def may_be_nan(concept: str, value: float) -> bool:
    """Whether a healthy run may log NaN: std of one sample, variance explained of equal returns.

    That is 0/0, or minus what is left divided by 0.
    """
    name = concept.partition("{")[0]
    if name == "explained_variance":
        return not value > -math.inf
    return math.isnan(value) and name.endswith(("_std", "_var", "_component_mean"))


def _range_text(concept: str, low: float | None, high: float | None) -> str:
    if low is None:
        return f"<= {format_value(concept, high)}" if high is not None else ""
    return f"{num(low)} to {num(high)}" if high is not None else f">= {format_value(concept, low)}"


def _positive_number(profile: Profile, name: str) -> float | None:
    value = as_number(profile.config.get(name))
    return value if value is not None and value > 0.0 else None


def _kl_band(profile: Profile, default: Band | None) -> Band | None:
    """A KL target says what update KL is normal for the run."""
    target = _positive_number(profile, "target_kl")
    if "kl-controlled" in facts_about(profile.trainer_id):
        wanted = target or DEFAULT_CONTROLLED_KL
        label = trainer_tables()[profile.trainer_id].label
        whose = f"kl_target {num(wanted)} of this run" if target else f"{label}'s kl_target 0.01"
        return Band(None, 2 * wanted, None, 4 * wanted, whose)
    if default is None or target is None or profile.family != ON_POLICY:
        return default
    high, red = default.high or 0.0, default.red_high or 0.0
    if 1.5 * target <= red:
        return default
    return Band(None, max(high, target), None, 1.5 * target, f"target_kl {num(target)} of this run")


DEFAULT_CONTROLLED_KL = 0.01
"""RLlib's default target of the KL."""


def _ref_kl_band(profile: Profile, default: Band | None) -> Band | None:
    """The target of an adaptive KL controller is the KL the user asked for."""
    target = _positive_number(profile, "ref_kl_target")
    if default is None or target is None or default.high is None or 2 * target <= default.high:
        return default
    origin = f"KL target {num(target)} of this run"
    return Band(default.low, 2 * target, default.red_low, 4 * target, origin)


def _policy_loss_band(profile: Profile, default: Band | None) -> Band | None:
    """Only with normalised advantages is the size of the loss the same on every task."""
    if not normalises_advantages(profile):
        return None
    if not profile.algo:
        return default if any(name in profile.tags for name in CLIPPED_UPDATE_CONCEPTS) else None
    return default if "normalised-advantages" in facts_about("", profile.algo) else None


def normalises_advantages(profile: Profile) -> bool:
    """Whether no setting, nor the trainer's default, is against it."""
    trainer = Trainer(profile.trainer_id, "", profile.family, profile.algo)
    usual = option_default(trainer, "normalize_advantage")
    said = profile.config.get("normalize_advantage", usual)
    return said not in (False, "false", "False", 0)


CLIPPED_UPDATE_CONCEPTS = ("approx_kl", "approx_kl_k1", "clip_fraction")
"""Metrics that show that the policy loss is that of a PPO-like update."""


def _gap_band(profile: Profile, default: Band | None) -> Band | None:
    """A gap of probabilities is smaller than one of log-probabilities."""
    of_probabilities = "logp-diff-of-probabilities" in facts_about(profile.trainer_id)
    return _PROBABILITY_GAP_BAND if of_probabilities else default


_OF_SEQUENCES = frozenset({"sequence", "sequence_token", "gspo", "gmpo", "true"})
"""What options are set to that make the clipped ratios those of whole completions."""

_CLIP_OF_SEQUENCES = 0.01
"""A clip range below this is one for them: GSPO's authors take 0.0003."""


def clips_sequences(profile: Profile) -> bool:
    """Whether the ratio of a whole completion is clipped, which clips far more of them."""
    level = profile.config.get("importance_sampling_level")
    if level is not None:
        return str(level).lower() in _OF_SEQUENCES
    clip = _positive_number(profile, "clip_range")
    return profile.family == GRPO and clip is not None and clip < _CLIP_OF_SEQUENCES


_SEQUENCE_CLIP_BAND = Band(None, 0.5, None, None, "the paper on GSPO: 15 % is usual")


def _clip_band(profile: Profile, default: Band | None) -> Band | None:
    """Ratios of whole completions are held within a thousandth of 1, so that many are clipped."""
    return _SEQUENCE_CLIP_BAND if default is not None and clips_sequences(profile) else default


_CONFIGURED_BANDS: dict[str, Callable[[Profile, Band | None], Band | None]] = {
    "approx_kl": _kl_band,
    "ref_kl": _ref_kl_band,
    "policy_loss": _policy_loss_band,
    "logp_diff_mean": _gap_band,
    "clip_fraction": _clip_band,
    "clip_low": _clip_band,
    "clip_high": _clip_band,
}
"""Metrics whose band depends on the run: on its configuration, trainer or algorithm."""
