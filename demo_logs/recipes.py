"""The demo runs: what is trained, which logs are kept, and what to look for in them."""

from __future__ import annotations

from dataclasses import dataclass, field

TABLES = ("stdout.log", "log.txt", "progress.csv", "progress.json", "*.monitor.csv", "*tfevents*")


@dataclass(frozen=True)
class Recipe:
    """One demo run; `command` follows `python` and runs in an empty directory."""

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
            "Reward (mean of the last 100 episodes) rises steadily from 21 to 500.",
            "approx_kl and clip_fraction stay in their healthy ranges, entropy decays slowly.",
            "Every 10,000 steps an evaluation of 10 episodes adds a row with `eval/*` values.",
        ),
    ),
    Recipe(
        name="sb3_cartpole_lr3e-2",
        about="The same with learning_rate 3e-2, a hundred times SB3's default, seed 5: unhealthy.",
        command="-m sb3_ppo --logdir logs --seed 5 --learning-rate 3e-2",
        keep=TABLES,
        seen=(
            "approx_kl and clip_fraction are too high from the first updates.",
            "Reward reaches 212 at step 36,864, then the policy collapses and reward stays near 9.",
            "After the collapse KL, clip fraction and entropy are 0: the policy is frozen.",
        ),
    ),
]


def torch_recipe(fault: str, about: str, *seen: str) -> Recipe:
    """A run of the PPO that ships with ppo-top."""
    return Recipe(
        name="torch_cartpole" if fault == "none" else f"torch_cartpole_{fault}",
        about=f"The plain PyTorch PPO of `ppo_top/demo/ppo.py` on CartPole-v1, seed 1: {about}",
        command=f"-m ppo_top.demo.train --logdir logs --fault {fault} --seed 1",
        keep=("stdout.log", "*tfevents*"),
        seen=seen,
        merge_stderr=True,
    )


TORCH = [
    torch_recipe(
        "none",
        "healthy.",
        "Reward 21 to 500 within 8 iterations; 20 evaluation episodes all reach 500.",
        "The learning rate is annealed to 0, so KL and clip fraction end at 0, as they should.",
    ),
    torch_recipe(
        "lr",
        "learning rate 3e-2 instead of 1e-3, not annealed.",
        "A third to a half of the samples is clipped from the first iteration, KL rises to 12.",
        "Reward rises to 436, falls to 60 in iteration 10 and never settles.",
    ),
    torch_recipe(
        "clip",
        "clip range 10 instead of 0.2, learning rate 1e-2: updates are unbounded.",
        "KL is between 3 and 12 while almost nothing is clipped.",
        "Reward jumps between 25 and 500 and ends at 9: the policy has collapsed.",
    ),
    torch_recipe(
        "entropy",
        "entropy is penalised (coefficient -2): premature convergence.",
        "Entropy falls from 0.69 to 0.03 within two iterations; reward stays near 60.",
    ),
    torch_recipe(
        "critic",
        "the sign of the value loss is flipped (coefficient -0.5).",
        "Value loss only rises, explained variance stays at 0.",
        "The policy learns from noise: reward falls from 21 to 9.",
    ),
    torch_recipe(
        "nan",
        "in iteration 8 the environment returns one NaN reward.",
        "Iteration 8 reports NaN; iteration 9 crashes with torch's traceback, exit code 1.",
    ),
]


def grpo_recipe(name: str, about: str, extra: str, *seen: str) -> Recipe:
    """A run of TRL's GRPO; stdout and stderr go to one file, progress bars included."""
    return Recipe(
        name=name,
        about=f"TRL GRPO on a Qwen2 of two layers with random weights, seed 1: {about}",
        command=f"-m trl_grpo --logdir logs --seed 1{extra}",
        keep=("stdout.log", "*tfevents*", "trainer_state.json"),
        seen=seen,
        environment={"HF_HUB_OFFLINE": "1"},
        merge_stderr=True,
    )


GRPO = [
    grpo_recipe(
        "trl_grpo",
        "healthy.",
        "",
        "Both rewards rise (share of vowels; about a dozen tokens), entropy decays slowly.",
        "Few completions are truncated; KL to the reference grows slowly and stays below 0.1.",
        "One update per batch of completions: the clip ratios are 0 by construction.",
    ),
    grpo_recipe(
        "trl_grpo_lr1e-1",
        "learning rate 1e-1, a hundred times too high.",
        " --learning-rate 1e-1",
        "Within a few updates KL to the reference exceeds 1 and entropy collapses.",
        "No completion ends with EOS any more: clipped_ratio 1, all 48 tokens long.",
        "Reward drops within three updates, swings between 0.1 and 1.0, and ends near 0.5.",
    ),
    grpo_recipe(
        "trl_grpo_constant",
        "the reward function gives every completion the same reward.",
        " --rewards constant",
        "Every group of completions ties: frac_reward_zero_std 1, reward_std 0, gradient 0.",
        "Nothing is learnt; loss and KL stay at 0.",
    ),
]

RECIPES = {recipe.name: recipe for recipe in [*SB3, *TORCH, *GRPO]}
