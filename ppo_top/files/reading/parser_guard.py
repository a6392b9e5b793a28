"""A bug in a parser or a store ends its own source, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Batch, Problem
from ppo_top.support import internal_errors


def guarded(call: Callable[[], Batch], offset: int, on_error: Callable[[], None]) -> Batch:
    """Return what `call` returns; if it raises, report that at `offset` and call `on_error`."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 (see above)
        on_error()
        message = internal_errors.report_internal_error("parser", error)
        return Batch(problems=[Problem(offset, message)])
