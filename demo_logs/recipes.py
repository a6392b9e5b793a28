"""The demo runs: what is trained, what is kept of it and what is to be seen in it."""

from __future__ import annotations

from dataclasses import dataclass, field

TABLES = ("stdout.log", "log.txt", "progress.csv", "progress.json", "*.monitor.csv", "*tfevents*")


@dataclass(frozen=True)
class Recipe:
    """One demo run; `command` is what follows `python`, run in an empty directory."""

    name: str
    about: str
    command: str
    keep: tuple[str, ...]
    seen: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    merge_stderr: bool = False


SB3 = [
    Recipe(
        name="sb3_cartpole",
        about="Stable-Baselines3 PPO on CartPole-v1 with SB3's own defaults, seed 1: healthy.",
        command="-m sb3_ppo --logdir logs --seed 1 --evaluate",
        keep=(*TABLES, "evaluations.npz"),
        seen=(
            "Reward (mean of the last 100 episodes) climbs without a break from 21 to 500.",
            "approx_kl and clip_fraction keep within their healthy ranges, entropy falls slowly.",
            "Every 10,000 steps an evaluation of 10 episodes adds a row with `eval/*` values.",
        ),
    ),
    Recipe(
        name="sb3_cartpole_lr3e-2",
        about="The same with learning_rate 3e-2, a hundred times SB3's default, seed 5: sick.",
        command="-m sb3_ppo --logdir logs --seed 5 --learning-rate 3e-2",
        keep=TABLES,
        seen=(
            "approx_kl and clip_fraction are too high from the first updates on.",
            "Reward reaches 212 at step 36,864, then the policy collapses: about 9 for the rest.",
            "After the collapse KL, clipping and entropy stand at 0: nothing can change any more.",
        ),
    ),
]

RECIPES = {recipe.name: recipe for recipe in SB3}
