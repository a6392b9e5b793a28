"""Single conditions of rules: what is not logged, was never there, or is at its most already."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from tests.rules.cases import after, at, fallen, flat
from tests.rules.specifications import FLAT, Contrast, capped, learned, steady_gain
from tests.rules.specifications_llm import GAINS, RISES, STILL
from tests.rules.specifications_replay import NO_LOSS, OFF, UNGAINED, growing
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan

NOWHERE: DrawnColumns = {"reward_mean": None, "ep_len": None}
"""A control task whose reward is not logged."""

LOST_FIT: DrawnColumns = {
    "explained_variance": after(40, 0.1, 0.9), "value_loss": after(40, 60.0, 4.0),
    "reward_mean": fallen,
}  # fmt: skip
OFF_RETURNS: DrawnColumns = {
    "value_mean": 2.55, "return_mean": 0.5, "return_var": 1.0, "value_var": 1.0,
}  # fmt: skip
COLLAPSE: DrawnColumns = {"entropy": after(12, 0.05, 1.0), **FLAT}
LEARNED: DrawnColumns = {"entropy": after(12, 0.05, 1.0), "reward_mean": learned}
DECAY: DrawnColumns = {
    "lr": lambda i: 3e-4 * max(0.01, 1 - 0.02 * i),
    "approx_kl": after(45, 1e-4, 0.01), "clip_fraction": after(45, 0.0, 0.1),
}  # fmt: skip
PENALTY: DrawnColumns = {"non_score_reward": -0.52, "reward_std": 1.0, **STILL}
WRONG: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2, "ep_len": 60.0, "critic_loss": 100.0,
    "actor_loss": 1.0, "entropy_coef": 0.01,
}  # fmt: skip
EARLY: DrawnColumns = {
    "reward_mean": lambda i: jitter(i, 3) + (60.0 * min(i, 8) if i < 14 else 0.0), "ep_len": 200.0,
}  # fmt: skip
"""A reward that is lost soon after it was gained."""


def dips(i: int) -> float:
    """A reward that falls for five updates, and again for good."""
    high, low = 20.0 * min(i, 20), 130.0 if i < 27 else 110.0
    return jitter(i, 2) + (high if i < 22 or 27 <= i < 40 else low)


SPREAD_GONE: DrawnColumns = {
    "frac_zero_std": None, "reward_std": after(30, 0.01, 1.0), "grad_norm": after(30, 1e-9, 0.8),
}  # fmt: skip
EVALS: DrawnColumns = {
    "reward_mean": steady_gain,
    "eval_reward_mean": lambda i: 600.0 - 8 * i if i % 5 == 0 else None,
}  # fmt: skip
"""Evaluation falls while the training's reward rises."""

HACKS: DrawnColumns = {"ref_kl": lambda i: 1 + 0.2 * i, "resp_len_mean": after(30, 80.0, 50.0)}
SAME: DrawnColumns = {"reward_mean": 5.0, "ep_len": lambda i: 100.0 + i % 2}
"""Ten episodes an update, of the same reward each."""


def evals_at(*rows: int) -> DrawnColumns:
    """Evaluations far below training, all alike."""
    return {
        "eval_reward_mean": lambda i: -50.0 if i in rows else None,
        "eval_reward_std": lambda i: 1.0 if i in rows else None,
    }


LONG_TAIL: DrawnColumns = {"reward_p1": -9.0, "reward_p50": 0.0, "reward_p99": 1.0}

# fmt: off
PAIRS = (
    Contrast("value-drift", "the mean of the returns is logged", OFF_RETURNS, {"return_mean":
         None}, WATCH, 0, family="rlhf"),
    Contrast("value-drift", "the mean of the values is logged", OFF_RETURNS, {"value_mean": None},
         WATCH, 0, family="rlhf"),
    Contrast("value-drift", "returns of a control task may grow", {"return_var": after(10, 50.0,
         1.0), "value_var": 10.0, "value_mean": 0.0, "return_mean": 0.0}, {"value_var": 0.1}, 0,
         WATCH),
    Contrast("critic-not-learning", "reward was gained where no loss is logged",
         {"explained_variance": -0.1, "value_loss": None, **FLAT}, {"reward_mean": learned}, WARN,
         WATCH),
    Contrast("explained-variance-dropped", "the reward is at its ceiling", LOST_FIT,
         {"reward_mean": capped}, WARN, 0),
    Contrast("explained-variance-dropped", "a loss is logged", LOST_FIT, {"value_loss": None},
         WARN, 0),
    Contrast("premature-convergence", "a reward is logged", COLLAPSE, NOWHERE, CRIT, 0),
    Contrast("premature-convergence", "the goal is missed", LEARNED, {}, 0, WARN,
         otherwise_goal=300.0, count=100),
    Contrast("premature-convergence", "the goal is reached", LEARNED, {}, WARN, 0, goal=300.0,
         otherwise_goal=150.0, count=100),
    Contrast("premature-convergence", "less than half of the goal is reached", LEARNED, {}, CRIT,
         WARN, goal=356.0, otherwise_goal=330.0, count=100),
    Contrast("learning-rate-decayed", "the reward falls", {**DECAY, "reward_mean": learned},
         {"reward_mean": fallen}, INFO, 0),
    Contrast("learning-rate-decayed", "the KL is small where no clipping is logged", {**DECAY,
         "clip_fraction": None}, {"approx_kl": 0.01}, INFO, 0),
    Contrast("kl-coef-rising", "a KL is logged", {"kl_coef": lambda i: 0.05 * 1.02**i, "ref_kl":
         8.0}, {"ref_kl": None}, WATCH, INFO, family="rlhf"),
    Contrast("kl-penalty-off", "it ever was on", {"kl_coef": after(30, 1e-5, 0.05)}, {"kl_coef":
         1e-5}, INFO, 0, family="rlhf"),
    Contrast("kl-penalty-dominates", "a score is logged", PENALTY, {"reward_mean": None}, WATCH,
         0, family="rlhf"),
    Contrast("rlhf-reward-falls", "a score is logged", {"rlhf_reward": lambda i: 2 - 0.05 * i +
         jitter(i, 0.05)}, {"reward_mean": None}, WATCH, 0, family="rlhf"),
    Contrast("critic-loss-growing", "it was above 0 at the start", {**NOWHERE, "critic_loss":
         lambda i: 1e-3 if i < 20 else 500 * 1.4 ** (i - 20)}, {"critic_loss": lambda i: 0.0 if i
         < 20 else 500 * 1.4 ** (i - 20)}, CRIT, 0, OFF),
    Contrast("critic-loss-growing", "it is above 0", {**UNGAINED, **growing(1.4)}, {"critic_loss":
         after(20, 0.0, 3.0)}, CRIT, 0, OFF),
    Contrast("critic-loss-growing", "any return is known", {**UNGAINED, "critic_loss": after(20,
         1e4, 300.0)}, NOWHERE, WARN, 0, OFF),
    Contrast("entropy-coefficient", "it was above 0 at the start", {**UNGAINED, "entropy_coef":
         lambda i: 1e-3 if i < 3 else 0.01 * i}, {"entropy_coef": lambda i: 0.0 if i < 3 else 0.01
         * i}, WARN, 0, OFF),
    Contrast("not-training", "the trainer logs losses at all", NO_LOSS, {}, WARN, 0, OFF,
         count=120, otherwise_trainer="custom"),
    Contrast("not-training", "learning starts within the run", NO_LOSS, {}, 0, WARN, OFF,
         config={"total_timesteps": 240_000, "learning_starts": 1000},
         differs_config={"learning_starts": 1e9}, count=30),
    Contrast("not-training", "learning should have started", NO_LOSS, {}, WARN, 0, OFF,
         config={"learning_starts": 1000}, differs_config={"learning_starts": 1e9}, count=120),
    Contrast("action-values-wrong", "all returns are of one sign", WRONG, {"reward_mean": lambda
         i: 1.0 if i == 2 else -600.0 - i % 2}, WARN, 0, OFF),
    Contrast("reward-crash", "random actions earned the best, before anything was trained",
         {**EARLY, "critic_loss": 3.0}, {"critic_loss": lambda i: 3.0 if i > 11 else None}, CRIT,
         0, OFF),
    Contrast("reward-crash", "it has lasted three times as long as an earlier fall",
         {"reward_mean": dips}, {}, CRIT, WARN, count=60, otherwise_count=52),
    Contrast("reward-crash", "more than half is lost", {"reward_mean": lambda i: 400 * ((1 -
         0.8**i) if i < 40 else -2.0) + jitter(i, 1)}, {"reward_mean": lambda i: 400 * ((1 -
         0.8**i) if i < 40 else 0.45) + jitter(i, 1)}, CRIT, WARN),
    Contrast("learning-rate-pinned", "fifty updates are at the upper bound", {"lr": lambda i:
         min(0.01, 0.0099 + 1e-6 * i), **FLAT}, {}, WATCH, 0, count=70, otherwise_count=45,
         trainer="rsl_rl"),
    Contrast("no-learning-signal", "the gradient is a hundredth", SPREAD_GONE, {"grad_norm": 0.8},
         CRIT, 0, family="grpo"),
    Contrast("no-learning-signal", "a gradient is logged", SPREAD_GONE, {"grad_norm": None}, CRIT,
         0, family="grpo"),
    Contrast("no-learning-signal", "the gradient ever was more", SPREAD_GONE, {"grad_norm": 0.0},
         CRIT, 0, family="grpo"),
    Contrast("entropy-collapsed", "all answers are right without any", {"entropy": 0.004,
         "reward_mean": 0.5}, {"reward_mean": lambda i: min(1.0, 0.5 + 0.1 * i)}, WARN, INFO,
         family="grpo"),
    Contrast("entropy-collapsed", "a sum over responses is never below 0", {"entropy": None,
         "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5}, {"seq_entropy": lambda i: -1.0
         if i == 8 else 5.0 if i > 11 else 100.0}, WARN, 0, family="rlhf"),
    Contrast("entropy-collapsed", "it fell where nobody knows how long responses are", {"entropy":
         None, "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5, "resp_len_mean": None},
         {"seq_entropy": 100.0}, WARN, 0, family="rlhf"),
    Contrast("entropy-collapsed", "it fell where no reward is logged", {**COLLAPSE, **NOWHERE},
         {"entropy": after(12, 0.2, 1.0)}, WARN, 0),
    Contrast("entropy-collapsed", "it fell where no reward of answers is logged", {"entropy":
         after(12, 0.05, 1.0), "reward_mean": None}, {"entropy": after(12, 0.2, 1.0)}, WARN, 0,
         family="grpo"),
    Contrast("policy-collapsed", "nothing moves where no clipping is logged", {"entropy":
         after(20, 1e-5, 0.69), "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": None,
         **FLAT}, {"approx_kl": 0.01}, CRIT, 0),
    Contrast("action-spread-gone", "a reward is logged that is flat", {"policy_std": after(30, 0.01,
         1.0), **FLAT}, NOWHERE, WARN, 0),
    Contrast("entropy-constant", "a reward is logged that is flat", {"entropy": 1.234567, **FLAT},
         NOWHERE, WARN, 0),
    Contrast("eval-gap", "training has gained anything", {"reward_mean": learned,
         "eval_reward_mean": lambda i: -50.0 if i % 10 == 9 else None}, {"reward_mean": flat},
         WARN, 0),
    Contrast("eval-gap", "the difference is more than the evaluation's own spread",
         {"reward_mean": learned, "eval_reward_mean": lambda i: 50.0 if i == 59 else None,
         "eval_reward_std": lambda i: 40.0 if i == 59 else None}, {"eval_reward_std": lambda i:
         80.0 if i == 59 else None}, WATCH, 0),
    Contrast("long-tails", "the first percentile is logged", LONG_TAIL, {"reward_p1": None},
         WATCH, 0, family="rlhf"),
    Contrast("long-tails", "the last percentile is logged", LONG_TAIL, {"reward_p99": None},
         WATCH, 0, family="rlhf"),
    Contrast("long-tails", "the middle is above the lowest", {"reward_p1": 0.0, "reward_p50": 1.0,
         "reward_p99": 9.0}, {"reward_p1": 1.0}, WATCH, 0, family="rlhf"),
    Contrast("reward-spread", "a reward is logged", {"reward_std": after(30, 4.0, 1.0),
         "reward_mean": 1.0}, {"reward_mean": None, "rlhf_reward": None}, WATCH, 0,
         family="rlhf"),
    Contrast("reward-hacking", "the length is logged for 25 updates", {"ref_kl": lambda i: 1 + 0.2
         * i, "resp_len_mean": after(30, 80.0, 50.0)}, {"resp_len_mean": lambda i: None if i < 40
         else 50.0 if i < 46 else 80.0}, WATCH, 0, family="rlhf"),
    Contrast("entropy-collapsed", "control tasks know no least entropy", {"entropy": 0.004,
         **FLAT}, {"entropy": after(12, 0.0004, 0.004)}, 0, WARN),
    Contrast("actor-loss-large", "a discount of 1 is none", {**UNGAINED, "ep_len": 20.0,
         "actor_loss": after(30, 300.0, 20.0)}, {}, WARN, 0, OFF, config={"gamma": 0.9},
         differs_config={"gamma": 1.0}),
    Contrast("zero-variance-groups", "the reward is at its ceiling although groups tie",
         {"frac_zero_std": None, "group_reward_std": 0.0}, {"reward_mean": lambda i:
         min(1.0, 0.5 + 0.1 * i)}, CRIT, WATCH, family="grpo"),
    Contrast("zero-variance-groups", "rewards tie where none is logged", {"frac_zero_std": 0.93,
         "reward_mean": None}, {"frac_zero_std": 0.5}, WARN, 0, family="grpo"),
    Contrast("zero-variance-groups", "a reward that fell again pays for no ties",
         {"frac_zero_std": after(50, 0.9, 0.2), "reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i)
         + jitter(i, 0.2) - 3.0 * (i > 44)}, {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) +
         jitter(i, 0.2)}, WARN, WATCH, family="grpo"),
    Contrast("zero-variance-groups", "a reward that rises still is not the most there is",
         {"frac_zero_std": after(50, 0.9, 0.2), "reward_mean": lambda i: -5.0 + 0.3 * i +
         jitter(i, 0.2)}, {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2)},
         WARN, WATCH, family="grpo"),
    Contrast("clip-one-sided", "an entropy is logged", {"clip_low": 0.002, "clip_high": 0.03},
         {"entropy": None}, INFO, 0, family="grpo"),
    Contrast("ref-kl-token-high", "rules are of a language model that groups its samples",
         {"ref_kl_token": after(30, 0.5, 0.06), **RISES}, {"ref_kl_token": after(30, 5.5, 0.06)},
         WATCH, CRIT, family="rlhf"),
    Contrast("no-learning-signal", "nothing tells how many groups tie", SPREAD_GONE,
         {"frac_zero_std": 0.2}, CRIT, 0, family="grpo"),
    Contrast("diverged", "updates went wrong before", {"approx_kl": after(30, 0.5, 0.01),
         "value_loss": after(35, NAN, 5.0)}, {"value_loss": after(20, NAN, 5.0)}, CRIT, 0),
    Contrast("reward-scale-too-large", "the reward stays where it began", {"value_loss": 3e6,
         "explained_variance": 0.0, **FLAT}, {"reward_mean": steady_gain}, WARN, 0,
         config={"total_timesteps": 60_000}),
    Contrast("learning-rate-decayed", "ten updates are logged", {"lr": lambda i: 3e-4 * max(0.01,
         1 - 0.3 * i), "approx_kl": after(4, 1e-4, 0.01), "clip_fraction": after(4, 0.0, 0.1)},
         {}, INFO, 0, count=14, otherwise_count=9),
    Contrast("entropy-collapsed", "longer responses hide no loss", {"entropy": None,
         "seq_entropy": after(12, 16.0, 100.0), "resp_len_mean": after(12, 100.0, 50.0),
         "reward_mean": 0.5}, {"seq_entropy": after(12, 9.0, 100.0)}, 0, WARN, family="rlhf"),
    Contrast("entropy-collapsed", "it fell late, with the reward", {"entropy": after(40, 0.05,
         1.0), "reward_mean": learned}, {"reward_mean": fallen}, WATCH, WARN),
    Contrast("zero-variance-groups", "the most of a reward beyond 1 is not known",
         {"frac_zero_std": after(35, 0.9, 0.2), "reward_mean": lambda i: 0.2 + 0.05 * i +
         jitter(i, 0.02)}, {"reward_mean": lambda i: min(1.5, 0.2 + 0.05 * i) + jitter(i, 0.05)},
         WARN, WATCH, family="grpo", count=120),
    Contrast("drift-without-gain", "five nats are reached", {"ref_kl": lambda i: 0.11 * max(0, i -
         10), **STILL}, {"ref_kl": lambda i: 0.1 * max(0, i - 10)}, WATCH, 0, family="rlhf"),
    Contrast("entropy-coefficient", "it rises still", {**UNGAINED, "entropy_coef": lambda i: 0.5
         if i < 3 else 5.0 + 0.05 * i}, {"entropy_coef": after(3, 5.0, 0.5)}, WARN, 0, OFF),
    Contrast("eval-gap", "a fifth of the gain is lost in three evaluations", EVALS,
         {"eval_reward_mean": lambda i: 600.0 - 1.0 * i if i % 5 == 0 else None}, WARN, 0),
    Contrast("eval-gap", "each of three evaluations is lower than the one before", EVALS,
         {"eval_reward_mean": lambda i: 600.0 - 8 * i + 60.0 * (i % 10 == 5) if i % 5 == 0 else
         None}, WARN, 0),
    Contrast("kl-early-stop", "no update makes more epochs than are set", {"n_updates": lambda i:
         4.0 * i}, {"n_updates": lambda i: 4.0 * i + 8 * (i // 4)}, WATCH, 0, config={"n_epochs":
         10, "target_kl": 0.02}),
    Contrast("kl-early-stop", "updates are counted on", {"n_updates": lambda i: 4.0 * i},
         {"n_updates": lambda i: 4.0 * (i % 5)}, WATCH, 0, config={"n_epochs": 10, "target_kl":
         0.02}),
    Contrast("no-op-updates", "updates of one step each are measured before", {"approx_kl": lambda
         i: 0.01 if i < 10 else 0.0, "clip_fraction": 0.0, "entropy": 0.6, **STILL}, {"approx_kl":
         0.0}, WARN, 0, family="grpo"),
    Contrast("returns-constant", "the reward was gained before", {"explained_variance": after(30,
         NAN, 0.5), **FLAT}, {"reward_mean": learned}, WARN, 0),
    Contrast("returns-constant", "they have been equal from the start, whatever is gained",
         {"explained_variance": NAN, "reward_mean": learned}, {"explained_variance": after(30, NAN,
         0.5)}, WATCH, 0),
    Contrast("policy-loss-positive", "a language model's loss jumps", {"policy_loss": after(30,
         1.5, -0.02)}, {"policy_loss": after(30, 0.05, -0.02)}, WATCH, 0, family="rlhf"),
    Contrast("policy-loss-positive", "a high KL says it already", {"policy_loss": at(40, 0.5,
         -0.02)}, {"approx_kl": after(30, 0.05, 0.01)}, WATCH, 0),
    Contrast("grad-spike", "gradients usually differ by less", {"grad_norm": at(40, 20.0, 1.0)},
         {"grad_norm": lambda i: 20.0 if i == 40 else 10.0 ** jitter(i, 1.0)}, WATCH, 0),
    Contrast("reward-parts-diverge", "a part is logged for 25 updates",
         {"reward_component_mean{format}": lambda i: 0.9 - 0.02 * (i - 20) if i > 20 else None},
         {"reward_component_mean{format}": lambda i: 0.9 - 0.02 * (i - 36) if i > 36 else None},
         WATCH, 0, family="grpo"),
    Contrast("zero-variance-groups", "of one group an update most tie, not three in five by chance",
         {"frac_zero_std": lambda i: float(i % 10 > 0), **STILL}, {"frac_zero_std": lambda i:
         float(i % 10 > 0 if i % 40 < 14 else i % 5 > 2)}, WARN, WATCH, family="grpo", count=200),
    Contrast("zero-variance-groups", "sixteen updates of one group each tie", {"frac_zero_std":
         1.0, "reward_mean": lambda i: 0.5 + jitter(i, 0.02)}, {}, CRIT, WATCH, count=24,
         otherwise_count=12, family="grpo"),
    Contrast("eval-gap", "three evaluations lag far behind", {"reward_mean": learned,
         **evals_at(39, 49, 59)}, evals_at(49, 59), WARN, WATCH),
    Contrast("reward-never-moves", "two hundred episodes earned the same", SAME, {}, WARN, WATCH,
         count=26, otherwise_count=14),
    Contrast("reward-never-moves", "half of the run is over, and all earned the same", SAME, {},
         CRIT, WARN, count=30, config={"total_timesteps": 40_000},
         differs_config={"total_timesteps": 80_000}),
    Contrast("reward-never-moves", "ten updates earned the same", {"reward_mean": 5.0, "ep_len":
         lambda i: 10.0 + i % 2}, {}, WARN, WATCH, count=15, otherwise_count=9),
    Contrast("reward-hacking", "reward was gained", {**HACKS, **GAINS}, STILL, WATCH, 0,
         family="rlhf"),
    Contrast("reward-hacking", "the KL is high, though it climbs no more", {**HACKS, **RISES,
         "ref_kl": 15.0}, {"ref_kl": 5.0}, WATCH, 0, family="rlhf"),
    Contrast("entropy-collapsed", "the first gain was made just now", {"entropy": after(6, 0.05,
         1.0), "reward_mean": lambda i: 0.05 + 0.06 * i + jitter(i, 0.01)}, {"reward_mean": lambda
         i: (0.05 if i < 4 else 0.5) + jitter(i, 0.01)}, INFO, WATCH, count=13, family="grpo"),
    Contrast("no-op-updates", "small updates are enough for a language model that has learned",
         {"approx_kl": 1e-6, "clip_fraction": 0.0, "entropy": 0.6, **STILL}, GAINS, WARN, 0,
         family="rlhf"),
)
# fmt: on
