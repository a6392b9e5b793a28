"""The sampler's probabilities against those of the trainer."""

from __future__ import annotations

from tests.rules.courses import after, back, late
from tests.rules.specification import (
    CRIT,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns

CAPPED: DrawnColumns = {"is_ratio_mean": 0.3, "is_ratio_min": 0.0, "is_ratio_max": 3.0}

SEQUENCES = {"importance_sampling_mode": "sequence_mask"}


# fmt: off
class TestSamplerMismatch(RuleTests):
    """Sampler/trainer mismatch."""

    rule = "sampler-mismatch"
    examples = (
        RuleCase({"logp_diff_mean": after(20, 0.2, 0.01)}, {"logp_diff_mean": 0.04}, family="grpo"),
        Contrast("the mean ratio is halved", {"is_ratio_mean": 0.485}, {"is_ratio_mean": 0.515},
            WARN, 0, family="grpo"),
        Contrast("the mean ratio is doubled", {"is_ratio_mean": 2.06}, {"is_ratio_mean": 1.94},
            WARN, 0, family="grpo"),
        Contrast("the mean ratio is a tenth", {"is_ratio_mean": 0.097}, {"is_ratio_mean": 0.103},
            CRIT, WARN, family="grpo"),
        Contrast("the mean ratio is tenfold", {"is_ratio_mean": 10.3}, {"is_ratio_mean": 9.7}, CRIT,
            WARN, family="grpo"),
        Contrast("ratios are of whole sequences", {"is_ratio_mean": 0.3}, {}, WARN, 0,
            family="grpo", differs_config={"importance_sampling_mode": "sequence_mask"}),
        Contrast("a fifth of the sequences' ratios is left",
            {"is_ratio_mean": 0.194, "logp_diff_mean": 0.06}, {"is_ratio_mean": 0.206}, WARN, 0,
            family="grpo", config={"importance_sampling_mode": "sequence_mask"}),
        Contrast("log-probs of the sequences differ as well",
            {"is_ratio_mean": 0.19, "logp_diff_mean": 0.0515}, {"logp_diff_mean": 0.0485}, WARN, 0,
            family="grpo", config={"importance_sampling_mode": "sequence_mask"}),
        Contrast("ratios are capped at 3, and some masked",
            {"is_ratio_mean": 0.3, "is_ratio_min": 0.0, "is_ratio_max": 3.1}, {"is_ratio_max": 3.0},
            WARN, 0, family="grpo"),
        Contrast("no ratio is masked",
            {"is_ratio_mean": 0.3, "is_ratio_min": 0.1, "is_ratio_max": 3.0}, {"is_ratio_min": 0.0},
            WARN, 0, family="grpo"),
        Contrast("gaps are of probabilities", {"logp_diff_mean": 0.05}, {}, 0, WARN, family="grpo",
            otherwise_trainer="verl"),
        Contrast("ratios without a largest one are not known to be capped",
            {**CAPPED, "is_ratio_max": None}, {"is_ratio_max": 3.0}, WARN, 0, family="grpo"),
        Contrast("ratios without a smallest one are not known to be masked",
            {**CAPPED, "is_ratio_min": None}, {"is_ratio_min": 0.0}, WARN, 0, family="grpo"),
        Contrast("a trainer that masks no ratio logs them as they are",
            {**CAPPED, "logp_diff_mean": None}, {}, 0, WARN, family="grpo",
            otherwise_trainer="verl"),
        Contrast("log-probs of the sequences are logged",
            {"is_ratio_mean": 0.1, "logp_diff_mean": 0.06}, {"logp_diff_mean": None}, WARN, 0,
            family="grpo", config=SEQUENCES),
        Contrast("samples grow ever older", {"staleness": lambda i: 1.0 + 0.1 * i},
            {"staleness": lambda i: 1.0 if i < 5 or i % 5 == 0 else 5.0}, WATCH, 0, family="grpo"),
        Contrast("samples grow twice as old", {"staleness": lambda i: 2.0 + 0.05 * i},
            {"staleness": lambda i: 2.0 + 0.02 * i}, WATCH, 0, family="grpo", count=50),
        Contrast("samples grew old in twenty updates", {"staleness": lambda i: 1.0 + 0.3 * i}, {},
            WATCH, 0, family="grpo", count=25, otherwise_count=20),
        Boundary("gap", late("logp_diff_mean", 0.01), WARN, family="grpo"),
        Boundary("ess", late("ess", 0.9), WARN, -1, "grpo"),
        Boundary("gap_crit", late("logp_diff_mean", 0.01), CRIT, family="grpo"),
        Boundary("kl", late("rollout_kl", 0.01), WARN, family="grpo"),
        Boundary("kl_crit", late("rollout_kl", 0.01), CRIT, family="grpo"),
        Boundary("ess_crit", late("ess", 0.9), CRIT, -1, "grpo"),
        Clearing("ess_clear", back("ess", 0.9, 0.2), -1, "grpo"),
    )
