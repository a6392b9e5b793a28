"""What is shown in place of the paths of copies."""

from __future__ import annotations

import pytest

from ppo_top.files.mirrors import mirrored_host, shown_path

MIRROR = "/tmp/ppo-top-mirror-a1_b2c3d"


@pytest.mark.parametrize(
    ("path", "shown", "host"),
    [
        (f"{MIRROR}/node3:/runs/a.csv", "node3:/runs/a.csv", "node3"),
        (f"{MIRROR}/me@node3:~/runs", "me@node3:~/runs", "me@node3"),
        (f"{MIRROR}/[node3:2222]:/runs/x:y", "[node3:2222]:/runs/x:y", "[node3:2222]"),
        (f"/var/tmp/of:me{MIRROR}/n:/x", "n:/x", "n"),
        ("/ppo-top-mirror-a1/n:/x", "n:/x", "n"),
        ("/runs/a:b.csv", "/runs/a:b.csv", ""),
        ("runs", "runs", ""),
    ],
)
def test_a_copy_is_shown_as_what_it_is_a_copy_of(path: str, shown: str, host: str) -> None:
    """And says of which machine."""
    assert (shown_path(path), mirrored_host(path)) == (shown, host)
