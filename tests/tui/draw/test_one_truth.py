"""What stands on the first page never contradicts itself, at any row of many runs.

Shipped logs, runs of the corpus and drawn ones, each at its first rows, at rows spread over its
timeline and at the openings of its findings. With PPO_TOP_TRUTH_RUNS=60 sixty runs of the corpus
are looked at, at every fifth row.
"""

from __future__ import annotations

import math
import os
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ppo_top.model import Finding, Severity, Status, open_at
from ppo_top.output.reports.text_report import report_lines
from ppo_top.rules.advice.contradictions import direction_of
from ppo_top.rules.crucial_values import FALLBACK_CONCEPTS
from ppo_top.rules.engine.ranges import colour, healthy_range
from ppo_top.runs.run import Run
from ppo_top.text.marks import MARKS
from ppo_top.tui.draw.charts.curve_columns import curve_columns, style_of
from ppo_top.tui.draw.layout import draw_main_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.snapshot import PlaybackState, RunCounts, Snapshot
from ppo_top.views.run_view import PanelTrack, RunView, make_run_view
from ppo_top.views.trend import MIN_TREND_POINTS
from ppo_top.views.troubled_rows import WARMUP_POINTS
from tests.support.corpus_sample import corpus_sample
from tests.support.growing_logs import demo_runs
from tests.support.screens import read_session

WANTED_RUNS = int(os.environ.get("PPO_TOP_TRUTH_RUNS", "0"))
CORPUS_SAMPLE, ROWS_A_RUN, DRAWN_RUNS = WANTED_RUNS or 20, 8, 6
SIZES = ((140, 40), (80, 24))
DRAWN_TAGS = {
    "rollout/ep_rew_mean": (20.0, 400.0),
    "train/approx_kl": (0.0, 0.05),
    "train/clip_fraction": (0.0, 0.6),
    "train/entropy_loss": (-0.69, -0.001),
    "train/explained_variance": (-1.0, 1.0),
    "train/value_loss": (0.01, 90.0),
    "train/learning_rate": (1e-5, 0.03),
    "train/clip_range": (0.01, 10.0),
}
"""Tag -> the range that its values are drawn from."""


class Moment(NamedTuple):
    """A run as it was at a row."""

    run: Run
    view: RunView

    def __str__(self) -> str:
        return f"{self.run.name}, row {self.view.row}: {self.view.headline}"


def write_drawn_run(path: Path, seed: int) -> None:
    """A progress.csv in which each metric now and then jumps to another level."""
    draw, levels = random.Random(seed), {}
    lines = [",".join(["time/total_timesteps", *DRAWN_TAGS])]
    for row in range(1, 60):
        for tag, (low, high) in DRAWN_TAGS.items():
            if tag not in levels or draw.random() < 0.05:
                levels[tag] = draw.uniform(low, high)
        noisy = (f"{level * draw.uniform(0.9, 1.1):.6g}" for level in levels.values())
        lines.append(",".join([str(2048 * row), *noisy]))
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of drawn runs."""
    folders = [tmp_path_factory.mktemp("drawn") / f"run{seed}" for seed in range(DRAWN_RUNS)]
    for seed, folder in enumerate(folders):
        write_drawn_run(folder / "progress.csv", seed)
    return folders


@cache
def runs_in(path: Path) -> list[Run]:
    """The judged runs of a folder."""
    return list(read_session([path]).runs.values())


@pytest.fixture(scope="module")
def moments(drawn: list[Path]) -> list[Moment]:
    """The runs at the rows that are looked at."""
    found = []
    for run in (
        run
        for path in (*demo_runs(), *corpus_sample(CORPUS_SAMPLE), *drawn)
        for run in runs_in(path)
    ):
        last = len(run.timeline) - 1
        spread = {last * number // ROWS_A_RUN for number in range(ROWS_A_RUN + 1)}
        if WANTED_RUNS:
            spread |= set(range(0, last, 5))
        opened = [finding.opened.row for finding in run.findings][:ROWS_A_RUN]
        early = range(WARMUP_POINTS + 1)
        rows = sorted(row for row in {*spread, *opened, *early} if 0 <= row <= last)
        found += [Moment(run, make_run_view(run, row)) for row in rows]
    return found


def test_the_sample_holds_what_the_properties_are_about(moments: list[Moment]) -> None:
    """Healthy, watched and critical moments, diagnoses, events and blamed settings."""
    opened = [each for moment in moments for each in moment.view.open_findings]
    assert {each.severity for each in opened} == set(Severity)
    assert {bool(each.finding.members) for each in opened} == {True, False}
    assert {each.finding.since_word for each in opened} == {"at", "since"}
    assert any(moment.view.headline.startswith("Watching") for moment in moments)
    blamed = [row for moment in moments for row in moment.view.checklist if row.since_step]
    assert {"lr", "clip_range"} <= {row.concept for row in blamed}


def marks_of(view: RunView) -> list[Status]:
    """The marks of all rows and curves."""
    return [row.status for row in view.checklist] + [curve.status for curve in view.tracks]


def test_no_green_headline_stands_over_a_value_in_trouble(moments: list[Moment]) -> None:
    """Where a row or a curve is amber or red, the headline is not green."""
    assert [
        str(moment)
        for moment in moments
        if not moment.view.headline_status.is_trouble
        and any(status.is_trouble for status in marks_of(moment.view))
    ] == []


def is_about(finding: Finding, name: str) -> bool:
    """Whether a finding is about a metric, or about one that this metric stands in for."""
    stood_in = {each for each, others in FALLBACK_CONCEPTS.items() if name in others}
    return not {name, *stood_in}.isdisjoint(finding.concepts)


def severity_on(moment: Moment, name: str) -> Severity | None:
    """Of the worst finding open on a metric, by itself or as a setting that a diagnosis blames."""
    now = open_at(moment.run.findings, moment.view.row or 0)
    about = [
        severity
        for finding, severity in now
        if is_about(finding, name)
        if not finding.members or name in ("lr", "clip_range")
    ]
    return max(about, default=None)


def range_status(moment: Moment, name: str) -> Status:
    """Where the newest value of a metric lies: in its range, outside, beyond the critical limit.

    What "stays > 0" is outside where less than a thousandth is left.
    """
    track = moment.run.timeline.tracks[name]
    values = track.values[: track.count_until(moment.view.row or 0)]
    limits = healthy_range(name, moment.run.profile)
    if limits is not None and "> 0" in limits.text and values[-1] <= max(values) / 1000.0:
        return Status.WATCH
    return colour(name, values[-1], moment.run.profile)


def test_a_mark_is_the_severity_of_the_open_finding(moments: list[Moment]) -> None:
    """Without one it tells where the value lies. Findings of a diagnosis keep their own marks."""
    wrong = []
    for moment in moments:
        rows = [(row.concept, row.status) for row in moment.view.checklist if row.text]
        curves = [(curve.track.concept, curve.status) for curve in moment.view.tracks]
        for name, status in (*rows, *curves):
            found = severity_on(moment, name)
            own = range_status(moment, name).rank
            right = status.rank <= own if found is None else status is found.status
            if not right:
                wrong.append(f"{moment}: {name} {status}, {found}")
    assert wrong == []


def test_the_report_begins_with_no_green_mark_over_a_value_in_trouble(
    moments: list[Moment],
) -> None:
    """At the end of a log, where `check` reports; what has cleared stands for itself."""
    wrong = []
    trouble = {MARKS[status] for status in Status if status.is_trouble}
    for run, view in moments:
        if view.at_end and not view.cleared_findings:
            text = "\n".join(report_lines(run, view))
            marks = set(re.findall(r"^ +(\S) ", text, re.M)) & trouble
            if marks and not view.headline_status.is_trouble:
                wrong.append(view.name)
    assert wrong == []


def test_the_number_that_fired_is_on_the_first_page(moments: list[Moment]) -> None:
    """The first number of the worst finding's message, in both usual sizes."""
    wrong = []
    for moment in moments:
        if not moment.view.open_findings:
            continue
        snap = Snapshot(view=moment.view, findings=moment.run.findings, counts=RunCounts(total=1))
        number = re.search(r"\d[\d.,e+-]*", moment.view.open_findings[0].finding.message)
        for size in SIZES if number is not None else ():
            page = "\n".join(plain_text(row) for row in draw_main_screen(snap, *size).lines)
            if number is not None and number[0].rstrip(".,") not in page:
                wrong.append(f"{moment}: no {number[0]} at {size}")
    assert wrong == []


def test_a_message_of_an_earlier_value_says_what_stands_in_the_row(moments: list[Moment]) -> None:
    """A finding about one metric tells the value at which it was so severe, and the one now."""
    told = 0
    for moment in moments:
        rows = {row.concept: row.text for row in moment.view.checklist}
        for opened in moment.view.open_findings:
            finding = opened.finding
            name = finding.concepts[0] if len(finding.concepts) == 1 else ""
            if "%" in (rows.get(name) or "%"):  # told as a share, or not logged
                continue
            track = moment.run.timeline.tracks[name]
            value = track.values[track.count_until(moment.view.row or 0) - 1]
            named = re.search(rf"(?<![\d.]){re.escape(f'{finding.value:.3g}')}\b", finding.message)
            if named and not math.isclose(value, finding.value, rel_tol=0.25):
                assert f"; now {rows[track.concept]}" in opened.message, (str(moment), finding)
                told += 1
    assert told


def test_nothing_is_called_not_rising_before_a_trend_can_be_seen(moments: list[Moment]) -> None:
    """Of three values nobody can tell whether they rise."""
    wrong = []
    for moment in moments:
        reward = moment.run.timeline.tracks.get("reward_mean")
        for finding in (opened.finding for opened in moment.view.open_findings):
            words = " ".join((finding.message, *finding.evidence))
            if reward is not None and re.search("not rising|no longer rising", words):
                seen = reward.count_until(finding.changes[-1].mark.row)
                wrong += [f"{moment}: {words}"] * (seen < MIN_TREND_POINTS)
    assert wrong == []


def test_no_page_advises_to_raise_and_to_lower_an_option(moments: list[Moment]) -> None:
    """Over all findings that are open together."""
    wrong = []
    for moment in moments:
        ways: dict[str, int] = {}
        trainer = moment.run.profile.trainer_id
        for advice in (each for o in moment.view.open_findings for each in o.finding.remedies):
            option, way = direction_of(advice, trainer) or ("", 0)
            if way and ways.setdefault(option, way) != way:
                wrong.append(f"{moment}: {advice}")
    assert wrong == []


def expected_statuses(moment: Moment, track: PanelTrack) -> Iterator[Status]:
    """What was true at each row: the limit that its value crossed, or a finding open there, as
    severe as it was then: some get milder.
    """
    now, name = moment.view.row or 0, track.track.concept
    about = [
        finding
        for finding in moment.run.findings
        if is_about(finding, name) and finding.opened.row <= now and not finding.members
    ]
    value = None
    for row in range(now + 1):
        seen = track.track.count_until(row)
        value = track.track.values[seen - 1] if seen else None
        found = [Status.OK]
        if value is not None and value - value == 0:
            found.append(colour(name, value, moment.run.profile))
        for finding in about:
            then = finding.as_of(now)
            end = then.cleared.row if then.cleared is not None else now + 1
            *_, latest = (
                change.severity
                for change in then.changes
                if change.mark.row <= max(row, then.opened.row)
            )
            if then.since.row <= row < end and latest > Severity.INFO:
                found.append(latest.status)
        yield max(found, key=lambda status: status.rank)


def test_a_curve_has_the_colour_of_what_was_true_at_each_row(moments: list[Moment]) -> None:
    """One column a row. Explained variance, which means nothing of constant returns, and settings,
    which diagnoses colour, have tests of their own.
    """
    wrong = []
    for moment in moments[::3]:
        row = moment.view.row or 0
        paused = PlaybackState(row, len(moment.view.timeline), False, 1.0, False)
        snap = Snapshot(view=moment.view, findings=moment.run.findings, playback_state=paused)
        for track in moment.view.tracks:
            if track.track.concept in ("explained_variance", "lr", "clip_range"):
                continue
            drawn = curve_columns(snap, moment.view, track, row + 1).styles
            expected = [style_of(status) for status in expected_statuses(moment, track)]
            if drawn != expected:
                wrong.append(f"{moment}: {track.label}")
    assert wrong == []
