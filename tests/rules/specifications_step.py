"""Step sizes, losses, gradients, learning rates: what rules about them depend on."""

from __future__ import annotations

import math

from ppo_top.model import Severity
from ppo_top.rules.engine.logged_run import TRAINING_LOSSES, UPDATE_METRICS
from tests.rules.cases import after, at, fallen, rise
from tests.rules.specifications import FLAT, Contrast, learned, steady_gain, within
from tests.support.drawn_runs import jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan

# fmt: off
KL_PAIRS = (
    Contrast("kl-high", "something gets worse", {"approx_kl": after(30, 0.05, 0.01),
         "reward_mean": fallen}, {"reward_mean": rise}, WARN, WATCH),
    Contrast("kl-high", "much is clipped too", {"approx_kl": after(30, 0.05, 0.01),
         "clip_fraction": after(30, 0.41, 0.1)}, {"clip_fraction": after(30, 0.39, 0.1)}, WARN,
         WATCH),
    Contrast("kl-high", "it is three times the critical limit", {"approx_kl": after(30, 0.31,
         0.01)}, {"approx_kl": after(30, 0.29, 0.01)}, CRIT, WARN),
    Contrast("kl-high", "a first update is more than large", {"approx_kl": within(0, 2, 2.1,
         0.01)}, {"approx_kl": within(0, 2, 1.9, 0.01)}, CRIT, 0),
    Contrast("kl-high", "it is the third update or the fourth", {"approx_kl": within(3, 3, 1.1,
         0.01)}, {"approx_kl": within(2, 2, 1.1, 0.01)}, CRIT, 0),
    Contrast("kl-high", "the user's KL target allows it", {"approx_kl": after(30, 0.058, 0.01)},
         {}, WATCH, 0, differs_config={"target_kl": 0.04}),
    Contrast("kl-high", "it is one and a half times the KL target", {"approx_kl": after(30,
         0.062, 0.01)}, {"approx_kl": after(30, 0.058, 0.01)}, WATCH, 0, config={"target_kl":
         0.04}),
    Contrast("kl-high", "it is beyond three times the KL target", {"approx_kl": after(30, 0.123,
         0.01)}, {"approx_kl": after(30, 0.117, 0.01)}, WARN, WATCH, config={"target_kl": 0.04}),
    Contrast("kl-high", "a KL target is for policies without language only", {"approx_kl":
         after(30, 0.12, 0.01)}, {"approx_kl": after(30, 0.09, 0.01)}, WATCH, 0, family="rlhf",
         config={"target_kl": 0.1}),
    Contrast("kl-high", "nine of ten k1 estimates go one way", {"approx_kl": None,
         "approx_kl_k1": lambda i: 0.12 if i % 5 < 3 else -0.12}, {"approx_kl_k1": lambda i:
         0.12 if i % 2 else -0.09 * (i % 4 == 0)}, WATCH, 0, family="rlhf"),
    Contrast("kl-spike", "it is the twelfth value", {"approx_kl": at(11, 0.08, 0.01)},
         {"approx_kl": at(10, 0.08, 0.01)}, WATCH, 0),
    Contrast("kl-spike", "the twenty before it were small", {"approx_kl": lambda i: 0.09 if i ==
         40 else 0.01 if i > 29 else 0.028}, {"approx_kl": lambda i: 0.09 if i == 40 else 0.01
         if i > 30 else 0.028}, WATCH, 0),
    Contrast("kl-spike", "it is already called too high", {"approx_kl": at(40, 0.9, 0.029)},
         {"approx_kl": at(40, 0.9, 0.031)}, WATCH, 0),
)

CONTROLLED_PAIRS = (
    Contrast("learning-rate-cut", "it fell at once", {"lr": after(25, 2.7e-6, 3e-4), "approx_kl":
         0.01, **FLAT}, {"lr": lambda i: 3e-4 if i < 25 else 4.5e-6 if i < 27 else 2.7e-6}, WARN,
         0),
    Contrast("kl-high", "a controller holds the KL to four times its usual target",
         {"approx_kl": after(30, 0.0412, 0.01)}, {"approx_kl": after(30, 0.0388, 0.01)}, WATCH,
         0, trainer="rllib"),
    Contrast("kl-high", "a controller holds the KL to ten times its usual target", {"approx_kl":
         after(30, 0.103, 0.01)}, {"approx_kl": after(30, 0.097, 0.01)}, WARN, WATCH,
         trainer="rllib"),
    Contrast("kl-high", "a controller's target is set", {"approx_kl": after(30, 0.0824, 0.01)},
         {"approx_kl": after(30, 0.0776, 0.01)}, WATCH, 0, trainer="rllib", config={"target_kl":
         0.02}),
)

CLIP_PAIRS = (
    Contrast("clip-high", "it is ten times the run's own share", {"clip_fraction": after(40,
         0.103, 0.0100)}, {"clip_fraction": after(40, 0.103, 0.0107)}, WATCH, 0, family="grpo"),
    Contrast("clip-high", "there are thirty updates to compare with", {"clip_fraction":
         after(30, 0.103, 0.01)}, {"clip_fraction": after(22, 0.103, 0.01)}, WATCH, 0,
         family="grpo", count=34, otherwise_count=27),
    Contrast("clip-high", "anything was clipped before", {"clip_fraction": after(40, 0.103,
         0.001)}, {"clip_fraction": after(40, 0.103, 0.0)}, WATCH, 0, family="grpo"),
    Contrast("clip-high", "something gets worse", {"clip_fraction": after(30, 0.35, 0.1),
         "approx_kl": 0.03, "reward_mean": fallen}, {"reward_mean": rise}, WARN, WATCH),
    Contrast("clip-high", "a narrow clip range explains it", {"clip_fraction": 0.45,
         "clip_range": 0.2}, {"clip_range": 0.1}, WARN, WATCH),
    Contrast("clip-high", "the clip range is narrower than 0.15", {"clip_fraction": 0.45,
         "clip_range": 0.155}, {"clip_range": 0.145}, WARN, WATCH),
    Contrast("clip-high", "the KL is small where the clip range is narrow", {"clip_fraction":
         0.45, "clip_range": 0.1, "approx_kl": 0.0205}, {"approx_kl": 0.0195}, WARN, WATCH),
    Contrast("clip-high", "a KL is logged where the clip range is narrow", {"clip_fraction":
         0.45, "clip_range": 0.1, "approx_kl": None}, {"approx_kl": 0.01}, WARN, WATCH),
    Contrast("clip-high", "the KL of an update is no estimate below zero", {"clip_fraction":
         0.45, "clip_range": 0.1, "approx_kl": -0.001}, {"approx_kl": 0.001}, WARN, WATCH),
    Contrast("clip-high", "more than four fifths hit a narrow range", {"clip_fraction": 0.82,
         "clip_range": 0.1}, {"clip_fraction": 0.78}, CRIT, WATCH),
    Contrast("clip-high", "half is clipped by a range nobody knows", {"clip_fraction": 0.51,
         "clip_range": None}, {"clip_fraction": 0.49}, CRIT, WATCH),
    Contrast("clip-high", "the reward falls although a range is narrow", {"clip_fraction":
         after(36, 0.45, 0.1), "clip_range": 0.1, "reward_mean": fallen}, {"reward_mean": rise},
         WARN, WATCH),
    Contrast("clip-high", "a narrow range is a language model's", {"clip_fraction": 0.45,
         "clip_range": 0.1}, {"clip_fraction": 0.21}, WARN, 0, family="rlhf"),
    Contrast("clip-high", "both sides together are clipped", {"clip_fraction": None, "clip_low":
         0.10, "clip_high": 0.06}, {"clip_low": 0.08}, WATCH, 0, family="grpo"),
    Contrast("clip-high", "only one side is logged", {"clip_fraction": None, "clip_low": None,
         "clip_high": 0.155}, {"clip_high": 0.145}, WATCH, 0, family="grpo"),
)

SHAPE_PAIRS = (
    Contrast("ratio-off", "the plain ratio is far off where no mean is logged", {"ratio_mean":
         None, "ratio_dist": 1.6}, {"ratio_dist": 1.4}, WARN, 0, family="rlhf"),
    Contrast("ratio-off", "a mean beside the plain ratio is off", {"ratio_mean": 1.6,
         "ratio_dist": 1.0}, {"ratio_mean": 1.0}, WARN, 0, family="rlhf"),
    Contrast("ratio-off", "minibatches differ", {"ratio_mean": 1.0, "ratio_var": 0.103},
         {"ratio_var": 0.097}, WARN, 0, family="rlhf"),
    Contrast("no-op-updates", "a little is clipped", {"approx_kl": 1e-8, "clip_fraction": 0.0,
         "entropy": 0.69, **FLAT}, {"clip_fraction": 0.1}, WARN, 0),
    Contrast("no-op-updates", "the clip holds the policy", {"approx_kl": 1e-8, "clip_fraction":
         0.31, "entropy": 0.69, **FLAT}, {"clip_fraction": 0.29}, WARN, 0),
    Contrast("no-op-updates", "a schedule has ended", {"approx_kl": 1e-8, "clip_fraction": 0.0,
         "entropy": 0.69, **FLAT, "lr": lambda i: 3e-4 * max(0.22, 1 - 0.1 * i)}, {"lr": lambda
         i: 3e-4 * max(0.18, 1 - 0.1 * i)}, WARN, 0),
    Contrast("no-op-updates", "updates of exactly nothing follow real ones", {"approx_kl":
         lambda i: 0.01 if i < 25 else 0.0, "entropy": 0.69, **FLAT, "clip_fraction": lambda i:
         0.1 if i < 25 else 0.0, "lr": lambda i: 3e-4 * max(0.15, 1 - 0.1 * i)}, {"lr": lambda
         i: 3e-4 * max(0.015, 1 - 0.1 * i)}, WARN, 0),
    Contrast("no-op-updates", "updates of exactly nothing have always been so", {"approx_kl":
         lambda i: 0.01 if i < 25 else 0.0, "entropy": 0.69, **FLAT, "clip_fraction": lambda i:
         0.1 if i < 25 else 0.0, "lr": lambda i: 3e-4 * max(0.15, 1 - 0.1 * i)}, {"approx_kl":
         0.0, "clip_fraction": 0.0}, WARN, 0),
    Contrast("no-op-updates", "reward was gained and the rate is not logged", {"approx_kl":
         lambda i: 0.01 if i < 25 else 1e-8, "entropy": 0.69, "lr": None, "clip_fraction":
         lambda i: 0.1 if i < 25 else 0.0, **FLAT}, {"reward_mean": learned, "ep_len": learned},
         WARN, 0),
    Contrast("no-op-updates", "zeros are those of a script that rounds", {"approx_kl": 0.0,
         "clip_fraction": 0.0, "entropy": 0.69, **FLAT}, {}, WARN, 0,
         otherwise_trainer="custom"),
    Contrast("no-op-updates", "entropy fell all the same", {"approx_kl": 0.0, "clip_fraction":
         0.0, "entropy": after(5, 0.69 * 0.98, 0.69), **FLAT}, {"entropy": after(5, 0.69 * 0.96,
         0.69)}, WARN, 0),
    Contrast("no-op-updates", "a step a batch never shows a KL", {"approx_kl": after(5, 0.0,
         0.01), "clip_fraction": 0.0, "reward_mean": 0.5}, {"approx_kl": 0.0}, WARN, 0,
         family="grpo"),
    Contrast("no-op-updates", "small updates suffice for a language model", {"approx_kl":
         after(25, 1e-8, 0.01), "clip_fraction": 0.0, "reward_mean": 0.5}, {"reward_mean":
         lambda i: 0.2 + 0.05 * i + jitter(i, 0.05)}, WARN, 0, family="rlhf"),
    Contrast("clip-not-binding", "the clip range is wide and the KL above 0.03", {"approx_kl":
         after(20, 0.031, 0.01), "clip_fraction": 0.01, "clip_range": 0.41}, {"clip_range":
         0.39}, WARN, 0),
    Contrast("clip-not-binding", "with a wide clip range the KL is above 0.03", {"approx_kl":
         after(20, 0.031, 0.01), "clip_fraction": 0.01, "clip_range": 0.4}, {"approx_kl":
         after(20, 0.029, 0.01)}, WARN, 0),
    Contrast("clip-not-binding", "the wide range binds all the same", {"approx_kl": 0.06,
         "clip_fraction": 0.051, "clip_range": 0.4}, {"clip_fraction": 0.049}, WATCH, WARN),
    Contrast("clip-not-binding", "the reward falls although the range binds", {"approx_kl":
         after(30, 0.06, 0.01), "clip_fraction": 0.06, "clip_range": 0.4, "reward_mean":
         fallen}, {"reward_mean": rise}, WARN, WATCH),
    Contrast("clip-not-binding", "nothing at all is clipped by a wide range", {"clip_fraction":
         0.0, "clip_range": 0.4}, {"clip_fraction": 0.001}, INFO, 0),
    Contrast("clip-not-binding", "there have been so many updates", {"clip_fraction": 0.0,
         "clip_range": 0.4}, {}, INFO, 0, count=26, otherwise_count=21),
    Contrast("clip-not-binding", "twenty updates were not clipped", {"clip_fraction": lambda i:
         0.01 if i < 37 else 0.0, "clip_range": 0.4}, {"clip_fraction": lambda i: 0.01 if i < 38
         else 0.0}, INFO, 0),
)

LOSS_PAIRS = (
    Contrast("policy-loss-positive", "advantages are normalised", {"policy_loss": 0.05}, {},
         WARN, 0, differs_config={"normalize_advantage": False}),
    Contrast("policy-loss-positive", "a loss that jumps is not in units of the rewards",
         {"policy_loss": at(30, -0.9, -0.02)}, {}, WATCH, 0,
         differs_config={"normalize_advantage": False}),
    Contrast("policy-loss-positive", "the setting is written as text", {"policy_loss": 0.05},
         {}, WARN, 0, differs_config={"normalize_advantage": "False"}),
    Contrast("policy-loss-positive", "the reward falls while the loss is large", {"policy_loss":
         0.5, "approx_kl": 0.01, "reward_mean": fallen}, {"reward_mean": rise}, WARN, INFO),
    Contrast("policy-loss-positive", "nothing was clipped or moved as PPO does", {"policy_loss":
         0.05}, {"clip_fraction": None, "approx_kl": None, "ratio_mean": None, "clip_range":
         None}, WARN, 0, trainer="unknown"),
    Contrast("policy-loss-positive", "losses of single batches are positive on the whole",
         {"policy_loss": lambda i: 0.03 if i % 5 else -0.01, **FLAT}, {"policy_loss": lambda i:
         0.03 if i % 5 and i > 12 else -0.12}, WARN, 0),
    Contrast("policy-loss-positive", "there were ten values before", {"policy_loss": lambda i:
         -0.5 if i == 10 else -0.005 + jitter(i, 0.001)}, {"policy_loss": lambda i: -0.5 if i ==
         9 else -0.005 + jitter(i, 0.001)}, WATCH, 0),
    Contrast("policy-loss-positive", "values of exactly 0 are no usual ones", {"policy_loss":
         lambda i: -0.5 if i == 25 else (i % 2) * (-0.005 + jitter(i, 0.001))}, {"policy_loss":
         lambda i: -0.5 if i == 17 else (i % 2) * (-0.005 + jitter(i, 0.001))}, WATCH, 0),
    Contrast("loss-spike", "one of the twenty before was as high", {"total_loss": lambda i: {19:
         9.0, 40: 26.0}.get(i, 1 + jitter(i, 0.01))}, {"total_loss": lambda i: {20: 9.0, 40:
         26.0}.get(i, 1 + jitter(i, 0.01))}, WATCH, 0),
    Contrast("grad-spike", "the gradient is more than noise of the smallest size", {"grad_norm":
         lambda i: 1.1e-6 if i == 40 else 1e-9 * (1 + jitter(i, 0.01))}, {"grad_norm": lambda i:
         0.9e-6 if i == 40 else 1e-9 * (1 + jitter(i, 0.01))}, WATCH, 0),
    Contrast("grad-spike", "it is unusual for gradients that vary much", {"grad_norm": lambda i:
         11.0 if i == 40 else 1 + jitter(i, 0.1)}, {"grad_norm": lambda i: 11.0 if i == 40 else
         10.0 ** jitter(i, 0.9)}, WATCH, 0),
    Contrast("grad-zero", "the learning rate is zero", {"grad_norm": after(30, 0.0, 1.0)},
         {"lr": 0.0}, WATCH, 0),
    Contrast("grad-zero", "there ever was a gradient", {"grad_norm": after(30, 0.0, 1.0)},
         {"grad_norm": 0.0}, WATCH, 0),
    Contrast("grad-zero", "it is a millionth of the usual", {"grad_norm": after(50, 0.97e-6,
         1.0)}, {"grad_norm": after(50, 1.03e-6, 1.0)}, WATCH, 0),
    Contrast("grad-zero", "the reward is at its ceiling", {"grad_norm": after(40, 0.0, 1.0),
         "reward_mean": 20.0}, {"reward_mean": 500.0}, WATCH, 0, config={"reward_threshold":
         500.0}),
)

RATE_PAIRS = (
    Contrast("learning-rate-zero", "the run is nearly over", {"lr": after(50, 0.0, 3e-4),
         **FLAT}, {}, INFO, 0, config={"total_timesteps": 68_000},
         differs_config={"total_timesteps": 56_500}),
    Contrast("learning-rate-zero", "twenty updates passed with nothing to learn by", {"lr":
         after(38, 0.0, 3e-4), **FLAT}, {"lr": after(39, 0.0, 3e-4)}, WATCH, 0),
    Contrast("learning-rate-zero", "it was ever more", {"lr": after(30, 0.0, 3e-4), **FLAT},
         {"lr": 0.0}, WATCH, 0),
    Contrast("learning-rate-zero", "the reward still rises", {"lr": after(50, 0.0, 3e-4),
         "reward_mean": steady_gain}, FLAT, INFO, 0),
    Contrast("learning-rate-cut", "it falls at once", {"lr": after(40, 2e-6, 3e-4), **FLAT},
         {"lr": lambda i: 3e-4 if i < 40 else 5e-5 if i < 42 else 2e-6}, WARN, 0),
    Contrast("learning-rate-cut", "a hundredth is left", {"lr": after(40, 0.97e-2, 1.0),
         **FLAT}, {"lr": after(40, 1.03e-2, 1.0)}, WARN, 0),
    Contrast("learning-rate-cut", "it fell from more than a fifth", {"lr": lambda i: 1.0 if i <
         30 else 0.21 if i < 40 else 0.001, **FLAT}, {"lr": lambda i: 1.0 if i < 30 else 0.19 if
         i < 40 else 0.001}, WARN, 0),
    Contrast("learning-rate-cut", "the trainer adapts it", {"lr": after(40, 2e-6, 3e-4),
         **FLAT}, {"lr": lambda i: 3e-4}, WARN, 0),
    Contrast("learning-rate-jump", "it was higher before", {"lr": after(30, 1e-3, 1e-4)}, {"lr":
         lambda i: 2e-3 if i < 5 else 1e-3 if i > 30 else 1e-4}, INFO, 0),
    Contrast("learning-rate-jump", "its schedule goes back to its first rate", {"lr":
         after(30, 3e-2, 1e-4)}, {"lr": lambda i: 3e-2 if i in (0, 30) else 1e-4}, WARN, INFO),
    Contrast("learning-rate-jump", "it has been logged for ten updates", {"lr":
         after(10, 3e-2, 1e-4)}, {"lr": after(9, 3e-2, 1e-4)}, WARN, 0),
    Contrast("learning-rate-jump", "it rises a step at a time", {"lr": after(30, 3e-2, 1e-4)},
         {"lr": lambda i: 1e-4 * min(300.0, 1.5 ** max(0, i - 29))}, WARN, 0),
    Contrast("learning-rate-jump", "it came from nothing", {"lr": after(30, 1e-3, 1e-4)}, {"lr":
         after(30, 1e-3, 0.0)}, INFO, 0),
    Contrast("learning-rate-extreme", "reward was gained with it", {"lr": after(30, 0.05, 1e-3),
         **FLAT}, {"reward_mean": rise}, WARN, WATCH),
    Contrast("learning-rate-extreme", "it lasts five updates", {"lr": 9e-8, **FLAT}, {"lr":
         lambda i: 9e-8 if i < 4 else 3e-4}, WARN, 0),
    Contrast("learning-rate-extreme", "it is large for most runs", {"lr": 0.0101}, {"lr":
         0.0099}, INFO, 0),
    Contrast("learning-rate-extreme", "it is small for most runs", {"lr": 0.99e-6}, {"lr":
         1.01e-6}, INFO, 0),
    Contrast("learning-rate-extreme", "a small rate is the only one there was", {"lr": 0.9e-6},
         {"lr": lambda i: 3e-4 if i < 2 else 0.9e-6}, INFO, 0),
    Contrast("learning-rate-extreme", "what it explains is seen", {"lr": 0.02, "approx_kl":
         after(20, 0.5, 0.01)}, {"approx_kl": 0.01}, WARN, INFO),
    Contrast("learning-rate-extreme", "a rate that is not logged is large", {"lr": None, **FLAT},
         {}, WARN, INFO, config={"learning_rate": 0.031}, differs_config={"learning_rate": 0.029}),
    Contrast("learning-rate-extreme", "a rate that is not logged is small", {"lr": None, **FLAT},
         {}, WARN, WATCH, config={"learning_rate": 0.97e-7}, differs_config={"learning_rate":
         1.03e-7}),
    Contrast("learning-rate-extreme", "the log says another rate than the settings", {"lr": None,
         **FLAT}, {"lr": 3e-4}, WARN, 0, config={"learning_rate": 0.1}),
    Contrast("learning-rate-extreme", "one that follows the KL is seen to move", {"lr": 0.031,
         **FLAT}, {"lr": lambda i: 0.031 * 1.5 ** (i % 2)}, WARN, 0, trainer="rsl_rl"),
    Contrast("learning-rate-zero", "one that follows the KL has not risen lately", {"lr": lambda
         i: 1e-2 / 1.5**i, "reward_mean": rise}, {"lr": lambda i: 1e-2 * 1.6 ** (i % 2) /
         1.5**i}, WATCH, 0, trainer="rsl_rl"),
    Contrast("learning-rate-extreme", "it is at no bound of those that follow the KL", {"lr":
         0.0101}, {"lr": 0.01}, INFO, 0, trainer="rsl_rl"),
    Contrast("learning-rate-extreme", "something is updated", {"lr": None, **FLAT},
         dict.fromkeys(UPDATE_METRICS), WARN, 0, config={"learning_rate": 0.1}),
    Contrast("kl-early-stop", "fewer epochs were made than set", {"n_updates": lambda i: 4.0 *
         i}, {"n_updates": lambda i: 10.0 * i}, WATCH, 0, config={"n_epochs": 10, "target_kl":
         0.02}),
    Contrast("kl-early-stop", "a KL limit is set", {"n_updates": lambda i: 4.0 * i}, {}, WATCH,
         0, config={"n_epochs": 10, "target_kl": 0.02}, differs_config={"target_kl": 0}),
    Contrast("kl-early-stop", "the counter counts epochs", {"n_updates": lambda i: 4.0 * i},
         {"n_updates": lambda i: 4.0 * i + 20 * (i // 3)}, WATCH, 0, config={"n_epochs": 10,
         "target_kl": 0.02}),
    Contrast("learning-rate-pinned", "it is at its lowest for twenty updates", {"lr": lambda i:
         max(1e-5, 1e-3 * 0.7**i), "reward_mean": rise}, {"lr": lambda i: max(1.01e-5, 1e-3 *
         0.7**i)}, WARN, 0, trainer="rsl_rl"),
)

SETTING_PAIRS = (
    Contrast("setting-extreme", "the critic's loss counts", {"explained_variance":
         0.1}, {}, WATCH, 0, config={"vf_coef": 0.0}, differs_config={"vf_coef": 0.01}),
    Contrast("setting-extreme", "the critic explains little", {"explained_variance": 0.19},
         {"explained_variance": 0.21}, WATCH, 0, config={"vf_coef": -0.5}),
    Contrast("setting-extreme", "there is a critic", {"explained_variance": None},
         {"value_loss": None}, WATCH, 0, config={"vf_coef": 0.0}),
    Contrast("setting-extreme", "exploring is punished", {}, {}, WATCH, 0,
         config={"ent_coef": -0.001}, differs_config={"ent_coef": 0.0}),
    Contrast("setting-extreme", "the entropy bonus is large", {}, {}, WATCH, 0,
         config={"ent_coef": 0.31}, differs_config={"ent_coef": 0.29}),
    Contrast("setting-extreme", "the discount is small", {}, {}, WATCH, 0,
         config={"gamma": 0.49}, differs_config={"gamma": 0.51}),
    Contrast("setting-extreme", "a discount is no percentage", {}, {}, WATCH, 0,
         config={"gamma": 0.0}, differs_config={"gamma": -1.0}),
    Contrast("setting-extreme", "episodes have several steps", {"ep_len": 1.1}, {"ep_len": 1.0},
         WATCH, 0, config={"gamma": 0.0}),
    Contrast("setting-extreme", "gradients are clipped to nothing", {}, {}, WATCH, 0,
         config={"max_grad_norm": 0.97e-4}, differs_config={"max_grad_norm": 1.03e-4}),
    Contrast("setting-extreme", "a norm of 0 turns clipping off", {}, {}, WATCH, 0,
         config={"max_grad_norm": 1e-6}, differs_config={"max_grad_norm": 0.0}),
    Contrast("setting-extreme", "the KL penalty is large", {}, {}, WATCH, 0, family="grpo",
         config={"beta": 5.1}, differs_config={"beta": 4.9}),
    Contrast("setting-extreme", "the KL penalty in the reward is large", {}, {}, WATCH, 0,
         family="rlhf", config={"kl_coef": 5.1}, differs_config={"kl_coef": 4.9}),
    Contrast("setting-extreme", "samples are nearly random", {}, {}, WATCH, 0, family="grpo",
         config={"temperature": 3.1}, differs_config={"temperature": 2.9}),
    Contrast("setting-extreme", "actions stay random", {}, {}, WATCH, 0, family="value-based",
         config={"exploration_final": 0.51}, differs_config={"exploration_final": 0.49}),
    Contrast("setting-extreme", "nothing is learned with it", FLAT, {"reward_mean": rise}, WARN,
         WATCH, config={"ent_coef": 1.0, "total_timesteps": 60_000}),
)

UNTRAINED = dict.fromkeys(TRAINING_LOSSES)
"""No loss is logged."""

NUMBER_PAIRS = (
    Contrast("non-finite", "no episode has ended for fifty updates", {"ep_len": None,
         "reward_mean": lambda i: rise(i) if i < 20 else NAN}, {}, CRIT, 0, count=71,
         otherwise_count=70),
    Contrast("non-finite", "ten episodes should have ended by now", {"ep_len": None,
         "reward_mean": lambda i: rise(i) if i % 8 == 0 and i <= 40 else NAN}, {}, CRIT, 0,
         count=110, otherwise_count=109),
    Contrast("non-finite", "an evaluation is not to be expected", {"ep_len": None,
         "reward_mean": lambda i: rise(i) if i < 20 else NAN}, {"reward_mean": rise,
         "eval_reward_mean": lambda i: rise(i) if i < 20 else NAN}, CRIT, 0, count=90),
    Contrast("non-finite", "a counter counts, however damaged its line", {"value_loss": at(40,
         math.inf, 5.0)}, {"value_loss": 5.0, "episode": at(40, math.inf, 7.0)}, CRIT, 0),
    Contrast("non-finite", "the reward has never been a number", {**UNTRAINED, "ep_len": None,
         "reward_mean": NAN}, {}, CRIT, 0, count=6, otherwise_count=5),
    Contrast("non-finite", "nothing but the reward tells of training", {**UNTRAINED, "ep_len":
         None, "reward_mean": NAN}, {"value_loss": 5.0}, CRIT, 0),
    Contrast("non-finite", "there were rewards before", {"eval_reward_mean": lambda i: NAN if i
         == 40 else 100.0}, {"eval_reward_mean": lambda i: NAN if i == 40 else None}, CRIT, 0),
    Contrast("non-finite", "an episode ended in the update", {"reward_mean": lambda i: NAN if i
         == 40 else rise(i)}, {"ep_len": lambda i: NAN if i == 40 else 100.0}, CRIT, 0),
    Contrast("non-finite", "an infinity is never the mean of nothing", {"reward_mean": lambda i:
         math.inf if i == 40 else rise(i), "ep_len": at(40, NAN, 100.0)}, {"reward_mean": lambda
         i: NAN if i == 40 else rise(i)}, CRIT, 0),
    Contrast("non-finite", "a replay buffer may still be filling", {"critic_loss": lambda i: NAN
         if i < 3 else 1.0, "actor_loss": None}, {}, CRIT, 0, family="off-policy",
         config={"learning_starts": 100}, differs_config={"learning_starts": 5000}),
    Contrast("hidden-nan", "the others go on", {"value_loss": lambda i: 5.0 if i < 40 else
         None}, {"value_loss": lambda i: 5.0 if i % 5 == 0 else None}, WATCH, 0),
    Contrast("hidden-nan", "another reward began two updates before it ended",
         {"reward_component_mean{a}": lambda i: 0.5 + jitter(i, 0.1) if i < 40 else None,
         "reward_component_mean{b}": lambda i: 0.5 + jitter(i, 0.1) if i >= 37 else None},
         {"reward_component_mean{b}": lambda i: 0.5 + jitter(i, 0.1) if i >= 38 else None},
         WARN, WATCH, family="grpo"),
    Contrast("hidden-nan", "it had been there ten times", {"total_loss": lambda i: 2.0 if i < 10
         else None}, {"total_loss": lambda i: 2.0 if i < 9 else None}, WATCH, 0),
)

PAIRS = (
    *KL_PAIRS, *CONTROLLED_PAIRS, *CLIP_PAIRS, *SHAPE_PAIRS, *LOSS_PAIRS, *RATE_PAIRS,
    *SETTING_PAIRS, *NUMBER_PAIRS,
)
