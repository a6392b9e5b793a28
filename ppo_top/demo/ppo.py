"""A small, complete PPO in PyTorch for CartPole, written to be watched while it trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

Array = NDArray[np.float32]

ENVIRONMENT = "CartPole-v1"
HIDDEN_UNITS = 64
EVALUATION_EPISODES = 20


@dataclass(frozen=True)
class PpoConfig:
    """Hyperparameters of one run; `steps` counts per environment and iteration."""

    iterations: int = 20
    seed: int = 1
    environments: int = 4
    steps: int = 512
    n_epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 1e-3
    anneal_learning_rate: bool = True
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    nan_reward_at: int = 0
    """iteration in which the environment returns one NaN reward; 0: never"""


class Rollout:
    """The transitions of one iteration; arrays are (steps, environments)."""

    def __init__(self, steps: int, environments: int, width: int) -> None:
        shape = (steps, environments)
        self.observations: Array = np.zeros((*shape, width), np.float32)
        self.actions = np.zeros(shape, np.int64)
        self.log_probs: Array = np.zeros(shape, np.float32)
        self.values: Array = np.zeros(shape, np.float32)
        self.rewards: Array = np.zeros(shape, np.float32)
        self.dones = np.zeros(shape, np.bool_)
        self.last_values: Array = np.zeros(environments, np.float32)
        self.episode_rewards: list[float] = []
        """reward of each episode that ended in this rollout"""

    def advantages(self, gamma: float, gae_lambda: float) -> Array:
        """Generalised advantage estimates (Schulman et al. 2016, equation 16)."""
        result = np.zeros_like(self.rewards)
        next_values, advantage = self.last_values, np.zeros_like(self.last_values)
        for step in reversed(range(len(self.rewards))):
            not_done = 1.0 - self.dones[step]
            delta = self.rewards[step] + gamma * next_values * not_done - self.values[step]
            advantage = delta + gamma * gae_lambda * not_done * advantage
            result[step], next_values = advantage, self.values[step]
        return result


def build_network(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Build a network of two hidden layers, initialised orthogonally; `gain` scales its output."""
    layers = [
        nn.Linear(inputs, HIDDEN_UNITS),
        nn.Linear(HIDDEN_UNITS, HIDDEN_UNITS),
        nn.Linear(HIDDEN_UNITS, outputs),
    ]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


class PPO:
    """Separate actor and critic networks, and the environments they learn from."""

    def __init__(self, settings: PpoConfig) -> None:
        torch.manual_seed(settings.seed)
        self.config = settings
        self.rng = np.random.default_rng(settings.seed)
        self.envs = [gymnasium.make(ENVIRONMENT) for _ in range(settings.environments)]
        self.observations: Array = np.stack(
            [env.reset(seed=settings.seed + k)[0] for k, env in enumerate(self.envs)]
        )
        self.running_rewards = [0.0] * settings.environments
        self.actor = build_network(self.observations.shape[1], 2, gain=0.01)
        self.critic = build_network(self.observations.shape[1], 1, gain=1.0)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, settings.learning_rate, eps=1e-5)
        self.updates = 0

    def value(self, observations: Array) -> Array:
        """The critic's estimate for each observation."""
        with torch.no_grad():
            result: Array = self.critic(torch.as_tensor(observations)).squeeze(-1).numpy()
        return result

    def collect(self, iteration: int) -> Rollout:
        """Run the policy for one iteration, with sampled actions."""
        settings = self.config
        rollout = Rollout(settings.steps, settings.environments, self.observations.shape[1])
        for step in range(settings.steps):
            self._collect_step(rollout, step)
        if iteration == settings.nan_reward_at:
            rollout.rewards[-1, 0] = np.nan
            rollout.episode_rewards.append(float("nan"))
        rollout.last_values = self.value(self.observations)
        return rollout

    def _collect_step(self, rollout: Rollout, step: int) -> None:
        with torch.no_grad():
            policy = Categorical(logits=self.actor(torch.as_tensor(self.observations)))
            actions = policy.sample()
            rollout.log_probs[step] = policy.log_prob(actions).numpy()
        rollout.observations[step], rollout.actions[step] = self.observations, actions.numpy()
        rollout.values[step] = self.value(self.observations)
        self.observations = np.stack(
            [
                self._step_environment(rollout, step, k, int(action))
                for k, action in enumerate(actions)
            ]
        )

    def _step_environment(self, rollout: Rollout, step: int, k: int, action: int) -> Array:
        observation, reward, terminated, truncated, _ = self.envs[k].step(action)
        self.running_rewards[k] += float(reward)
        rollout.rewards[step, k] = reward
        if truncated and not terminated:  # the pole still stands: bootstrap from the critic
            rollout.rewards[step, k] += self.config.gamma * self.value(observation[None])[0]
        if terminated or truncated:
            rollout.dones[step, k] = True
            rollout.episode_rewards.append(self.running_rewards[k])
            self.running_rewards[k] = 0.0
            observation, _ = self.envs[k].reset()
        result: Array = observation
        return result

    def update(self, rollout: Rollout) -> dict[str, float]:
        """Train actor and critic on one rollout; return the metrics under SB3's tags."""
        settings = self.config
        advantages = rollout.advantages(settings.gamma, settings.gae_lambda)
        returns = advantages + rollout.values
        columns = [
            torch.as_tensor(column.reshape(-1, *column.shape[2:]))
            for column in (
                rollout.observations, rollout.actions, rollout.log_probs, advantages, returns
            )
        ]  # fmt: skip
        size = len(columns[0])
        metrics = []
        for _ in range(settings.n_epochs):
            order = torch.as_tensor(self.rng.permutation(size))
            for batch in order.split(settings.batch_size):
                metrics.append(self._gradient_step(*(column[batch] for column in columns)))
            self.updates += 1
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1.0 - np.var(returns - rollout.values) / np.var(returns)
        means = {tag: float(np.mean([each[tag] for each in metrics])) for tag in metrics[0]}
        return means | {"train/explained_variance": float(explained)}

    def _gradient_step(self, *batch: torch.Tensor) -> dict[str, float]:
        observations, actions, old_log_probs, advantages, returns = batch
        settings = self.config
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        policy = Categorical(logits=self.actor(observations), validate_args=False)
        log_ratio = policy.log_prob(actions) - old_log_probs
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1.0 - settings.clip_range, 1.0 + settings.clip_range)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        value_loss = (self.critic(observations).squeeze(-1) - returns).square().mean()
        entropy = policy.entropy().mean()
        loss = policy_loss + settings.vf_coef * value_loss - settings.ent_coef * entropy
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, settings.max_grad_norm)
        self.optimizer.step()
        outside = (ratio - 1.0).abs() > settings.clip_range
        return {
            "train/policy_gradient_loss": policy_loss.item(),
            "train/value_loss": value_loss.item(),
            "train/entropy_loss": -entropy.item(),
            # Schulman's k3 estimator: never negative, low variance.
            "train/approx_kl": (ratio - 1.0 - log_ratio).mean().item(),
            "train/clip_fraction": outside.float().mean().item(),
        }

    def evaluate(self) -> tuple[float, float]:
        """Mean and standard deviation of episode rewards with greedy actions."""
        env = gymnasium.make(ENVIRONMENT)
        scores = []
        for episode in range(EVALUATION_EPISODES):
            observation, _ = env.reset(seed=self.config.seed + 10_000 + episode)
            score, done = 0.0, False
            while not done:
                with torch.no_grad():
                    action = int(self.actor(torch.as_tensor(observation)).argmax())
                observation, reward, terminated, truncated, _ = env.step(action)
                score, done = score + float(reward), terminated or truncated
            scores.append(score)
        return float(np.mean(scores)), float(np.std(scores))


def train(settings: PpoConfig, logdir: Path) -> Iterator[str]:
    """Train one policy, write TensorBoard events to `logdir`, yield the console lines."""
    torch.set_num_threads(1)  # small networks: threads would only wait for each other
    ppo = PPO(settings)
    with SummaryWriter(str(logdir), flush_secs=1) as writer:
        rows = "".join(f"\n|{key}|{value}|" for key, value in asdict(settings).items())
        writer.add_text("hyperparameters", f"|param|value|\n|-|-|{rows}")
        for iteration in range(1, settings.iterations + 1):
            yield _run_iteration(ppo, iteration, writer)
        mean, deviation = ppo.evaluate()
        steps = settings.iterations * settings.steps * settings.environments
        writer.add_scalar("eval/mean_reward", mean, steps)
        writer.add_scalar("eval/std_reward", deviation, steps)
    yield (
        f"Training complete! {EVALUATION_EPISODES}-episode evaluation:"
        f" {mean:.1f} +/- {deviation:.1f}"
    )


def _run_iteration(ppo: PPO, iteration: int, writer: SummaryWriter) -> str:
    settings = ppo.config
    done = (iteration - 1) / settings.iterations if settings.anneal_learning_rate else 0.0
    rate = settings.learning_rate * (1.0 - done)
    ppo.optimizer.param_groups[0]["lr"] = rate
    rollout = ppo.collect(iteration)
    scores = rollout.episode_rewards
    metrics = ppo.update(rollout) | {
        "train/clip_range": settings.clip_range,
        "train/learning_rate": rate,
        "train/n_updates": float(ppo.updates),
    }
    mean = float(np.mean(scores)) if scores else 0.0
    if scores:
        metrics |= {"rollout/ep_rew_mean": mean, "rollout/ep_len_mean": mean}
    for tag, value in metrics.items():
        writer.add_scalar(tag, value, iteration * settings.steps * settings.environments)
    writer.flush()
    return (
        f"Iteration {iteration}/{settings.iterations} | Episodes: {len(scores)}"
        f" | Mean Reward: {mean:.1f} | KL: {metrics['train/approx_kl']:.4f}"
        f" | clip%: {100.0 * metrics['train/clip_fraction']:.1f}%"
    )
