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


def torch_recipe(fault: str, about: str, *seen: str) -> Recipe:
    """Describe a run of the PPO that ships with ppo-top."""
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
        "The learning rate falls to 0: KL and clip fraction end at 0, which is no fault.",
    ),
    torch_recipe(
        "lr",
        "learning rate 3e-2 instead of 1e-3, not annealed.",
        "A third to a half of the samples is clipped from the first iteration on, KL climbs to 12.",
        "Reward climbs to 436, then falls to 60 in iteration 10 and never settles.",
    ),
    torch_recipe(
        "clip",
        "clip range 10 instead of 0.2, learning rate 1e-2: updates know no bound.",
        "KL between 3 and 12 while next to nothing is clipped.",
        "Reward jumps between 25 and 500 and ends at 9: the policy is dead.",
    ),
    torch_recipe(
        "entropy",
        "entropy is punished (coefficient -2): premature convergence.",
        "Entropy falls from 0.69 to 0.03 within two iterations; reward stays near 60.",
    ),
    torch_recipe(
        "critic",
        "the critic's loss has the wrong sign (coefficient -0.5).",
        "Value loss only climbs, explained variance stays at 0.",
        "The policy follows noise: reward falls from 21 to 9.",
    ),
    torch_recipe(
        "nan",
        "in iteration 8 the environment hands out one reward that is not a number.",
        "Iteration 8 reports NaN; iteration 9 dies with torch's traceback, exit code 1.",
    ),
]


def grpo_recipe(name: str, about: str, extra: str, *seen: str) -> Recipe:
    """Describe a run of TRL's GRPO; standard output and error go to one file, bars and all."""
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
        "Both rewards rise (share of vowels; length near a dozen tokens), entropy falls slowly.",
        "Few completions are cut off; KL to the reference grows slowly and stays below 0.1.",
        "One update per batch of completions: the clip ratios are 0 by construction.",
    ),
    grpo_recipe(
        "trl_grpo_lr1e-1",
        "learning rate 1e-1, a hundred times too high.",
        " --learning-rate 1e-1",
        "Within a few updates KL to the reference exceeds 1 and entropy breaks down.",
        "No completion ends by itself any more: clipped_ratio 1, every answer 48 tokens long.",
        "Reward drops within three updates, swings between 0.1 and 1.0, and ends near 0.5.",
    ),
    grpo_recipe(
        "trl_grpo_constant",
        "the reward function gives every completion the same.",
        " --rewards constant",
        "Every group of completions ties: frac_reward_zero_std 1, reward_std 0, gradient 0.",
        "Nothing is learnt, and loss and KL stand at 0.",
    ),
]

RECIPES = {recipe.name: recipe for recipe in [*SB3, *TORCH, *GRPO]}
