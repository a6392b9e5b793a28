"""The type of the file system that holds a path, where the machine tells (Linux only)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ppo_top.text.lazy_pattern import lazy_pattern

NETWORK_FILE_SYSTEMS = lazy_pattern(
    r"nfs\d?|lustre|cifs|smb\d?|smbfs|9p|ceph|gpfs|beegfs|glusterfs|afs|orangefs|wekafs|virtiofs|vboxsf"
    r"|prl_fs|drvfs|overlay|aufs|fuse.*"
)
"""File systems on which other machines (or layers) write without causing an event here."""
MOUNT_INFO = Path("/proc/self/mountinfo")


def file_system_type(path: str, mounts: Path = MOUNT_INFO) -> str:
    """Return the type of the file system that holds `path`, such as `ext4`; "" if unknown."""
    try:
        table = mounts.read_text(errors="surrogateescape")
    except OSError:
        return ""
    real_path = os.path.realpath(path)
    longest, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if "-" not in fields[6:]:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        inside = real_path == point or real_path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # a later mount on the same point hides the earlier
            longest, kind = len(point), fields[fields.index("-", 6) + 1]
    return kind
