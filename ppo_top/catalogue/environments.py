"""From which return on well-known environments count as solved."""

from __future__ import annotations

import re
from functools import cache

from ppo_top.catalogue.table import shared_table
from ppo_top.model.named_tuple import NamedTuple

_VERSION = re.compile(r"-v\d+$")


class KnownEnvironment(NamedTuple):
    """One line of the table: `solved` is a mean return, `most` the highest that there is."""

    name: str
    solved: float
    most: float | None = None


@cache
def _environments() -> dict[str, KnownEnvironment]:
    return {
        name: KnownEnvironment(name, float(solved), float(most[0]) if most else None)
        for name, solved, *most in shared_table("environments")
    }


def known_environment(env_id: object) -> KnownEnvironment | None:
    """What is known of an environment as a setting names it: `CartPole-v1`, `phys2d/CartPole-v1`.

    It is returned with the version that the setting names.
    """
    if not isinstance(env_id, str):
        return None
    name = re.split(r"[/:]", env_id)[-1].strip()
    known = _environments().get(name) or _environments().get(_VERSION.sub("", name))
    return known and known._replace(name=name)
