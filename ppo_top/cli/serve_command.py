"""The command `serve`."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.cli.hook_options import add_hook_options, with_hooks
from ppo_top.cli.options import (
    Command,
    UsageError,
    add_paths,
    add_settings_options,
    age,
    need_prometheus_client,
    paths_or_default,
    read_settings,
)
from ppo_top.cli.output_file import refuse_among_logs
from ppo_top.output.exit_codes import EXIT_ERROR
from ppo_top.support import garbage

if TYPE_CHECKING:
    from ppo_top.serve.listen_address import ListenAddress, TlsFiles
    from ppo_top.serve.service import ServiceOptions

DEFAULT_LISTEN = "127.0.0.1:9740"
MAX_LABELS = 8
TAKEN_LABELS = frozenset(
    ["run", "name", "producer", "family", "job", "instance", "rule", "state", "part"]
)
"""Labels that ppo-top sets, or Prometheus."""


def serve(parser: argparse.ArgumentParser) -> Command:
    add_paths(parser)
    _add_listen_options(parser)
    _add_choice_options(parser)
    add_hook_options(parser)
    add_settings_options(parser)
    return _run


def _add_listen_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--listen",
        metavar="HOST:PORT",
        default=DEFAULT_LISTEN,
        help=f"where to listen (default: {DEFAULT_LISTEN}); :PORT is every address, unix:PATH a "
        "socket that only you can use",
    )
    add("--no-listen", action="store_true", help="open no port; needs --textfile")
    add(
        "--textfile",
        metavar="FILE.prom",
        help="keep this file up to date, for node_exporter's textfile collector",
    )
    add(
        "--token-file",
        metavar="FILE",
        help="serve metrics only to clients that send this bearer token",
    )
    add("--tls-cert", metavar="FILE", help="certificate (PEM): HTTPS instead of HTTP")
    add("--tls-key", metavar="FILE", help="its key, if that is in another file")
    add("--tls-client-ca", metavar="FILE", help="let in only clients with a certificate of this CA")


def _add_choice_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--active",
        metavar="AGE",
        type=_age_or_all,
        default="7d",
        help="do not open logs not written for AGE, until they grow (default: 7d; 0: open all)",
    )
    add(
        "--retire",
        metavar="AGE",
        type=_age_or_all,
        default="1d",
        help="keep exporting a run that is over for AGE after its last change (default: 1d; "
        "0: for ever)",
    )
    add(
        "--values",
        choices=("crucial", "none", "all"),
        default="crucial",
        help="which newest values of a run to export (default: crucial)",
    )
    add(
        "--most-runs",
        metavar="N",
        type=_positive,
        default=2_000,
        help="export at most N runs, those in trouble first (default: 2000)",
    )
    add(
        "--label",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a label of ppo_top_run_info (in a textfile of all metrics); may be repeated",
    )


def _age_or_all(text: str) -> float:
    return math.inf if text == "0" else age(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("expected a number above 0")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    paths = paths_or_default(options.path)
    need_prometheus_client("serve")
    with garbage.loading():
        from ppo_top.runs.load import is_unreachable
        from ppo_top.serve.listen_address import UnusableAddress
        from ppo_top.serve.service import Service

    try:
        wanted = _service_options(options, paths)
        settings = with_hooks(read_settings(options, paths), options.on)
        if is_unreachable(paths, sys.stderr, may_come=True):
            return EXIT_ERROR
        service = Service(paths, settings, wanted)
    except UnusableAddress as error:
        raise UsageError(str(error)) from None
    service.run()
    return 0


def _service_options(options: argparse.Namespace, paths: Sequence[Path]) -> ServiceOptions:
    from ppo_top.serve.fleet import ExportLimits
    from ppo_top.serve.metric_families import ExportedValues
    from ppo_top.serve.service import ServiceOptions

    return ServiceOptions(
        listen=_listen(options, paths),
        textfile=_textfile(options.textfile, paths),
        tls=_tls(options),
        token_file=options.token_file or "",
        values=ExportedValues(options.values != "none", options.values == "all"),
        labels=_labels(options.label),
        limits=ExportLimits(options.retire, options.most_runs),
        active_s=options.active,
        on_existing=options.on_existing,
    )


def _listen(options: argparse.Namespace, paths: Sequence[Path]) -> ListenAddress | None:
    from ppo_top.serve.listen_address import listen_address

    if options.no_listen:
        if not options.textfile:
            raise UsageError("--no-listen needs --textfile, or nobody sees the verdicts")
        return None
    address = listen_address(options.listen)
    if address.path:
        refuse_among_logs(address.path, paths)
    return address


def _textfile(name: str | None, paths: Sequence[Path]) -> Path | None:
    if not name:
        return None
    if not name.endswith(".prom"):
        raise UsageError(f"--textfile {name}: node_exporter reads names that end in .prom only")
    refuse_among_logs(name, paths)
    return Path(name)


def _tls(options: argparse.Namespace) -> TlsFiles | None:
    from ppo_top.serve.listen_address import TlsFiles

    if not options.tls_cert:
        if options.tls_key or options.tls_client_ca:
            raise UsageError("--tls-key and --tls-client-ca need --tls-cert")
        return None
    return TlsFiles(options.tls_cert, options.tls_key or "", options.tls_client_ca or "")


def _labels(given: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
            raise UsageError(f"--label {text}: expected NAME=VALUE, such as user=ann")
        if name in TAKEN_LABELS or name.startswith("__") or name in found:
            raise UsageError(f"--label {text}: {name} has a meaning already; choose another name")
        found[name] = value
    if len(found) > MAX_LABELS:
        raise UsageError(f"at most {MAX_LABELS} labels")
    return found
