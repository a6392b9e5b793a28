"""`ppo-top serve` as a whole: what it opens, prints, and how it ends."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from ppo_top import __version__
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.follow import print_problem
from ppo_top.serve.exporter import HEALTHY_FOR_S, Exporter, summary_line
from ppo_top.serve.exposition import Exposition, classic_text
from ppo_top.serve.fleet import ExportLimits, Fleet
from ppo_top.serve.http_endpoint import HttpEndpoint, Pages, TextAnswer
from ppo_top.serve.listen_address import (
    ListenAddress,
    TlsFiles,
    bearer_token,
    listening_socket,
    tls_context,
)
from ppo_top.serve.metric_families import ExportedValues, FleetCollector
from ppo_top.serve.textfile import TextFile
from ppo_top.settings import Settings
from ppo_top.text.format import clean, duration


class ServiceOptions(NamedTuple):
    """Where verdicts are shown (`listen`, `textfile` or both), to whom, and which."""

    listen: ListenAddress | None
    textfile: Path | None = None
    tls: TlsFiles | None = None
    token_file: str = ""
    values: ExportedValues = ExportedValues()
    labels: Mapping[str, str] = {}
    limits: ExportLimits = ExportLimits()
    active_s: float = math.inf
    on_existing: bool = False
    """Whether hooks are started also for what is there at first."""


class Service:
    """A loop over the logs, and what shows its results; `run` ends by SIGINT or SIGTERM."""

    def __init__(
        self,
        paths: Sequence[Path],
        settings: Settings,
        options: ServiceOptions,
        parallel: bool = True,
    ) -> None:
        """Open what it listens on; raises `UnusableAddress` before any log is read."""
        self._options = options
        self._collector = FleetCollector(options.values, options.labels)
        self._file_collector = FleetCollector(options.values, options.labels, for_textfile=True)
        self._textfile = TextFile(options.textfile) if options.textfile is not None else None
        self._told_complete = False
        self._last_problem = ""
        self._cleanup = ExitStack()
        self._greeting: list[str] = []
        """Said once a signal would end it properly: its reader may send one at once."""
        self.endpoint = self._open_endpoint()
        self.exporter = Exporter(paths, settings, options.limits, options.active_s, parallel)
        self.exporter.start_hooks(
            settings.hooks, partial(print_problem, sys.stderr), options.on_existing
        )
        self._cleanup.callback(self.exporter.close)

    def _open_endpoint(self) -> HttpEndpoint | None:
        options = self._options
        if options.listen is None:
            return None
        tls = tls_context(options.tls) if options.tls is not None else None
        token = bearer_token(options.token_file) if options.token_file else ""
        listener = listening_socket(options.listen)
        if options.listen.path:
            self._cleanup.callback(_unlink, options.listen.path)
        pages = Pages(Exposition(self._collector).answer, self._healthy, self._ready, self._landing)
        line = _address_line(options.listen, listener.getsockname(), tls is not None)
        self._greeting.append(line)
        if not (
            options.listen.is_private or token or (options.tls and options.tls.client_authority)
        ):
            self._greeting.append(
                "anybody who reaches this port can read the names, paths and values of runs "
                "(--token-file and --tls-client-ca restrict that)"
            )
        return HttpEndpoint(listener, pages, tls, token)

    def run(self) -> None:
        """Look at the logs and answer scrapes until a signal ends it; then tidy up."""
        with self._cleanup, _ended_by_signal(), suppress(KeyboardInterrupt):
            for line in self._greeting:
                self._say(line)
            if self.endpoint is not None:
                self.endpoint.start()
                self._cleanup.callback(self.endpoint.stop)
            if self._textfile is not None:
                self._cleanup.callback(self._textfile.remove)
            self.exporter.run(self.show, sys.stderr)

    def close(self) -> None:
        """Give up before `run`."""
        self._cleanup.close()

    def show(self, fleet: Fleet) -> None:
        """Show a fleet from now on."""
        self._collector.fleet = fleet
        if self._textfile is not None and fleet.look.is_complete and self._textfile.is_due:
            self._write(self._textfile, fleet)
        if fleet.look.is_complete and not self._told_complete:
            self._told_complete = True
            self._say(summary_line(fleet, self._options.limits.retire_s))

    def _write(self, file: TextFile, fleet: Fleet) -> None:
        try:
            file.write(classic_text(fleet, self._file_collector))
            self._last_problem = ""
        except OSError as error:
            problem = f"{file.path}: {error.strerror or error}"
            if problem != self._last_problem:  # a full disk is reported once, and tried again
                self._last_problem = problem
                self._say(problem)

    # --- pages -------------------------------------------------------------------------------

    def _healthy(self) -> TextAnswer:
        if self.exporter.is_healthy:
            return 200, "healthy"
        return 503, f"the logs were not looked at for {duration(HEALTHY_FOR_S)}"

    def _ready(self) -> TextAnswer:
        complete = self._collector.fleet.look.is_complete
        return (200, "ready") if complete else (503, "the logs are being read for the first time")

    def _landing(self) -> str:
        return (
            f"ppo-top {__version__}: verdicts on training runs\n\n"
            "/metrics    for Prometheus\n/-/healthy  are the logs being looked at?\n"
            "/-/ready    has everything been read once?"
        )

    def _say(self, text: str) -> None:
        print(f"ppo-top: {clean(text)}", file=sys.stderr, flush=True)


def _address_line(address: ListenAddress, bound: object, encrypted: bool) -> str:
    if address.path:
        return f"listening on unix:{address.path} (/metrics)"
    port = bound[1] if isinstance(bound, tuple) else address.port
    host = address.host or "*"
    host = f"[{host}]" if ":" in host else host
    return f"listening on {'https' if encrypted else 'http'}://{host}:{port}/metrics"


def _unlink(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink(missing_ok=True)


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
