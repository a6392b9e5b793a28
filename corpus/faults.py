"""The injected faults: what each changes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from corpus.control_task import ControlTask


@dataclass(frozen=True)
class ControlFault:
    """One fault: changed hyperparameters, an altered environment, or a change during the run.

    `environment` is a method of `AlteredEnvironment`; `model` one of `ModelChange`; `scale`
    multiplies the task's own hyperparameters, `replace` replaces them.
    """

    scale: tuple[tuple[str, float], ...] = ()
    replace: tuple[tuple[str, Any], ...] = ()
    environment: str = ""
    model: str = ""
    midway: bool = False
    length_factor: float = 1.0


CONTROL_FAULTS = {
    "none": ControlFault(),
    "lr-x100": ControlFault(scale=(("learning_rate", 100.0),)),
    "lr-x30": ControlFault(scale=(("learning_rate", 30.0),)),
    "lr-1e-8": ControlFault(replace=(("learning_rate", 1e-08),)),
    "clip-off": ControlFault(replace=(("clip_range", 10.0),)),
    "clip-off-lr-x10": ControlFault(
        scale=(("learning_rate", 10.0),), replace=(("clip_range", 10.0),)
    ),
    "epochs-80": ControlFault(replace=(("n_epochs", 80),), length_factor=0.5),
    "entropy-punished": ControlFault(replace=(("ent_coef", -2.0),)),
    "entropy-bonus": ControlFault(replace=(("ent_coef", 1.0),)),
    "critic-untrained": ControlFault(replace=(("vf_coef", 0.0),)),
    "reward-x1000": ControlFault(environment="scale_reward"),
    "reward-zero": ControlFault(environment="zero_reward"),
    "reward-flipped": ControlFault(environment="flip_reward"),
    "observations-zero": ControlFault(environment="zero_observation"),
    "lr-x100-midway": ControlFault(model="raise_learning_rate", midway=True),
    "reward-flipped-midway": ControlFault(environment="flip_reward", midway=True),
    "reward-nan-midway": ControlFault(environment="nan_reward", midway=True),
    "observations-zero-midway": ControlFault(environment="zero_observation", midway=True),
    "critic-reset-midway": ControlFault(model="reset_critic", midway=True),
    "reward-x1000-midway": ControlFault(environment="scale_reward", midway=True),
    "gamma-0": ControlFault(replace=(("gamma", 0.0),)),
    "gradient-tiny": ControlFault(replace=(("max_grad_norm", 1e-06),)),
    "clip-tiny": ControlFault(replace=(("clip_range", 0.001),)),
    "value-clip-tiny": ControlFault(replace=(("clip_range_vf", 0.001),)),
    "advantages-raw": ControlFault(replace=(("normalize_advantage", False),)),
    "rollout-tiny": ControlFault(replace=(("n_steps", 16), ("batch_size", 16)), length_factor=0.3),
    "observations-x1e4": ControlFault(environment="huge_observation"),
    "reward-noise": ControlFault(environment="noisy_reward"),
    "lr-0-midway": ControlFault(model="stop_learning", midway=True),
    "policy-frozen-midway": ControlFault(model="freeze_policy", midway=True),
    "actions-random-midway": ControlFault(environment="random_action", midway=True),
    "noise-raised-midway": ControlFault(model="raise_noise", midway=True),
    "loss-reversed": ControlFault(model="reverse_loss"),
    "weights-reloaded-midway": ControlFault(model="reload_start", midway=True),
    "kl-limit-x500": ControlFault(scale=(("target_kl", 500.0),)),
    "kl-limit-tiny": ControlFault(scale=(("target_kl", 1e-06),)),
    "target-frozen": ControlFault(replace=(("tau", 0.0),)),
    "target-copied": ControlFault(replace=(("tau", 1.0),)),
    "collecting-only": ControlFault(replace=(("learning_starts", 10**9),)),
    "epsilon-stuck": ControlFault(
        replace=(("exploration_initial_eps", 1.0), ("exploration_final_eps", 1.0))
    ),
    "epsilon-back-midway": ControlFault(model="explore_fully", midway=True),
    "ent-coef-50": ControlFault(replace=(("ent_coef", 50.0),)),
    "target-entropy-5": ControlFault(replace=(("target_entropy", 5.0),)),
    "action-noise-5": ControlFault(replace=(("action_noise", 5.0),)),
    "critic-frozen": ControlFault(model="freeze_critic"),
    "lr-x0.001": ControlFault(scale=(("learning_rate", 0.001),)),
    "epsilon-short": ControlFault(
        replace=(("exploration_fraction", 1e-6), ("exploration_final_eps", 0.0))
    ),
    "reward-one": ControlFault(environment="one_reward"),
    "actions-weak": ControlFault(environment="weak_action"),
}


def hyperparameters(task: ControlTask, fault: ControlFault) -> dict[str, Any]:
    """Return what the algorithm is given: the task's own hyperparameters with the fault put in."""
    result: dict[str, Any] = {"learning_rate": 3e-4, **task.options}
    for name, factor in fault.scale:
        result[name] = result[name] * factor
    return result | dict(fault.replace)


class AlteredEnvironment(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment that goes wrong after `onset` of its steps, keeps true returns and ends."""

    def __init__(self, env: gymnasium.Env[Any, Any], kind: str, onset: int) -> None:
        super().__init__(env)
        self.kind, self.onset = kind, onset
        self.steps, self.score = 0, 0.0
        self.true_returns: list[float] = []
        self.ends: list[int] = []

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        self.score = 0.0
        observation, info = self.env.reset(**options)
        return self._altered(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step, keep the true reward, return the altered one."""
        if self.kind == "random_action" and self.steps >= self.onset:
            action = self.env.action_space.sample()
        if self.kind == "weak_action" and self.steps >= self.onset:
            action = 0.02 * np.asarray(action)
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        self.score += float(reward)
        if terminated or truncated:
            self.true_returns.append(self.score)
            self.ends.append(self.steps)
        observation = self._altered(observation)
        return observation, self._reward(float(reward)), terminated, truncated, info

    def _altered(self, observation: Any) -> Any:
        if self.steps < self.onset:
            return observation
        match self.kind:
            case "zero_observation":
                return np.zeros_like(observation)
            case "huge_observation":
                return observation * np.asarray(1e4, dtype=observation.dtype)
        return observation

    def _reward(self, reward: float) -> float:
        if self.steps <= self.onset:
            return reward
        match self.kind:
            case "scale_reward":
                return 1000.0 * reward
            case "zero_reward":
                return 0.0
            case "one_reward":
                return 1.0
            case "nan_reward":
                return float("nan")
            case "noisy_reward":
                return reward + float(self.np_random.normal(0.0, 100.0))
        return reward


class FlippedReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Flips the sign of the reward after the monitor: logged correctly, learnt wrongly."""

    def __init__(self, env: gymnasium.Env[Any, Any], onset: int) -> None:
        super().__init__(env)
        self.onset, self.steps = onset, 0
        self.paid = 0.0
        """the newest reward with its own sign"""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step and flip the sign."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        self.paid = float(reward)
        sign = -1.0 if self.steps > self.onset else 1.0
        return observation, sign * float(reward), terminated, truncated, info


class ModelChange(BaseCallback):
    """Changes the model once `onset` steps have been collected."""

    def __init__(self, kind: str, onset: int) -> None:
        super().__init__()
        self.kind, self.onset, self.done = kind, onset, not kind

    def _on_training_start(self) -> None:
        self.start = copy.deepcopy(self.model.policy.state_dict())
        self._change_if_due()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._change_if_due()

    def _change_if_due(self) -> None:
        if not self.done and self.num_timesteps >= self.onset:
            self.done = True
            getattr(self, self.kind)()

    def raise_learning_rate(self) -> None:
        """Multiply the learning rate by 100 for the rest of the run."""
        usual = self.model.lr_schedule
        self.model.lr_schedule = lambda left: 100.0 * usual(left)

    def stop_learning(self) -> None:
        """Set the learning rate to 0 for the rest of the run."""
        self.model.lr_schedule = lambda left: 0.0

    def reload_start(self) -> None:
        """Put the weights of the start back, as a wrong checkpoint would."""
        self.model.policy.load_state_dict(self.start)

    def explore_fully(self) -> None:
        """Set epsilon to 1 for the rest of the run."""
        self.model.exploration_schedule = lambda left: 1.0

    def reverse_loss(self) -> None:
        """Climb the policy's loss instead of descending."""
        part: Any = getattr(self.model, "actor", None) or self.model.policy
        reverse_steps(part.optimizer)

    def freeze_critic(self) -> None:
        """Leave the critic as it is; the actor goes on learning."""
        model: Any = self.model
        model.critic.optimizer.step = lambda closure=None: None

    def freeze_policy(self) -> None:
        """Freeze the policy; the critic goes on learning."""
        policy: Any = self.model.policy
        for part in (policy.mlp_extractor.policy_net, policy.action_net):
            part.requires_grad_(False)
        if hasattr(policy, "log_std"):
            policy.log_std.requires_grad_(False)

    def raise_noise(self) -> None:
        """Make the policy's actions much noisier."""
        policy: Any = self.model.policy
        with torch.no_grad():
            if hasattr(policy, "log_std"):
                policy.log_std.add_(3.0)
            else:
                policy.action_net.weight.mul_(0.02)
                policy.action_net.bias.mul_(0.02)

    def reset_critic(self) -> None:
        """Reinitialise the critic."""
        policy: Any = self.model.policy
        for part in (policy.mlp_extractor.value_net, policy.value_net):
            for layer in part.modules():
                if hasattr(layer, "reset_parameters"):
                    layer.reset_parameters()


def reverse_steps(optimizer: torch.optim.Optimizer) -> None:
    """Turn the sign of every gradient before the optimiser uses it."""
    usual = optimizer.step

    def step(closure: Any = None) -> Any:
        for group in optimizer.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    weights.grad.neg_()
        return usual(closure)

    optimizer.step = step
