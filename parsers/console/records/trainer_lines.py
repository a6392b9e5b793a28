"""Lines that some trainers print instead of key-value pairs, and printed settings."""

from __future__ import annotations

import re

from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import key_values
from ppo_top.parsers.console.records.dicts import parse_record as dict_record
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS, is_metric
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN as _NUMBER
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern


class TrainerLine(NamedTuple):
    """`hint` must be in the line; group `step` is the step, `tags` names the other groups."""

    hint: str
    pattern: re.Pattern[str]
    tags: dict[str, str]
    finite: bool = False
    """Non-finite values mean that there is no value yet."""


TRAINER_LINES = (
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
        ),
        {name: f"{name} reward" for name in ("mean", "median", "min", "max")},
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
        " R:",
        lazy_pattern(
            rf"outdir:\S* (?:global_)?step:(?P<step>\d{{1,15}}) "
            rf"(?:episode:(?P<episode>\d{{1,15}})|local_step:\d{{1,15}}) R:(?P<reward>{_NUMBER})"
        ),
        {"episode": "train_agent/episode", "reward": "train_agent/R"},
    ),
    TrainerLine(
        " average_R:",
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
)
"""SB3, Sample Factory, Tianshou, ML-Agents (with a time since 0.9), on-policy (MAPPO), SheepRL,
AReaL, torchforge, pytorch-a2c-ppo-acktr-gail, torch-ac, the authors' TD3, PFRL."""

_CELL_BORDERS = tuple("|│┃")
_CELL_BORDER = lazy_pattern("[|│┃]")
_LINES_BY_HINT = tuple((line_type.hint, line_type) for line_type in TRAINER_LINES)
_STEPPED_DICT = lazy_pattern(
    r"^(?P<head>[^{}]{0,200})(?P<dict>\{\s?['\"].*\})(?:\s+step=(?P<step>\d{1,15}))?\s*$", re.DOTALL
)
_HEAD_STEP = lazy_pattern(
    r"(?:step|iteration|iter|update|epoch|rollout)\s*[:=#]?\s*(\d{1,15})\W*$", re.IGNORECASE
)
_LIST_OF_PAIRS = lazy_pattern(r"(?:^|[ :=])\[(\('.{1,8000}\))\]\s*$")
_PAIR = lazy_pattern(rf"\('([\w./]{{1,80}})', (?:np\.float\d\d\()?({_NUMBER})\)")
_FIELDS_BEFORE_LABEL = lazy_pattern(r"^(.*\S)\s*[,;|][^,;|]*$", re.DOTALL)
"""`Episode 3, loss: 0.5` of `Episode 3, loss: 0.5, rewards: `, in front of a dictionary."""
_NAMESPACE = lazy_pattern(
    r"^(?:[\w ]{0,40}[\s:=])?(?:Namespace|\w*(?:Args|Arguments|Config))\((?P<body>.*)\)\s*$",
    re.DOTALL,
)
_ASSIGNMENT = lazy_pattern(
    rf"([A-Za-z_]\w{{0,60}})=(?:({_NUMBER})(?![\w.])|(True|False)|'([^']{{0,200}})'|\"([^\"]{{0,200}})\")"
)
_DEVICE_LINE = lazy_pattern(r"^Using (cpu|cuda|cuda:\d+|mps|xpu) device$")
_TRAINER_SETTING = lazy_pattern(r"^\s*(?:Total optimization steps|Num Epochs) = ([\d,]{1,20})$")
_TRAINER_SETTING_NAMES = {"Total": "max_steps", "Num": "num_train_epochs"}
_STEP_PLAN = lazy_pattern(r"^Total steps: (\d{1,15}), num_warmup_steps: (-?\d{1,15})\s*$")
"""verl's workers print the planned number of steps."""
_SETTINGS_WORDS = lazy_pattern(
    r"(?:args|config|params|options|settings|parameters)\W*$", re.IGNORECASE
)
"""Words before a dictionary of settings."""
_MAX_SETTINGS = 1000


def may_match(text: str) -> bool:
    """Whether a line with the same words, but other numbers, may be one of these."""
    return any(hint in text for hint, _ in _LINES_BY_HINT) or text.startswith(
        ("Using ", "Total steps: ")
    )


def parse_line(text: str) -> ConsoleRecord | None:
    """The record of a known line, or None."""
    for hint, line_type in _LINES_BY_HINT:
        if hint in text and (match := line_type.pattern.search(text)):
            return _trainer_record(line_type, match)
    if "{" in text and (match := _STEPPED_DICT.match(text)):
        return _dict_after_text(match)
    if text[:1] in _CELL_BORDERS:
        return _cells_record(text)
    if "[('" in text and (match := _LIST_OF_PAIRS.search(text)):
        return _pairs_record(match[1])
    return _settings_record(text)


def _pairs_record(text: str) -> ConsoleRecord | None:
    """A list of names and numbers: `statistics:[('average_q', 0.5), ('n_updates', 20)]`."""
    found = [(name, parse_number(word)) for name, word in _PAIR.findall(text)]
    values = [(name, value) for name, value in found if value is not None]
    return ConsoleRecord(values) if any(is_metric(name) for name, _ in values) else None


def _cells_record(text: str) -> ConsoleRecord | None:
    """A row of names and numbers in turn, as AReaL prints several pairs a row."""
    cells = [cell.strip() for cell in _CELL_BORDER.split(text.strip())[1:-1]]
    pairs = list(zip(cells[::2], map(parse_number, cells[1::2]), strict=False))
    if len(cells) % 2 or not any("/" in name for name, _ in pairs):
        return None
    values = [(name, value) for name, value in pairs if name and value is not None]
    filled = sum(bool(name) for name, _ in pairs)
    return ConsoleRecord(values) if values and len(values) == filled else None


def _trainer_record(line: TrainerLine, match: re.Match[str]) -> ConsoleRecord:
    values = []
    for group, tag in line.tags.items():
        value = None if match[group] is None else parse_number(match[group])
        if value is not None and not (line.finite and not abs(value) < float("inf")):
            values.append((tag, value))
    groups = match.groupdict()
    step, total = groups.get("step"), groups.get("total")
    if step is None:
        return ConsoleRecord(values)
    axis = "timesteps" if values else "step"
    config: dict[str, ConfigValue] = {TOTAL_SETTINGS[axis]: int(total)} if total else {}
    return ConsoleRecord(values, int(step), axis, config)


def _dict_after_text(match: re.Match[str]) -> ConsoleRecord | None:
    """A dictionary after text that may say the step (OpenRLHF: `Global step 5: {...}`), or more.

    structlog prints the step behind it (d3rlpy: `metrics={...} step=500`). After words such as
    `kwargs: ` it holds settings (verl prints how it samples).
    """
    found = dict_record(match["dict"])
    if found is None or not found.values:
        return found
    if _SETTINGS_WORDS.search(match["head"]):
        return ConsoleRecord([], config=dict(found.values) | dict(found.config))
    head = _HEAD_STEP.search(match["head"])
    said_step = match["step"] or (head and head[1])
    step = as_step(float(said_step)) if said_step else None
    if step is not None:
        return found._replace(step=step, axis="step")
    fields = _FIELDS_BEFORE_LABEL.match(match["head"])
    says_numbers = fields is not None and any(map(str.isdigit, fields[1]))
    said = key_values.parse_line(fields[1]) if fields and says_numbers else None
    return found if said is None else _joined(said, found)


def _joined(said: ConsoleRecord, found: ConsoleRecord) -> ConsoleRecord:
    """What a line says before its dictionary, and what that holds, whose own step goes first."""
    tags = {tag for tag, _ in found.values}
    values = [*(pair for pair in said.values if pair[0] not in tags), *found.values]
    config = {**said.config, **found.config}
    if found.step is not None:
        return found._replace(values=values, config=config)
    return said._replace(values=values, config=config)


def _settings_record(text: str) -> ConsoleRecord | None:
    """The hyperparameters in a line, if there are any."""
    if text.startswith("Using ") and (device := _DEVICE_LINE.match(text)):
        return ConsoleRecord([], config={"device": device[1]})
    if " = " in text and (count := _TRAINER_SETTING.match(text)):
        name = _TRAINER_SETTING_NAMES[text.split()[0]]
        return ConsoleRecord([], config={name: parse_number(count[1]) or 0})
    if text.startswith("Total steps: ") and (plan := _STEP_PLAN.match(text)):
        steps, warmup = map(int, plan.groups())
        return ConsoleRecord([], config={"max_steps": steps, "num_warmup_steps": warmup})
    match = _NAMESPACE.match(text) if text.endswith(")") else None
    if match is None:
        return None
    config: dict[str, ConfigValue] = {}
    for name, value, truth, one, two in _ASSIGNMENT.findall(match["body"]):
        if len(config) >= _MAX_SETTINGS:
            break
        parsed = parse_number(value) if value else None
        config[name] = parsed if parsed is not None else (truth == "True" if truth else one or two)
    return ConsoleRecord([], config=config) if len(config) > 1 else None
