"""The lines that some trainers print instead of key-value pairs, and what stands in them."""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN as _NUMBER
from ppo_top.text.lazy_pattern import lazy_pattern


class TrainerLine(NamedTuple):
    """`hint` must be in the line; group `step` or `at_episode` is the step, `tags` names others."""

    hint: str
    pattern: re.Pattern[str]
    tags: dict[str, str]
    finite: bool = False
    """Non-finite values mean that there is no value yet."""


SB3_EVALUATION = (
    TrainerLine(
        "Eval num_timesteps=",
        lazy_pattern(
            rf"Eval num_timesteps=(?P<step>\d+), "
            rf"episode_reward=(?P<mean>{_NUMBER}) \+/- (?P<std>{_NUMBER})"
        ),
        {"mean": "eval/episode_reward", "std": "eval/episode_reward_std"},
    ),
    TrainerLine(
        "Episode length: ",
        lazy_pattern(rf"Episode length: (?P<mean>{_NUMBER}) \+/- (?P<std>{_NUMBER})"),
        {"mean": "eval/episode_length", "std": "eval/episode_length_std"},
    ),
)
"""What its `EvalCallback` prints, two lines at a time, between the tables of the training."""

_LETTERS = r"\s{1,14}(?:\| )?(?=[EF]: )(?=.{1,60}? [IS]: (?P<step>[\d,]{1,19})(?!\S))"
"""`| train | F: 1000 | S: 500 | E: 2 | R: 21.5`, `train   E: 2   I: 500   R: 21.5   S: 0.5`: the
step is the first of both letters."""

TRAINER_LINES = (
    *SB3_EVALUATION,
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
        "Fps is (",
        lazy_pattern(
            rf"Fps is \(10 sec: (?P<fps>{_NUMBER}),.{{0,80}}?\)\. Total num frames: (?P<step>\d+)\."
        ),
        {"fps": "perf/_fps"},
        finite=True,
    ),
    TrainerLine(
        "Avg episode reward: [(",
        lazy_pattern(rf"Avg episode reward: \[\(\d+, '(?P<reward>{_NUMBER})'\)"),
        {"reward": "reward/reward"},
        finite=True,
    ),
    TrainerLine(
        ": test_reward: ",
        lazy_pattern(rf"^Epoch #\d+: test_reward: (?P<mean>{_NUMBER}) ± (?P<std>{_NUMBER}), best"),
        {"mean": "test/reward", "std": "test/reward_std"},
    ),
    TrainerLine(
        "Mean Group Reward: ",
        lazy_pattern(
            rf"Step: (?P<step>\d+)\. Time Elapsed: [\d.]+ s\. Mean Reward: (?P<mean>{_NUMBER})\. "
            rf"(?:Std of Reward: (?P<std>{_NUMBER})\. )?Mean Group Reward: (?P<group>{_NUMBER})\."
        ),
        {
            "mean": "Environment/Cumulative Reward",
            "std": "Environment/Cumulative Reward (std)",
            "group": "Environment/Group Cumulative Reward",
        },
    ),
    TrainerLine(
        "Std of Reward: ",
        lazy_pattern(
            rf"Step: (?P<step>\d+)\.? (?:Time Elapsed: [\d.]+ s\.? )?"
            rf"Mean Reward: (?P<mean>{_NUMBER})\. Std of Reward: (?P<std>{_NUMBER})\."
        ),
        {"mean": "Environment/Cumulative Reward", "std": "Environment/Cumulative Reward (std)"},
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
        "average episode rewards is ",
        lazy_pattern(rf"average episode rewards is (?P<reward>{_NUMBER})"),
        {"reward": "average_episode_rewards"},
    ),
    TrainerLine(
        "incre win rate is ",
        lazy_pattern(rf"^incre win rate is (?P<rate>{_NUMBER})\.?$"),
        {"rate": "incre_win_rate"},
    ),
    TrainerLine(
        "verage episode reward is ",
        lazy_pattern(
            rf"^(?:Some episodes done, average episode reward is (?P<reward>{_NUMBER})"
            rf"|Eval(?:uation)? average episode reward is (?P<mean>{_NUMBER})"
            rf"(?:, eval average episode length is (?P<length>{_NUMBER}))?)\.?$"
        ),
        {
            "reward": "train_episode_rewards",
            "mean": "eval_average_episode_rewards",
            "length": "eval_average_episode_length",
        },
    ),
    TrainerLine(
        "win rate on these games is ",
        lazy_pattern(
            rf"^Increase games {_NUMBER}, win rate on these games is (?P<rate>{_NUMBER}), average "
            rf"step reward is (?P<step_reward>{_NUMBER}), average episode length is "
            rf"(?P<length>{_NUMBER}), average episode reward is (?P<reward>{_NUMBER})\.?$"
        ),
        {
            "rate": "incre_win_rate",
            "step_reward": "critic/average_step_rewards",
            "length": "average_episode_length",
            "reward": "train_episode_rewards",
        },
    ),
    TrainerLine(
        " Algo ",
        lazy_pattern(
            r"^Env \S{1,40} Task \S{1,80} Algo \S{1,40} Exp \S{1,80} (?:S|Evaluation at s)tep "
            rf"(?P<step>\d{{1,15}}) / (?P<total>\d{{1,15}})"
            rf"(?:, average step reward in buffer: (?P<reward>{_NUMBER})\.?|:)$"
        ),
        {"reward": "critic/average_step_rewards"},
    ),
    TrainerLine(
        "eval win rate is ",
        lazy_pattern(rf"^eval win rate is (?P<rate>{_NUMBER})\.?$"),
        {"rate": "eval_win_rate"},
    ),
    TrainerLine(
        "Average Reward after ",
        lazy_pattern(rf"Average Reward after \d{{1,9}} episodes: (?P<reward>{_NUMBER})"),
        {"reward": "Average Reward"},
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
        ": policy_step=",
        lazy_pattern(
            rf"^Rank-\d{{1,6}}: policy_step=(?P<step>\d{{1,15}}), "
            rf"reward_env_\d{{1,6}}=\[?(?P<reward>{_NUMBER})"
        ),
        {"reward": "reward_env"},
    ),
    TrainerLine(
        "Evaluation over ",
        lazy_pattern(rf"^Evaluation over \d{{1,9}} episodes: (?P<mean>{_NUMBER})$"),
        {"mean": "eval/mean_reward"},
    ),
    TrainerLine(
        ": Train Iter(",
        lazy_pattern(
            r"^(?:Evaluation|Training): Train Iter\(\d{1,12}\)\s+Env Step\((?P<step>\d{1,15})\)\s+"
            rf"(?:(?:Mean )?Episode Return\((?P<mean>{_NUMBER})\)|Loss\((?P<loss>{_NUMBER})\))"
        ),
        {"mean": "basic/eval_episode_return_mean", "loss": "basic/train_total_loss"},
    ),
    TrainerLine(
        "Steps Env: ",
        lazy_pattern(r"^\s*Steps Env: (?P<step>\d{1,15}) Log: \d{1,9}$"),
        {},
    ),
    TrainerLine(
        " steps performed)",
        lazy_pattern(r"^Interval \d{1,9} \((?P<step>\d{1,15}) steps performed\)$"),
        {},
    ),
    TrainerLine(
        " episodes - episode_reward: ",
        lazy_pattern(
            rf"^\d{{1,9}} episodes - episode_reward: (?P<reward>{_NUMBER}) \[[^]]{{1,80}}\]"
            rf"(?: - loss: (?P<loss>{_NUMBER}))?"
            rf"(?: - (?:mae|mean_absolute_error|mean_squared_error): {_NUMBER})?"
            rf"(?: - mean_q: (?P<value>{_NUMBER}))?(?: - mean_eps: (?P<epsilon>{_NUMBER}))?"
        ),
        {
            "reward": "episode_reward",
            "loss": "loss",
            "value": "mean_q",
            "epsilon": "mean_eps",
        },
    ),
    TrainerLine(
        " Train step ",
        lazy_pattern(
            r"Epoch \d+/\d+ Step \d+/\d+ Train step (?P<step>\d{1,15})/(?P<total>\d{1,15}) done"
        ),
        {},
    ),
    TrainerLine(
        " - METRICS STEP ",
        lazy_pattern(r"=== \[[^\]]{1,80}\] - METRICS STEP (?P<step>\d{1,15}) ==="),
        {},
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
        "outdir:",
        lazy_pattern(
            rf"outdir:\S* (?:global_)?step:(?P<step>\d{{1,15}}) "
            rf"(?:episode:(?P<episode>\d{{1,15}})|local_step:\d{{1,15}}) R:(?P<reward>{_NUMBER})"
        ),
        {"episode": "train_agent/episode", "reward": "train_agent/R"},
    ),
    TrainerLine(
        "outdir:",
        lazy_pattern(
            rf"outdir:\S* step:(?P<step>\d{{1,15}}) episode:(?P<episode>\d{{1,15}}) "
            rf"last_R: {_NUMBER} average_R:(?P<mean>{_NUMBER})"
        ),
        {"episode": "train_agent/episode", "mean": "train_agent/average_R"},
        finite=True,
    ),
    TrainerLine(
        "evaluation episode ",
        lazy_pattern(
            rf"evaluation episode \d{{1,9}} length: ?(?P<length>{_NUMBER}) "
            rf"R: ?(?P<reward>{_NUMBER})"
        ),
        {"length": "evaluator/length", "reward": "evaluator/R"},
    ),
    TrainerLine(
        "e+0",
        lazy_pattern(
            rf"^-?\d{{1,3}} {{1,3}}(?P<step>\d\.\d\de[+]\d\d) +{_NUMBER} \| *"
            rf"(?P<mean>{_NUMBER}) +(?P<std>{_NUMBER}) +(?P<length>{_NUMBER}) +{_NUMBER} \| *"
            rf"(?P<each>{_NUMBER}) +(?P<critic>{_NUMBER}) +(?P<actor>{_NUMBER})(?= |$)"
        ),
        {
            "mean": "avgR",
            "std": "stdR",
            "length": "avgS",
            "each": "expR",
            "critic": "objC",
            "actor": "objA",
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
"""SB3, Sample Factory, Tianshou, ML-Agents (with a time since 0.9), on-policy (MAPPO), SheepRL,
AReaL, torchforge, HARL, Brax, Keras-RL, DI-engine's middleware, pytorch-a2c-ppo-acktr-gail,
torch-ac, the authors' TD3, PFRL, pytorch_sac, DrQ, TD-MPC2,
ElegantRL (whose steps have three digits), the notebooks of
"Grokking Deep Reinforcement Learning"."""
