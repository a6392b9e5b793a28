"""Documents that `file.write(str(history))` and `pprint` leave where JSON was meant."""

from __future__ import annotations

import json
import math
from pathlib import Path
from pprint import pformat

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ppo_top
from ppo_top.parsers.shared.documents.python_literals import as_json, is_literal

ROWS = [
    {"episode": n, "reward": n + 0.5, "loss": None if n < 3 else 0.25, "solved": n > 20}
    for n in range(1, 31)
]
LISTS = {key: [row[key] for row in ROWS] for key in ("reward", "loss")}
EXPECTED = [(n, n + 0.5) for n in range(1, 31)]

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


def rewards(path: Path) -> list[tuple[int, float]]:
    """The rewards of a file at their steps, through the door for scripts."""
    return [(p.step, p.value) for p in ppo_top.points([path]) if p.concept == "reward_mean"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("history.json", str(ROWS)),
        ("history.json", str(tuple(ROWS))),
        ("history.json", pformat({"note": 'it\'s "fine"', "history": ROWS})),
        ("history.json", str(LISTS)),
        ("rewards.txt", str(LISTS)),
        ("logs.txt", str(LISTS)),
        (
            "metrics.json",
            "{'rewards': [" + ", ".join(f"np.float64({n}.5)" for n, _ in EXPECTED) + ",]}",
        ),
        ("rewards.json", str(dict(EXPECTED))),
        ("log.json", "".join(f"{row}\n" for row in ROWS)),
        ("log.jsonl", "".join(f"{row}\n" for row in ROWS)),
    ],
)
def test_they_are_read_as_json_is(tmp_path: Path, name: str, text: str) -> None:
    """Rows, lists under names and numbered values, as one document or a record a line."""
    (tmp_path / name).write_text(text)
    assert rewards(tmp_path / name) == EXPECTED


def test_a_console_may_begin_with_a_dictionary(tmp_path: Path) -> None:
    """Its lines follow."""
    lines = [f"Episode {step} reward: {reward}\n" for step, reward in EXPECTED]
    (tmp_path / "logs.txt").write_text(f"{{'rewards': {[1, 2, 3]}}}\n{''.join(lines)}")
    assert rewards(tmp_path / "logs.txt") == EXPECTED


def test_a_single_dictionary_of_numbers_is_a_record_of_a_console(tmp_path: Path) -> None:
    """As it is pasted into an issue: transformers' ProgressCallback prints one for each log."""
    record = {"loss": -0.0198, "reward": 1.5, "memory(GiB)": 80.5, "epoch": 0.14}
    (tmp_path / "paste.txt").write_text(f"{record}\n")
    assert rewards(tmp_path / "paste.txt") == [(1, 1.5)]


def test_each_algorithm_of_a_document_is_a_run(tmp_path: Path) -> None:
    """Also where the outer names have Python's quotes."""
    both = {"DQN": {"rewards": [1.5] * 20}, "PPO": {"rewards": [2.5] * 20}}
    (tmp_path / "results.json").write_text(str(both))
    assert {p.run for p in ppo_top.points([tmp_path])} == {"DQN", "PPO"}


def test_what_is_cut_off_is_said(tmp_path: Path) -> None:
    """As of JSON: nothing of half a document is read."""
    path = tmp_path / "history.json"
    path.write_text(str(ROWS)[:-200])
    with pytest.raises(ppo_top.CouldNotLook, match="not complete JSON"):
        rewards(path)


@given(st.dictionaries(TEXTS.map(lambda text: f"k{text}"), VALUES, min_size=1))
def test_whatever_python_prints_is_the_same_value(document: dict[str, object]) -> None:
    """Quotes and backslashes within texts, words that are names elsewhere, and commas."""
    assert json.loads(as_json(str(document).encode())) == document


def test_what_json_has_no_word_for() -> None:
    """Neither number is lost, nor is a tuple, nor a key that is a number."""
    found = json.loads(as_json(b"{1: (nan, -inf, 0.5,), 'None': None}"))
    assert found["1"][1:] == [-math.inf, 0.5]
    assert math.isnan(found["1"][0])
    assert found["None"] is None


@pytest.mark.parametrize(
    "text",
    [
        '{"reward": 1.5}',
        "[1.5, 2.5]",
        "{'loss': 0.5}\n{'loss': 0.25}\n",
        "{'loss': 0.5}",
        "[INFO] step 3",
        "",
    ],
)
def test_other_texts_are_left_as_they_are(text: str) -> None:
    """JSON, and lines of a console."""
    assert not is_literal(text.encode())
