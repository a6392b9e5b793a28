"""What the small environments share."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def box(size: int, limit: float = np.inf) -> spaces.Box:
    """Numbers between -limit and limit."""
    return spaces.Box(-limit, limit, (size,), np.float32)


class SmallEnvironment(gymnasium.Env[Any, Any]):
    """What the small environments share: `begin` draws a state, `act` changes it."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.begin()
        return self.observe(), {}

    def step(self, action: Any) -> Step:
        """Act once; time limits are Gymnasium's."""
        reward, ended = self.act(action)
        return self.observe(), float(reward), bool(ended), False, {}

    def begin(self) -> None:
        """Draw the state at the start of an episode."""
        raise NotImplementedError

    def act(self, action: Any) -> tuple[float, bool]:
        """Change the state; the reward, and whether the episode ended."""
        raise NotImplementedError

    def observe(self) -> Any:
        """What the policy sees."""
        raise NotImplementedError
