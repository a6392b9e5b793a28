"""A backlog is judged by blocks of rows: with the findings of the same rules asked at every row."""

from __future__ import annotations

import io
import math
import os
import random
from array import array
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest

from ppo_top.model import Profile, Row
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.block_screen import BlockScreen
from ppo_top.rules.engine.rule import Assessment
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from tests.rules.specification import rule_cases
from tests.support.corpus_sample import corpus_sample
from tests.support.drawn_runs import (
    GRPO_COLUMNS,
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    DrawnColumn,
    DrawnColumns,
    draw_rows,
    gauss,
    judged,
)
from tests.support.judged_rows import rows_of

SIZES = (1, 2, 5, 17, 32, 64)
SEEDS = int(os.environ.get("PPO_TOP_DRAWN_RUNS", "20"))
"""How many runs are drawn for each family; two hundred take some minutes."""


def blocks(rows: Sequence[Row], chance: random.Random) -> Iterator[RowBlock]:
    """The rows cut into blocks of drawn sizes, wherever their metrics stay the same."""
    at = 0
    while at < len(rows):
        size, names = chance.choice(SIZES), tuple(rows[at].values)
        same = [row for row in rows[at : at + size] if tuple(row.values) == names]
        if same != list(rows[at : at + len(same)]):
            same = same[:1]
        yield as_block(same)
        at += len(same)


def as_block(rows: Sequence[Row]) -> RowBlock:
    """Consecutive rows with the same metrics as columns."""
    columns = {name: array("d", [row.values[name] for row in rows]) for name in rows[0].values}
    steps = array("q", [row.mark.step for row in rows])
    return RowBlock(rows[0].mark.row, steps, array("d", [r.mark.time for r in rows]), columns)


def course_numbers(judge: Judge) -> str:
    """Every number that is held of the course of the reward, and the steps of an update."""
    run, reward = judge.run, judge.run.reward
    parts = (reward, reward.source, reward.means) if reward is not None else ()
    held = [value for part in parts for value in vars(part).values()]
    return repr([run.steps_per_update, *(v for v in held if isinstance(v, (int, float, list)))])


def assert_blocks_agree(profile: Profile, rows: Sequence[Row], seed: int) -> None:
    """Judged by blocks, the rows have the findings that they have one by one."""
    one_by_one, by_blocks = judged(profile, rows), Judge(profile)
    for block in blocks(rows, random.Random(seed)):
        by_blocks.add_block(block)
    assert repr(by_blocks.findings) == repr(one_by_one.findings)
    assert course_numbers(by_blocks) == course_numbers(one_by_one)
    assert by_blocks.skipped_rules() == one_by_one.skipped_rules()


@pytest.mark.parametrize("kind", ["sick", "near"])
@pytest.mark.parametrize("rule", rule_cases())
def test_each_rule_speaks_at_the_same_rows(rule: str, kind: str) -> None:
    """In a run that makes it speak, and in one that comes near."""
    case = rule_cases()[rule]
    assert_blocks_agree(case.profile, case.rows(getattr(case, kind)), seed=len(rule))


def wandering_rows(columns: DrawnColumns, seed: int, count: int = 400) -> list[Row]:
    """A run of these columns, whose metrics jump, drift or turn into noise now and then."""
    chance = random.Random(seed)
    rows, factors, drifts = draw_rows(columns, count), dict[str, float](), dict[str, float]()
    made = []
    for row in rows:
        for name in row.values:
            if chance.random() < 0.01:
                factors[name] = chance.choice([1.0, 1.0, 3.0, 0.1, 20.0, -1.0, 0.0, 1e4])
                drifts[name] = chance.choice([1.0, 1.0, 1.05, 0.9])
            factors[name] = factors.get(name, 1.0) * drifts.get(name, 1.0)
        values = {name: value * factors[name] for name, value in row.values.items()}
        if chance.random() < 0.02:
            values[chance.choice(list(values))] = float("nan")
        if chance.random() < 0.02:
            del values[chance.choice(list(values))]
        made.append(Row(row.mark, values))
    return made


@pytest.mark.parametrize("family", sorted(HEALTHY_COLUMNS))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_drawn_runs_have_the_same_findings(family: str, seed: int) -> None:
    """Runs in which anything may happen to any metric."""
    profile = Profile(TRAINER_BY_FAMILY[family], family)
    assert_blocks_agree(profile, wandering_rows(HEALTHY_COLUMNS[family], seed), seed)


def flat_rows(family: str, seed: int) -> list[Row]:
    """A run that learns nothing for long, then something or not, and may be changed on the way."""
    chance = random.Random(seed)
    learns_at, explained = chance.choice([150, 400, 900]), chance.choice([-2.0, 0.0, 0.0, 0.1, 0.4])
    drift, updates = chance.choice([0.0, 0.0, 0.004, -0.001]), chance.choice([1.0, 10.0])
    rises_at = chance.choice([60, 200, 900])
    flat: dict[str, DrawnColumn] = {
        "reward_mean": lambda i: 20.0 + gauss(i, 3.0) + 0.5 * max(0, i - learns_at),
        "ep_len": lambda i: 200.0 + gauss(i + 1, 5.0),
        "explained_variance": lambda i: explained + gauss(i + 2, 0.03),
        "value_loss": lambda i: (
            (10.0 + gauss(i + 3, 1.0) + (i - rises_at) * (rises_at < i < rises_at + 30))
            * math.exp(drift * i)
        ),
        "n_updates": lambda i: updates * i,
    }
    healthy = HEALTHY_COLUMNS[family]
    columns = {**healthy, **{name: flat[name] for name in healthy if name in flat}}
    return wandering_rows(columns, seed, 700) if seed % 2 else draw_rows(columns, 700)


@pytest.mark.parametrize("family", ["off-policy", "on-policy", "rlhf"])
@pytest.mark.parametrize("seed", range(12))
def test_flat_runs_have_the_same_findings(family: str, seed: int) -> None:
    """Where findings stay open for long, and rules are not asked again whether they do."""
    profile = Profile(TRAINER_BY_FAMILY[family], family)
    assert_blocks_agree(profile, flat_rows(family, seed), seed)


def test_what_stays_open_stays_as_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each row at which a rule is not asked, it would say what it said before."""
    assess, stays_open = Judge._assess, BlockScreen._stays_open
    said: dict[int, dict[int, Assessment | None]] = {}
    claims: list[tuple[int, RowBlock]] = []

    def assess_and_note(judge: Judge, index: int) -> Assessment | None:
        found = said.setdefault(index, {})[judge.run.mark.row] = assess(judge, index)
        return found

    def note_claim(screen: BlockScreen, index: int, block: RowBlock) -> bool:
        holds = stays_open(screen, index, block)
        if holds:
            claims.append((index, block))
        return holds

    skipped = set()
    for family, seed in product(["off-policy", "on-policy", "rlhf"], range(8)):
        profile, rows = Profile(TRAINER_BY_FAMILY[family], family), flat_rows(family, seed)
        said.clear()
        claims.clear()
        monkeypatch.setattr(Judge, "_assess", assess_and_note)
        judge, conditions = Judge(profile), []
        for row in rows:
            judge.add_row(row)
            run = judge.run
            conditions.append((run.gains_nothing, run.open_severities.copy()))
        monkeypatch.setattr(Judge, "_assess", assess)
        monkeypatch.setattr(BlockScreen, "_stays_open", note_claim)
        by_blocks = Judge(profile)
        for block in blocks(rows, random.Random(seed)):
            by_blocks.add_block(block)
        monkeypatch.setattr(BlockScreen, "_stays_open", stays_open)
        for index, block in claims:
            now = block.first_row
            before = said[index][max(row for row in said[index] if row < now)]
            same = True, conditions[now - 1][1]
            while now < block.first_row + len(block.steps) and conditions[now] == same:
                later = said[index][now]
                assert before is not None
                assert later is not None
                assert (later.level, later.resolved) == (before.level, False)
                now += 1
            skipped.add(by_blocks._rules[index].rule.id)
    assert skipped == {each.id for each in RULES if each.keeps_level is not None}


@pytest.mark.parametrize("first", [0.004, 0.02])
def test_a_language_model_without_entropy_is_seen_in_blocks_too(first: float) -> None:
    """Its entropy never falls: the share of the first value that is left tells nothing."""
    columns: DrawnColumns = {
        **GRPO_COLUMNS,
        "entropy": lambda i: first if i < 3 else 0.02 if i < 30 else 0.004,
        "reward_mean": 0.5,
    }
    rows = list(draw_rows(columns, 60))
    about_text = Profile("trl-grpo", "grpo")
    assert_blocks_agree(about_text, rows, seed=1)
    judge = Judge(about_text)
    for row in rows:
        judge.add_row(row)
    found = {finding.rule for finding in judge.findings}
    assert ("entropy-collapsed" in found) is (first < 0.005)


@pytest.mark.parametrize("path", corpus_sample(90), ids=lambda path: path.name)
def test_real_runs_have_the_same_findings(path: Path) -> None:
    """Labelled runs, healthy and harmed."""
    session = load_session([path], Settings(), io.StringIO())
    assert session is not None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    assert_blocks_agree(run.profile, rows_of(run.timeline), seed=1)


def test_few_rules_of_a_healthy_run_need_to_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The point of it: in calm rows most rules see from the bounds that nothing happens."""
    asked: list[int] = []
    monkeypatch.setattr(Judge, "_apply_rule", lambda _, index: asked.append(index))
    rows = draw_rows(HEALTHY_COLUMNS["on-policy"], 320)
    judge = Judge(Profile("sb3", "on-policy"))
    for row in rows[:160]:
        judge.add_row(row)
    one_by_one = len(asked)
    for at in range(160, 320, 32):
        judge.add_block(as_block(rows[at : at + 32]))
    assert len(asked) - one_by_one < 0.5 * one_by_one
