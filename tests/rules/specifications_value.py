"""Critic, entropy and rewards: what rules about them depend on."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from tests.rules.cases import after, at, fallen, rise
from tests.rules.specifications import FLAT, Contrast, learned, steady_gain
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan

LONG = {"total_timesteps": 60_000}
"""A run of known length, over when its rows end."""

BAD_CRITIC: DrawnColumns = {"explained_variance": -0.1, "value_loss": 900.0, **FLAT}


def fits(share: float) -> DrawnColumns:
    """A critic that explains nothing while its loss falls to a share of its first values."""
    return {"value_loss": after(5, 900.0 * share, 900.0)}


# fmt: off
CRITIC_PAIRS = (
    Contrast("critic-same-value", "rewards differ at all", {"explained_variance": 0.0},
         {"reward_mean": 3.0}, WARN, 0),
    Contrast("critic-not-learning", "anything is trained at all", {**BAD_CRITIC, "approx_kl":
         1.1e-5}, {"approx_kl": 0.9e-5}, WARN, 0),
    Contrast("critic-not-learning", "an update holds less than 200 steps", {**BAD_CRITIC,
         "n_updates": lambda i: 49.0 * i}, {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
    Contrast("critic-not-learning", "reward was gained", BAD_CRITIC, {"reward_mean": rise},
         WARN, WATCH),
    Contrast("critic-not-learning", "its weight is 0, whatever is gained", {**BAD_CRITIC,
         "reward_mean": rise}, {}, WATCH, WARN, differs_config={"vf_coef": 0.0}),
    Contrast("critic-not-learning", "a value clip holds it, whatever is gained", {**BAD_CRITIC,
         "reward_mean": rise, "clip_range_vf": 0.0103}, {"clip_range_vf": 0.0097}, WATCH, WARN),
    Contrast("critic-not-learning", "its loss fell to seven tenths", {**BAD_CRITIC,
         **fits(0.71), "explained_variance": at(0, 0.3, -0.1)}, fits(0.69), WARN, INFO),
    Contrast("critic-not-learning", "it ever explained a tenth", {**BAD_CRITIC, **fits(0.6),
         "explained_variance": at(0, 0.097, -0.1)}, {"explained_variance": at(0, 0.103, -0.1)},
         WARN, INFO),
    Contrast("critic-not-learning", "a fifth of its loss is left for long", {**BAD_CRITIC,
         **fits(0.206)}, fits(0.194), WARN, INFO),
    Contrast("critic-not-learning", "two fifths of its loss are left at first", {**BAD_CRITIC,
         **fits(0.412)}, fits(0.388), WARN, 0, count=17),
    Contrast("critic-not-learning", "eighteen updates have passed", {**BAD_CRITIC, **fits(0.3)},
         {}, WARN, 0, count=18, otherwise_count=17),
    Contrast("critic-not-learning", "a small loss is what reward was gained with",
         {**BAD_CRITIC, "reward_mean": learned, **fits(0.0103)}, fits(0.0097), WATCH, 0),
    Contrast("explained-variance-dropped", "the loss doubled", {"explained_variance": after(40,
         0.1, 0.9), "value_loss": after(40, 8.2, 4.0)}, {"value_loss": after(40, 7.8, 4.0)},
         WARN, 0),
    Contrast("explained-variance-dropped", "the loss is not small against its highest",
         {"explained_variance": after(40, 0.1, 0.9), "value_loss": lambda i: 1000.0 if i == 0
         else 51.5 if i >= 40 else 4.0}, {"value_loss": lambda i: 1000.0 if i == 0 else 48.5 if
         i >= 40 else 4.0}, WARN, 0),
    Contrast("explained-variance-dropped", "an update holds less than 200 steps",
         {"explained_variance": after(40, 0.1, 0.9), "value_loss": after(40, 60.0, 4.0),
         "n_updates": lambda i: 49.0 * i}, {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
    Contrast("explained-variance-dropped", "the usual loss is that of thirty updates",
         {"explained_variance": after(40, 0.1, 0.9), "value_loss": lambda i: 10.0 if i >= 40
         else 4.0 if i >= 22 else 8.0}, {"value_loss": lambda i: 10.0 if i >= 40 else 4.0 if i
         >= 28 else 8.0}, WARN, 0),
    Contrast("value-drift", "means differ by two standard deviations", {"value_mean": 2.55,
         "return_mean": 0.5, "return_var": 1.0, "value_var": 1.0}, {"value_mean": 2.45}, WATCH,
         0, family="rlhf"),
    Contrast("value-drift", "the returns' variance grew twentyfold", {"return_var": after(35,
         20.6, 1.0), "value_var": 1.0}, {"return_var": after(35, 19.4, 1.0)}, WATCH, 0,
         family="rlhf"),
    Contrast("value-drift", "it is a language model whose returns grew", {"return_var":
         after(10, 50.0, 1.0), "value_var": 10.0, "value_mean": 0.0, "return_mean": 0.0},
         {"return_var": after(10, 19.0, 1.0)}, WATCH, 0, family="rlhf"),
    Contrast("value-drift", "returns vary at all", {"value_var": 1.0, "return_var": 1.1e-12},
         {"return_var": 0.9e-12}, WATCH, 0, family="rlhf"),
    Contrast("returns-changed", "the reward falls afterwards", {"explained_variance": at(40,
         0.1, 0.9), "value_loss": at(40, 60.0, 4.0), "reward_mean": lambda i: rise(i) if i < 42
         else rise(42) - 30.0 * (i - 41)}, {"reward_mean": rise}, CRIT, 0),
    Contrast("returns-changed", "the critic was good in most of the ten updates before",
         {"explained_variance": lambda i: 0.1 if i == 40 else 0.9 if i >= 31 else 0.2,
         "value_loss": at(40, 60.0, 4.0), "reward_mean": lambda i: rise(i) if i < 42 else
         rise(42) - 30.0 * (i - 41)}, {"explained_variance": lambda i: 0.1 if i == 40 else 0.9 if
         i >= 36 else 0.2}, CRIT, 0),
)


def spiking(*rows: int) -> DrawnColumns:
    """A value loss with ever higher peaks."""
    peaks = {row: 60.0 * 4**number for number, row in enumerate(rows)}
    return {"value_loss": lambda i: peaks.get(i, 5.0)}


VALUE_LOSS_PAIRS = (
    Contrast("value-loss-spike", "a peak shortly before was a third as high", {"value_loss":
         lambda i: {25: 19.4, 40: 60.0}.get(i, 5.0)}, {"value_loss": lambda i: {25: 20.6, 40:
         60.0}.get(i, 5.0)}, WATCH, 0),
    Contrast("value-loss-spike", "that peak was within twenty updates", {"value_loss": lambda i:
         {19: 30.0, 40: 60.0}.get(i, 5.0)}, {"value_loss": lambda i: {20: 30.0, 40: 60.0}.get(i,
         5.0)}, WATCH, 0),
    Contrast("value-loss-spike", "the loss was ten times as high at first", {"value_loss":
         lambda i: {2: 582.0, 40: 60.0}.get(i, 5.0)}, {"value_loss": lambda i: {2: 618.0, 40:
         60.0}.get(i, 5.0)}, WATCH, 0),
    Contrast("value-loss-spike", "the usual is that of the last ten updates", {"value_loss":
         lambda i: 60.0 if i == 40 else 5.0 if i >= 34 else 15.0}, {"value_loss": lambda i: 60.0
         if i == 40 else 5.0 if i >= 36 else 15.0}, WATCH, 0),
    Contrast("value-loss-spike", "the third comes within twenty updates", spiking(20, 30, 40),
         spiking(20, 30, 41), WARN, WATCH),
    Contrast("value-loss-spike", "there are three of them", spiking(20, 30, 40), spiking(20,
         40), WARN, WATCH),
    Contrast("value-loss-spike", "updates of a few steps make three", {**spiking(20, 30, 40),
         "n_updates": lambda i: 49.0 * i}, {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
    Contrast("value-loss-spike", "the reward falls with the third", {**spiking(35, 42, 49),
         "reward_mean": fallen}, {"reward_mean": rise}, CRIT, WARN),
    Contrast("value-loss-spike", "three of five updates stay up", {"value_loss": lambda i: 60.0
         if i in (40, 42, 44) else 5.0}, {"value_loss": lambda i: 60.0 if i in (40, 42, 45) else
         5.0}, WARN, WATCH),
    Contrast("value-loss-spike", "it stays up over updates of a few steps", {"value_loss":
         after(40, 60.0, 5.0), "n_updates": lambda i: 49.0 * i}, {"n_updates": lambda i: 51.0 *
         i}, WARN, WATCH),
    Contrast("value-loss-spike", "the reward falls while it stays up", {"value_loss": after(40,
         60.0, 5.0), "reward_mean": fallen}, {"reward_mean": learned}, CRIT, WARN),
    Contrast("value-loss-spike", "the reward rises, and the loss was as high before",
         {"value_loss": lambda i: 60.0 if i >= 40 else 30.0 if i < 3 else 5.0, "reward_mean":
         learned}, {"reward_mean": steady_gain}, WARN, WATCH),
    Contrast("value-loss-rising", "the critic explains a fifth all the same", {"value_loss":
         lambda i: 2.0 * 1.1**i, "explained_variance": 0.19, **FLAT}, {"explained_variance":
         0.21}, WARN, WATCH),
    Contrast("value-loss-rising", "the reward is above its start by its noise", {"value_loss":
         lambda i: 2.0 * 1.2**i, "explained_variance": 0.1, **FLAT}, {"reward_mean": lambda i:
         jitter(i, 1.0) + (1.5 if i > 6 else 0.0)}, WARN, WATCH, count=18),
    Contrast("value-loss-rising", "the reward rises with it", {"value_loss": lambda i: 2.0 *
         1.1**i, "explained_variance": 0.1, **FLAT}, {"reward_mean": steady_gain}, WARN, INFO),
    Contrast("value-loss-rising", "an update holds less than 200 steps", {"value_loss": lambda
         i: 2.0 * 1.1**i, "explained_variance": 0.1, **FLAT, "n_updates": lambda i: 49.0 * i},
         {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
    Contrast("value-loss-rising", "it is not small against its highest", {"value_loss": lambda
         i: 100.0 if i == 0 else min(3.1, 0.5 * 1.06**i), **FLAT, "explained_variance": 0.1},
         {"value_loss": lambda i: 110.0 if i == 0 else min(3.1, 0.5 * 1.06**i)}, WARN, 0,
         count=38),
    Contrast("value-loss-rising", "a tenth of the first loss is gone", {"value_loss": after(5,
         9.1, 10.0), "explained_variance": 0.1, **FLAT}, {"value_loss": after(5, 8.9, 10.0)},
         WATCH, 0),
    Contrast("value-loss-rising", "forty updates have passed", {"value_loss": 10.0,
         "explained_variance": 0.1, **FLAT}, {}, WATCH, 0, count=43, otherwise_count=40),
    Contrast("value-loss-rising", "nothing was gained where nobody knows what is explained",
         {"value_loss": 10.0, "explained_variance": None, **FLAT}, {"reward_mean": lambda i:
         min(10.0 * i, 200.0) + jitter(i, 3)}, WATCH, INFO),
    Contrast("value-loss-zero", "the log is rounded", {"value_loss": after(30, 0.0, 5.0),
         **FLAT}, {}, WARN, 0, otherwise_trainer="custom"),
    Contrast("value-loss-zero", "a control task was learned", {"value_loss": after(30, 0.0,
         5.0), **FLAT}, {"reward_mean": learned}, WARN, 0),
    Contrast("value-loss-zero", "it ever was more", {"value_loss": after(30, 0.0, 5.0), **FLAT},
         {"value_loss": 0.0}, WARN, 0),
    Contrast("value-clip-high", "more than a fifth is clipped", {"value_clip_fraction": 0.206},
         {"value_clip_fraction": 0.194}, WATCH, 0, family="rlhf"),
)

ENTROPY_PAIRS = (
    Contrast("entropy-collapsed", "reward is gained for it", {"entropy": after(12, 0.05, 1.0),
         **FLAT}, {"reward_mean": steady_gain}, WARN, INFO),
    Contrast("entropy-collapsed", "the policy is a Gaussian", {"entropy": after(12, 0.05, 1.0),
         **FLAT}, {"entropy": after(12, 0.05, 1.4189)}, WARN, 0),
    Contrast("entropy-collapsed", "it is within half a per cent of unit Gaussians'", {"entropy":
         after(12, 0.05, 1.4189 * 1.0053), **FLAT}, {"entropy": after(12, 0.05, 1.4189 *
         1.0047)}, WARN, 0),
    Contrast("entropy-collapsed", "a standard deviation is logged", {"entropy": after(12, 0.05,
         1.0), **FLAT}, {"policy_std": 1.0}, WARN, 0),
    Contrast("entropy-collapsed", "it was ever below 0, but for rounding", {"entropy": lambda i:
         -0.9e-3 if i == 5 else 0.05 if i > 11 else 1.0, **FLAT}, {"entropy": lambda i: -1.1e-3
         if i == 5 else 0.05 if i > 11 else 1.0}, WARN, 0),
    Contrast("entropy-collapsed", "it was high within the first three", {"entropy": lambda i:
         1.0 if i == 2 else 0.097, **FLAT}, {"entropy": lambda i: 1.0 if i == 3 else 0.097},
         WARN, 0),
    Contrast("entropy-collapsed", "shorter responses explain the loss", {"entropy": None,
         "seq_entropy": after(12, 5.0, 100.0), "reward_mean": 0.5}, {"resp_len_mean": after(12,
         20.0, 50.0)}, WARN, 0, family="rlhf"),
    Contrast("entropy-collapsed", "samples were all alike from the start", {"entropy": 0.00485,
         "reward_mean": 0.5}, {"entropy": 0.00515}, WARN, 0, family="grpo"),
    Contrast("entropy-collapsed", "samples are alike still", {"entropy": 0.004, "reward_mean":
         0.5}, {"entropy": after(3, 0.006, 0.004)}, WARN, 0, family="grpo"),
    Contrast("entropy-collapsed", "the reward does not rise without entropy", {"entropy": 0.004,
         "reward_mean": 0.5}, {"reward_mean": steady_gain}, WARN, WATCH, family="grpo"),
    Contrast("policy-collapsed", "the reward was gained before and kept", {"entropy": after(20,
         1e-5, 0.69), "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1),
         **FLAT}, {"reward_mean": learned, "entropy": lambda i: 0.69 * 0.7**i}, CRIT, 0),
    Contrast("policy-collapsed", "something is still clipped", {"entropy": after(20, 1e-5,
         0.69), "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1),
         **FLAT}, {"clip_fraction": 0.01}, CRIT, 0),
    Contrast("policy-collapsed", "the KL is a hundred-thousandth", {"entropy": after(20, 1e-5,
         0.69), "approx_kl": after(20, 0.97e-5, 0.01), "clip_fraction": after(20, 0.0, 0.1),
         **FLAT}, {"approx_kl": after(20, 1.03e-5, 0.01)}, CRIT, 0),
    Contrast("policy-collapsed", "a hundredth of the entropy is left", {"entropy": after(20,
         0.0097, 1.0), "approx_kl": after(20, 1e-9, 0.01), "clip_fraction": after(20, 0.0, 0.1),
         **FLAT}, {"entropy": after(20, 0.0103, 1.0)}, CRIT, 0),
    Contrast("entropy-not-falling", "the first quarter of the run is over", {"entropy": 0.69,
         **FLAT}, {}, WATCH, 0, config={"total_timesteps": 200_000},
         differs_config={"total_timesteps": 260_000}),
    Contrast("entropy-not-falling", "two hundred episodes are over", {"entropy": 0.69,
         "reward_mean": FLAT["reward_mean"], "ep_len": 250.0}, {"ep_len": 310.0}, WATCH, 0),
    Contrast("entropy-not-falling", "nine tenths are left", {"entropy": after(10, 0.906, 1.0),
         **FLAT}, {"entropy": after(10, 0.894, 1.0)}, WARN, 0, config=LONG),
    Contrast("entropy-not-falling", "it began as an untrained policy's", {"entropy": 0.493,
         **FLAT}, {"entropy": 0.478}, WARN, 0, config=LONG),
    Contrast("entropy-not-falling", "the policy was trained before", {"entropy": 0.69, **FLAT},
         {"reward_mean": steady_gain}, WARN, 0, config=LONG),
    Contrast("entropy-explodes", "it is a quarter above its start and trebled soon after",
         {"entropy": after(10, 3.09, 1.0), "reward_mean": 0.5}, {"entropy": after(10, 2.91,
         1.0), "reward_mean": 0.5}, WATCH, 0, family="grpo"),
    Contrast("entropy-explodes", "there is any to speak of", {"entropy": after(30, 0.0123,
         0.002), **FLAT}, {"entropy": after(30, 0.0117, 0.002)}, WATCH, 0, family="grpo"),
    Contrast("entropy-explodes", "it climbed by half of its start", {"entropy": lambda i: 1.0 +
         0.022 * i, "reward_mean": 0.5}, {"entropy": lambda i: 1.0 + 0.018 * i}, WATCH, 0,
         family="grpo"),
    Contrast("action-spread", "the reward rises", {"policy_std": after(30, 4.0, 1.0), **FLAT},
         {"reward_mean": steady_gain}, WARN, 0),
    Contrast("action-spread-gone", "the reward is flat", {"policy_std": after(30,
         0.01, 1.0), **FLAT}, {"reward_mean": steady_gain}, WARN, 0),
    Contrast("action-noise-growing", "it grew by half a nat", {"entropy": lambda i: 1.4189 +
         0.0104 * i, "policy_std": 1.0, **FLAT}, {"entropy": lambda i: 1.4189 + 0.0078 * i},
         WARN, 0),
    Contrast("action-noise-growing", "it only rises", {"entropy": lambda i: 1.4189 + 0.02 * i,
         "policy_std": 1.0, **FLAT}, {"entropy": lambda i: 1.4189 + 0.02 * i + jitter(i, 1.0)},
         WARN, 0),
    Contrast("action-noise-growing", "reward was gained by it", {"entropy": lambda i: 1.4189 +
         0.02 * i, "policy_std": 1.0, **FLAT}, {"reward_mean": learned}, WARN, 0),
    Contrast("entropy-constant", "it is the same to five digits", {"entropy": lambda i: 1.234567
         * (1 + 0.9e-5 * (i % 2)), **FLAT}, {"entropy": lambda i: 1.234567 * (1 + 1.1e-5 * (i %
         2))}, WARN, 0),
    Contrast("entropy-constant", "it is rounded", {"entropy": 1.234567, **FLAT}, {"entropy":
         1.2345}, WARN, 0),
    Contrast("entropy-constant", "reward was gained", {"entropy": 1.234567, **FLAT},
         {"reward_mean": learned}, WARN, 0),
    Contrast("entropy-constant", "thirty updates are alike", {"entropy": lambda i: 0.5 if i < 25
         else 1.234567, **FLAT}, {"entropy": lambda i: 0.5 if i < 31 else 1.234567}, WARN, 0),
    Contrast("entropy-swings", "it turns four times in twenty updates", {"entropy": lambda i:
         1.0 - 0.5 * (i // 4 % 2)}, {"entropy": lambda i: 1.0 - 0.5 * (i // 8 % 2)}, WARN, 0),
    Contrast("entropy-swings", "each way is three tenths of the first", {"entropy": lambda i:
         1.0 - 0.31 * (i // 4 % 2)}, {"entropy": lambda i: 1.0 - 0.29 * (i // 4 % 2)}, WARN, 0),
    Contrast("entropy-swings", "each way is a fifth of a nat", {"entropy": lambda i: 0.6 - 0.206
         * (i // 4 % 2)}, {"entropy": lambda i: 0.6 - 0.194 * (i // 4 % 2)}, WARN, 0),
)

MACHINE_PAIRS = (
    Contrast("gpu-idle", "the training holds memory of the GPU", {"gpu_busy": 0.02,
         "gpu_memory": 0.021}, {"gpu_memory": 0.019}, INFO, 0),
    Contrast("gpu-idle", "where the memory is not known, it once worked on the GPU", {"gpu_busy":
         after(20, 0.02, 0.31)}, {"gpu_busy": after(20, 0.02, 0.29)}, INFO, 0),
)

REWARD_PAIRS = (
    Contrast("reward-spread", "the mean grows as much", {"reward_std": after(30, 3.1, 1.0),
         "reward_mean": 1.0}, {"reward_mean": after(25, 4.0, 1.0)}, WATCH, 0, family="rlhf"),
    Contrast("long-tails", "advantages have a long tail", {"adv_p1": -1.0, "adv_p50": 0.0,
         "adv_p99": 5.15}, {"adv_p99": 4.85}, WATCH, 0),
    Contrast("long-tails", "the tail is below", {"reward_p1": -5.15, "reward_p50": 0.0,
         "reward_p99": 1.0}, {"reward_p1": -4.85}, WATCH, 0, family="rlhf"),
    Contrast("long-tails", "the three differ", {"reward_p1": -9.0, "reward_p50": 0.0,
         "reward_p99": 1.0}, {"reward_p99": 0.0}, WATCH, 0, family="rlhf"),
    Contrast("eval-gap", "evaluation falls while training rises", {"reward_mean": steady_gain,
         "eval_reward_mean": lambda i: 260.0 - 4 * (i - 30) if i % 5 == 0 else None},
         {"eval_reward_mean": lambda i: 260.0 + 4 * (i - 30) if i % 5 == 0 else None}, WARN, 0),
    Contrast("reward-length-diverge", "they went together at first", {"reward_mean": lambda i:
         (5.0 * i if i < 25 else 250.0 - 5.0 * i) + jitter(i, 3), "ep_len": lambda i: 5.0 * i +
         jitter(i, 3)}, {"ep_len": lambda i: 100 + jitter(i, 3)}, WATCH, 0),
)

PAIRS = (
    *CRITIC_PAIRS, *VALUE_LOSS_PAIRS, *ENTROPY_PAIRS, *MACHINE_PAIRS, *REWARD_PAIRS,
)
