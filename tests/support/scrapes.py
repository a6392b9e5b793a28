"""Answers of `serve`, read as Prometheus reads them; a fleet and an endpoint to ask."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from ppo_top.model import State, Verdict
from ppo_top.serve.exporter import Exporter
from ppo_top.serve.exposition import classic_text
from ppo_top.serve.fleet import ExportedRun, Fleet
from ppo_top.serve.listen_address import ListenAddress
from ppo_top.serve.metric_families import FleetCollector
from ppo_top.serve.service import Service, ServiceOptions
from ppo_top.settings import Settings
from ppo_top.views.run_facts import OpenRule, RunFacts
from tests.support.growing_logs import DEMO_LOGS_FOLDER

SICK_CONSOLE = (DEMO_LOGS_FOLDER / "torch_cartpole_lr" / "stdout.log").read_bytes()
NEXT_LINE = b"Iteration 21/40 | Mean Reward: 20.8 | KL: 0.0047\n"

ScrapedName = tuple[str, frozenset[tuple[str, str]]]
"""A metric's name and its labels."""

FACTS = RunFacts(
    verdict=Verdict.CRIT,
    severity=4,
    producer="sb3",
    family="on-policy",
    step=4096,
    total=80_000,
    first_time=1_700_000_000.0,
    last_change=1_700_000_100.0,
    eta_s=60.0,
    unreadable_places=0,
    open_rules=[OpenRule("kl-high", 4, 2048, 1_700_000_050.0)],
    crucial_values={"approx_kl": 0.5},
    other_values={"lr": 0.03},
)
"""The facts of a run in trouble."""


def write_run(folder: Path) -> Path:
    """The console of a sick training that has not ended, written just now; returns the log."""
    folder.mkdir(parents=True)
    log = folder / "stdout.log"
    log.write_bytes(b"".join(SICK_CONSOLE.splitlines(keepends=True)[:20]))
    return log


def exported_run(path: str = "runs/a", state: State = State.LIVE, **facts: Any) -> ExportedRun:
    """A run in trouble, with other facts where they are given."""
    return ExportedRun(path, path.rpartition("/")[2], FACTS._replace(**facts), state)


def series(text: str | bytes) -> dict[ScrapedName, float]:
    """The samples of a text in the classic format; fails on two with the same labels."""
    found: dict[ScrapedName, float] = {}
    decoded = text if isinstance(text, str) else text.decode()
    for family in text_string_to_metric_families(decoded):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, f"twice: {key}"
            found[key] = sample.value
    return found


def openmetrics_families(body: bytes) -> dict[str, Metric]:
    """The families of an answer in the format OpenMetrics, by name."""
    return {each.name: each for each in parse_openmetrics(body.decode())}  # type: ignore[no-untyped-call]


def value(found: Mapping[ScrapedName, float], name: str, /, **labels: str) -> float:
    """The value of a series; NaN if it is not there."""
    return found.get((name, frozenset(labels.items())), math.nan)


def names(found: Mapping[ScrapedName, float]) -> set[str]:
    """The names of some series."""
    return {name for name, _ in found}


def fleet_series(fleet: Fleet, collector: FleetCollector | None = None) -> dict[ScrapedName, float]:
    """The series of a fleet."""
    return series(classic_text(fleet, collector or FleetCollector()))


def look_until_complete(exporter: Exporter) -> Fleet:
    """Read and judge everything that is there."""
    while not exporter.step():
        pass
    exporter.make_fleet(0.0)
    return exporter.fleet


@contextmanager
def served(paths: list[Path], options: ServiceOptions | None = None) -> Iterator[Service]:
    """A service on a free port of this machine, without its loop: tests take the steps."""
    chosen = options or ServiceOptions(ListenAddress("127.0.0.1", 0))
    service = Service(paths, Settings(), chosen, parallel=False)
    assert service.endpoint is not None
    service.endpoint.start()
    try:
        yield service
    finally:
        service.endpoint.stop()
        service.close()


def port_of(service: Service) -> int:
    """The port on which a service listens."""
    assert service.endpoint is not None
    address = service.endpoint.server_address
    assert isinstance(address, tuple)
    return int(address[1])


def ask(service: Service, path: str = "/metrics", **headers: str) -> tuple[HTTPResponse, bytes]:
    """GET a page; underscores in names of headers stand for hyphens."""
    return request(service, "GET", path, **headers)


def request(service: Service, method: str, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    """The answer to a request, and its body."""
    assert service.endpoint is not None
    connection = HTTPConnection("127.0.0.1", timeout=10)
    address = service.endpoint.server_address
    kind = socket.AF_UNIX if isinstance(address, (str, bytes)) else socket.AF_INET
    connection.sock = socket.socket(kind, socket.SOCK_STREAM)
    connection.sock.settimeout(10)
    connection.sock.connect(address)
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    connection.request(method, path, headers=named)
    answer = connection.getresponse()
    return answer, answer.read()
