"""The lines that code of papers, books and courses prints, and that their copies print as well."""

from __future__ import annotations

from ppo_top.parsers.console.records.known_lines import TrainerLine
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN as _NUMBER
from ppo_top.text.lazy_pattern import lazy_pattern

_LETTERS = r"\s{1,14}(?:\| )?(?=[EF]: )(?=.{1,60}? [IS]: (?P<step>[\d,]{1,19})(?!\S))"
"""`| train | F: 1000 | S: 500 | E: 2 | R: 21.5`, `train   E: 2   I: 500   R: 21.5   S: 0.5`: the
step is the first of both letters."""

RESEARCH_LINES = (
    TrainerLine(
        " R: ",
        lazy_pattern(
            rf"^\W{{0,3}}train{_LETTERS}.{{1,90}}? R: (?P<reward>{_NUMBER})(?!\S)"
            rf"(?:.{{1,60}}? ALOSS: (?P<actor>{_NUMBER}) \| CLOSS: (?P<critic>{_NUMBER}))?"
            rf"(?:.{{1,40}}? TVAL: (?P<alpha>{_NUMBER}) \| AENT: (?P<entropy>{_NUMBER}))?"
        ),
        {
            "reward": "train/episode_reward",
            "actor": "train_actor/loss",
            "critic": "train_critic/loss",
            "alpha": "train_alpha/value",
            "entropy": "train_actor/entropy",
        },
    ),
    TrainerLine(
        " | BR: ",
        lazy_pattern(
            rf"^\W{{0,3}}train{_LETTERS}.{{1,60}}? Su: (?P<success>{_NUMBER}) \| BR: {_NUMBER}"
            rf" \| ALOSS: (?P<actor>{_NUMBER}) \| CLOSS: (?P<critic>{_NUMBER})(?!\S)"
        ),
        {
            "success": "train/success",
            "actor": "train_actor/loss",
            "critic": "train_critic/loss",
        },
    ),
    TrainerLine(
        " R: ",
        lazy_pattern(rf"^\W{{0,3}}eval{_LETTERS}.{{1,90}}? R: (?P<reward>{_NUMBER})(?!\S)"),
        {"reward": "eval/episode_reward"},
    ),
    TrainerLine(
        "raining complete",
        lazy_pattern(
            rf"Training complete\w*\W+[Mm]ean reward\s*[:=] ?"
            rf"(?P<mean>{_NUMBER}) (?:\+/-|±) (?P<std>{_NUMBER})"
        ),
        {"mean": "eval/mean_reward", "std": "eval/std_reward"},
    ),
    TrainerLine(
        "evaluation: ",
        lazy_pattern(rf"\d+-episode evaluation: (?P<mean>{_NUMBER}) (?:\+/-|±) (?P<std>{_NUMBER})"),
        {"mean": "eval/mean_reward", "std": "eval/std_reward"},
    ),
    TrainerLine(
        "training episodes: mean/median reward ",
        lazy_pattern(
            rf"mean/median reward (?P<mean>{_NUMBER})/(?P<median>{_NUMBER}), "
            rf"min/max reward (?P<min>{_NUMBER})/(?P<max>{_NUMBER})"
            rf"(?:, (?:dist )?entropy (?P<entropy>{_NUMBER}))?"
            rf"(?:, value loss (?P<value>{_NUMBER}))?"
            rf"(?:, (?:policy|action) loss (?P<policy>{_NUMBER}))?"
        ),
        {
            **{name: f"{name} reward" for name in ("mean", "median", "min", "max")},
            "entropy": "entropy",
            "value": "value loss",
            "policy": "policy loss",
        },
    ),
    TrainerLine(
        ", the ep_r is ",
        lazy_pattern(
            rf"^Ep_i\s+(?P<at_episode>\d{{1,15}}), the ep_r is\s+(?P<reward>{_NUMBER}), "
            rf"the (?:step|t) is\s+(?P<length>\d{{1,9}})\s*$"
        ),
        {"reward": "ep_r", "length": "ep_length"},
    ),
    TrainerLine(
        ", total num timesteps ",
        lazy_pattern(
            r"total num timesteps (?P<step>\d{1,15})/(?P<total>\d{1,15}), FPS (?P<fps>\d{1,9})"
        ),
        {"fps": "FPS"},
    ),
    TrainerLine(
        " Evaluation Episodes, Epoch ",
        lazy_pattern(
            r"^Average Reward over \d{1,9} Evaluation Episodes, Epoch (?P<step>\d{1,15}): "
            rf"(?P<mean>{_NUMBER}), (?P<collision>{_NUMBER})$"
        ),
        {"mean": "eval/mean_reward", "collision": "eval/collision_rate"},
    ),
    TrainerLine(
        " episode score is ",
        lazy_pattern(rf"^(?P<at_episode>\d{{1,9}}) episode score is (?P<score>{_NUMBER})$"),
        {"score": "episode score"},
    ),
    TrainerLine(
        "Evaluation over ",
        lazy_pattern(
            rf"^Evaluation over \d{{1,9}} episodes: (?P<mean>{_NUMBER})"
            rf"(?: ?, D4RL score: (?P<score>{_NUMBER}))?$"
        ),
        {"mean": "eval/mean_reward", "score": "eval/d4rl_score"},
    ),
    TrainerLine(
        "eval_agent done, ",
        lazy_pattern(rf"\(steps, eval_reward\): \((?P<step>\d{{1,15}}), (?P<mean>{_NUMBER})\)$"),
        {"mean": "eval/mean_reward"},
    ),
    TrainerLine(
        "Evaluation over: ",
        lazy_pattern(rf"^Evaluation over: \d{{1,9}} episodes, Reward: (?P<mean>{_NUMBER})$"),
        {"mean": "eval/mean_reward"},
    ),
    TrainerLine(
        " | rR:",
        lazy_pattern(
            rf"^U \d+ \| F (?P<step>\d+) \| FPS (?P<fps>\d+) \| D \d+ "
            rf"\| rR:\S+ (?P<reward>{_NUMBER}) .{{0,80}}? "
            rf"\| F:\S+ (?P<length>{_NUMBER}) .{{0,80}}? "
            rf"\| H (?P<entropy>{_NUMBER}) \| V (?P<value>{_NUMBER}) "
            rf"\| pL (?P<policy>{_NUMBER}) \| vL (?P<critic>{_NUMBER}) \| \S (?P<norm>{_NUMBER})"
        ),
        {
            "fps": "FPS",
            "reward": "rreturn_mean",
            "length": "num_frames_mean",
            "entropy": "entropy",
            "value": "value",
            "policy": "policy_loss",
            "critic": "value_loss",
            "norm": "grad_norm",
        },
    ),
    TrainerLine(
        ", ar ",
        lazy_pattern(
            r"^el [\d:]{1,12}, ep (?P<episode>\d{1,9}), ts (?P<step>\d{1,15}), "
            rf"ar \d{{1,4}} {_NUMBER}±{_NUMBER}, "
            rf"\d{{1,4}} (?P<mean>{_NUMBER})±(?P<std>{_NUMBER}), "
            rf"ex \d{{1,4}} (?P<explored>{_NUMBER})±{_NUMBER}, "
            rf"ev (?P<eval>{_NUMBER})±(?P<eval_std>{_NUMBER})"
        ),
        {
            "episode": "episode",
            "mean": "mean_reward",
            "std": "std_reward",
            "explored": "exploration_ratio",
            "eval": "eval/mean_reward",
            "eval_std": "eval/std_reward",
        },
    ),
)
"""pytorch_sac, DrQ, TD-MPC2 and mtrl, pytorch-a2c-ppo-acktr-gail, DRL-Pytorch (XinJingHao),
DRL-robot-navigation, PPO-pytorch-Mujoco, the authors' TD3, CORL, PARL, torch-ac, the notebooks of
"Grokking Deep Reinforcement Learning".
"""
