"""How many processor cores this process may use: affinity, and the limits of its cgroups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def usable_cores(root: Path = Path("/")) -> float:
    """The cores that affinity and cgroups (version 1 and 2) leave to this process."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min([cores, *_cgroup_limits(root)])


def _cgroup_limits(root: Path) -> Iterator[float]:
    """The limits of each cgroup of this process and of those around it, in cores."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        group = base / path.lstrip("/")
        for folder in (group, *group.parents):
            limit = _read_limit(folder)
            if limit is not None:
                yield limit
            if folder == base:
                break


def _read_limit(group: Path) -> float | None:
    """The limit of a cgroup: a quota of microseconds in each period; None without one."""
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = ((group / f"cpu.cfs_{each}_us").read_text() for each in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    return None
