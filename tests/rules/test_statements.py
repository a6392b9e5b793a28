"""Every evaluative statement of the guides that this tool was founded on has its rule."""

from __future__ import annotations

import pytest

from ppo_top.model import Profile
from ppo_top.rules.book import BY_ID
from ppo_top.rules.engine.ranges import healthy_range

STATEMENTS = {
    "reward_mean rises steadily, a plateau is stagnation": (
        "reward-never-moves reward-plateau reward-wrong-way at-ceiling"
    ),
    "reward_std is moderate and does not explode": "reward-spread reward-spread-gone",
    "the distribution of rewards is balanced, without long tails": "long-tails",
    "the KL is small and positive; too high is unstable": (
        "kl-high ref-kl-token-high ref-kl-high ref-kl-negative"
    ),
    "kl_coef increases if the KL is too high": "kl-coef-rising",
    "the KL penalty does not dominate": "kl-penalty-dominates kl-penalty-too-strong",
    "KL up is over-optimisation, KL down is under-training": (
        "drift-without-gain reward-hacking ref-kl-zero no-op-updates"
    ),
    "entropy is high early and falls gradually": "entropy-collapsed entropy-not-falling",
    "the clip fraction is below 0.2": "clip-high",
    "approx KL is below 0.01-0.05": "kl-high",
    "the ratio is near 1; 200 is over-optimisation and collapse": "ratio-off updates-too-large",
    "advantages are centred and balanced": "advantages-off long-tails",
    "predicted values have a stable variance": "value-drift",
    "the value error falls smoothly": "value-loss-rising",
    "explained variance above 0.8 is good": "critic-not-learning explained-variance-dropped",
    "few value updates are clipped": "value-clip-high",
    "returns are consistent in scale": "value-drift reward-scale",
    "the policy loss is stable": "policy-loss-positive",
    "the value loss has no NaN and no big spikes": "non-finite value-loss-spike",
    "the total loss falls gradually; a sudden spike is a warning": "loss-spike",
    "token lengths are watched for drift, their spread does not explode": (
        "prompts-changed length-runaway length-spread"
    ),
    "log-probs are inspected for shifts": "logprobs-near-zero",
    "reward up, KL low, entropy high": "reward-never-moves ref-kl-high entropy-collapsed",
    "values diverge": "value-loss-spike ratio-off clip-high kl-high ref-kl-high kl-coef-rising",
    "values collapse to 0": (
        "critic-not-learning learning-rate-decayed ratio-off no-op-updates ref-kl-zero "
        "kl-penalty-off"
    ),
    "a high ratio brings high clip fraction and KL": "updates-too-large clip-high kl-high",
    "objective/kl stays positive and is not too large": (
        "ref-kl-negative ref-kl-high sampler-exploited"
    ),
    "kl_coef often rises before numerical instabilities": "kl-coef-rising kl-controller-saturated",
    "rlhf_reward keeps going up": "rlhf-reward-falls reward-plateau",
    "end-of-text tokens tell of complete responses": "no-eos",
    "GRPO reward generally increases": "reward-never-moves reward-plateau reward-wrong-way",
    "GRPO KL does not stray too far": "ref-kl-token-high",
    "a very high clip ratio: learning rate, advantages, epsilon": "clip-high clip-one-sided",
    "a high clipped_ratio of completions": "completions-truncated",
    "rewards by function tell which aspects are learned": "reward-parts-diverge reward-hacking",
    "entropy collapse too early; stable and above zero is good": (
        "entropy-collapsed premature-convergence"
    ),
    "rises, then stabilises: success": "at-ceiling",
    "crash to 0 and never moving are critical, oscillation and stagnation moderate": (
        "reward-crash reward-never-moves reward-swings reward-plateau premature-convergence"
    ),
    "episode length goes with the reward": "reward-length-diverge",
    "entropy neither drops too fast nor stays": "entropy-collapsed entropy-not-falling",
    "the value loss falls, it does not rise": "value-loss-rising",
    "explained variance is not at or below 0 for long": "critic-not-learning",
    "policy gradient loss -0.01 to -0.02; sudden extremes": "policy-loss-positive",
    "approx KL 0.001-0.02, above 0.03 is too much": "kl-high",
    "clip fraction 0-20 %, sustained above 30 % is too much": "clip-high",
    "too little clipping: the range is too wide": "clip-not-binding clip-too-wide",
    "a large learning rate collapses, a small one crawls": (
        "updates-too-large learning-rate-too-high no-op-updates nothing-learns"
    ),
    "linear decay ends with KL and clipping near 0": "learning-rate-decayed",
    "n_updates that stops increasing: training has stalled": "updates-stuck step-stuck",
    "speed and time left": "slow",
    "too few timesteps end early": "still-improving",
    "evaluation is the better measure": "eval-gap",
    "reward is read together with entropy, explained variance and KL": (
        "updates-too-large premature-convergence critic-failing nothing-learns"
    ),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_statement_has_its_rules(statement: str) -> None:
    """The rules that answer to a statement are in the book."""
    assert set(STATEMENTS[statement].split()) <= BY_ID.keys()


@pytest.mark.parametrize(
    ("family", "concept", "low", "high"),
    [
        ("on-policy", "approx_kl", None, 0.02),
        ("on-policy", "clip_fraction", None, 0.2),
        ("on-policy", "explained_variance", 0.5, None),
        ("rlhf", "approx_kl", None, 0.05),
        ("rlhf", "ref_kl", 0.0, 10.0),
        ("rlhf", "ratio_mean", 0.9, 1.1),
        ("rlhf", "adv_mean", -0.1, 0.1),
        ("grpo", "ref_kl_token", 0.0, 0.1),
        ("grpo", "truncated_frac", None, 0.1),
    ],
)
def test_stated_ranges_are_the_bands(
    family: str, concept: str, low: float | None, high: float | None
) -> None:
    """Healthy ranges that guides state are those that values are coloured by."""
    found = healthy_range(concept, Profile("sb3", family))
    assert found is not None and (found.low, found.high) == (low, high)
