"""What `check` prints for people: a few lines on each run in trouble, and a table of all runs."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len

from ppo_top.cli import main
from ppo_top.model import State, Verdict
from ppo_top.output.colour import coloured, wants_colour
from ppo_top.output.reports.overview import OutputStyle, overview
from ppo_top.output.reports.run_report import RunIdentity, RunReport, RunSummary
from tests.support.growing_logs import DEMO_LOGS_FOLDER

ESCAPE = "\x1b["
SICK, HEALTHY = "torch_cartpole_lr", "sb3_cartpole"


def made_up(name: str, verdict: Verdict, finding: str = "") -> RunReport:
    """The report on a run of a name and a verdict."""
    summary = RunSummary(
        verdict=verdict,
        words=verdict.words,
        severity=0,
        producer="sb3",
        trainer="SB3 PPO",
        family="on-policy",
        step=4_000,
        total=None,
        rows="2 updates",
        eta_s=None,
        title=finding,
        reward="12",
        since="2,000" if finding else "",
        finding=finding,
        message="approx KL is 1.14 and " * 20,
        when="since step 2,000, 2 updates (50 %)",
        cause="learning rate far too high",
        remedy="lower learning_rate",
        others=0,
    )
    identity = RunIdentity(name, f"runs/{name}", State.FINISHED, "")
    return RunReport(identity, summary, text="  Crucial values", skipped="    skipped rules")


def several(sick: int, healthy: int) -> list[RunReport]:
    """Reports on so many runs."""
    return [
        *(made_up(f"sick-{number}", Verdict.CRIT, "Update KL too high") for number in range(sick)),
        *(made_up(f"well-{number}", Verdict.HEALTHY) for number in range(healthy)),
    ]


def test_several_runs_end_with_a_table_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong in five lines, then one row per run: a terminal shows the end."""
    assert main(["check", *(str(DEMO_LOGS_FOLDER / name) for name in (HEALTHY, SICK))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"✗ CRIT  {SICK}: Destructively large updates"
    assert re.match(
        r"    since step 12,288, 15 updates \(75 %\), 9.5 s · 2 more findings · custom PPO",
        lines[1],
    )
    assert "KL up to 11.8, up to 61 % clipped, and reward falls" in lines[2]
    assert "    why    learning rate far too high" in lines[:6]
    assert "    try    lower learning_rate (0.03 now), by 10 to 100 times" in lines[:7]
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["run", "verdict", "state", "reward", "since", "step", "finding"]
    assert table[1].split() == [
        "✗", SICK, "crit", "finished", "404.2", "12,288", "Destructively", "large", "updates",
    ]  # fmt: skip
    assert table[2].split()[:3] == ["✓", HEALTHY, "healthy"]
    assert table[3] == "2 runs: 1 crit, 1 healthy"
    assert table[4].startswith("whole reports: -v, or of one run `ppo-top check ")


@pytest.mark.parametrize("rows_as", ["text", "markdown"])
def test_a_row_has_the_mark_of_the_whole_report(
    rows_as: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value out of its range is amber in both, and the row says which value it is."""
    log = (DEMO_LOGS_FOLDER / HEALTHY / "progress.csv").read_text().splitlines(keepends=True)
    for name, kept in (("early", 22), ("later", 30)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "progress.csv").write_text("".join(log[:kept]))
    assert main(["check", str(tmp_path / "early")]) == 0
    assert capsys.readouterr().out.startswith("▲ early: healthy, explained var out of range")
    assert main(["check", str(tmp_path), "--format", rows_as]) == 0
    rows = [line.replace("|", " ").split() for line in capsys.readouterr().out.splitlines()]
    marks = {row[1]: (row[0], row[5:]) for row in rows if row[1:2] in (["early"], ["later"])}
    assert marks == {
        "early": ("▲", ["explained", "var", "out", "of", "range"]),
        "later": ("✓", []),
    }


def test_no_path_is_named_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files side by side are runs, and called what they have in common without their endings."""
    for name in ("a.csv", "b.csv"):
        shutil.copy(DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "progress.csv", tmp_path / name)
    main(["check", "--no-cache", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[-1] == "whole reports: -v"


def test_verbose_prints_all_there_is_to_say_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Whole reports, of healthy runs too, and why rules did not check them."""
    assert main(["check", "-v", *(str(DEMO_LOGS_FOLDER / name) for name in (HEALTHY, SICK))]) == 1
    text = capsys.readouterr().out
    for expected in (f"✗ {SICK}: crit", f"✓ {HEALTHY}: healthy", "    try 2", "    skipped (not"):
        assert f"\n{expected}" in f"\n{text}"
    told = re.findall(r"^    skipped.*", text, re.M)
    assert len(set(told)) == len(told)  # once for all runs
    assert any(line.startswith("    skipped in 1 of 2 runs (") for line in told)


def test_one_run_has_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the list of rules that did not check it, which -v adds."""
    run = str(DEMO_LOGS_FOLDER / SICK)
    assert main(["check", run]) == 1
    short = capsys.readouterr().out
    assert main(["check", "-v", run]) == 1
    whole = capsys.readouterr().out
    assert "Crucial values" in short
    assert "skipped" not in short
    assert whole.startswith(short.rstrip())
    assert "skipped" in whole


def test_of_many_runs_the_worst_are_described_and_the_healthy_are_counted() -> None:
    """A job's log with hundreds of runs stays readable."""
    text = overview(several(sick=12, healthy=121))
    assert sum(line.startswith("✗ CRIT") for line in text.splitlines()) == 10
    assert sum(line.startswith("✗ sick") for line in text.splitlines()) == 12
    assert "well-" not in text
    assert "  and 121 runs without trouble: -v lists them\n" in text
    assert "\n133 runs: 12 crit, 121 healthy\nthe 10 worst are described above; " in text
    assert overview(several(12, 121), style=OutputStyle(verbose=True)).count("\n✓ well-") == 2 * 121


def test_a_message_takes_two_lines_at_most() -> None:
    """A traceback as the message of a crash must not push the rest off the screen."""
    lines = overview(several(sick=1, healthy=1)).split("\n\n")[0].splitlines()
    assert len(lines) == 6
    assert lines[3].endswith(" …")


@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    """Names and findings are cut, but for the ends that tell seeds apart."""
    runs = [made_up(f"{'ppo' * 30}-seed{seed}", Verdict.WARN, "Reward " * 30) for seed in (1, 2)]
    lines = overview(runs, style=OutputStyle(width=width)).splitlines()
    assert max(len(line) for line in lines if line.startswith("▲ ppo")) <= width
    assert re.findall(r"-seed\d ", "\n".join(lines)) == ["-seed1 ", "-seed2 "]


def test_wide_letters_move_no_column() -> None:
    """A terminal gives each of them two cells."""
    names = ("ppo_7", "实验-α 一", "🚀 rocket")
    text = overview([made_up(name, Verdict.CRIT, "Entropy collapsed") for name in names])
    rows = [line for line in text.splitlines() if line.startswith("✗") and " crit " in line]
    assert len(rows) == 3
    assert len({cell_len(row.partition(" crit ")[0]) for row in rows}) == 1


def test_a_file_has_whole_names() -> None:
    """What is no terminal is searched and read by programs."""
    name = "ppo" * 30
    assert f"✓ {name}  healthy" in overview([made_up(name, Verdict.HEALTHY)] * 2)


def test_files_that_gave_nothing_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which, and why, is for -v."""
    shutil.copytree(DEMO_LOGS_FOLDER / HEALTHY, tmp_path / "run")
    for number in range(3):
        (tmp_path / f"other{number}.log").write_text("nothing to see\n")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("\n3 files passed over: -v says which, and why\n")
    assert main(["check", str(tmp_path)]) == 0, "the remembered answer"
    assert capsys.readouterr().out.endswith("\n3 files passed over: -v says which, and why\n")
    assert main(["check", "-v", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "passed over" not in out
    assert err.count("passed over") == 3


# --- colour ----------------------------------------------------------------------------------


class TerminalStream(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "terminal", "environ", "expected"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
    ],
)
def test_a_terminal_gets_colour(
    choice: str, terminal: bool, environ: dict[str, str], expected: bool
) -> None:
    """Unless NO_COLOR (https://no-color.org) or the user says otherwise."""
    out = TerminalStream() if terminal else io.StringIO()
    assert wants_colour(choice, out, environ) is expected


def test_colour_changes_nothing_but_colour(capsys: pytest.CaptureFixture[str]) -> None:
    """Each mark has one, and without the escape sequences the text is the same."""
    runs = [str(DEMO_LOGS_FOLDER / name) for name in (HEALTHY, SICK)]
    main(["check", *runs])
    plain = capsys.readouterr().out
    main(["check", "--color", "always", *runs])
    text = capsys.readouterr().out
    assert ESCAPE not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", text) == plain
    assert f"{ESCAPE}1;31m✗ CRIT{ESCAPE}0m  {SICK}" in text
    assert f"{ESCAPE}32m✓{ESCAPE}0m {HEALTHY}" in text


def test_lines_of_follow_are_coloured_after_their_time() -> None:
    """The mark stands after the time there."""
    line = "2026-01-02 03:04:05 ▲ run: opened warn kl-high at step 4: too high"
    assert coloured(line).startswith(f"2026-01-02 03:04:05 {ESCAPE}33m▲{ESCAPE}0m run")


def test_a_word_that_begins_a_line_is_no_mark() -> None:
    """The mark of what informs is a letter."""
    assert coloured("    clip range 10\n    is wide") == "    clip range 10\n    is wide"
    assert ESCAPE in coloured("i INFO  Reward at its ceiling")


def test_json_has_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    """It is data."""
    main(["check", "--json", "--color", "always", str(DEMO_LOGS_FOLDER / HEALTHY)])
    assert ESCAPE not in capsys.readouterr().out
