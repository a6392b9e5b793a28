"""Lines with a wording of their own: what some trainers print instead of pairs, and settings."""

from __future__ import annotations

import re
from typing import NamedTuple

from ppo_top.model import ConfigValue
from ppo_top.parsers.console.dicts import record as dict_record
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared.number_text import NUMBER, number, whole


class Phrase(NamedTuple):
    """A wording: `hint` must be in the line, group `step` is the step, other groups are `tags`."""

    hint: str
    pattern: re.Pattern[str]
    tags: dict[str, str]
    finite: bool = False
    """A value that is not finite means that there is none yet."""


PHRASES = (
    Phrase(
        "Eval num_timesteps=",
        re.compile(
            rf"Eval num_timesteps=(?P<step>\d+), "
            rf"episode_reward=(?P<mean>{NUMBER}) \+/- (?P<std>{NUMBER})"
        ),
        {"mean": "eval/episode_reward", "std": "eval/episode_reward_std"},
    ),
    Phrase(
        "Episode length: ",
        re.compile(rf"Episode length: (?P<mean>{NUMBER}) \+/- (?P<std>{NUMBER})"),
        {"mean": "eval/episode_length", "std": "eval/episode_length_std"},
    ),
    Phrase(
        "evaluation: ",
        re.compile(rf"\d+-episode evaluation: (?P<mean>{NUMBER}) (?:\+/-|±) (?P<std>{NUMBER})"),
        {"mean": "eval/mean_reward", "std": "eval/std_reward"},
    ),
    Phrase(
        "Fps is (",
        re.compile(
            rf"Fps is \(10 sec: (?P<fps>{NUMBER}),.{{0,80}}?\)\. Total num frames: (?P<step>\d+)\."
        ),
        {"fps": "fps"},
        finite=True,
    ),
    Phrase(
        "Avg episode reward: [(",
        re.compile(rf"Avg episode reward: \[\(\d+, '(?P<reward>{NUMBER})'\)"),
        {"reward": "Avg episode reward"},
        finite=True,
    ),
    Phrase(
        ": test_reward: ",
        re.compile(rf"^Epoch #\d+: test_reward: (?P<mean>{NUMBER}) ± (?P<std>{NUMBER}), best"),
        {"mean": "test/reward", "std": "test/reward_std"},
    ),
    Phrase(
        "Std of Reward: ",
        re.compile(
            rf"Step: (?P<step>\d+)\.? Time Elapsed: [\d.]+ s\.? "
            rf"Mean Reward: (?P<mean>{NUMBER})\. Std of Reward: (?P<std>{NUMBER})\."
        ),
        {"mean": "Environment/Cumulative Reward", "std": "Environment/Cumulative Reward (std)"},
    ),
    Phrase(
        "training episodes: mean/median reward ",
        re.compile(
            rf"mean/median reward (?P<mean>{NUMBER})/(?P<median>{NUMBER}), "
            rf"min/max reward (?P<min>{NUMBER})/(?P<max>{NUMBER})"
        ),
        {name: f"{name} reward" for name in ("mean", "median", "min", "max")},
    ),
    Phrase(
        " | rR:",
        re.compile(
            rf"^U \d+ \| F (?P<step>\d+) \| FPS (?P<fps>\d+) \| D \d+ "
            rf"\| rR:\S+ (?P<reward>{NUMBER}) .{{0,80}}? \| F:\S+ (?P<length>{NUMBER}) .{{0,80}}? "
            rf"\| H (?P<entropy>{NUMBER}) \| V (?P<value>{NUMBER}) "
            rf"\| pL (?P<policy>{NUMBER}) \| vL (?P<critic>{NUMBER}) \| \S (?P<norm>{NUMBER})"
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
)
"""SB3, Sample Factory, Tianshou, ML-Agents, pytorch-a2c-ppo-acktr-gail, torch-ac."""

_HINTED = tuple((phrase.hint, phrase) for phrase in PHRASES)
_STEPPED_DICT = re.compile(r"^(?P<head>[^{}]{0,200})(?P<dict>\{\s?['\"].*\})\s*$", re.DOTALL)
_HEAD_STEP = re.compile(
    r"(?:step|iteration|iter|update|epoch)\s*[:=#]?\s*(\d{1,15})\W*$", re.IGNORECASE
)
_NAMESPACE = re.compile(
    r"^\s*(?:Namespace|\w*(?:Args|Arguments|Config))\((?P<body>.*)\)\s*$", re.DOTALL
)
_ASSIGNED = re.compile(
    rf"([A-Za-z_]\w{{0,60}})=(?:({NUMBER})(?![\w.])|(True|False)|'([^']{{0,200}})'|\"([^\"]{{0,200}})\")"
)
_DEVICE = re.compile(r"^Using (cpu|cuda|cuda:\d+|mps|xpu) device$")
_TRAINER = re.compile(r"^\s*(?:Total optimization steps|Num Epochs) = ([\d,]{1,20})$")
_TRAINER_NAMES = {"Total": "max_steps", "Num": "num_train_epochs"}
_PLAN = re.compile(r"^Total steps: (\d{1,15}), num_warmup_steps: (-?\d{1,15})\s*$")
"""verl's workers say how many steps there will be: a plan, not a place."""
_OPTIONS = re.compile(r"(?:args|config|params|options|settings|parameters)\W*$", re.IGNORECASE)
"""Words before a dictionary that make it one of settings."""
_MOST_SETTINGS = 1000


def read(text: str) -> Record | None:
    """The record of a line with a known wording, or None."""
    for hint, phrase in _HINTED:
        if hint in text and (match := phrase.pattern.search(text)):
            return _phrase(phrase, match)
    if "{" in text and (match := _STEPPED_DICT.match(text)):
        return _stepped(match)
    return _settings(text)


def _phrase(phrase: Phrase, match: re.Match[str]) -> Record:
    values = []
    for group, tag in phrase.tags.items():
        value = number(match[group])
        if value is not None and not (phrase.finite and not abs(value) < float("inf")):
            values.append((tag, value))
    step = match["step"] if "step" in match.re.groupindex else None
    return Record(values, int(step) if step else None, "timesteps" if step else "")


def _stepped(match: re.Match[str]) -> Record | None:
    """A dictionary behind words that may say the step (OpenRLHF: `Global step 5: {...}`).

    Behind words such as `kwargs: ` it holds settings (verl prints how it samples).
    """
    found = dict_record(match["dict"])
    if found is None or not found.values:
        return found
    if _OPTIONS.search(match["head"]):
        return Record([], config=dict(found.values) | dict(found.config))
    head = _HEAD_STEP.search(match["head"])
    step = whole(float(head[1])) if head else None
    return found if step is None else found._replace(step=step, axis="step")


def _settings(text: str) -> Record | None:
    """The hyperparameters that a line prints, if it prints any."""
    if text.startswith("Using ") and (device := _DEVICE.match(text)):
        return Record([], config={"device": device[1]})
    if " = " in text and (count := _TRAINER.match(text)):
        return Record([], config={_TRAINER_NAMES[text.split()[0]]: number(count[1]) or 0})
    if text.startswith("Total steps: ") and (plan := _PLAN.match(text)):
        return Record([], config={"max_steps": int(plan[1]), "num_warmup_steps": int(plan[2])})
    match = _NAMESPACE.match(text) if text.endswith(")") else None
    if match is None:
        return None
    config: dict[str, ConfigValue] = {}
    for name, value, truth, one, two in _ASSIGNED.findall(match["body"]):
        if len(config) >= _MOST_SETTINGS:
            break
        parsed = number(value) if value else None
        config[name] = parsed if parsed is not None else (truth == "True" if truth else one or two)
    return Record([], config=config) if len(config) > 1 else None
