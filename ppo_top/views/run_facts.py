"""What programs ask of a run first: a few numbers and names, no text from its log.

Settings, console lines, messages and advice are left out: what is sent to other machines holds
nothing that a training may have logged by mistake.
"""

from __future__ import annotations

from ppo_top.model import Verdict
from ppo_top.model.named_tuple import NamedTuple

NOT_JUDGED = -1
"""The severity of a run of which nothing can be said yet, or at all."""


class OpenRule(NamedTuple):
    """A rule whose finding is open: severity 1 to 4, where it began (None: not logged)."""

    rule: str
    severity: int
    since_step: int | None
    since_time: float | None


class RunFacts(NamedTuple):
    """The facts of a run at its end; its name and its state are others' to say.

    `severity` is that of the worst of `open_rules` (worst first, as the screen shows them), 0 if
    none is open, `NOT_JUDGED` while the verdict waits. `crucial_values` and `other_values` hold the
    newest value of each metric, by concept. `last_change` is when its logs last grew. Times are
    unix seconds, None where unknown.
    """

    verdict: Verdict
    severity: int
    producer: str
    family: str
    step: int | None
    total: int | None
    first_time: float | None
    last_change: float | None
    eta_s: float | None
    unreadable_places: int
    open_rules: list[OpenRule]
    crucial_values: dict[str, float]
    other_values: dict[str, float]
