"""Lines read by a form that was learnt are read as they would be one by one."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import key_values, line_templates
from ppo_top.parsers.console.records.line_templates import LineTemplates
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, may_hold_number
from tests.support.parser_harness import feed_parser

HERE = Path(__file__).parents[3]
FOLDERS = (HERE / "demo_logs", HERE / "tests" / "data", Path(__file__).parent / "data")
CONSOLES = sorted(
    path
    for folder in FOLDERS
    for pattern in ("console*.log", "stdout*.log", "output.log", "prose.txt")
    for path in folder.rglob(pattern)
)


def same(one: ConsoleRecord | None, other: ConsoleRecord | None) -> bool:
    """Equal records, NaN equal to NaN."""
    if one is None or other is None:
        return one is other
    return repr((*one[:3], dict(one.config))) == repr((*other[:3], dict(other.config)))


@pytest.mark.parametrize("path", CONSOLES, ids=lambda path: str(path.relative_to(HERE)))
def test_recorded_lines(path: Path) -> None:
    """Every recorded line, often enough for its form to be known."""
    forms = LineTemplates()
    for line in path.read_text(encoding="utf-8", errors="replace").replace("\r", "\n").split("\n"):
        expected = key_values.parse_line(line)
        for _ in range(4):
            assert same(forms.parse_line(line), expected)


numbers = st.one_of(
    st.floats().map(repr),
    st.floats(-1000, 1000).map(lambda value: f"{value:.4g}"),
    st.integers(-(10**30), 10**30).map(str),
    st.integers(0, 10**9).map(lambda value: f"{value:,}"),
    st.sampled_from(["0", "-0", "0.0", "nan", "-nan", "inf", "1.#QNAN", "1.", ".5", "+3", "5.5.5"]),
)
FORMS = (
    "Iteration {}/20 | Episodes: {} | Mean Reward: {} | KL: {} | clip%: {}%",
    "Iteration {}/{} | Episodes: {} | Mean Reward: {}",
    "step: {}, loss: {}, reward: {} +/- {}",
    "iter {} loss {} reward {}",
    "global_step={}, episodic_return=[{}]",
    "epoch {} took {} seconds",
    "conv-1: {} conv-2: {} loss_3={}",
    "Epoch [{}/10] loss: {} time {}:{}",
    "step:{} - a/b:np.float64({}) - reward/mean@1:{}",
    "In episode {} the reward was {}",
    "EP:{} | error [{}, {}] | ep_r {} | idu {} | ec 1",
    "{} {} {}",
    "reward {} of {}",
)


@example(form=FORMS[0], rows=[["0.0"] * 5, *[["5.5.5", *"0000"]] * 3])  # a version, no number
@settings(max_examples=300, deadline=None)
@given(
    form=st.sampled_from(FORMS),
    rows=st.lists(st.lists(numbers, min_size=5, max_size=5), min_size=1, max_size=6),
)
def test_any_numbers(form: str, rows: list[list[str]]) -> None:
    """Whatever the numbers are, a known form gives what reading the line alone gives."""
    forms = LineTemplates()
    for row in rows:
        line = form.format(*row)
        assert same(forms.parse_line(line), key_values.parse_line(line)), line


def test_forms_are_bounded() -> None:
    """Lines that are all different do not fill the memory."""
    forms = LineTemplates()
    for k in range(20_000):
        forms.parse_line(f"word{k} is {k}")
        forms.parse_line(f"word{k} is {k}")
    assert len(forms._templates) <= 4096
    assert len(forms._seen_once) <= 4096


def test_nan_in_brackets_is_a_value_like_any_other() -> None:
    """It is no number of the line by its place: `Episode 3 reward (nan)`, again and again."""
    rewards = [1.5, 2.5, *[math.nan] * 8, 4.5]
    text = "".join(f"Episode {n} reward ({each})\n" for n, each in enumerate(rewards, 1))
    read = feed_parser(ConsoleParser(), [text.encode()])
    assert read.steps("reward") == list(range(1, 12))
    assert read.values("reward") == pytest.approx(rewards, nan_ok=True)


@given(st.text(alphabet="aAnNiIfFtTyY 1٣.#-+:,[]'", max_size=12))
@example("loss: -Infinity")
@example("information of a banana")
def test_a_line_that_may_hold_no_number_holds_none(text: str) -> None:
    """Such lines, most of what a program chats, are not searched for names."""
    holds_number = re.search(NUMBER_PATTERN, text) is not None
    assert may_hold_number(text) or not holds_number


def test_chatter_costs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long its lines are, and though `info` begins as infinity does."""
    searched: list[str] = []

    def note(line: str) -> str:
        searched.append(line)
        return line

    monkeypatch.setattr(line_templates, "normalise_line", note)
    prose = "[INFO] loading the information of a finance agent / retrying: connection, " * 20
    feed_parser(ConsoleParser(), [f"{prose}\n".encode() * 9, b"reward: 21.5 kl: 0.1\n"])
    assert searched == ["reward: 21.5 kl: 0.1"]
