"""A fleet as text, in the classic format or as OpenMetrics."""

from __future__ import annotations

import gzip
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder, generate_latest

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.reports.run_report import RunReport
from ppo_top.serve.fleet import ExportedRun, ExportLimits, Fleet, Look, chosen_runs
from ppo_top.serve.metric_families import FleetCollector

REUSE_S = 1.0
"""How long an answer is reused, so that many scrapers cost no more than one."""

MAX_KEPT_ANSWERS = 16


class Rendered(NamedTuple):
    """An answer to a scrape: `encoding` is `gzip` or empty."""

    content_type: str
    encoding: str
    body: bytes


class ScrapeRequest(NamedTuple):
    """What a scraper accepts (the headers' values), and the names that it asked for (all)."""

    accept: str = ""
    accept_encoding: str = ""
    names: Sequence[str] = ()


class Exposition:
    """Renders the fleet of a collector, and how this process is doing; for any thread."""

    def __init__(
        self, collector: FleetCollector, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(collector)
        ProcessCollector(registry=self._registry)
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[ScrapeRequest, tuple[float, Rendered]] = {}

    def answer(self, request: ScrapeRequest) -> Rendered:
        """The answer to a scrape; one that is a second old serves again."""
        with self._lock:
            now = self._clock()
            for old in [key for key, (at, _) in self._kept.items() if now - at > REUSE_S]:
                del self._kept[old]
            if request not in self._kept:
                if len(self._kept) >= MAX_KEPT_ANSWERS:
                    self._kept.clear()
                self._kept[request] = now, self._render(request)
            return self._kept[request][1]

    def _render(self, request: ScrapeRequest) -> Rendered:
        try:
            encode, content_type = choose_encoder(request.accept)
        except (TypeError, ValueError):  # a version that is no version
            encode, content_type = choose_encoder("")
        registry = self._registry
        body = encode(registry.restricted_registry(request.names) if request.names else registry)
        if "gzip" not in _accepted(request.accept_encoding):
            return Rendered(content_type, "", body)
        return Rendered(content_type, "gzip", gzip.compress(body, 1))


def _accepted(accept_encoding: str) -> set[str]:
    """The encodings that a header names, without those that it excludes (`;q=0`)."""
    found = set()
    for each in accept_encoding.lower().split(","):
        name, _, quality = each.partition(";")
        if quality.replace(" ", "") not in ("q=0", "q=0.0"):
            found.add(name.strip())
    return found


def reports_text(reports: Iterable[RunReport]) -> str:
    """Reports in the classic format, once: only the metrics that name a run.

    The others tell of a loop that looks again; here is none.
    """
    runs = [
        ExportedRun(each.identity.path, each.identity.name, each.facts, each.identity.state)
        for each in reports
    ]
    unlimited = ExportLimits(math.inf, len(runs))
    fleet = chosen_runs(runs, 0.0, unlimited, Look())
    return classic_text(fleet, FleetCollector(for_textfile=True)).decode()


def classic_text(fleet: Fleet, collector: FleetCollector) -> bytes:
    """A fleet in the classic format 0.0.4, without time stamps: all that node_exporter reads."""
    collector.fleet = fleet
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)
