"""The lines that some trainers print instead of key-value pairs, and what stands in them."""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN as _NUMBER
from ppo_top.text.lazy_pattern import lazy_pattern


class TrainerLine(NamedTuple):
    """`hint` must be in the line; group `step`, or `at_` and what it counts, is the step.

    `tags` names others; a name may hold another group's text: `eval/{env}/Reward`.
    """

    hint: str
    pattern: re.Pattern[str]
    tags: dict[str, str]
    finite: bool = False
    """Non-finite values mean that there is no value yet."""
    is_common: bool = False
    """Whether many a script's own lines have its hint: those are to be read quickly, too."""


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

TRAINER_LINES = (
    *SB3_EVALUATION,
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
        " reward ",
        lazy_pattern(
            rf"^\s*(?P<at_iteration>\d{{1,9}}) reward +(?P<min>{_NUMBER})/ *(?P<mean>{_NUMBER})"
            rf"/ *(?P<max>{_NUMBER}) len +(?P<length>{_NUMBER})(?: saved \S{{1,200}})?$"
        ),
        {
            "min": "episode_reward_min",
            "mean": "episode_reward_mean",
            "max": "episode_reward_max",
            "length": "episode_len_mean",
        },
        is_common=True,
    ),
    TrainerLine(
        "Evaluated ",
        lazy_pattern(
            r"^Evaluated (?P<env>\S{1,80}) (?:\(Step (?P<at_step>\d{1,15})\) \| "
            rf"(?:[^|]{{1,40}} \| ){{0,3}}Reward (?P<reward>{_NUMBER}) \|"
            rf"|in [\d.]{{1,12}}s \(Avg@\d{{1,4}}=(?P<mean>{_NUMBER}))"
        ),
        {"reward": "eval/{env}/Reward", "mean": "eval/{env}/Reward"},
    ),
    TrainerLine(
        "eval win rate is ",
        lazy_pattern(rf"^eval win rate is (?P<rate>{_NUMBER})\.?$"),
        {"rate": "eval_win_rate"},
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
        "Train step ",
        lazy_pattern(r"(?:^|\] )Train step (?P<step>\d{1,15})/(?P<total>\d{1,15})\s*$"),
        {},
        is_common=True,
    ),
    TrainerLine(
        "Eval: accuracy: ",
        lazy_pattern(rf"(?:^|\] )Eval: accuracy: (?P<mean>{_NUMBER})(?:\s|$)"),
        {"mean": "eval/accuracy"},
    ),
    TrainerLine(
        "The next step is epoch ",
        lazy_pattern(
            r"The next step is epoch \d+/\d+ step \d+/\d+ \(global step (?P<at_iteration>\d+)\)\."
        ),
        {},
    ),
    TrainerLine(
        " - METRICS STEP ",
        lazy_pattern(r"=== \[[^\]]{1,80}\] - METRICS STEP (?P<step>\d{1,15}) ==="),
        {},
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
)
"""SB3, Sample Factory, Tianshou, ML-Agents (with a time since 0.9), on-policy (MAPPO), SheepRL,
AReaL, torchforge, HARL, RLlib's course, prime-rl, Brax, Keras-RL, DI-engine's middleware, PFRL,
ElegantRL (whose steps have three digits)."""
