"""With the real Prometheus, Alertmanager and node_exporter: what is shipped in `deploy/` works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from ppo_top.catalogue import concepts
from ppo_top.serve.exposition import classic_text
from ppo_top.serve.fleet import Fleet
from ppo_top.serve.metric_families import ExportedValues, FleetCollector
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.installed_program import copy_of
from tests.support.scrapes import SICK_CONSOLE, exported_run, names, series
from tests.support.servers import Webhook, eventually, free_address, get, program, started

pytestmark = pytest.mark.servers

DEPLOY = DEMO_LOGS_FOLDER.parent / "deploy"
SERVE = (sys.executable, "-m", "ppo_top", "serve")
PROMETHEUS, ALERTMANAGER = ("prometheus",), ("prometheus-alertmanager", "alertmanager")
NODE_EXPORTER = ("prometheus-node-exporter", "node_exporter")


def run_tool(*command: str | Path, stdin: bytes = b"") -> str:
    """What a checking tool says; it fails where the tool finds a mistake."""
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    return said


def test_the_shipped_rules_pass_their_tests() -> None:
    """Worsening, clearing, stalling, a stuck reader."""
    promtool, folder = program("promtool"), DEPLOY / "prometheus"
    run_tool(promtool, "check", "rules", folder / "rules.yml")
    run_tool(promtool, "test", "rules", folder / "rules_test.yml")


def test_the_shipped_configurations_are_valid() -> None:
    """As Prometheus and Alertmanager read them."""
    run_tool(program("promtool"), "check", "config", DEPLOY / "prometheus" / "prometheus.yml")
    run_tool(program("amtool"), "check-config", DEPLOY / "alertmanager" / "alertmanager.yml")


def test_promtool_has_nothing_to_say_about_our_metrics() -> None:
    """Names, units, help and types, of every metric that may ever be exported."""
    values = {name.replace("{f}", "{a}"): 1.0 for name in concepts()}
    collector = FleetCollector(ExportedValues(True, True))
    fleet = Fleet([exported_run(other_values=values)], {}, {"retired": 0})
    text = classic_text(fleet, collector)
    assert text.count(b"# TYPE ppo_top_value_") == len(concepts())
    assert run_tool(program("promtool"), "check", "metrics", stdin=text) == ""


class Stack(NamedTuple):
    """ppo-top, Prometheus and Alertmanager, all running, and what they watch and tell."""

    runs: Path
    metrics: str
    prometheus: str
    webhook: Webhook

    def query(self, expression: str) -> list[Any]:
        """What Prometheus answers."""
        url = f"http://{self.prometheus}/api/v1/query?query={quote(expression)}"
        result: list[Any] = json.loads(get(url))["data"]["result"]
        return result


def in_a_hurry(text: str, *changes: tuple[str, str]) -> str:
    """A shipped file with shorter times and other addresses, nothing else."""
    for old, new in changes:
        assert old in text, f"the shipped file holds no {old}"
        text = text.replace(old, new)
    return text


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """The shipped configuration, with seconds instead of minutes."""
    prometheus, alertmanager = program(*PROMETHEUS), program(*ALERTMANAGER)
    runs, folder, webhook = tmp_path / "runs", tmp_path / "servers", Webhook()
    copy_of("sb3_cartpole", runs / "healthy")
    for log in runs.rglob("*.*"):
        os.utime(log)
    shutil.copytree(DEPLOY / "prometheus", folder)
    ours, theirs, alerts = free_address(), free_address(), free_address()
    rules, config = folder / "rules.yml", folder / "prometheus.yml"
    rules.write_text(re.sub(r"for: \d+m", "for: 0s", rules.read_text()))
    config.write_text(
        in_a_hurry(
            config.read_text(),
            ("15s", "1s"),
            ("127.0.0.1:9093", alerts),
            ("127.0.0.1:9740", ours),
        )
    )
    (folder / "alertmanager.yml").write_text(
        in_a_hurry(
            (DEPLOY / "alertmanager" / "alertmanager.yml").read_text(),
            ("group_wait: 30s", "group_wait: 0s"),
            ("group_interval: 5m", "group_interval: 1s"),
            ("http://127.0.0.1:9741/", webhook.url),
        )
    )
    quick = ("--storage.tsdb.path=data", f"--web.listen-address={theirs}")
    quiet = ("--storage.path=alerts", f"--web.listen-address={alerts}", "--cluster.listen-address=")
    with (
        started([*SERVE, str(runs), "--listen", ours, "--retire", "0"], folder),
        started([prometheus, "--config.file=prometheus.yml", *quick], folder),
        started([alertmanager, "--config.file=alertmanager.yml", *quiet], folder),
    ):
        eventually(lambda: b"ready" in get(f"http://{ours}/-/ready"), "first look")
        yield Stack(runs, ours, theirs, webhook)
    webhook.close()


def dashboard_expressions() -> list[str]:
    """What the shipped dashboard asks, with its variables filled in."""
    board = json.loads((DEPLOY / "grafana" / "ppo-top.json").read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return [text.replace("$run", ".*").replace("$__rate_interval", "1m") for text in found]


def test_from_a_sick_line_to_a_message_and_back(stack: Stack) -> None:
    """A training goes wrong: one message fires; its logs are deleted: it resolves.

    Meanwhile every panel of the dashboard has something to show.
    """
    eventually(lambda: stack.query("ppo_top_run_severity"), "run in Prometheus")
    assert not stack.webhook.alerts("firing", "PpoTopFindingCritical")
    log = stack.runs / "sick" / "stdout.log"
    log.parent.mkdir()
    with open(log, "wb") as file:
        file.write(b"".join(SICK_CONSOLE.splitlines(keepends=True)[:20]))
    (fired,) = eventually(
        lambda: stack.webhook.alerts("firing", "PpoTopFindingCritical"), "firing alert"
    )
    assert fired["labels"]["run"] == str(stack.runs / "sick")
    assert fired["labels"]["rule"] == "updates-too-large"
    assert "ppo-top explain updates-too-large" in fired["annotations"]["description"]
    for expression in dashboard_expressions():
        eventually(partial(stack.query, expression), f"answer to {expression}")
    assert len(stack.webhook.alerts("firing", "PpoTopFindingCritical")) == 1
    log.unlink()
    eventually(lambda: stack.webhook.alerts("resolved", "PpoTopFindingCritical"), "resolved alert")


def test_node_exporter_takes_two_textfiles(tmp_path: Path) -> None:
    """All series of both, no error; a file is gone when its writer has ended."""
    exporter, address, folder = program(*NODE_EXPORTER), free_address(), tmp_path / "textfiles"
    folder.mkdir()
    flags = ("--collector.disable-defaults", "--collector.textfile")
    place = (f"--collector.textfile.directory={folder}", f"--web.listen-address={address}")
    files = [folder / "ppo_top_ann.prom", folder / "ppo_top_bob.prom"]

    def writing(file: Path, run: str) -> tuple[str | Path, ...]:
        copy_of(run, tmp_path / file.stem / run)
        quiet = ("--no-listen", "--retire", "0", "--textfile")
        return (*SERVE, str(tmp_path / file.stem), *quiet, file)

    with started([exporter, *flags, *place], tmp_path):
        with (
            started(writing(files[0], "torch_cartpole_nan"), tmp_path),
            started(writing(files[1], "torch_cartpole_lr"), folder.parent),
        ):
            texts = eventually(lambda: all(map(Path.exists, files)), "textfiles") and [
                each.read_bytes() for each in files
            ]
            found = eventually(lambda: series(get(f"http://{address}/metrics")), "metrics")
            written = series(b"".join(texts[:1])) | series(b"".join(texts[1:]))
            assert written.keys() <= found.keys()
            assert found["node_textfile_scrape_error", frozenset()] == 0
            assert {dict(labels).get("file") for _, labels in found} >= set(map(str, files))
        assert not any(map(Path.exists, files))
        found = series(get(f"http://{address}/metrics"))
        assert not [name for name in names(found) if name.startswith("ppo_top_")]


def test_the_slurm_script_runs_beside_a_training(tmp_path: Path) -> None:
    """It tells Prometheus where to look, prints the verdict, and ends as the training does."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "ppo-top"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ppo_top "$@"\n')
    command.chmod(0o755)
    script = (
        'cat "$TARGETS/4711.json"; '
        f'mkdir -p "$RUNS"; cp {DEMO_LOGS_FOLDER}/torch_cartpole_nan/stdout.log "$RUNS"; exit 3'
    )
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "RUNS": str(tmp_path / "runs"),
        "TARGETS": str(tmp_path / "targets"),
        "PPO_TOP_LOG": str(tmp_path / "log"),
        "SLURM_JOB_ID": "4711",
    }
    done = subprocess.run(
        [DEPLOY / "slurm" / "job.sh", "sh", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 3, done.stderr
    first, _, report = done.stdout.partition("\n")
    (target,) = json.loads(first)
    assert re.fullmatch(r"[^:]+:\d+", target["targets"][0])
    assert target["labels"]["slurm_job_id"] == "4711"
    assert "crit" in report
    assert not list((tmp_path / "targets").iterdir())
