"""A script of the kind people write themselves: PPO, REINFORCE and DQN in plain PyTorch.

For environments with discrete actions. What it logs, and how, is `corpus.own_logs`' work.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from corpus.faults import reverse_steps
from corpus.own_logs import LogWriter, UpdateFigures


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers of 64."""
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


class Script:
    """What the three algorithms share: environments, episodes, and a change at `onset` steps."""

    def __init__(self, envs: list[Any], options: dict[str, Any], seed: int, log: LogWriter) -> None:
        self.envs, self.options, self.log = envs, options, log
        self.random = np.random.default_rng(seed)
        self.seen = np.stack([env.reset(seed=seed + n)[0] for n, env in enumerate(envs)])
        self.scores, self.lengths = np.zeros(len(envs)), np.zeros(len(envs))
        self.steps, self.updates, self.episodes = 0, 0, 0
        self.rate = float(options["learning_rate"])
        self.recent: list[tuple[float, float]] = []
        """(return, length) of the episodes that ended since the last row"""
        self.build(self.seen.shape[1], int(envs[0].action_space.n))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=self.rate)
        self.start = copy.deepcopy(self.net.state_dict())

    net: nn.Module
    figures: tuple[str, ...] = ()
    """what `update` can return, in the order of a table's columns"""

    def build(self, inputs: int, actions: int) -> None:
        """Make the networks."""
        raise NotImplementedError

    def update(self) -> UpdateFigures:
        """Collect, optimise, and return the figures of this update."""
        raise NotImplementedError

    def train(self, steps: int, change: str, onset: int) -> None:
        """Train for a number of steps, logging after each update."""
        while self.steps < steps:
            if change and self.steps >= onset:
                getattr(self, change)()
                change = ""
            figures = self.update()
            self.updates += 1
            self.log.row(self, figures | {"learning_rate": self.rate})
            self.recent = []

    def act(self, actions: Any) -> tuple[Any, Any]:
        """Step every environment: rewards and ends; `seen` is then the newest observation."""
        rewards, ends = np.zeros(len(self.envs)), np.zeros(len(self.envs))
        for n, env in enumerate(self.envs):
            seen, rewards[n], terminated, truncated, _ = env.step(int(actions[n]))
            self.scores[n] += getattr(env, "paid", rewards[n])
            self.lengths[n] += 1
            self.steps += 1
            if terminated or truncated:
                ends[n] = 1.0
                self.episodes += 1
                self.recent.append((self.scores[n], self.lengths[n]))
                self.log.episode(self, self.scores[n], self.lengths[n])
                self.scores[n] = self.lengths[n] = 0
                seen = env.reset()[0]
            self.seen[n] = seen
        return rewards, ends

    def descend(self, loss: torch.Tensor) -> None:
        """One optimiser step."""
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.options.get("max_grad_norm", 0.5))
        self.optimizer.step()

    def set_rate(self, rate: float) -> None:
        """Use another learning rate from now on."""
        self.rate = rate
        self.optimizer.param_groups[0]["lr"] = rate

    def raise_learning_rate(self) -> None:
        """Multiply the learning rate by 100."""
        self.set_rate(100.0 * self.rate)

    def stop_learning(self) -> None:
        """Set the learning rate to 0."""
        self.set_rate(0.0)

    def reload_start(self) -> None:
        """Put the weights of the start back."""
        self.net.load_state_dict(self.start)

    def reverse_loss(self) -> None:
        """Climb the loss."""
        reverse_steps(self.optimizer)


class Ppo(Script):
    """PPO with generalised advantages; `clip_range` 0.2, ten epochs by default."""

    figures: tuple[str, ...] = (
        "policy_loss",
        "value_loss",
        "entropy",
        "kl",
        "clip_fraction",
        "explained_variance",
    )

    def build(self, inputs: int, actions: int) -> None:
        """A policy and a critic."""
        self.policy, self.critic = network(inputs, actions), network(inputs, 1)
        self.net = nn.ModuleList([self.policy, self.critic])

    def collect(self, length: int) -> tuple[torch.Tensor, ...]:
        """Observations, actions, log-probabilities, rewards, ends, each (length, environments)."""
        parts: list[list[Any]] = [[], [], [], [], []]
        for _ in range(length):
            seen = torch.as_tensor(self.seen.copy(), dtype=torch.float32)
            with torch.no_grad():
                choice = Categorical(logits=self.policy(seen))
            actions = choice.sample()
            rewards, ends = self.act(actions.numpy())
            row = (seen, actions, choice.log_prob(actions), rewards, ends)
            for part, value in zip(parts, row, strict=True):
                part.append(torch.as_tensor(value))
        return tuple(torch.stack(part) for part in parts)

    def advantages(self, values: torch.Tensor, rewards: torch.Tensor, ends: torch.Tensor) -> Any:
        """Generalised advantages; `values` holds one row more than `rewards`."""
        gamma, lam = self.options.get("gamma", 0.99), 0.95
        result, last = torch.zeros(rewards.shape), torch.zeros(rewards.shape[1])
        for t in reversed(range(len(rewards))):
            on = 1.0 - ends[t]
            delta = rewards[t] + gamma * on * values[t + 1] - values[t]
            last = delta + gamma * lam * on * last
            result[t] = last
        return result

    def update(self) -> UpdateFigures:
        """One rollout and its epochs."""
        seen, actions, old, rewards, ends = self.collect(self.options.get("n_steps", 128))
        newest = torch.as_tensor(self.seen.copy(), dtype=torch.float32)
        with torch.no_grad():
            values = self.critic(torch.cat([seen, newest[None]])).squeeze(-1)
        advantages = self.advantages(values, rewards.float(), ends.float())
        returns = (advantages + values[:-1]).flatten()
        batch = (
            seen.flatten(0, 1),
            actions.flatten(),
            old.flatten(),
            advantages.flatten(),
            returns,
        )
        figures: list[UpdateFigures] = []
        for _ in range(self.options.get("n_epochs", 10)):
            order = torch.randperm(len(returns))
            for part in order.chunk(max(1, len(order) // 256)):
                figures.append(self.step(*(each[part] for each in batch)))
        unexplained = torch.var(returns - values[:-1].flatten()) / torch.var(returns)
        mean = {name: float(np.mean([each[name] for each in figures])) for name in figures[0]}
        return mean | {"explained_variance": 1.0 - float(unexplained)}

    def step(
        self, seen: Any, actions: Any, old: Any, advantages: Any, returns: Any
    ) -> UpdateFigures:
        """One minibatch."""
        choice = Categorical(logits=self.policy(seen), validate_args=False)
        log_ratio = choice.log_prob(actions) - old
        ratio = log_ratio.exp()
        clip = self.options.get("clip_range", 0.2)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = ratio.clamp(1 - clip, 1 + clip)
        policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
        value_loss = (self.critic(seen).squeeze(-1) - returns).pow(2).mean()
        entropy = choice.entropy().mean()
        bonus = self.options.get("ent_coef", 0.0) * entropy
        self.descend(policy_loss + self.options.get("vf_coef", 0.5) * value_loss - bonus)
        return {
            "policy_loss": policy_loss.item(),
            "value_loss": value_loss.item(),
            "entropy": entropy.item(),
            "kl": ((ratio - 1) - log_ratio).mean().item(),
            "clip_fraction": ((ratio - 1).abs() > clip).float().mean().item(),
        }


class Reinforce(Ppo):
    """REINFORCE: one step of gradient on normalised discounted returns, without a critic."""

    figures = ("policy_loss", "entropy")

    def advantages(self, values: torch.Tensor, rewards: torch.Tensor, ends: torch.Tensor) -> Any:
        """Discounted returns; what is cut off at the end counts as nothing."""
        result, last = torch.zeros(rewards.shape), torch.zeros(rewards.shape[1])
        for t in reversed(range(len(rewards))):
            last = rewards[t] + self.options.get("gamma", 0.99) * (1.0 - ends[t]) * last
            result[t] = last
        return result

    def update(self) -> UpdateFigures:
        """One rollout, one step."""
        seen, actions, _, rewards, ends = self.collect(self.options.get("n_steps", 256))
        returns = self.advantages(rewards, rewards.float(), ends.float()).flatten()
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        choice = Categorical(logits=self.policy(seen.flatten(0, 1)), validate_args=False)
        entropy = choice.entropy().mean()
        loss = -(choice.log_prob(actions.flatten()) * returns).mean()
        self.descend(loss - self.options.get("ent_coef", 0.0) * entropy)
        return {"policy_loss": loss.item(), "entropy": entropy.item()}


class Dqn(Script):
    """DQN with a replay buffer and epsilon falling over the first third of the run."""

    figures = ("loss", "q_mean", "epsilon")

    def build(self, inputs: int, actions: int) -> None:
        """The network, its target, and the buffer."""
        self.net, self.actions = network(inputs, actions), actions
        self.target = copy.deepcopy(self.net)
        self.memory: list[tuple[Any, ...]] = []
        self.since_copy = 0

    def epsilon(self) -> float:
        """The share of random actions now."""
        last = float(self.options.get("exploration_final_eps", 0.05))
        part = float(self.options.get("exploration_fraction", 0.3))
        return max(last, 1.0 - self.steps / (part * float(self.options["total_steps"])))

    def update(self) -> UpdateFigures:
        """500 steps, an optimiser step for each four of them."""
        figures = []
        for _ in range(500 // len(self.envs)):
            seen = self.seen.copy()
            with torch.no_grad():
                actions = self.net(torch.as_tensor(seen, dtype=torch.float32)).argmax(-1).numpy()
            explore = self.random.random(len(self.envs)) < self.epsilon()
            actions = np.where(
                explore, self.random.integers(0, self.actions, len(actions)), actions
            )
            rewards, ends = self.act(actions)
            self.memory += zip(seen, actions, rewards, ends, self.seen.copy(), strict=True)
            self.memory = self.memory[-20_000:]
            if self.steps % 4 == 0 and self.steps > self.options.get("learning_starts", 500):
                figures.append(self.step())
        known = {"epsilon": self.epsilon()}
        if not figures:
            return known
        return known | {
            name: float(np.mean([each[name] for each in figures])) for name in figures[0]
        }

    def step(self) -> UpdateFigures:
        """One batch of 64."""
        rows = [self.memory[n] for n in self.random.integers(0, len(self.memory), 64)]
        seen, actions, rewards, ends, after = (
            torch.as_tensor(np.array(column)) for column in zip(*rows, strict=True)
        )
        with torch.no_grad():
            best = self.target(after.float()).max(-1).values
        aim = rewards.float() + self.options.get("gamma", 0.99) * (1 - ends.float()) * best
        value = self.net(seen.float()).gather(1, actions[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, aim)
        self.descend(loss)
        self.since_copy += 1
        if self.since_copy % 100 == 0 and self.options.get("tau", 1.0) > 0:
            self.target.load_state_dict(self.net.state_dict())
        return {"loss": loss.item(), "q_mean": value.mean().item()}


ALGORITHMS: dict[str, type[Script]] = {"PPO": Ppo, "REINFORCE": Reinforce, "DQN": Dqn}
