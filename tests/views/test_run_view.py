"""A run at one moment: verdict, checklist and panels, at the end and at any row before it."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from ppo_top.catalogue import METRIC_GROUPS
from ppo_top.model import Severity, Status
from ppo_top.rules.judge import Judge
from ppo_top.runs.run import Run
from ppo_top.views.run_view import CheckRow, RunView, make_run_view
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory, demo_runs, judged_rows


@cache
def demo(name: str) -> Run:
    """A shipped log, read and judged (nothing is written beside it)."""
    watched = WatchedDirectory(DEMO_LOGS_FOLDER / name)
    watched.finish()
    (run,) = watched.session.runs.values()
    return run


def row_of(view: RunView, concept: str) -> CheckRow:
    """The checklist's line on a concept."""
    return next(row for row in view.checklist if row.concept == concept)


def test_the_end_is_where_one_looks_unless_one_asks() -> None:
    """Without a row the newest one is looked at."""
    run = demo("sb3_cartpole")
    view = make_run_view(run)
    assert view.at_end
    assert view.row == len(run.timeline) - 1


def test_the_past_shows_what_was_there_then() -> None:
    """At an early row neither later values nor later findings are seen."""
    run = demo("torch_cartpole_lr")
    early = make_run_view(run, 3)
    assert not early.at_end
    assert early.progress.updates == 4
    assert all(opened.finding.opened.row <= 3 for opened in early.open_findings)
    for panel in early.panels:
        for drawn in panel.tracks:
            assert drawn.newest_value in list(drawn.track.values[: drawn.track.count_until(3)])


@pytest.mark.parametrize("path", demo_runs(), ids=lambda path: path.name)
def test_the_past_says_what_was_said_then(path: Path) -> None:
    """At each row the open findings read as a judge that knows no more than that row has them."""
    run = demo(path.name)
    live = Judge(run.profile)
    if any(source.evidence for source in run.sources.values()):
        return  # lines of the console are told between rows
    for row in judged_rows(run):
        if row.mark.row in run.timeline.restarts:
            live.restart()
        live.add_row(row)
        then = {
            (each.rule, each.since.row): (each.message, each.evidence, each.members)
            for each in live.findings
            if each.cleared is None
        }
        for opened in make_run_view(run, row.mark.row).open_findings:
            now = opened.finding
            key = (now.rule, now.since.row)
            assert (now.message, now.evidence, now.members) == then[key]


@pytest.mark.parametrize("path", demo_runs(), ids=lambda path: path.name)
def test_every_row_of_every_run_can_be_looked_at(path: Path) -> None:
    """The view is total: no row, however early, is too poor to be shown."""
    run = demo(path.name)
    for row in range(len(run.timeline)):
        view = make_run_view(run, row)
        assert view.verdict in {
            "healthy", "info", "watch", "warn", "crit", "warming-up", "unjudged"
        }  # fmt: skip
        assert view.headline
        assert {panel.group for panel in view.panels} <= {*METRIC_GROUPS, "Other"}


def test_a_run_without_anything_can_be_looked_at(tmp_path: Path) -> None:
    """A console that has only greeted us is a run that has not begun."""
    (tmp_path / "train.log").write_text("Using cpu device\n")
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    view = make_run_view(run, None, 0.0)
    assert (view.verdict, view.row, view.progress.step) == ("unjudged", None, None)


def test_the_first_updates_are_a_warm_up_and_not_healthy() -> None:
    """It is said that there is not enough to judge yet, and how much is missing."""
    view = make_run_view(demo("sb3_cartpole"), 2)
    assert view.verdict == "warming-up"
    assert row_of(view, "reward_mean").status is Status.WARMING_UP
    assert row_of(view, "reward_mean").note == "warming up 3/5"


def test_a_plainer_estimate_of_the_kl_stands_in() -> None:
    """Where only the k1 estimator is logged, its line is that of the update KL."""
    watched = WatchedDirectory(DEMO_LOGS_FOLDER.parent / "tests" / "data" / "spinup_038665d")
    watched.finish()
    (run,) = watched.session.runs.values()
    lines = {row.concept: row for row in make_run_view(run).checklist if row.is_crucial}
    assert lines["approx_kl_k1"].status is Status.OK
    assert "approx_kl" not in lines


def test_a_run_at_its_ceiling_is_healthy() -> None:
    """What is only explained stands beside the verdict, and does not change it."""
    run = demo("torch_cartpole")
    settled = next(finding for finding in run.findings if finding.rule == "at-ceiling")
    view = make_run_view(run, settled.opened.row)
    assert view.verdict == "healthy"
    assert [opened.finding.rule for opened in view.open_findings] == ["at-ceiling"]


def test_what_is_not_logged_is_said_with_the_option_that_would_log_it() -> None:
    """A missing crucial value is a line of its own, not a gap."""
    view = make_run_view(demo("trl_grpo_constant"))
    rows = {row.concept: row for row in view.checklist}
    missing = [row for row in rows.values() if row.status is Status.MISSING]
    assert all(row.note.startswith("not logged") for row in missing)


def test_what_its_trainer_would_log_is_said_by_its_tag(tmp_path: Path) -> None:
    """SB3 does log a value loss: where a log holds none, it is told what it would be called."""
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl\n2048,20,0.01\n4096,21,0.01\n"
    )
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    notes = {row.concept: row.note for row in make_run_view(run).checklist}
    assert notes["value_loss"] == "not logged (SB3 tag: train/value_loss)"
    assert notes["ep_len"].startswith("not logged: wrap the environment in Monitor")


def test_a_row_is_as_bad_as_the_finding_that_speaks_of_it() -> None:
    """The policy is dead: its KL of 0 would be green by itself."""
    run = demo("sb3_cartpole_lr3e-2")
    view = make_run_view(run)
    assert view.verdict == "crit"
    entropy = row_of(view, "entropy")
    assert entropy.status in (Status.WARN, Status.CRIT)
    assert entropy.since_step is not None
    assert "since" in entropy.note


@pytest.mark.parametrize("path", demo_runs(), ids=lambda path: path.name)
def test_a_curve_has_the_name_and_the_colour_of_its_row(path: Path) -> None:
    """One value is not called two things, nor amber in one place and red in another."""
    view = make_run_view(demo(path.name))
    listed = {row.concept: (row.label, row.status) for row in view.checklist if row.track}
    drawn = {
        each.track.concept: (each.label, each.status)
        for panel in view.panels
        for each in panel.tracks
    }
    assert {name: drawn[name] for name in listed} == listed


def test_at_the_ceiling_explained_variance_is_not_held_against_the_run() -> None:
    """When every return is 500 there is no variance to explain."""
    view = make_run_view(demo("torch_cartpole"))
    assert any(opened.finding.rule == "at-ceiling" for opened in view.open_findings)
    assert row_of(view, "explained_variance").status in (Status.OK, Status.INFO)


def test_members_of_a_diagnosis_are_its_evidence_and_not_listed_again() -> None:
    """Three causes of one collapse are one finding with three lines of evidence."""
    view = make_run_view(demo("torch_cartpole_lr"))
    shown = [opened.finding for opened in view.open_findings]
    absorbed = {rule for finding in shown for rule in finding.members}
    assert absorbed
    assert not absorbed & {finding.rule for finding in shown}


def test_findings_come_worst_first() -> None:
    """Whoever reads one line reads the worst."""
    severities = [
        opened.severity for opened in make_run_view(demo("sb3_cartpole_lr3e-2")).open_findings
    ]
    assert severities == sorted(severities, reverse=True)
    assert severities[0] is Severity.CRIT


def test_panels_come_in_the_order_that_one_expects() -> None:
    """Reward first, then the step of the policy."""
    groups = [panel.group for panel in make_run_view(demo("sb3_cartpole")).panels]
    assert groups[:2] == ["Reward", "Policy step"]
    assert groups == sorted(groups, key=[*METRIC_GROUPS, "Other"].index)


def test_the_best_value_so_far_is_named_with_its_step() -> None:
    """The best reward and where to find its checkpoint."""
    run = demo("sb3_cartpole_lr3e-2")
    (reward,) = (
        drawn
        for panel in make_run_view(run).panels
        for drawn in panel.tracks
        if drawn.track.concept == "reward_mean"
    )
    values = list(reward.track.values)
    assert reward.best is not None
    assert reward.best.value == max(values)
    assert reward.best.step == reward.track.steps[values.index(max(values))]
    assert make_run_view(run, 5).panels[0].tracks[0].best.value == max(
        values[: reward.track.count_until(5)]
    )  # type: ignore[union-attr]


def test_speed_is_that_of_the_last_updates() -> None:
    """Steps a second from the log's own clock, and the time left where the end is known."""
    progress = make_run_view(demo("sb3_cartpole")).progress
    assert progress.speed is not None
    assert 100 < progress.speed < 100_000
    middle = make_run_view(demo("trl_grpo"), 49).progress
    assert (middle.step, middle.total) == (50, 100)
    assert middle.eta_s is not None
    assert middle.eta_s > 0


def test_names_and_text_from_logs_reach_the_view_unchanged(tmp_path: Path) -> None:
    """Making text harmless is the business of whoever draws it, and of nobody before."""
    hostile = tmp_path / "run\x1b[31m[bold]"
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", hostile)
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    assert make_run_view(run).name == hostile.name
