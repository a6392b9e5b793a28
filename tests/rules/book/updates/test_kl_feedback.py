"""What the KL decides: a learning rate that follows it is at its bound, its limit ends updates."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.courses import FLAT, rise
from tests.rules.specification import WARN, WATCH, Boundary, Contrast, RuleCase, RuleTests


# fmt: off
class TestLearningRatePinned(RuleTests):
    """Adaptive learning rate at its bound."""

    rule = "learning-rate-pinned"
    examples = (
        RuleCase({"lr": lambda i: max(1e-5, 1e-3 / 1.5**i)},
            {"lr": lambda i: 1e-3 / 1.5 ** (i % 4)}, trainer="rsl_rl"),
        Contrast("fifty updates are at the upper bound",
            {"lr": lambda i: min(0.01, 0.0099 + 1e-6 * i), **FLAT}, {}, WATCH, 0, count=70,
            otherwise_count=45, trainer="rsl_rl"),
        Contrast("twenty updates are at the lower bound", {"lr": lambda i: 1e-5 - 1e-6 * (i == 0)},
            {}, WARN, 0, count=23, otherwise_count=19, trainer="rsl_rl"),
        Contrast("it is at its lowest for twenty updates",
            {"lr": lambda i: max(1e-5, 1e-3 * 0.7**i), "reward_mean": rise},
            {"lr": lambda i: max(1.01e-5, 1e-3 * 0.7**i)}, WARN, 0, trainer="rsl_rl"),
        Boundary("ceiling", lambda x: {"lr": lambda i: min(x, 1e-3 * 1.1**i)}, Severity.INFO,
            count=120, trainer="rsl_rl"),
    )


class TestKlEarlyStop(RuleTests):
    """The KL limit ends updates early."""

    rule = "kl-early-stop"
    examples = (
        RuleCase({"n_updates": lambda i: 3.0 * i}, {"n_updates": lambda i: 10.0 * i}, WATCH,
            config={"target_kl": 0.02, "n_epochs": 10}),
        Contrast("no update makes more epochs than are set", {"n_updates": lambda i: 4.0 * i},
            {"n_updates": lambda i: 4.0 * i + 8 * (i // 4)}, WATCH, 0,
            config={"n_epochs": 10, "target_kl": 0.02}),
        Contrast("updates are counted on", {"n_updates": lambda i: 4.0 * i},
            {"n_updates": lambda i: 4.0 * (i % 5)}, WATCH, 0,
            config={"n_epochs": 10, "target_kl": 0.02}),
        Contrast("fewer epochs were made than set", {"n_updates": lambda i: 4.0 * i},
            {"n_updates": lambda i: 10.0 * i}, WATCH, 0,
            config={"n_epochs": 10, "target_kl": 0.02}),
        Contrast("a KL limit is set", {"n_updates": lambda i: 4.0 * i}, {}, WATCH, 0,
            config={"n_epochs": 10, "target_kl": 0.02}, differs_config={"target_kl": 0}),
        Contrast("the counter counts epochs", {"n_updates": lambda i: 4.0 * i},
            {"n_updates": lambda i: 4.0 * i + 20 * (i // 3)}, WATCH, 0,
            config={"n_epochs": 10, "target_kl": 0.02}),
        Contrast("the newest updates are cut short",
            {"n_updates": lambda i: 10.0 * min(i, 29) + 3.0 * max(0, i - 29)},
            {"n_updates": lambda i: 10.0 * i}, WATCH, 0, count=45,
            config={"n_epochs": 10, "target_kl": 0.01}),
    )
