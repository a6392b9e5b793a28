"""The step of a table whose columns have none of the known names: the one that counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.parsers import json_document
from ppo_top.parsers.base import Parser
from ppo_top.parsers.csv_table import CsvParser
from ppo_top.parsers.json_document import JsonDocumentStore
from ppo_top.parsers.json_lines import JsonLinesParser
from ppo_top.parsers.shared.documents.json_line_claims import claims_lines
from ppo_top.parsers.shared.tables import table_claims
from tests.support.parser_harness import ParserOutput, chunks, feed_trainings, parse_every_way

Counts = dict[str, float]
COUNTERS = [
    "ep",
    "game_num",
    "n_games",
    "Iterations done",
    "num_updates",
    "gen",
    "trial",
    "steps_done",
    "steps",
    "TimestepsSoFar (env)",
    "samples trained on",
    "frames_seen",
    "global_steps",
]
KINDS = [CsvParser, JsonLinesParser, JsonDocumentStore]


def read(kind: type, rows: list[Counts], folder: Path) -> ParserOutput:
    """The rows as a table, as JSON lines or as a JSON document."""
    if kind is JsonDocumentStore:
        path = folder / "history.json"
        path.write_text(json.dumps(rows))
        found = ParserOutput()
        found.add_batch(JsonDocumentStore(path).poll(10_000))
        return found
    lines = [json.dumps(row) for row in rows]
    if kind is CsvParser:
        lines = [",".join(rows[0]), *[",".join(map(str, row.values())) for row in rows]]
    parser: type[Parser] = kind
    return parse_every_way(parser, "".join(f"{line}\n" for line in lines).encode())


def rows_of(name: str, counts: list[int]) -> list[Counts]:
    return [{name: count, "reward": n + 0.5, "loss": 0.25} for n, count in enumerate(counts)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COUNTERS)
def test_a_number_that_rises_is_the_step(kind: type, name: str, tmp_path: Path) -> None:
    """Whatever words its name has."""
    counts = [50 * n for n in range(1, 13)]
    found = read(kind, rows_of(name, counts), tmp_path)
    assert found.steps("reward") == found.steps("loss") == counts
    assert not found.counts_updates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("n_games", [16] * 12),
        ("n_games", [3, 5, 2, 8, 1, 9, 4, 4, 7, 2, 6, 3]),
        ("eps", [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("ep_steps", [50 * n for n in range(1, 13)]),
        ("steps_per_game", [50 * n for n in range(1, 13)]),
        ("num_envs", [50 * n for n in range(1, 13)]),
        ("index", list(range(12))),
        ("n_steps", [10, 12, 15, 21, 30, 32, 21, 35, 50, 52, 60, 61]),
        ("steps", [66, 80, 95, 133, 150, 171, 180, 209, 230, 34, 51, 70]),
        ("t", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]),
        ("train_step", [150, 150, 150, 150, 65, 64, 65, 65, 150, 150, 150, 150]),
    ],
)
def test_other_numbers_are_not(kind: type, name: str, counts: list[int], tmp_path: Path) -> None:
    """Such as how many games each update played, or the lengths of episodes: rows are counted."""
    found = read(kind, rows_of(name, counts), tmp_path)
    assert found.steps("reward") == list(range(1, 13))
    assert found.counts_updates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["training_step", "train step"])
def test_steps_of_the_training_count_from_the_first(kind: type, name: str, tmp_path: Path) -> None:
    """They are none of an episode, although they go by ones."""
    found = read(kind, rows_of(name, list(range(12))), tmp_path)
    assert found.steps("reward") == list(range(12))


@pytest.mark.parametrize("kind", KINDS)
def test_the_surest_of_several_counts(kind: type, tmp_path: Path) -> None:
    """All steps so far, then what numbers the rows; steps that may be an episode's come last."""
    counts = [50 * n for n in range(1, 13)]
    rows = [
        {"n_steps": 3 * count, "game_num": n, **row}
        for n, (count, row) in enumerate(zip(counts, rows_of("global_steps", counts), strict=True))
    ]
    assert read(kind, rows, tmp_path).steps("reward") == counts
    fewer = [{name: row[name] for name in row if name != "global_steps"} for row in rows]
    assert read(kind, fewer, tmp_path).steps("reward") == list(range(12))


def test_a_counter_that_begins_anew_does_so(tmp_path: Path) -> None:
    """The first rows tell that a column counts; a training that follows is one of its own."""
    counts = [*range(1, 9), *range(1, 9)]
    for kind in (CsvParser, JsonLinesParser):
        assert read(kind, rows_of("game_num", counts), tmp_path).steps("reward") == counts


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_games_of_two_agents_are_two_trainings(size: int) -> None:
    """A row for each of them, one after the other."""
    games = range(1, 9)
    rows = [f"{agent},{n},{n}.5" for n in games for agent in ("DQN", "Random")]
    table = "\n".join(["agent,game_num,score", *rows, ""]).encode()
    found = feed_trainings(CsvParser(), chunks(table, size))
    assert {name: each.steps("score") for name, each in found.items()} == {
        "": [*games],
        "agent-Random": [*games],
    }


@pytest.mark.parametrize("name", ["ep", "game_num", "episode_no", "global_steps"])
def test_such_tables_are_logs(name: str) -> None:
    """Also where other cells hold words."""
    head = f"{name},score,result\n1,21.5,won\n".encode()
    assert table_claims.claims("results.csv", head)
    line = json.dumps({name: 1, "score": 21.5, "result": "won"}).encode()
    assert claims_lines("results.jsonl", line + b"\n")
    assert json_document.claims("results.json", b"[" + line + b"]")


@pytest.mark.parametrize("name", ["training_episodes", "n_games", "steps", "policy_episode"])
def test_how_many_there_were_makes_no_log(name: str) -> None:
    """Of a table of results, say."""
    head = f"{name},mean_loss,figure\n50,21.5,fig-5\n".encode()
    assert not table_claims.claims("results.csv", head)
    line = json.dumps({name: 50, "mean_loss": 21.5, "figure": "fig-5"}).encode()
    assert not claims_lines("results.jsonl", line + b"\n" * 5000)


def test_steps_of_a_checkpoint_make_no_log() -> None:
    """ML-Agents' training_status.json: the name leaves open what the steps are."""
    head = b'{"Walker": {"checkpoints": [{"steps": 498499, "reward": 18.9}], "n": 1}}'
    assert not json_document.claims("training_status.json", head)
