"""`check --format markdown|github|junit`, and `--output`: what other programs show of a verdict."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ppo_top.cli import main
from ppo_top.model import Severity, State, Verdict
from ppo_top.output.answers import Answer, answer_code, answer_text
from ppo_top.output.reports.markdown_report import markdown_text
from ppo_top.output.reports.overview import OutputStyle
from ppo_top.output.reports.run_report import RunIdentity, RunReport, RunSummary
from ppo_top.text.format import clean
from tests.support.growing_logs import DEMO_LOGS_FOLDER

SICK, HEALTHY = DEMO_LOGS_FOLDER / "torch_cartpole_lr", DEMO_LOGS_FOLDER / "sb3_cartpole"
HOSTILE = (
    "</failure>]]>&amp;&#x0;",
    "\x1b[31mred\x00\ud800\uffff\u202e",
    "::error::x\n::add-mask::y\r\n##[error]z",
    "100%0A::stop-commands::x",
    "a,title=b::c",
    "| a | b |\n|---|---|",
    "# head\n- [x] **bold** ~~gone~~ `code` $1$ <b>tag</b> <!-- x",
    "![i](http://e.vil/i.png) [l](http://e.vil) www.e.vil http://e.vil me@e.vil @someone #12",
    "1. one",
    "7) seven",
    "- item",
    "+ item",
    "> quote",
    "---",
    "```\ncode",
    "&lt; &#64; &copy;",
    "\\",
    "__init__ a_b_c _x_",
)
any_text = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))


def report_on(name: str, said: str, *severities: str, calm: Verdict = Verdict.HEALTHY) -> RunReport:
    """The report on a run of a name with open findings that say so, worst first."""
    worst = max((Severity[word.upper()] for word in severities), default=0)
    verdict = Severity(worst).verdict if worst else calm
    findings = [
        {"rule": f"rule-{number}", "title": said, "severity": word, "since_step": number or None,
         "since_word": "since", "cleared_step": None, "message": "", "message_now": said,
         "evidence": [said], "causes": [said], "try": [said]}
        for number, word in enumerate(severities)
    ]  # fmt: skip
    values = {
        "concept": "approx_kl", "label": said, "status": "ok", "value": "nan",
        "healthy": said, "note": said,
    }  # fmt: skip
    found = {"open": [each["rule"] for each in findings], "findings": findings}
    summary = RunSummary(
        verdict, verdict.words, worst, "sb3", said, "on-policy", 9, 9, "1 update", None,
        said, said, "9", said if findings else "", said, said, said, said, 0,
    )  # fmt: skip
    identity = RunIdentity(name, name, State.DIED, said)
    text = json.dumps({**found, "checklist": [values]})
    return RunReport(identity, summary, json=text, remarks=[said])


def printed(fmt: str, *reports: RunReport, fail_on: Severity = Severity.CRIT) -> str:
    """What `check --format` prints of some reports."""
    return answer_text(Answer(list(reports), []), fail_on, OutputStyle(fmt))


def check(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """The exit code of `check`, and what it prints."""
    code = main(["check", *map(str, arguments)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("fmt", ["text", "json", "markdown", "github", "junit"])
def test_every_format_tells_what_the_value_is_by_now(
    fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loss that was infinite once is 1.8 at the end: nobody takes the message for its value."""
    losses = [*(4.0 - 0.1 * row for row in range(20)), "Infinity", 1.9, 1.8]
    rows = (
        f'{{"step": {100 * row}, "value_loss": {loss}, "reward": {10.0 + row}}}'
        for row, loss in enumerate(losses, 1)
    )
    (tmp_path / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    _, said = check(capsys, tmp_path, "--format", fmt, "--fail-on", "watch")
    assert "value loss became inf; now 1.8" in said


# --- Markdown ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["markdown", "github", "junit"])
def test_a_crash_is_at_a_step_and_its_message_no_evidence_of_itself(
    fmt: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the text says it: what happened once lasts no time, and nothing is said twice."""
    died = DEMO_LOGS_FOLDER / "torch_cartpole_nan"
    _, text = check(capsys, died)
    assert "Training process crashed  [crashed]  at step 16,384" in text
    _, printed = check(capsys, died, "--format", fmt)
    assert "Training process crashed at step 16" in printed
    of_the_crash = printed[printed.index("Training process crashed at") :]
    assert "vidence" not in of_the_crash


def rendered(source: str) -> tuple[list[str], str]:
    """The elements that GitHub's Markdown becomes, in order, and the text in them."""
    parser = MarkdownIt("gfm-like")
    elements, text = [], []
    for token in parser.parse(source):
        elements += [token.tag] * (token.nesting == 1)
        for child in token.children or ():
            elements += [child.tag or child.type] * (child.type != "text")
            text.append(child.content)
        assert token.type not in ("html_block", "fence", "code_block", "hr")
    return elements, "".join(text).replace("\u200b", "")


@given(any_text)
def test_text_from_logs_is_no_markdown(said: str) -> None:
    """In a line of its own, in a list and in a table it reads as it was written."""
    shown = " ".join(clean(said).split())
    text = markdown_text(said)
    for source, elements in (
        (f"above\n\n{text}", ["p", "p"]),
        (f"- {text}", ["ul", "li", "p"]),
        (f"|a|\n|-|\n| {text} |", ["table", "thead", "tr", "th", "tbody", "tr", "td"]),
    ):
        if shown:
            found, words = rendered(source)
            assert found == elements
            assert shown in " ".join(words.split())


def test_nobody_is_notified_by_markdown() -> None:
    """GitHub looks for names and numbers of issues in what is shown."""
    assert "@someone" not in markdown_text("@someone") and "#12" not in markdown_text("see #12")


def test_markdown_of_one_run_is_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    """A heading a finding, worst first, what to try in order, a table of crucial values."""
    code, source = check(capsys, SICK, "--format", "markdown")
    elements, text = rendered(source)
    _, as_json = check(capsys, SICK, "--json")
    (run,) = json.loads(as_json)["runs"]
    assert code == 1
    assert source.startswith("## ✗ torch_cartpole_lr: crit\n")
    assert elements.count("h3") == len(run["open"]) > 1
    places = [text.index(f"({rule})") for rule in run["open"]]
    assert places == sorted(places)
    worst = next(each for each in run["findings"] if each["rule"] == run["open"][0])
    assert all(line in text for line in (worst["message"], *worst["evidence"], *worst["try"]))
    assert elements.count("tr") == 1 + sum(each["status"] != "missing" for each in run["checklist"])


def test_markdown_of_several_runs_is_a_table_and_the_worst(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The counts are the heading."""
    code, source = check(capsys, SICK, HEALTHY, "--format", "markdown")
    elements, text = rendered(source)
    assert code == 1
    assert source.startswith("## 2 runs: 1 crit, 1 healthy\n")
    assert elements.count("tr") == 3
    assert elements.count("h3") == 1
    assert "Try: lower learning_rate (0.03 now)" in text


def test_markdown_of_many_runs_fits_into_a_summary() -> None:
    """GitHub drops a summary of more than a MiB."""
    many = [report_on(f"run-{number}", "x" * 300, "crit") for number in range(5_000)]
    text = printed("markdown", *many)
    assert len(text.encode()) < 2**20
    assert "\n4,500 runs more\n" in text


# --- GitHub's annotations ----------------------------------------------------------------------


class WorkflowCommand(NamedTuple):
    """A workflow command, as the runner understands it."""

    name: str
    title: str
    data: str


def commands(text: str) -> list[WorkflowCommand]:
    """What a runner does with each line: it looks for `::`, and undoes the escapes."""
    found = []
    for line in text.splitlines():
        _, head, data = line.split("::", 2)
        name, _, properties = head.partition(" ")
        titles = [each.partition("=") for each in properties.split(",")]
        ((key, _, title),) = titles
        assert key == "title"
        for code, plain in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            title = title.replace(code, plain)
            data = data if code in ("%3A", "%2C") else data.replace(code, plain)
        found.append(WorkflowCommand(name, title, data))
    return found


@given(any_text, any_text)
def test_a_log_gives_a_runner_no_commands(name: str, said: str) -> None:
    """A line is a finding, or the line of counts; its text comes out as it went in."""
    error, warning, counts = commands(
        printed("github", report_on(name, said, "crit", "watch", "info"))
    )
    assert [error.name, warning.name, counts.name] == ["error", "warning", "notice"]
    assert error.title == f"{clean(name)}: {clean(said)} [rule-0]"
    assert warning.title == f"{clean(name)}: {clean(said)}, since step 1 [rule-1]"
    assert error.data == f"{clean(said)}\nwhy: {clean(said)}\ntry 1: {clean(said)}"
    assert counts.data == "1 run: 1 crit"


def test_findings_that_fail_the_job_are_errors() -> None:
    """The others are warnings; the exit code and the errors agree."""
    report = report_on("run", "x", "warn", "watch")
    for fail_on, names in (
        (Severity.CRIT, ["warning", "warning", "notice"]),
        (Severity.WARN, ["error", "warning", "notice"]),
        (Severity.WATCH, ["error", "error", "notice"]),
    ):
        found = [each.name for each in commands(printed("github", report, fail_on=fail_on))]
        assert found == names
        assert answer_code(Answer([report], []), fail_on) == ("error" in found)


def test_the_worst_of_each_run_is_annotated_first() -> None:
    """GitHub shows ten errors of a step: those of ten runs, not ten of the first."""
    runs = [report_on(name, "x", "crit", "crit", "warn") for name in ("a", "b")]
    titles = [each.title.partition(",")[0] for each in commands(printed("github", *runs))]
    assert titles[:4] == ["a: x [rule-0]", "b: x [rule-0]", "a: x", "b: x"]


# --- JUnit -------------------------------------------------------------------------------------

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "skipped", "system-out"},
    "failure": set(),
    "skipped": set(),
    "system-out": set(),
}
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"classname", "name"},
    "failure": {"type", "message"},
    "skipped": {"message"},
    "system-out": set(),
}
"""The part of junit-10.xsd that is used: all that it demands, and nothing that it does not know."""


def parsed_junit(text: str) -> ElementTree.Element:
    """The test suite, after a look at each element and attribute, and at the counts."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert set(element.attrib) == ATTRIBUTES[element.tag]
    (suite,) = root
    for each in (root, suite):
        assert int(each.attrib["tests"]) == len(suite)
        assert int(each.attrib["failures"]) == len(suite.findall("*/failure"))
        assert int(each.attrib["errors"]) == 0
    assert int(suite.attrib["skipped"]) == len(suite.findall("*/skipped"))
    return suite


@given(any_text, any_text)
def test_junit_is_valid_whatever_a_log_holds(name: str, said: str) -> None:
    """Markup and characters that XML cannot hold are text."""
    (case,) = parsed_junit(printed("junit", report_on(name, said, "crit", "watch")))
    failure = case.find("failure")
    assert failure is not None
    assert case.attrib["name"] == clean(name)
    assert failure.attrib == {"type": "rule-0", "message": clean(said)}
    assert clean(said) in "".join(failure.itertext())
    assert "WATCH" in (case.findtext("system-out") or "")


def test_a_run_is_a_test_case_that_fails_skips_or_passes() -> None:
    """It fails from `--fail-on` on, and is skipped while nothing can be said of it."""
    runs = [
        report_on("sick", "x", "warn"),
        report_on("new", "x", calm=Verdict.WARMING_UP),
        report_on("well", "x"),
    ]
    for fail_on, failed in ((Severity.CRIT, []), (Severity.WARN, ["sick"])):
        suite = parsed_junit(printed("junit", *runs, fail_on=fail_on))
        assert [case.attrib["name"] for case in suite] == ["sick", "new", "well"]
        assert [case.attrib["name"] for case in suite if case.find("failure") is not None] == failed
        assert [case.attrib["name"] for case in suite if case.find("skipped") is not None] == [
            "new"
        ]


@pytest.mark.parametrize("fail_on", ["watch", "warn", "crit"])
def test_every_run_that_fails_check_fails_in_junit(
    fail_on: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the shipped logs, at each threshold."""
    _, text = check(capsys, DEMO_LOGS_FOLDER, "--format", "junit", "--fail-on", fail_on)
    failed = {
        case.attrib["name"] for case in parsed_junit(text) if case.find("failure") is not None
    }
    _, found = check(capsys, DEMO_LOGS_FOLDER, "--json")
    runs: list[dict[str, Any]] = json.loads(found)["runs"]
    words = ["watch", "warn", "crit"][["watch", "warn", "crit"].index(fail_on) :]
    assert failed == {run["name"] for run in runs if run["verdict"] in words}


# --- which findings, where to ------------------------------------------------------------------


def test_open_findings_are_those_that_the_screen_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`open` leaves out what an open diagnosis explains; `findings` has all."""
    _, text = check(capsys, SICK, "--json")
    (run,) = json.loads(text)["runs"]
    open_now = {each["rule"]: each for each in run["findings"] if each["cleared_step"] is None}
    assert set(run["open"]) < set(open_now)
    explained = {rule for name in run["open"] for rule in open_now[name]["members"]}
    assert set(open_now) - set(run["open"]) <= explained


def test_json_is_short_for_its_format(capsys: pytest.CaptureFixture[str]) -> None:
    """The same bytes."""
    assert check(capsys, SICK, "--json") == check(capsys, SICK, "--format", "json")


@pytest.mark.parametrize("fmt", ["text", "json", "markdown", "github", "junit"])
def test_a_file_holds_what_would_be_printed(
    fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is printed then; the exit code is the same."""
    code, text = check(capsys, SICK, "--format", fmt)
    out = tmp_path / "verdict"
    assert check(capsys, SICK, "--format", fmt, "--output", out) == (code, "")
    assert out.read_text("utf-8") == text
    assert [each.name for each in tmp_path.iterdir()] == [out.name]


def test_a_link_and_a_device_are_written_to_and_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As root, replacing /dev/null would break the machine."""
    (tmp_path / "link").symlink_to(tmp_path / "target")
    check(capsys, SICK, "--output", tmp_path / "link")
    check(capsys, SICK, "--output", "/dev/null")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text("utf-8").startswith("✗ torch_cartpole_lr")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("where", ["verdict.xml", "deeper/verdict.xml", "../link/verdict.xml"])
def test_nothing_is_written_among_the_logs(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither beside a log nor through a link to its directory."""
    logs = tmp_path / "logs"
    shutil.copytree(HEALTHY, logs)
    (tmp_path / "link").symlink_to(logs)
    (logs / "deeper").mkdir()
    before = sorted(logs.rglob("*"))
    assert main(["check", str(logs), "--output", str(logs / where)]) == 2
    said = capsys.readouterr().err
    assert "lies among the logs" in said
    assert said.endswith(f", such as {os.path.relpath(tmp_path)}/verdict.xml\n")
    assert sorted(logs.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--follow", "--format", "junit"], "--follow prints text or JSON, not junit"),
        (["--backtest", "--format", "github"], "--backtest prints text or JSON, not github"),
        (["--follow", "--output", "x"], "use > FILE"),
        (["--beat", "5"], "--beat needs --follow --json"),
        (["--follow", "--beat", "5"], "--beat needs --follow --json"),
        (["--output", "/no/such/place/x"], "no such directory"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why."""
    assert main(["check", str(HEALTHY), *arguments]) == 2
    assert why in capsys.readouterr().err
