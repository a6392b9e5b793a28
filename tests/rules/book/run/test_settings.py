"""Settings that the log states, and with which hardly anything is learned."""

from __future__ import annotations

from tests.rules.courses import FLAT, flat, rise
from tests.rules.specification import WARN, WATCH, Contrast, RuleCase, RuleTests


# fmt: off
class TestSettingExtreme(RuleTests):
    """Setting out of range."""

    rule = "setting-extreme"
    examples = (
        RuleCase({"reward_mean": flat, "ep_len": 20.0}, {"reward_mean": flat, "ep_len": 1.0},
            config={"gamma": 0.0, "total_timesteps": 60_000}),
        Contrast("the critic's loss counts", {"explained_variance": 0.1}, {}, WATCH, 0,
            config={"vf_coef": 0.0}, differs_config={"vf_coef": 0.01}),
        Contrast("the critic explains little", {"explained_variance": 0.19},
            {"explained_variance": 0.21}, WATCH, 0, config={"vf_coef": -0.5}),
        Contrast("there is a critic", {"explained_variance": None}, {"value_loss": None}, WATCH, 0,
            config={"vf_coef": 0.0}),
        Contrast("exploring is punished", {}, {}, WATCH, 0, config={"ent_coef": -0.001},
            differs_config={"ent_coef": 0.0}),
        Contrast("the entropy bonus is large", {}, {}, WATCH, 0, config={"ent_coef": 0.31},
            differs_config={"ent_coef": 0.29}),
        Contrast("the discount is small", {}, {}, WATCH, 0, config={"gamma": 0.49},
            differs_config={"gamma": 0.51}),
        Contrast("a discount is no percentage", {}, {}, WATCH, 0, config={"gamma": 0.0},
            differs_config={"gamma": -1.0}),
        Contrast("episodes have several steps", {"ep_len": 1.1}, {"ep_len": 1.0}, WATCH, 0,
            config={"gamma": 0.0}),
        Contrast("gradients are clipped to nothing", {}, {}, WATCH, 0,
            config={"max_grad_norm": 0.97e-4}, differs_config={"max_grad_norm": 1.03e-4}),
        Contrast("a norm of 0 turns clipping off", {}, {}, WATCH, 0, config={"max_grad_norm": 1e-6},
            differs_config={"max_grad_norm": 0.0}),
        Contrast("the KL penalty is large", {}, {}, WATCH, 0, family="grpo", config={"beta": 5.1},
            differs_config={"beta": 4.9}),
        Contrast("the KL penalty in the reward is large", {}, {}, WATCH, 0, family="rlhf",
            config={"kl_coef": 5.1}, differs_config={"kl_coef": 4.9}),
        Contrast("samples are nearly random", {}, {}, WATCH, 0, family="grpo",
            config={"temperature": 3.1}, differs_config={"temperature": 2.9}),
        Contrast("actions stay random", {}, {}, WATCH, 0, family="value-based",
            config={"exploration_final": 0.51}, differs_config={"exploration_final": 0.49}),
        Contrast("the target network stays as it was", {}, {}, WATCH, 0, family="value-based",
            config={"target_update_interval": 30_100, "total_timesteps": 60_000},
            differs_config={"target_update_interval": 29_900, "total_timesteps": 60_000}),
        Contrast("the target network follows by next to nothing", {}, {}, WATCH, 0,
            family="off-policy", config={"tau": 0.97e-4}, differs_config={"tau": 1.03e-4}),
        Contrast("the replay buffer is small", {}, {}, WATCH, 0, family="off-policy",
            config={"buffer_size": 499}, differs_config={"buffer_size": 501}),
        Contrast("a learner without a replay buffer has none that is small", {}, {}, WATCH, 0,
            family="value-based", config={"buffer_size": 50}, differs_config={"buffer_size": 0}),
        Contrast("nothing is learned with it", FLAT, {"reward_mean": rise}, WARN, WATCH,
            config={"ent_coef": 1.0, "total_timesteps": 60_000}),
    )
