"""A run at a row: verdict, checklist and panels, at the end and at any row before it."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from corpus.table import CORPUS_RUNS
from ppo_top.catalogue import METRIC_GROUPS
from ppo_top.model import Severity, State, Status
from ppo_top.rules.judge import Judge
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.views.run_view import CheckRow, RunView, make_run_view
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory, demo_runs, judged_rows
from tests.support.machine_logs import gpu, inbox_lines
from tests.support.screens import read_session


@cache
def demo(name: str) -> Run:
    """A shipped log, read and judged."""
    watched = WatchedDirectory(DEMO_LOGS_FOLDER / name)
    watched.finish()
    (run,) = watched.session.runs.values()
    return run


def corpus_run(name: str) -> Run:
    """A run of the corpus, read and judged anew."""
    (run,) = read_session([CORPUS_RUNS / name]).runs.values()
    return run


def row_of(view: RunView, concept: str) -> CheckRow:
    """The checklist row of a concept."""
    return next(row for row in view.checklist if row.concept == concept)


def test_without_a_row_the_view_is_of_the_newest_one() -> None:
    """That is the live view."""
    run = demo("sb3_cartpole")
    view = make_run_view(run)
    assert view.at_end
    assert view.row == len(run.timeline) - 1


def test_the_past_shows_nothing_of_the_future() -> None:
    """At an early row there are neither later values nor later findings."""
    run = demo("torch_cartpole_lr")
    early = make_run_view(run, 3)
    assert not early.at_end
    assert early.progress.updates == 4
    assert all(opened.finding.opened.row <= 3 for opened in early.open_findings)
    for panel in early.panels:
        for drawn in panel.tracks:
            assert drawn.newest_value in list(drawn.track.values[: drawn.track.count_until(3)])


@pytest.mark.parametrize("path", demo_runs(), ids=lambda path: path.name)
def test_the_past_shows_findings_as_they_were_then(path: Path) -> None:
    """At each row, they equal those of a judge that has seen no later row."""
    run = demo(path.name)
    live = Judge(run.profile)
    if any(source.evidence for source in run.sources.values()):
        return  # findings from console lines come between rows
    for row in judged_rows(run):
        if row.mark.row in run.timeline.restarts:
            live.restart()
        live.add_row(row)
        if row.mark.row + 1 == len(run.timeline) and run.first_ended() is not None:
            live.end_run()
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
def test_every_row_of_every_run_has_a_view(path: Path) -> None:
    """However early the row."""
    run = demo(path.name)
    for row in range(len(run.timeline)):
        view = make_run_view(run, row)
        assert view.verdict in {
            "healthy", "info", "watch", "warn", "crit", "warming-up", "unjudged"
        }  # fmt: skip
        assert view.headline
        assert {panel.group for panel in view.panels} <= {*METRIC_GROUPS, "Other"}


def test_a_run_without_points_has_a_view(tmp_path: Path) -> None:
    """A console log without a metric yet is a run with no row."""
    (tmp_path / "train.log").write_text("Using cpu device\n")
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    view = make_run_view(run)
    assert (view.verdict, view.row, view.progress.step) == ("unjudged", None, None)


def test_the_first_updates_are_warming_up_not_healthy() -> None:
    """The note says how many points there are and how many are needed."""
    view = make_run_view(demo("sb3_cartpole"), 2)
    assert view.verdict == "warming-up"
    assert row_of(view, "reward_mean").status is Status.WARMING_UP
    assert row_of(view, "reward_mean").note == "warming up 3/5"


def test_the_k1_estimate_replaces_a_missing_update_kl() -> None:
    """Spinning Up logs only that."""
    watched = WatchedDirectory(DEMO_LOGS_FOLDER.parent / "tests" / "data" / "spinup_038665d")
    watched.finish()
    (run,) = watched.session.runs.values()
    rows = {row.concept: row for row in make_run_view(run).checklist if row.is_crucial}
    assert rows["approx_kl_k1"].status is Status.OK
    assert "approx_kl" not in rows


@pytest.mark.parametrize(
    ("columns", "row", "judged", "label"),
    [
        ("policy_loss,value_loss,win_rate", "-0.01,0.02,0.3", "win_rate", "win rate"),
        ("reward,reward_std,resp_len,ref_kl", "0.3,0.1,150,0.2", "ref_kl", "KL to reference"),
    ],
)
def test_what_is_judged_instead_of_a_crucial_value_stands_in_its_row(
    tmp_path: Path, columns: str, row: str, judged: str, label: str
) -> None:
    """A finding about a win rate, or the KL of whole texts, stands beside its value."""
    rows = [f"{i},{row}" for i in range(1, 9)]
    (tmp_path / "metrics.csv").write_text("\n".join([f"step,{columns}", *rows]) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    rows_shown = {each.concept: each for each in make_run_view(run).checklist if each.is_crucial}
    assert (rows_shown[judged].status, rows_shown[judged].label) == (Status.OK, label)


def test_a_value_out_of_range_in_the_first_updates_is_watched() -> None:
    """The headline is amber at once, and says how early it is."""
    run = demo("torch_cartpole_lr")
    view = make_run_view(run, 0)
    assert view.verdict == "warming-up"
    assert view.headline_status is Status.WATCH
    assert view.headline.startswith("Watching: approx KL ")
    assert view.headline.endswith(", 1 of 5 updates")


def test_a_stalled_run_is_to_be_watched(tmp_path: Path) -> None:
    """However healthy it was: somebody should look at it."""
    log = tmp_path / "progress.csv"
    log.write_bytes((DEMO_LOGS_FOLDER / "sb3_cartpole" / "progress.csv").read_bytes())
    with open(log, "ab"):  # a process has it open
        watched = WatchedDirectory(tmp_path)
        watched.finish()
        (run,) = watched.session.runs.values()
        view = make_run_view(run, None, run_status(run, log.stat().st_mtime + 300))
    assert view.state is State.STALLED
    assert view.headline_status is Status.WATCH
    assert view.headline.startswith("Stalled; before: ")
    assert not view.verdict.is_trouble


@pytest.mark.parametrize(
    ("head", "rows", "updates"),
    [
        # SB3's EvalCallback writes rows of its own, with the losses of the update before
        ("rollout/ep_rew_mean,eval/mean_reward,train/loss", ("1,,0.1", ",2,0.1"), 20),
        # a script evaluates at the step of an update
        ("rollout/ep_rew_mean,eval/mean_reward,train/loss", ("1,,0.1", "1,2,0.1"), 40),
        # nothing but evaluations is logged
        ("eval/mean_reward", ("1", "2"), 40),
    ],
)
def test_a_row_that_an_evaluation_wrote_is_no_update(
    tmp_path: Path, head: str, rows: tuple[str, str], updates: int
) -> None:
    """A trainer counts it as none: neither up to a row nor in the age of a finding."""
    table = [f"{head},time/total_timesteps", *(f"{rows[n % 2]},{100 * n}" for n in range(40))]
    (tmp_path / "progress.csv").write_text("\n".join(table) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    assert make_run_view(run).progress.updates == updates
    assert make_run_view(run, 19).progress.updates == updates // 2


def test_warming_up_counts_updates(tmp_path: Path) -> None:
    """An evaluation after each of four updates makes no eight."""
    rows = (f"{n},,{200 * n}\n,{n},{200 * n + 100}\n" for n in range(4))
    table = "rollout/ep_rew_mean,eval/mean_reward,time/total_timesteps\n" + "".join(rows)
    (tmp_path / "progress.csv").write_text(table)
    (run,) = read_session([tmp_path]).runs.values()
    view = make_run_view(run)
    assert (len(view.timeline), view.verdict) == (8, "warming-up")
    assert view.headline == "Warming up: 4 of 5 updates"


def test_the_age_of_a_finding_counts_no_evaluations() -> None:
    """The task is solved since six updates, between which an evaluation stands."""
    view = make_run_view(demo("sb3_cartpole"))
    (ceiling,) = (each for each in view.open_findings if each.finding.rule == "at-ceiling")
    assert (ceiling.updates, ceiling.share) == (6, 6 / 40)
    assert len(view.timeline) - ceiling.finding.since.row == 7


def test_only_where_higher_is_better_is_there_a_best_value() -> None:
    """The lowest loss of a dead policy is no achievement, nor is a single evaluation."""
    for name in ("sb3_cartpole_lr3e-2", "torch_cartpole", "trl_grpo"):
        starred = {
            drawn.track.concept
            for panel in make_run_view(demo(name)).panels
            for drawn in panel.tracks
            if drawn.best is not None
        }
        assert "reward_mean" in starred
        assert not starred & {"value_loss", "grad_norm", "truncated_frac", "frac_zero_std"}
        assert "eval_reward_mean" not in starred


def test_a_run_at_its_ceiling_is_healthy() -> None:
    """The finding is shown and does not change the verdict."""
    run = demo("torch_cartpole")
    at_ceiling = next(finding for finding in run.findings if finding.rule == "at-ceiling")
    view = make_run_view(run, at_ceiling.opened.row)
    assert view.verdict == "healthy"
    assert [opened.finding.rule for opened in view.open_findings] == ["at-ceiling"]


def test_a_crucial_value_that_is_not_logged_has_a_row_that_says_so() -> None:
    """It is not left out."""
    view = make_run_view(demo("trl_grpo_constant"))
    missing = [row for row in view.checklist if row.status is Status.MISSING]
    assert all(row.note.startswith("not logged") for row in missing)


def test_a_missing_value_names_the_tag_of_its_trainer(tmp_path: Path) -> None:
    """SB3 can log a value loss; the note gives its tag, or how to get it logged."""
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl\n2048,20,0.01\n4096,21,0.01\n"
    )
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    notes = {row.concept: row.note for row in make_run_view(run).checklist}
    assert notes["value_loss"] == "not logged (SB3 tag: train/value_loss)"
    assert notes["ep_len"].startswith("not logged: wrap the env in Monitor")


def test_a_row_is_as_bad_as_the_finding_about_it() -> None:
    """Without its finding, the entropy of a collapsed policy would look fine."""
    run = demo("sb3_cartpole_lr3e-2")
    view = make_run_view(run)
    assert view.verdict == "crit"
    entropy = row_of(view, "entropy")
    assert entropy.status in (Status.WARN, Status.CRIT)
    assert entropy.since_step is not None
    assert "since" in entropy.note


@pytest.mark.parametrize("path", demo_runs(), ids=lambda path: path.name)
def test_a_curve_has_the_label_and_the_status_of_its_row(path: Path) -> None:
    """A value is not amber on the checklist and red in a panel."""
    view = make_run_view(demo(path.name))
    listed = {row.concept: (row.label, row.status) for row in view.checklist if row.track}
    drawn = {
        each.track.concept: (each.label, each.status)
        for panel in view.panels
        for each in panel.tracks
    }
    assert {name: drawn[name] for name in listed} == listed


def test_a_setting_that_is_the_cause_is_listed_with_its_default() -> None:
    """A clip range of 10 is a row, red, while it is to blame; one of 0.2 needs none."""
    sick = corpus_run("cartpole-clip-off-s11")
    blamed = row_of(make_run_view(sick), "clip_range")
    assert (blamed.text, blamed.healthy, blamed.status) == ("10", "default 0.2", Status.WARN)
    assert blamed.is_crucial
    assert "clip_range" not in {row.concept for row in make_run_view(sick, 0).checklist}
    well = make_run_view(demo("sb3_cartpole"))
    assert "clip_range" not in {row.concept for row in well.checklist}


def test_a_setting_that_only_the_configuration_tells_is_listed_too() -> None:
    """Without its track in the log, the row has the configured value and no curve."""
    run = corpus_run("cartpole-clip-off-s11")
    del run.timeline.tracks["clip_range"]
    blamed = row_of(make_run_view(run), "clip_range")
    assert (blamed.text, blamed.track) == ("10", None)


def test_at_the_reward_ceiling_explained_variance_is_no_trouble() -> None:
    """When every return is 500, there is no variance to explain."""
    view = make_run_view(demo("torch_cartpole"))
    assert any(opened.finding.rule == "at-ceiling" for opened in view.open_findings)
    assert row_of(view, "explained_variance").status in (Status.OK, Status.INFO)


def last_row_of(folder: Path, name: str, columns: Mapping[str, Sequence[float]]) -> CheckRow:
    """The checklist row of a metric after the last update of a script's CSV with these columns."""
    table = ["step,reward," + ",".join(columns)]
    values = zip(*columns.values(), strict=True)
    table += [f"{n},{n % 7}," + ",".join(map(str, each)) for n, each in enumerate(values)]
    (folder / "progress.csv").write_text("\n".join(table) + "\n")
    (run,) = read_session([folder]).runs.values()
    return row_of(make_run_view(run), name)


def falls_to(last: float) -> list[float]:
    """Twelve values from 1 down, of which this is the last."""
    return [1.0 - 0.05 * n for n in range(11)] + [last]


def test_a_worst_value_is_rounded_beside_its_limit(tmp_path: Path) -> None:
    """Four digits of what is about 0 say nothing where 0.5 is the limit."""
    variances = [-0.005334, *[0.7] * 19]
    row = last_row_of(tmp_path, "explained_variance", {"train/explained_variance": variances})
    assert row.extreme == "worst -0.005 @0"


@pytest.mark.parametrize(
    ("last", "status"), [(0.0, "watch"), (9e-4, "watch"), (2e-3, "ok"), (-0.1, "ok")]
)
def test_a_tick_does_not_stand_beside_an_entropy_that_is_gone(
    tmp_path: Path, last: float, status: str
) -> None:
    """It says that a healthy one stays above 0. A density's may go below."""
    found = last_row_of(tmp_path, "entropy", {"entropy": falls_to(last), "approx_kl": [0.01] * 12})
    assert found.healthy == "slow decay, stays > 0"
    assert found.status is Status(status)


def test_an_entropy_that_is_gone_is_no_news_where_all_returns_are_equal(tmp_path: Path) -> None:
    """The critic's loss has all but vanished: the policy does the same each time, and may."""
    columns = {"entropy": falls_to(0.0), "approx_kl": [0.01] * 12, "value_loss": falls_to(1e-4)}
    found = last_row_of(tmp_path, "entropy", columns)
    assert (found.status, found.note) == (Status.OK, "uninformative: returns are constant")


@pytest.mark.parametrize(("kl", "note"), [(1e-3, ""), (9e-4, "below it: small updates")])
def test_an_update_kl_below_its_stated_range_is_named(tmp_path: Path, kl: float, note: str) -> None:
    """It is harmless by itself, but a bare tick beside it would contradict the range."""
    columns = {
        "entropy": falls_to(0.5),
        "approx_kl": [0.01] * 11 + [kl],
        "clip_fraction": [0.1] * 12,
    }
    found = last_row_of(tmp_path, "approx_kl", columns)
    assert (found.healthy, found.status, found.note) == ("0.001-0.02", Status.OK, note)


def test_what_is_undefined_is_neither_good_nor_bad() -> None:
    """Explained variance is NaN where all returns are equal: no tick stands beside that."""
    row = row_of(make_run_view(demo("torch_cartpole_nan")), "explained_variance")
    assert (row.text, row.status) == ("NaN", Status.MISSING)
    assert row.note == "undefined in this update"


def test_a_mean_of_no_episode_is_undefined_until_that_is_a_fault(tmp_path: Path) -> None:
    """No red row stands under a verdict that finds nothing."""
    lines = [f"{step},nan,0.01,{5.0 - step / 1e3},0.6" for step in range(100, 1300, 100)]
    head = "step,ep_rew_mean,approx_kl,value_loss,entropy"
    (tmp_path / "progress.csv").write_text("\n".join([head, *lines, ""]))
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    view = make_run_view(run, 2)
    assert view.verdict == "warming-up"
    assert row_of(view, "reward_mean").status is Status.MISSING
    said = next(each.finding for each in make_run_view(run).open_findings)
    assert (said.rule, said.severity) == ("no-reward", Severity.INFO)
    assert "NaN in every update" in said.message


def test_members_of_a_diagnosis_are_not_listed_again() -> None:
    """They are its evidence."""
    view = make_run_view(demo("torch_cartpole_lr"))
    shown = [opened.finding for opened in view.open_findings]
    absorbed = {rule for finding in shown for rule in finding.members}
    assert absorbed
    assert not absorbed & {finding.rule for finding in shown}


def test_a_crash_for_want_of_memory_is_told_once(tmp_path: Path) -> None:
    """By the exception and with what to do about it, not as "an unhandled exception" besides."""
    rows = [f"Iteration {i}/50 | Mean Reward: {20 + i} | KL: 0.0047" for i in range(1, 20)]
    error = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    lines = [*rows, "Traceback (most recent call last):", "  loss.backward()", error]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    (opened,) = make_run_view(run).open_findings
    assert (opened.finding.title, opened.finding.message) == ("Out of memory", error)
    assert "fewer samples at once" in opened.finding.remedies[0]


@pytest.mark.parametrize(
    "process", ["(WorkerDict pid=42877) ", "(pid=7, ip=10.0.0.3) ", "[rank3]: ", ""]
)
def test_which_worker_says_it_is_no_part_of_an_error(process: str, tmp_path: Path) -> None:
    """A side pane has room for the error alone."""
    rows = [f"Iteration {i}/50 | Mean Reward: {20 + i} | KL: 0.0047" for i in range(1, 20)]
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB."
    (tmp_path / "train.log").write_text("\n".join([*rows, process + error]) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    (opened,) = make_run_view(run).open_findings
    assert opened.finding.message == error
    assert error in opened.finding.evidence and error not in opened.evidence  # it stands there


def test_the_end_of_a_run_lasts_no_time(tmp_path: Path) -> None:
    """It is at a step, not since one, and costs no share of the updates."""
    rows = [f"Iteration {i}/50 | Mean Reward: {20 + 5 * i} | KL: 0.0047" for i in range(1, 20)]
    for name, end in (("crash", ["RuntimeError: CUDA error"]), ("end", ["Training complete!"])):
        (tmp_path / name).mkdir()
        crash = ["Traceback (most recent call last):"] * (name == "crash")
        (tmp_path / name / "train.log").write_text("\n".join([*rows, *crash, *end]) + "\n")
    told = {
        opened.finding.rule: (opened.when, opened.cost, opened.dated_title)
        for run in read_session([tmp_path]).runs.values()
        for opened in make_run_view(run).open_findings
    }
    assert told == {
        "crashed": ("at 19", "the last update", "Training process crashed at step 19"),
        "still-improving": ("at 19", "the last update", "Stopped while still improving at step 19"),
    }


ROWS_BEFORE_DEATH = [f"Iteration {i}/50 | Mean Reward: {20 + i} | KL: 0.0047" for i in range(1, 20)]


@pytest.mark.parametrize(
    ("last_words", "rule"),
    [
        ("Killed", "killed"),
        ("job.sh: line 3:  4242 Segmentation fault      python train.py", "crashed"),
        ("Aborted (core dumped)", "crashed"),
        ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9)", "crashed"),
        ("srun: error: gpu-7: task 0: Killed", "killed"),
        ("srun: error: gpu-7: task 0: Exited with exit code 1", "crashed"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0.", "killed"),
        ("Out of memory: Killed process 4242 (python) total-vm:9kB", "killed"),
        ("srun: error: gpu-7: task 0: Out Of Memory", "killed"),
    ],
)
def test_a_process_that_died_without_a_traceback_is_told(
    tmp_path: Path, last_words: str, rule: str
) -> None:
    """By what the shell, the kernel or Slurm say of it, as the run's state is; dated by its end."""
    log = tmp_path / "train.log"
    log.write_text("\n".join([*ROWS_BEFORE_DEATH, last_words]) + "\n")
    (run,) = read_session([log]).runs.values()
    view = make_run_view(run)
    (opened,) = view.open_findings
    assert view.state is State.DIED
    assert (opened.finding.rule, opened.severity) == (rule, Severity.CRIT)
    assert opened.finding.message == last_words
    assert opened.finding.since.row == len(ROWS_BEFORE_DEATH) - 1


def test_a_process_that_was_asked_to_end_has_ended(tmp_path: Path) -> None:
    """The shell's word for SIGTERM: a scheduler, a time limit or its user; nothing failed."""
    log = tmp_path / "train.log"
    log.write_text("\n".join([*ROWS_BEFORE_DEATH, "Terminated"]) + "\n")
    (run,) = read_session([log]).runs.values()
    view = make_run_view(run)
    assert (view.state, view.state_text) == (State.ENDED, "Terminated")
    assert all(each.severity < Severity.WATCH for each in view.open_findings)


@pytest.mark.parametrize("error", ["StopIteration", "SystemExit: 3", "queue.Empty"])
def test_a_crash_is_named_by_the_last_line_of_its_traceback(tmp_path: Path, error: str) -> None:
    """Also by an error whose name does not say that it is one."""
    trace = ["Traceback (most recent call last):", "  batch = next(batches)", error]
    (tmp_path / "train.log").write_text("\n".join([*ROWS_BEFORE_DEATH, *trace]) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    (opened,) = make_run_view(run).open_findings
    assert (opened.finding.rule, opened.finding.message) == ("crashed", error)
    assert error in opened.finding.evidence and trace[0] not in opened.finding.evidence


def test_a_run_that_goes_on_after_it_was_killed_is_not_called_dead(tmp_path: Path) -> None:
    """A wrapper that starts the training again from its checkpoint."""
    lines = [*ROWS_BEFORE_DEATH[:10], "Killed", *ROWS_BEFORE_DEATH[10:]]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    assert make_run_view(run).open_findings == ()


@pytest.mark.parametrize(
    ("error", "crashes"),
    [
        ("KeyboardInterrupt", False),
        ("torch.distributed.elastic.multiprocessing.api.SignalException: "
         "Process 4242 got signal: 15", False),
        ("torch.distributed.elastic.multiprocessing.api.SignalException: "
         "Process 4242 got signal: 6", True),
        ("Exception: no more time", True),
    ],
)  # fmt: skip
def test_a_run_that_is_stopped_by_hand_has_not_crashed(
    tmp_path: Path, error: str, crashes: bool
) -> None:
    """Ctrl-C prints a traceback, too, as a signal to torchrun does: only the run's state tells."""
    rows = [f"Iteration {i}/50 | Mean Reward: {20 + i} | KL: 0.0047" for i in range(1, 20)]
    lines = [*rows, "Traceback (most recent call last):", "  loss.backward()", error, "closing"]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    view = make_run_view(run)
    told = [each.finding for each in view.open_findings if each.finding.rule == "crashed"]
    assert [each.message for each in told] == [error] * crashes
    assert view.cleared_findings == ()


def test_a_full_disk_is_told_as_what_killed_the_run(tmp_path: Path) -> None:
    """With its own advice, not that of any crash."""
    error = "OSError: [Errno 28] No space left on device: 'checkpoint-400/optimizer.pt'"
    trace = ["Traceback (most recent call last):", "  torch.save(state, path)", error]
    (tmp_path / "train.log").write_text("\n".join([*ROWS_BEFORE_DEATH, *trace]) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    view = make_run_view(run)
    (opened,) = view.open_findings
    assert (opened.finding.rule, opened.finding.message) == ("disk-full", error)
    assert view.state is State.DIED
    assert any("checkpoints" in each for each in opened.finding.remedies)


def test_findings_come_worst_first() -> None:
    """The first line is the worst."""
    severities = [
        opened.severity for opened in make_run_view(demo("sb3_cartpole_lr3e-2")).open_findings
    ]
    assert severities == sorted(severities, reverse=True)
    assert severities[0] is Severity.CRIT


def test_a_value_that_was_no_number_says_the_one_now(tmp_path: Path) -> None:
    """The value loss was infinite once; what stands in its row is told beside it."""
    losses = [*(4.0 - 0.1 * row for row in range(20)), math.inf, 1.9, 1.8]
    rows = (
        json.dumps({"step": 100 * row, "value_loss": loss, "reward": 10.0 + row})
        for row, loss in enumerate(losses, 1)
    )
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    (run,) = read_session([tmp_path]).runs.values()
    view = make_run_view(run)
    assert row_of(view, "value_loss").text == "1.8"
    (message,) = (each.message for each in view.open_findings if "inf" in each.message)
    assert message == "value loss became inf; now 1.8"


def test_a_value_that_is_no_number_now_is_said_so() -> None:
    """The value loss was judged while it was one."""
    view = make_run_view(corpus_run("docking-own-ppo-reward-nan-midway-s26"), 53)
    (message,) = (each.message for each in view.open_findings if "fallen" in each.message)
    assert message == "value loss has not fallen in 44 updates (1.47), as of step 22,528; now NaN"


def test_a_setting_that_is_judged_is_not_told_at_a_metric(tmp_path: Path) -> None:
    """A learning rate that is set and not logged stands at the policy loss, and is not one."""
    begin = ["Config loaded:", "  learning_rate=1e-06", "Starting PPO RLHF training..."]
    losses = [f"Epoch {n}: mean actor loss=-0.0{n} | mean critic loss=5.{n}" for n in range(1, 9)]
    lines = enumerate([*begin, *losses, *begin, *losses])
    text = "".join(f"[2026-06-23 12:{minute:02}:10] [INFO] {line}\n" for minute, line in lines)
    (tmp_path / "train.log").write_text(text)
    (run,) = read_session([tmp_path]).runs.values()
    opened = make_run_view(run).open_findings[0]
    assert opened.finding.concepts == ("policy_loss",)
    assert opened.message == "learning rate is 1e-6: learning will be very slow"


def test_panels_come_in_a_fixed_order() -> None:
    """Reward first, then the policy step."""
    groups = [panel.group for panel in make_run_view(demo("sb3_cartpole")).panels]
    assert groups[:2] == ["Reward", "Policy step"]
    assert groups == sorted(groups, key=[*METRIC_GROUPS, "Other"].index)


def test_a_view_without_panels_says_the_same() -> None:
    """Only the curves are missing: reports that draw none do not pay for them."""
    run = demo("sb3_cartpole")
    whole = make_run_view(run)
    assert whole.panels
    assert make_run_view(run, with_panels=False) == whole._replace(panels=())


def test_the_best_value_so_far_has_its_step() -> None:
    """There is the checkpoint to use."""
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
    early = make_run_view(run, 5).panels[0].tracks[0].best
    assert early is not None
    assert early.value == max(values[: reward.track.count_until(5)])


def test_speed_is_that_of_the_last_updates() -> None:
    """From the times in the log; with a known total there is an estimate of the time left."""
    progress = make_run_view(demo("sb3_cartpole")).progress
    assert progress.speed is not None
    assert 100 < progress.speed < 100_000
    middle = make_run_view(demo("trl_grpo"), 49).progress
    assert (middle.step, middle.total) == (50, 100)
    assert middle.eta_s is not None
    assert middle.eta_s > 0


def test_names_and_text_from_logs_reach_the_view_unchanged(tmp_path: Path) -> None:
    """Escaping is up to whatever prints them."""
    hostile = tmp_path / "run\x1b[31m[bold]"
    shutil.copytree(DEMO_LOGS_FOLDER / "torch_cartpole", hostile)
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (run,) = watched.session.runs.values()
    assert make_run_view(run).name == hostile.name


def test_what_is_measured_of_the_machine_is_one_row_and_a_group_of_curves(tmp_path: Path) -> None:
    """At the newest update the newest measurement stands there, at another that update's."""
    (tmp_path / "00000000.jsonl").write_bytes(
        b"".join(inbox_lines(20, lambda time: gpu(busy=time / 4, memory=0.5)))
    )
    (run,) = read_session([tmp_path]).runs.values()
    now, then = make_run_view(run), make_run_view(run, 10)
    row = row_of(now, "gpu_busy")
    assert (row.label, row.text, row.status) == ("GPU", "49 %", Status.OK)
    assert row.note == "memory 50 % · CPU 90 %"
    assert row_of(then, "gpu_busy").text == "24 %"
    assert {"cpu_busy", "gpu_memory"}.isdisjoint(each.concept for each in now.checklist)
    (machine,) = (panel for panel in now.panels if panel.group == "Machine")
    assert [track.label for track in machine.tracks] == ["GPU", "GPU memory", "CPU"]


def test_a_run_is_healthy_once_a_value_of_its_own_has_warmed_up(tmp_path: Path) -> None:
    """SB3 logs no update in its first row: after five rows each value has four points."""
    columns = "time/total_timesteps,train/entropy_loss,train/approx_kl,train/value_loss"
    rows = [f"{2048 * n},-11.3,0.006,0.05" if n > 1 else "2048,,," for n in range(1, 7)]
    for count, words in ((5, "Warming up: 4 of 5 updates"), (6, "Healthy")):
        (tmp_path / "progress.csv").write_text("\n".join([columns, *rows[:count], ""]))
        (run,) = read_session([tmp_path]).runs.values()
        assert make_run_view(run).headline.startswith(words)
