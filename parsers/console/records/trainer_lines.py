"""Reads trainers' own lines, dictionaries behind text, and printed settings.

The lines stand in `known_lines`, and those of code that goes with papers in `research_lines`.
"""

from __future__ import annotations

import re

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import key_values
from ppo_top.parsers.console.records.dicts import parse_record as dict_record
from ppo_top.parsers.console.records.known_lines import TRAINER_LINES, TrainerLine
from ppo_top.parsers.console.records.research_lines import RESEARCH_LINES
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS, is_metric
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN as _NUMBER
from ppo_top.parsers.shared.text.number_text import as_step, named_numbers, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_CELL_BORDERS = tuple("|│┃")
_CELL_BORDER = lazy_pattern("[|│┃]")
_LINES_BY_HINT = tuple(
    (line_type.hint, line_type) for line_type in (*TRAINER_LINES, *RESEARCH_LINES)
)
_STEPPED_DICT = lazy_pattern(
    r"^(?P<head>[^{}]{0,200})(?P<dict>\{\s?['\"].*\})(?:\s+step=(?P<step>\d{1,15}))?\s*$", re.DOTALL
)
_HEAD_STEP = lazy_pattern(
    r"(?:(?:steps?|iteration|iter|update|epoch|rollout|perf)\s*[:=#]?|\beval)\s*(\d{1,15})"
    r"(?: prefix (?P<group>[\w/]{1,60}): logging metric)?\W*$",
    re.IGNORECASE,
)
"""ChatLearn names a group of metrics behind the step: `step 3 prefix rollout: logging metric {`."""
_LIST_OF_PAIRS = lazy_pattern(r"(?:^|[ :=])\[(\('.{1,8000}\))\]\s*$")
_PAIR = lazy_pattern(rf"\('([\w./]{{1,80}})', (?:np\.float\d\d\()?({_NUMBER})\)")
_FIELDS_BEFORE_LABEL = lazy_pattern(r"^(.*\S)\s*[,;|][^,;|]*$", re.DOTALL)
"""`Episode 3, loss: 0.5` of `Episode 3, loss: 0.5, rewards: `, in front of a dictionary."""
_NEXT_LABEL = lazy_pattern(r"\}\s?[,;|]\s?[A-Za-z]\w{0,40}\s?[:=]\s?\{")
"""Between two dictionaries of one line: `rewards: {'mean': 0.5}, clipped: {'low': 0.1}`."""
_NAMESPACE = lazy_pattern(
    r"^(?:[\w ]{0,40}[\s:=])?(?:Namespace|\w*(?:Args|Arguments|Config))\((?P<body>.*)\)\s*$",
    re.DOTALL,
)
_ASSIGNMENT = lazy_pattern(
    rf"([A-Za-z_]\w{{0,60}})=(?:({_NUMBER})(?![\w.])|(True|False)|'([^']{{0,200}})'|\"([^\"]{{0,200}})\")"
)
_DEVICE_LINE = lazy_pattern(r"^Using (cpu|cuda|cuda:\d+|mps|xpu) device$")
_TRAINER_SETTING = lazy_pattern(
    r"^[>\s]*(?:Total optimization steps|Num Epochs|Gradient Accumulation steps"
    r"|Instantaneous batch size per device) = [\d,]{1,20}$"
)
_UNSLOTH_LINE = lazy_pattern(
    r"^[\W_O]{4,24} (?:Num examples|Batch size per device|Total batch size) = [\d,]{1,20} \|"
)
"""Of Unsloth's banner, beside a picture of a sloth: `    Batch size per device = 1 | ...`."""
_COUNT = lazy_pattern(r"([A-Z][a-z]+(?: [A-Za-z]+){1,4}) = ([\d,]{1,20})(?=\s*(?:\||$))")
_COUNT_SETTINGS = {
    "num epochs": "num_train_epochs",
    "total optimization steps": "max_steps",
    "total steps": "max_steps",
    "batch size per device": "per_device_train_batch_size",
    "instantaneous batch size per device": "per_device_train_batch_size",
    "gradient accumulation steps": "gradient_accumulation_steps",
}
_STEP_PLAN = lazy_pattern(r"^Total steps: (\d{1,15}), num_warmup_steps: (-?\d{1,15})\s*$")
"""verl's workers print the planned number of steps."""
_PLAN_OF_KERAS_RL = lazy_pattern(r"^Training for (\d{1,15}) steps \.\.\.$")
_SETTINGS_WORDS = lazy_pattern(
    r"(?:args|config|params|options|settings|parameters)\W*$", re.IGNORECASE
)
"""Words before a dictionary of settings."""
_LOADED = lazy_pattern(r"\W{0,9}(?:load|restor|resum)(?:ed|ing)\b", re.IGNORECASE)
_META = lazy_pattern(r"\bmeta(?:data)?\W*$", re.IGNORECASE)
"""Words before what a checkpoint holds: `Loaded best.pt  meta={'best_iteration': 15, ...}`."""
_MAX_SETTINGS = 1000


def may_match(text: str) -> bool:
    """Whether a line with the same words, but other numbers, may be one of these."""
    return text.startswith(("Using ", "Total steps: ", "Training for ")) or any(
        hint in text and not (line_type.is_common and line_type.pattern.search(text) is None)
        for hint, line_type in _LINES_BY_HINT
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
    return _settings_record(text)


class PairLists:
    """Reads lists of names and numbers: `statistics:[('average_q', 0.5), ('n_updates', 20)]`.

    PFRL prints one for each episode: where it counts updates, it is new when the count is.
    """

    def __init__(self) -> None:
        self._updates = 0.0

    def read_line(self, text: str) -> ConsoleRecord | tuple[()] | None:
        """The record of a list, empty if nothing was trained since the last one; else None."""
        match = _LIST_OF_PAIRS.search(text) if "[('" in text else None
        values = [] if match is None else named_numbers(_PAIR.findall(match[1]))
        if not any(is_metric(name) for name, _ in values):
            return None
        updates = dict(values).get("n_updates")
        if updates is not None and updates == self._updates:
            return ()
        self._updates = updates or 0.0
        return ConsoleRecord(values)


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
    groups = match.groupdict()
    for group, tag in line.tags.items():
        value = None if match[group] is None else parse_number(match[group])
        if value is not None and not (line.finite and not abs(value) < float("inf")):
            values.append((tag.format_map(groups), value))
    step, total = groups.get("step"), groups.get("total")
    for axis in ("episode", "iteration", "step"):
        if (at := groups.get(f"at_{axis}")) is not None:
            return ConsoleRecord(values, as_step(float(at)), axis)
    if step is None:
        return ConsoleRecord(values)
    axis = "timesteps" if values else "step"
    config: dict[str, ConfigValue] = {TOTAL_SETTINGS[axis]: int(total)} if total else {}
    return ConsoleRecord(values, as_step(parse_number(step)), axis, config)


def _dict_after_text(match: re.Match[str]) -> ConsoleRecord | None:
    """A dictionary after text that may say the step (OpenRLHF: `Global step 5: {...}`), or more.

    structlog prints the step behind it (d3rlpy: `metrics={...} step=500`). After words such as
    `kwargs: ` it holds settings (verl prints how it samples). What a checkpoint says of itself is
    none of this training.
    """
    found = dict_record(_NEXT_LABEL.sub(", ", match["dict"]))
    if found is None or not found.values:
        return found
    if _is_of_checkpoint(match["head"], found):
        return None
    if _SETTINGS_WORDS.search(match["head"]):
        return ConsoleRecord([], config=dict(found.values) | dict(found.config))
    head = _HEAD_STEP.search(match["head"])
    said_step = match["step"] or (head and head[1])
    step = as_step(float(said_step)) if said_step else None
    if step is not None:
        group = f"{head['group']}/" if head and head["group"] else ""
        values = [(f"{group}{tag}", value) for tag, value in found.values]
        return found._replace(values=values, step=step, axis="step")
    fields = _FIELDS_BEFORE_LABEL.match(match["head"])
    says_numbers = fields is not None and any(map(str.isdigit, fields[1]))
    said = key_values.parse_line(fields[1]) if fields and says_numbers else None
    return found if said is None else _joined(said, found)


def _is_of_checkpoint(head: str, found: ConsoleRecord) -> bool:
    """Whether a dictionary is what a checkpoint that is loaded says of itself."""
    if _LOADED.match(head):
        return True
    return _META.search(head) is not None and any(tag.startswith("best") for tag, _ in found.values)


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
    if " = " in text and (_TRAINER_SETTING.match(text) or _UNSLOTH_LINE.match(text)):
        counts = {name.lower(): parse_number(word) or 0 for name, word in _COUNT.findall(text)}
        known = _COUNT_SETTINGS.keys() & counts.keys()
        return ConsoleRecord([], config={_COUNT_SETTINGS[name]: counts[name] for name in known})
    if text.startswith("Total steps: ") and (plan := _STEP_PLAN.match(text)):
        steps, warmup = map(int, plan.groups())
        return ConsoleRecord([], config={"max_steps": steps, "num_warmup_steps": warmup})
    if text.startswith("Training for ") and (keras := _PLAN_OF_KERAS_RL.match(text)):
        return ConsoleRecord([], config={"total_timesteps": int(keras[1])})
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
