"""Numbers and names as messages print them."""

from __future__ import annotations

import math

LABELS = {
    "reward_mean": "reward",
    "rlhf_reward": "RLHF reward",
    "approx_kl": "approx KL",
    "approx_kl_k1": "approx KL (k1)",
    "ref_kl": "KL to reference",
    "ref_kl_token": "KL to reference per token",
    "kl_coef": "KL coefficient",
    "non_score_reward": "KL penalty",
    "value_loss": "value loss",
    "policy_loss": "policy loss",
    "total_loss": "loss",
    "lr": "learning rate",
    "ratio_mean": "ratio",
    "grad_norm": "gradient norm",
    "ep_len": "episode length",
    "resp_len_mean": "completion length",
    "query_len_mean": "prompt length",
    "truncated_frac": "truncated completions",
    "frac_zero_std": "groups without signal",
    "policy_std": "action std",
    "ess": "effective sample size",
    "eval_reward_mean": "evaluation reward",
    "logp_diff_mean": "sampler/trainer log-prob gap",
    "is_ratio_mean": "importance ratio",
    "n_updates": "update counter",
    "fps": "speed",
    "seq_entropy": "sequence entropy",
}

SHARES = frozenset(
    {
        "clip_fraction",
        "clip_low",
        "clip_high",
        "value_clip_fraction",
        "truncated_frac",
        "frac_zero_std",
        "success_rate",
        "tool_fail_freq",
        "rs_masked_frac",
    }
)
"""Concepts that are shares of one, printed as percent."""


def label(concept: str) -> str:
    """A concept's name in a sentence: `reward_component_mean{accuracy}` is `reward accuracy`."""
    if concept.startswith("tag:"):
        return concept[4:]
    if concept.endswith("}") and "{" in concept:
        kind, _, name = concept[:-1].partition("{")
        return f"{kind.split('_')[0]} {name}"
    return LABELS.get(concept, concept.replace("_", " "))


def num(value: float) -> str:
    """A number to three significant digits: `0.0831`, `14.2`, `3.7e+06`, `NaN`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    size = abs(value)
    if size and not 1e-3 <= size < 1e6:
        mantissa, _, exponent = f"{value:.2g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def pct(share: float) -> str:
    """A share of one as percent: `61 %`."""
    percent = 100.0 * share
    return f"{percent:.0f} %" if abs(percent) >= 1 or percent == 0 else f"{percent:.2g} %"


def show(concept: str, value: float) -> str:
    """A value as its concept prints it."""
    is_share = concept in SHARES and math.isfinite(value)
    return pct(value) if is_share else num(value)


def times(after: float, before: float) -> str:
    """How many times larger: `x 5,000`."""
    return f"x {num(after / before)}" if before else "from 0"
