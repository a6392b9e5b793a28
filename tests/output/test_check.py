"""`ppo-top check`: the verdict as text, as JSON and as exit code."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.output.reports.text_report import report_lines
from ppo_top.views.run_view import make_run_view
from tests.support.denied_files import deny_opening
from tests.support.growing_logs import DEMO_LOGS_FOLDER, demo_runs
from tests.support.installed_program import copy_of
from tests.support.remembered import Printed, age, opened_files
from tests.support.screens import read_session, write_unhealthy_console, write_unhealthy_run

HEALTHY = ["sb3_cartpole", "torch_cartpole", "trl_grpo"]
FAULTS = {
    "sb3_cartpole_lr3e-2": {"learning-rate-too-high", "updates-too-large", "kl-high"},
    "torch_cartpole_lr": {"learning-rate-too-high", "updates-too-large", "kl-high"},
    "torch_cartpole_clip": {"clip-not-binding", "updates-too-large", "clip-too-wide"},
    "torch_cartpole_critic": {"critic-failing", "critic-not-learning"},
    "torch_cartpole_entropy": {"entropy-not-falling", "entropy-collapsed", "premature-convergence"},
    "torch_cartpole_nan": {"non-finite"},
    "trl_grpo_constant": {"no-learning-signal", "groups-tied", "reward-never-moves"},
    "trl_grpo_lr1e-1": {"learning-rate-extreme", "completions-truncated", "ref-kl-token-high"},
}

Json = dict[str, Any]


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Json]:
    """The exit code and the object that `check --json` prints."""
    code = main(["check", "--json", *arguments])
    found: Json = json.loads(capsys.readouterr().out)
    return code, found


def only(found: Json) -> Json:
    """The one run of an object."""
    run: Json
    (run,) = found["runs"]
    return run


RECORDED = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("logs", ["cleanrl_fe8d8a03", "verl_0.9.1", "openrlhf_0.11.2"])
def test_what_is_not_logged_is_what_the_checklist_misses(
    logs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two lists are one, whichever of them is read."""
    _, found = run_json(capsys, "--no-cache", str(RECORDED / logs))
    for run in found["runs"]:
        rows = [each for each in run["checklist"] if each["status"] == "missing"]
        missing = [each["concept"] for each in rows if not each["note"].startswith("undefined")]
        assert run["judged_by"]["not_logged"] == missing
    assert any(run["judged_by"]["not_logged"] for run in found["runs"])


def test_every_shipped_log_is_either_healthy_or_has_a_named_fault() -> None:
    """The two lists above cover all shipped logs."""
    assert {run.name for run in demo_runs()} == {*HEALTHY, *FAULTS}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_passes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, and no finding worse than information."""
    code, found = run_json(capsys, str(DEMO_LOGS_FOLDER / name), "--fail-on", "warn")
    assert code == 0
    assert only(found)["verdict"] in ("healthy", "info")


@pytest.mark.parametrize(("name", "named"), FAULTS.items())
def test_a_sick_run_fails_and_its_fault_is_named(
    name: str, named: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, and the findings name the fault."""
    code, found = run_json(capsys, str(DEMO_LOGS_FOLDER / name), "--fail-on", "warn")
    findings = {each["rule"] for each in only(found)["findings"]}
    assert code == 1
    assert findings & named


def test_the_json_keeps_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    """Other programs rely on these keys."""
    _, found = run_json(capsys, str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2"))
    assert found["schema"] == 1
    run = only(found)
    assert {
        "name", "path", "producer", "family", "state", "verdict", "sources", "progress", "metrics",
        "checklist", "findings", "problems",
    } <= set(run)  # fmt: skip
    assert run["producer"] == "sb3"
    assert run["family"] == "on-policy"
    assert set(run["progress"]) == {
        *("axis", "row", "step", "total", "updates", "first_time", "last_time"),
    }
    for metric in run["metrics"]:
        assert set(metric) == {
            "tag", "concept", "source", "points", "non_finite", "first_step", "last_step", "first",
            "last", "min", "max", "row", "episodes_a_row", "noise",
        }  # fmt: skip
    for finding in run["findings"]:
        assert {
            "rule", "severity", "concepts", "tags", "since_step", "since_time", "cleared_step",
            "value", "limit", "message", "evidence", "causes", "try", "source",
        } <= set(finding)  # fmt: skip
        assert len(finding["try"]) >= 2 or finding["severity"] in ("info", "watch")


def test_what_a_diagnosis_has_taken_in_is_not_resolved(capsys: pytest.CaptureFixture[str]) -> None:
    """The updates are no longer too large, as the policy they froze cannot move any more."""
    log = str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2")
    _, found = run_json(capsys, log)
    findings = {each["rule"]: each for each in only(found)["findings"]}
    swallowed = findings["updates-too-large"]
    assert swallowed["cleared_step"] and swallowed["explained_by"] == "policy-collapsed"
    assert findings["policy-collapsed"]["explained_by"] is None
    main(["check", log])
    assert "[updates-too-large]" not in capsys.readouterr().out


def test_a_reward_below_its_start_is_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That it has not risen above its start goes without saying; the finding is in the JSON."""
    rows = ["time/total_timesteps,rollout/ep_rew_mean,train/approx_kl"]
    for number in range(1, 80):
        reward = 20.0 + number % 3 if number <= 9 else 9.5 + number % 5 / 10
        rows.append(f"{number * 512},{reward},0.01")
    (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
    _, found = run_json(capsys, str(tmp_path), "--ended")
    findings = {each["rule"]: each for each in only(found)["findings"]}
    assert findings["reward-never-moves"]["explained_by"] == "reward-wrong-way"
    assert only(found)["open"] == ["reward-wrong-way"]


def test_updates_that_a_message_counted_are_dated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ "For 30 updates" does not stand beside "70 updates" as if it were said now."""
    rows = ["time/total_timesteps,rollout/ep_rew_mean,train/entropy_loss,train/approx_kl"]
    rows += [f"{n * 512},{20 + n % 3},-0.69315,0.01" for n in range(1, 80)]
    (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
    main(["check", str(tmp_path)])
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"for \d+ updates: no weight moves, as of step [\d,]+", said)


def test_the_first_thousand_updates_are_not_dated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are the same ones later on."""
    rows = ["time/total_timesteps,rollout/ep_rew_mean", *(f"{n * 512},0" for n in range(1, 1500))]
    (tmp_path / "progress.csv").write_text("\n".join(rows) + "\n")
    main(["check", str(tmp_path)])
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"no success seen yet in the first 1,\d+ updates(?!, as of)", said)


def test_metrics_say_what_a_row_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An SB3 reward is a mean of 100 episodes; its noise is told, whatever its trend."""
    rows = [f"{1000 * i},{10 * i + (3 if i % 2 else -3)},5" for i in range(1, 40)]
    head = "time/total_timesteps,rollout/ep_rew_mean,custom/answer"
    (tmp_path / "progress.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    _, found = run_json(capsys, str(tmp_path))
    metrics = {metric["tag"]: metric for metric in only(found)["metrics"]}
    reward, own = metrics["rollout/ep_rew_mean"], metrics["custom/answer"]
    assert (reward["row"], reward["episodes_a_row"]) == ("window", 100)
    assert reward["noise"] == pytest.approx(1.4826 * 12 / 6**0.5)
    assert (own["row"], own["episodes_a_row"], own["noise"]) == (None, None, 0.0)


def test_non_finite_numbers_are_strings(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has no NaN."""
    main(["check", "--json", str(DEMO_LOGS_FOLDER / "torch_cartpole_nan")])
    text = capsys.readouterr().out
    json.loads(text, parse_constant=lambda word: pytest.fail(f"bare {word}"))
    assert '"nan"' in text


def test_the_report_names_the_run_the_fault_and_what_to_try(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Verdict first, then why and what to try, with this run's own values."""
    assert main(["check", str(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2")]) == 1
    text = capsys.readouterr().out
    assert text.startswith("✗ sb3_cartpole_lr3e-2: crit")
    assert "learning_rate (0.03 now; SB3's default is 0.0003)" in text
    assert "best reward" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("threshold", "code"), [("crit", 1), ("warn", 1), ("watch", 1)], ids=lambda each: str(each)
)
def test_fail_on_is_the_lowest_severity_that_fails(threshold: str, code: int) -> None:
    """A critical finding fails at every threshold."""
    assert (
        main(
            ["check", "--json", "--fail-on", threshold, str(DEMO_LOGS_FOLDER / "torch_cartpole_lr")]
        )
        == code
    )


def test_several_paths_are_judged_together(capsys: pytest.CaptureFixture[str]) -> None:
    """One bad run among several fails the call, and comes first."""
    code, found = run_json(
        capsys, str(DEMO_LOGS_FOLDER / "sb3_cartpole"), str(DEMO_LOGS_FOLDER / "torch_cartpole_lr")
    )
    assert code == 1
    assert [run["name"] for run in found["runs"]] == ["torch_cartpole_lr", "sb3_cartpole"]


def test_texts_alone_in_a_directory_need_no_name_of_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`tee cartpole.txt` leaves such; in a folder below, or beside logs, they are documents."""
    runs = tmp_path / "runs"
    for name in ("cartpole", "ppo_2"):
        log = write_unhealthy_console(runs / f"{name}.txt", "step: {step} | ")
        log.write_text(log.read_text().replace("kl: 0.01", f"kl: 0.00{len(name)}"))
    (runs / "notes.txt").write_text("Dear diary, training went well today.\n")

    def read(folder: Path) -> set[str]:
        _, found = run_json(capsys, str(folder))
        return {Path(each["path"]).name for run in found["runs"] for each in run["sources"]}

    assert read(runs) == {"cartpole.txt", "ppo_2.txt"}
    assert read(tmp_path) == {"ppo_2.txt"}
    write_unhealthy_run(runs / "progress.csv")
    assert read(runs) == {"ppo_2.txt", "progress.csv"}


# --- what cannot be read ---------------------------------------------------------------------


def test_a_missing_path_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, nothing on standard output."""
    assert main(["check", "/no/such/place"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "ppo-top: /no/such/place: no such file or directory\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing here", None),
        ("events.out.tfevents.1700000000.host.1.0", b""),
        ("events.out.tfevents.1700000000.host.1.0", bytes(10_000)),
        ("train.log", bytes(range(256)) * 40),
        ("notes.txt", b"Dear diary, training went well today.\n"),
        ("progress.csv", b"\xff\xfe\x00\x00"),
    ],
    ids=["empty-directory", "empty-event-file", "zeros", "binary", "prose", "half-header"],
)
def test_where_nothing_can_be_read_the_code_is_2(
    name: str, content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty directory, an empty file, zeros and rubbish: a clear line and no traceback."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "nothing here that I can read as a training log" in said.err
    assert "tee run.log" in said.err


def test_a_fault_of_many_logs_is_told_a_few_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three are named and the others counted: a copy that went wrong breaks hundreds at once."""
    for number in range(9):
        run = tmp_path / f"run{number}"
        shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", run)
        (run / "evaluations.npz").write_bytes(b"PK\x03\x04" + bytes(100))
    assert main(["check", str(tmp_path), "--no-cache"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "unreadable" in line]
    assert len(lines) == 4
    assert sum("evaluations.npz: 1 unreadable" in line for line in lines) == 3
    assert lines[-1].startswith("ppo-top: 6 more logs: 1 unreadable, first at 0: ")


def test_a_damaged_file_costs_only_what_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the file is read, and the offset of the damage is reported."""
    run = tmp_path / "run"
    shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", run)
    for file in run.iterdir():
        if "tfevents" not in file.name:
            file.unlink()
    (events,) = run.iterdir()
    data = bytearray(events.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4] = b"\xde\xad\xbe\xef"
    events.write_bytes(data)
    code, found = run_json(capsys, str(run))
    assert code == 0
    metrics = only(found)["metrics"]
    assert max(metric["points"] for metric in metrics) >= 38
    (problem,) = only(found)["problems"]
    assert abs(problem["offset"] - middle) < 200


@pytest.fixture
def one_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a healthy run, and one beside it without permission, as for everybody but root."""
    shutil.copytree(DEMO_LOGS_FOLDER / "sb3_cartpole", tmp_path / "run")
    closed = tmp_path / "run" / "progress.csv"
    closed.chmod(0)
    deny_opening(closed, monkeypatch)
    return closed


def test_an_unreadable_file_is_reported_and_the_rest_is_read(
    one_unreadable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file without permission does not hide its neighbours, nor is it hidden by them."""
    runs, line = str(one_unreadable.parents[1]), f"{one_unreadable}: cannot read: permission denied"
    assert main(["check", runs]) == 2
    said = capsys.readouterr()
    assert said.err == f"ppo-top: {line}\n"
    assert said.out.startswith("✓ run: healthy")
    assert said.out.endswith(f"\nnot judged: {line}\n")
    code, found = run_json(capsys, runs)
    assert (code, found["problems"], found["unread"]) == (2, [line], [line])
    told = {}
    for name in ("github", "junit", "markdown"):
        assert main(["check", runs, "--format", name]) == 2
        told[name] = capsys.readouterr().out
    assert f"::error title=ppo-top::not judged: {line}\n" in told["github"]
    assert 'tests="2" failures="0" errors="1"' in told["junit"]
    assert f'<error type="unread" message="{line}"/>' in told["junit"]
    assert "- not judged" in told["markdown"]


def test_what_is_critical_is_so_whatever_else_cannot_be_read(
    one_unreadable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 1 is certain; code 2 says that there may be worse than what was read."""
    copy_of("torch_cartpole_lr", one_unreadable.parents[1] / "sick")
    assert main(["check", str(one_unreadable.parents[1])]) == 1
    assert "not judged: " in capsys.readouterr().out


def test_an_amber_mark_says_which_value_is_out_of_its_range(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No finding is about it (yet), and `healthy` alone would contradict the mark."""
    log = tmp_path / "run" / "progress.csv"
    write_unhealthy_run(log, updates=20, broken_from=99)
    *rows, last = log.read_text().splitlines()
    log.write_text("\n".join([*rows, last.replace(",0.008,", ",0.03,")]) + "\n")
    assert main(["check", str(tmp_path)]) == 0
    head, *others = capsys.readouterr().out.splitlines()
    assert head == "▲ run: healthy as far as logged, approx KL out of range"
    assert sum("Out of range: approx KL 0.03" in line for line in others) == 1
    main(["status", str(tmp_path)])
    assert "▲ run · healthy as far as logged, approx KL out of range · " in capsys.readouterr().out


def test_wrong_usage_is_code_2() -> None:
    """argparse's own code and ours: could not check."""
    with pytest.raises(SystemExit) as stop:
        main(["check", "--fail-on", "never"])
    assert stop.value.code == 2


@pytest.fixture
def old_and_new(tmp_path: Path) -> Path:
    """A sick run that ended two days ago, and a healthy one that was written a minute ago."""
    for name, seconds in (("torch_cartpole_lr", 2 * 86_400.0), ("torch_cartpole", 60.0)):
        copy_of(name, tmp_path / name)
        age(tmp_path / name, seconds)
    return tmp_path


def test_what_is_said_to_have_ended_is_not_live(
    old_and_new: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line of a job script looks at logs that were written a moment ago."""
    log = old_and_new / "torch_cartpole" / "stdout.log"
    not_all_steps = log.read_text().splitlines(keepends=True)[:12]
    log.write_text("".join(not_all_steps))
    for words, state in (((), "live"), (("--ended",), "ended")):
        _, found = run_json(capsys, str(log), *words)
        assert only(found)["state"] == state


def test_active_leaves_old_runs_unopened(
    old_and_new: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are counted, are in no report and do not count for the exit code."""
    Printed("check", old_and_new)  # a remembered verdict is left out as well
    with opened_files() as opened:
        code, found = run_json(capsys, str(old_and_new), "--active", "1d")
    assert {Path(path).parent.name for path in opened} == {"torch_cartpole"}
    assert (code, only(found)["name"], found["unopened_folders"]) == (0, "torch_cartpole", 1)
    code, found = run_json(capsys, str(old_and_new), "--active", "7d")
    assert (code, len(found["runs"]), found["unopened_folders"]) == (1, 2, 0)


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "github", "junit"])
def test_nothing_written_lately_is_no_mistake(
    format_: str, old_and_new: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A nightly check of a directory that nobody uses any more passes, and says why."""
    words = ["check", str(old_and_new), "--active", "10s", "--format", format_]
    assert main(words) == 0
    assert capsys.readouterr().err == "ppo-top: 2 folders of old logs not opened (--active)\n"


def test_causes_and_advice_that_stand_above_are_not_said_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two signs of one fault share them; the second names the finding that says them."""
    names = "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/clip_fraction"
    rows = [
        f"{2048 * i},{20 + i},{sizes}"
        for i, sizes in enumerate(["0.01,0.1"] * 12 + ["0.04,0.38"] * 27)
    ]
    (tmp_path / "progress.csv").write_text("\n".join([names, *rows]) + "\n")
    main(["check", "--no-cache", str(tmp_path)])
    first, second = capsys.readouterr().out.split("[clip-high]")[0:2]
    assert "[kl-high]" in first and "the same as" not in first
    assert "why       the same as for kl-high\n    try 1     the same as for kl-high\n" in second


def test_of_three_that_share_them_the_first_is_named() -> None:
    """The one that lists them, not one that sends the reader on."""
    (run,) = read_session([DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2"]).runs.values()
    view = make_run_view(run)
    worst, *_ = view.open_findings
    alike = []
    for name in ("first", "second", "third"):
        finding = copy.copy(worst.finding)
        finding.rule = name
        alike.append(worst._replace(finding=finding))
    text = "\n".join(report_lines(run, view._replace(open_findings=tuple(alike))))
    lists = [lines for lines in (worst.finding.causes, worst.finding.remedies) if len(lines) > 1]
    assert text.count("the same as for first") == 2 * len(lists) > 0
    assert "the same as for second" not in text


def test_an_error_of_our_own_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python ends with 1 for it, by which a script would take the run for a sick one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("not \x1b[31mready")

    monkeypatch.setattr("ppo_top.output.check.make_run_view", fail)
    assert main(["check", "--no-cache", str(DEMO_LOGS_FOLDER / "sb3_cartpole")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ppo-top: ppo-top failed: RuntimeError(")
    assert "\x1b" not in said
    assert "RuntimeError" in (tmp_path / "state" / "ppo-top" / "errors.log").read_text()
