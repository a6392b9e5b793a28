"""`ppo-top check -`: a log or a paste on standard input."""

from __future__ import annotations

import json
import subprocess
import sys

PASTE = """\
> My run looks odd:
> ```
> {'loss': 0.5, 'reward': 0.1, 'kl': 5.0,
> 'completions/clipped_ratio': 0.95, 'epoch': 0.1}
> {'loss': 0.5, 'reward': 0.1, 'kl': 5.0, 'completions/clipped_ratio': 0.95, 'epoch': 0.2}
> ```
"""


def check(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `ppo-top check -` with this text on its standard input."""
    command = [sys.executable, "-m", "ppo_top", "check", "-", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_a_paste_is_judged_by_what_it_holds() -> None:
    """Two records: what both agree on is a finding, since no more will come; trends need more."""
    run = json.loads(check(PASTE, "--json").stdout)["runs"][0]
    marks = {row["concept"]: row["status"] for row in run["checklist"]}
    assert (run["producer"], run["progress"]["updates"]) == ("trl-grpo", 2)
    [found] = run["findings"]
    assert (found["rule"], found["severity"]) == ("completions-truncated", "watch")
    assert marks["truncated_frac"] == run["verdict"] == found["severity"]
    assert marks["reward_mean"] == "warming-up"
    assert run["state"] == "ended"
    assert run["name"] == "standard input"  # not the directory that one happens to be in


def test_the_report_says_which_values_are_out_of_range() -> None:
    """Those of rules that need more updates before they speak: red beyond the critical limit."""
    text = check(PASTE).stdout
    assert "Out of range: KL to reference 5 (healthy 0 to 0.1)\n" in text
    assert "2 updates: what needs a trend is not judged" in text
    assert "✗ KL to reference " in text


def test_a_single_record_is_only_watched() -> None:
    """One value beyond its limit is no finding yet: it is red, and the headline is not green."""
    record = PASTE.partition("}")[0] + "}\n"
    text = check(record).stdout
    assert text.startswith(
        "▲ standard input: warming up, KL to reference, truncated fraction out of range\n"
    )
    assert "Out of range: KL to reference 5 (healthy 0 to 0.1), truncated fraction 95 %" in text
    assert json.loads(check(record, "--json").stdout)["runs"][0]["findings"] == []


def test_where_more_records_were_possible_a_finding_needs_them() -> None:
    """Neither a record that agrees with none before it is one, nor the last two of many."""
    record = "{'reward': 0.1, 'completions/clipped_ratio': SHARE}\n"
    calm, bad = record.replace("SHARE", "0.0"), record.replace("SHARE", "0.95")
    for records in (bad + calm, calm + bad, 5 * calm + 2 * bad):
        assert json.loads(check(records, "--json").stdout)["runs"][0]["findings"] == []
    assert json.loads(check(calm + 2 * bad, "--json").stdout)["runs"][0]["findings"] != []


def test_nan_is_a_finding_at_once() -> None:
    """And fails the job."""
    done = check(PASTE.replace("'loss': 0.5", "'loss': nan"))
    assert done.returncode == 1
    assert "NaN" in done.stdout


def test_lines_from_windows() -> None:
    """Carriage returns are no lines drawn over."""
    text = json.loads(check(PASTE.replace("\n", "\r\n"), "--json").stdout)
    assert text["runs"][0]["progress"]["updates"] == 2


def test_a_long_log_is_not_held_in_memory_at_once() -> None:
    """All that the program needs is smaller than what the pipe brings."""
    code = (
        "import sys, tracemalloc; from ppo_top.cli import main; tracemalloc.start();"
        "code = main(['check', '-', '--json']);"
        "print(tracemalloc.get_traced_memory()[1], file=sys.stderr); sys.exit(code)"
    )
    log = f"{'.' * 399_998}\r\n" * 100 + "step: 1 | reward: 2.0 | kl: 0.01\r\n"
    done = subprocess.run([sys.executable, "-c", code], input=log.encode(), capture_output=True)
    assert done.returncode == 0
    assert json.loads(done.stdout)["runs"][0]["progress"]["step"] == 1
    assert int(done.stderr) < len(log)


def test_a_table_through_a_pipe() -> None:
    """`cat metrics.csv | ppo-top check -` reads what the file itself would give."""
    rows = "".join(f"{n},{n}.5\n" for n in range(1, 31))
    run = json.loads(check("update,reward\n" + rows, "--json").stdout)["runs"][0]
    assert (run["progress"]["step"], run["progress"]["updates"]) == (30, 30)
    assert "reward_mean" in {each.get("concept") for each in run["metrics"]}


def test_text_without_a_record() -> None:
    """Exit code 2, and a line that says so."""
    done = check("Hello, it does not work\n")
    assert done.returncode == 2
    assert "standard input: nothing here" in done.stderr
    assert "a line needs the name of a metric and its number" in done.stderr
    assert "tee run.log" not in done.stderr  # it was the console's output


def test_only_one_look() -> None:
    """What follows a pipe is the monitor."""
    assert check(PASTE, "--follow").returncode == 2


def test_a_table_between_marks_of_code() -> None:
    """Markdown's fence is no header: what PFRL writes with tabs, out of an issue."""
    rows = "".join(f"{n}0000\t{50 * n}\t{n}.5\t{-1500 + n}.0\n" for n in range(1, 5))
    run = json.loads(
        check(f"```text\nsteps\tepisodes\telapsed\tmean\n{rows}```\n", "--json").stdout
    )
    (only,) = run["runs"]
    assert only["progress"]["step"] == 40000
    assert {row["tag"]: row["points"] for row in only["metrics"]}["mean"] == 4


def test_a_few_rows_are_no_proof_that_nothing_is_learned() -> None:
    """Entropy and reward stay where they are: too few points, then watched, then warned of."""
    severities = {}
    for rows in (5, 6, 11, 12):
        lines = (
            f"Iter {n} | reward: {2 + n * 7 % 11 / 10} | entropy: 0.69 | clip_frac: 0.1 | kl: 0.01"
            for n in range(rows)
        )
        run = json.loads(check("\n".join(lines) + "\n", "--json").stdout)["runs"][0]
        found = {each["rule"]: each["severity"] for each in run["findings"]}
        severities[rows] = found.get("entropy-not-falling")
    assert severities == {5: None, 6: "watch", 11: "watch", 12: "warn"}
