"""`ppo-top report`: one page that loads nothing, and says what the screen says."""

from __future__ import annotations

import json
import math
import re
import struct
import time
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.model import Mark, Status
from ppo_top.output.reports.svg_chart import COLUMNS, HEIGHT, LEFT, WIDTH, svg_chart
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from ppo_top.text.secrets_in_text import is_secret, without_secrets
from ppo_top.views.curves import PanelTrack
from tests.support.growing_logs import DEMO_LOGS_FOLDER

SICK = DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2"
VOID_ELEMENTS = {"meta", "br"}


class ParsedPage(HTMLParser):
    """Elements with their attributes, and the text of a page; fails where one is not closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def report(tmp_path: Path, *arguments: str | Path) -> ParsedPage:
    """The page that the command writes."""
    out = tmp_path / "out" / "report.html"
    out.parent.mkdir(exist_ok=True)
    assert main(["report", *map(str, arguments), "-o", str(out)]) == 0
    assert [each.name for each in out.parent.iterdir()] == [out.name]
    return ParsedPage(out.read_text(encoding="utf-8"))


def test_the_page_says_what_check_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict, every open finding with its fixes, every crucial value, a curve a metric."""
    page = report(tmp_path, SICK)
    capsys.readouterr()
    main(["check", "--json", "--no-cache", str(SICK)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    words = " ".join(page.text.split())
    assert f"✗ {run['verdict'].capitalize()}: " in words
    shown = [each for each in run["findings"] if f"[{each['rule']}]" in page.text]
    assert shown
    for finding in shown:
        for part in ("title", "message", "try", "evidence"):
            said = finding[part] if isinstance(finding[part], list) else [finding[part]]
            assert all(" ".join(line.split()) in words for line in said), part
    assert all(row["healthy"] in words for row in run["checklist"])
    crucial, others = words.partition("Crucial values")[2].split("Other values (")
    assert "entropy" in crucial and "update counter" not in crucial
    assert "update counter" in others
    charts = [attrs["aria-label"] or "" for name, attrs in page.elements if name == "svg"]
    assert len(charts) == len({each.partition(":")[0] for each in charts}) > 5
    red = [attrs for name, attrs in page.elements if name == "path" and attrs["class"] == "crit"]
    assert red


def test_the_page_says_nothing_twice(tmp_path: Path) -> None:
    """Neither the word of a verdict, nor the name of what stands in several lines."""
    (tmp_path / "run").mkdir()
    fixed = {"clip_fraction": 0.1, "explained_variance": 0.9, "policy_loss": -0.01, "lr": 3e-4}
    rows = [
        {"step": n, "reward": n + n % 7, "approx_kl": 0.01, "entropy": 1.5 - n / 100, **fixed}
        for n in range(60)
    ]
    log = tmp_path / "run" / "log.jsonl"
    log.write_text("".join(f"{json.dumps(row | {'value_loss': 1.0})}\n" for row in rows))
    assert "✓ Healthy: no finding" in report(tmp_path, log.parent).text
    parts = report(tmp_path, SICK).text.split("Try:")
    assert {part.count("evidence") for part in parts} == {0, 1}


def test_the_page_loads_and_runs_nothing(tmp_path: Path) -> None:
    """It is safe to open, and the same tomorrow."""
    page = report(tmp_path, DEMO_LOGS_FOLDER)
    names = {name for name, _ in page.elements}
    assert names.isdisjoint({"script", "link", "img", "iframe", "object", "form", "base"})
    for _, attrs in page.elements:
        assert not {name for name in attrs if name.startswith("on") or name in ("src", "style")}
        assert (attrs.get("href") or "#").startswith("#")
    policies = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_several_runs_have_a_table_worst_first(tmp_path: Path) -> None:
    """With a link to each."""
    page = report(tmp_path, DEMO_LOGS_FOLDER)
    links = [attrs["href"] for name, attrs in page.elements if name == "a"]
    places = [f"#{attrs['id']}" for name, attrs in page.elements if name == "h2"]
    assert links == places
    verdicts = re.findall(r"(Crit|Warn|Watch|Healthy)\b[^:]{0,20}: ", page.text)
    order = ["Crit", "Warn", "Watch", "Healthy"]
    assert verdicts == sorted(verdicts, key=order.index)
    assert {"Crit", "Healthy"} <= set(verdicts)


def test_names_from_logs_are_text(tmp_path: Path) -> None:
    """A run, a tag and a setting that would be markup."""
    evil = "<img src=x>"
    folder = tmp_path / "runs" / "<b>bold<b>"
    folder.mkdir(parents=True)
    rows = [json.dumps({"step": n, "reward": n, evil: n % 7}) for n in range(1, 40)]
    (folder / "log.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "config.json").write_text(json.dumps({"lr": 3e-4, "note": evil}))
    page = report(tmp_path, tmp_path / "runs", "--with-settings")
    assert page.text.count(evil) >= 2
    assert "<b>bold<b>" in page.text
    assert "img" not in {name for name, _ in page.elements}


def test_settings_are_shown_on_demand_without_secrets(tmp_path: Path) -> None:
    """A page is made to be passed on."""
    folder = tmp_path / "runs"
    folder.mkdir()
    settings = {
        "learning_rate": 3e-4,
        "wandb_api_key": "1234",
        "max_new_tokens": 64,
        "pad_token": "<pad>",
    }
    (folder / "config.json").write_text(json.dumps(settings))
    rows = [json.dumps({"step": n, "reward": n, "loss": 1 / n}) for n in range(1, 40)]
    (folder / "log.jsonl").write_text("\n".join(rows) + "\n")
    assert "max_completion_length" not in report(tmp_path, folder).text
    shown = report(tmp_path, folder, "--with-settings").text
    assert "max_completion_length" in shown
    assert "<pad>" in shown
    assert "learning_rate" in shown
    assert "wandb_api_key" not in shown


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("api_key", "abc", True),
        ("HF_TOKEN", "abc", True),
        ("db", "postgres://me:word@host/db", True),
        ("note", "hf_abcdefghijklmnop", True),
        ("id", "9f86d081884c7d659a2feaa0c55ad015", True),
        ("wandb_run_token", "x", True),
        ("password", 123456, True),
        ("api_key", 12345678, True),
        ("url", "https://host/run?token=abcdef123", True),
        ("header", "Bearer abcdefghijk", True),
        ("note", "password=hunter2", True),
        ("command", "train.py --api-key abc123", True),
        ("alerts", "https://hooks.slack.com/services/T000/B000/XXXX", True),
        ("file", "-----BEGIN OPENSSH PRIVATE KEY-----", True),
        ("key_dim", 64, False),
        ("eos_token_id", 2, False),
        ("num_tokens_seen", "5", False),
        ("normalise", True, False),
        ("command", "train.py --max-tokens 64 --lr 0.1", False),
        ("max_tokens", 512, False),
        ("tokenizer", "gpt2", False),
        ("model", "Qwen/Qwen2.5-0.5B-Instruct", False),
        ("output_dir", "/scratch/user/2026-11-22/experiments/run_17/seed_3", False),
        ("lr", 0.0003, False),
    ],
)
def test_what_looks_like_a_secret(name: str, value: object, secret: bool) -> None:
    """By its name, or by its look."""
    assert is_secret(name, value) is secret


def test_a_console_keeps_its_secrets(tmp_path: Path) -> None:
    """The error with which a run died may hold an address with a password."""
    folder = tmp_path / "runs" / "9f86d081884c7d659a2feaa0c55ad015"
    folder.mkdir(parents=True)
    lines = [f"Iteration {n}/60 | Mean Reward: {n} | KL: 0.01" for n in range(1, 40)]
    error = "ConnectionError: cannot reach https://bob:hunter2@example.org with token=abc123"
    text = [*lines, "Traceback (most recent call last):", '  File "train.py", line 1', error]
    (folder / "train.log").write_text("\n".join(text) + "\n")
    shown = report(tmp_path, tmp_path / "runs").text
    assert "ConnectionError: cannot reach https://[hidden]@example.org with [hidden]" in shown
    assert "hunter2" not in shown and "abc123" not in shown
    assert folder.name in shown


@pytest.mark.parametrize(
    "piece", ["a", "a:", "--a-", "token ", "hooks.slack.co", "Aa1", "a+", "://"]
)
def test_looking_for_secrets_takes_time_in_proportion(piece: str) -> None:
    """A line of a hundred thousand characters that is almost one is done in an instant."""
    begin = time.process_time()
    without_secrets(piece * (100_000 // len(piece)))
    assert time.process_time() - begin < 2.0


def test_nothing_is_written_among_the_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why."""
    (tmp_path / "log.jsonl").write_text('{"step": 1, "reward": 2}\n')
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
    assert "lies among the logs" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["log.jsonl"]


def test_a_page_of_a_long_run_is_small(tmp_path: Path) -> None:
    """100,000 points of ten metrics are drawn, not listed."""
    folder = tmp_path / "runs"
    folder.mkdir()
    with open(folder / "progress.csv", "w", encoding="utf-8") as file:
        names = ["rollout/ep_rew_mean", "train/approx_kl", *(f"train/own{n}" for n in range(8))]
        file.write(",".join(["time/total_timesteps", *names]) + "\n")
        for n in range(10_000):
            values = [n % 97, 0.01 + n % 7 / 1000, *(1 / (n + k + 1) for k in range(8))]
            file.write(",".join(map(str, [2048 * n, *values])) + "\n")
    report(tmp_path, folder)
    assert (tmp_path / "out" / "report.html").stat().st_size < 200_000


def chart_of(values: Sequence[float]) -> str:
    """The drawing of a metric with these values."""
    timeline, track = Timeline(), Track("tag:x", "x", "source")
    for number, value in enumerate(values):
        timeline.steps.append(number)
        track.append(Mark(number, number, 0.0), value)
    drawn = PanelTrack(track, "x", "", "", None, Status.OK, 0.0, None, "")
    return svg_chart(drawn, timeline, len(values) - 1)


def heights(chart: str, kind: str) -> list[float]:
    """The vertical coordinates of the paths of a class."""
    paths = re.findall(rf'<path class="{kind}" d="M([^"h]*)', chart)
    return [float(point.split()[1]) for path in paths for point in path.split("L")]


def test_noise_is_an_area_around_its_mean() -> None:
    """Not a block of ink in which nothing can be seen; a single spike is still inside the area."""
    noise = [float(n % 2) for n in range(24_000)]
    noise[12_345] = 4.0
    chart = chart_of(noise)
    mean, area = heights(chart, "ok"), heights(chart, "ok range")
    bottom, top = max(area), min(area)
    assert all(0.8 < (bottom - y) / (bottom - top) * 8 < 1.2 for y in mean)
    assert sum(y == top for y in area) == 1
    assert len(mean) == COLUMNS


def test_few_values_are_a_line_or_a_dot() -> None:
    """Where each row has a column there is no range to draw; a single value can be seen."""
    line = chart_of([1.0, 3.0, 2.0])
    assert [len(heights(line, kind)) for kind in ("ok", "ok range", "ok dot")] == [3, 0, 0]
    dot = chart_of([1.0])
    assert [len(heights(dot, kind)) for kind in ("ok", "ok range", "ok dot")] == [0, 0, 1]


def test_the_numbers_of_the_axis_are_not_on_the_curve() -> None:
    """They stand in the margin."""
    chart = chart_of([0.0, 1000.0])
    values = [float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end">1?0', chart)]
    assert values and max(values) < LEFT


any_float = st.integers(0, 2**64 - 1).map(lambda n: struct.unpack("<d", struct.pack("<Q", n))[0])


@given(st.lists(st.one_of(any_float, st.floats(-10, 10)), min_size=1, max_size=600))
def test_no_value_leaves_the_drawing(values: list[float]) -> None:
    """Whatever is logged: NaN, infinities, a single point, numbers near the largest."""
    chart = chart_of(values)
    assert bool(chart) == any(map(math.isfinite, values))
    for path in re.findall(r' d="M([^"]*)"', chart):
        for point in re.split("[LVHh]", path):
            numbers = [float(each) for each in point.split()]
            assert all(-1 <= each <= max(WIDTH, HEIGHT) + 1 for each in numbers)
