"""What rules may ask of a run at its newest row: its log, what is open, what the reward does."""

from __future__ import annotations

from ppo_top.model import Profile, Severity
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.logged_run import (
    REWARD_CONCEPTS,
    TRAINING_LOSSES,
    UPDATE_METRICS,
    LoggedRun,
)
from ppo_top.rules.engine.reward.course import EVALUATED
from ppo_top.rules.engine.terms import GRPO, REWARD_COMPONENT_PREFIX
from ppo_top.rules.engine.wording import label

RECENT_ROWS = 3
"""A finding that closed within this many rows still counts for others."""

TOLERATED_ROWS = 40
"""What has been open for so many rows has shown whether it does harm."""

KEPT_SHARE = 0.3
"""A reward that has lost no more than this share of its gain still pays."""

COUNTED_UPDATES = frozenset({"lr", "n_updates"})
"""What is logged of each update beside its losses, and is always a number."""

STOPPED_ROWS, STOPPED_TIMES = 10, 6.0
"""Updates have stopped if they miss for so many rows, and so many times the usual."""

RARELY_MISSING = 1.1
"""Updates per finite value of a metric of which nearly each row has one."""

AT_CEILING = "at-ceiling"
"""While this finding is open, values that need a spread of returns mean little."""

Memo = tuple[float, ...]


class JudgedRun(LoggedRun):
    """What a run has logged, which rules have an open finding, and the state of its reward.

    `memos` holds the few numbers a rule must remember, under its id.
    """

    def __init__(self, profile: Profile) -> None:
        self.open_severities: dict[str, Severity] = {}
        self.closed_rows: dict[str, int] = {}
        self.last_severities: dict[str, int] = {}
        self.opened_rows: dict[str, int] = {}
        super().__init__(profile)

    def restart(self) -> None:
        """Start a new segment: the run was resumed from a checkpoint."""
        super().restart()
        self.memos: dict[str, Memo] = {}

    def copy(self) -> JudgedRun:
        """An independent copy."""
        other = super().copy()
        other.open_severities = self.open_severities.copy()
        other.closed_rows, other.opened_rows = self.closed_rows.copy(), self.opened_rows.copy()
        other.last_severities, other.memos = self.last_severities.copy(), self.memos.copy()
        return other

    def turned_non_finite(self, concept: str) -> bool:
        """Whether a value of this row is NaN or infinite, of a metric that rarely is.

        A mean over the episodes that have ended is undefined in many rows of some logs.
        """
        history = self.histories.get(concept)
        if history is None or concept not in self.non_finite_now:
            return False
        due = self.updates - (self.mark.row - history.last_row)
        return due <= RARELY_MISSING * history.count

    def recently_open(self) -> set[str]:
        """The rules with a finding that is open, or was within the last rows."""
        since = self.mark.row - RECENT_ROWS
        closed = [rule for rule, row in self.closed_rows.items() if row >= since]
        return {*self.open_severities, *closed}

    def severity_of(self, rule: str, within: int = RECENT_ROWS) -> int:
        """Severity of a rule's finding: 0 if it was not open within the last rows."""
        if rule in self.open_severities:
            return self.open_severities[rule]
        closed = self.closed_rows.get(rule)
        recent = closed is not None and self.mark.row - closed <= within
        return self.last_severities.get(rule, 0) if recent else 0

    def was_cleared(self, rule: str) -> bool:
        """Whether a finding of a rule was cleared in this segment."""
        return self.closed_rows.get(rule, -1) > self.mark.row - self.updates + 1

    @property
    def was_at_ceiling(self) -> bool:
        """Whether a finding says that the reward is at its ceiling, or was in this segment."""
        return AT_CEILING in self.open_severities or self.was_cleared(AT_CEILING)

    @property
    def reward_state(self) -> int:
        """The states that the reward is in, which `Rule.reward_states` names; 0 without one."""
        if self.reward is None:
            return 0
        evaluated = self.value("eval_reward_mean") is not None
        return self.reward.state | (EVALUATED if evaluated else 0)

    def may_be_part(self, rows: float) -> bool:
        """Whether a log of fewer rows, which says no length, may be a part of a run: a paste."""
        return self.ended and self.stated_progress is None and self.updates < rows

    @property
    def has_losses(self) -> bool:
        """Whether the loss of a training was logged."""
        return any(name in self.histories for name in TRAINING_LOSSES)

    @property
    def has_updates(self) -> bool:
        """Whether a metric of an update was logged: a loss, or how far it moved the policy."""
        return any(name in self.histories for name in UPDATE_METRICS)

    @property
    def rows_without_updates(self) -> int:
        """For how many rows nothing of an update was logged, nor its rate or count, after others.

        0 where neither the rate nor the count ever was: a loss alone may be left out for being NaN.
        """
        if not self.has_updates or COUNTED_UPDATES.isdisjoint(self.histories):
            return 0
        logged = (self.histories.get(name) for name in (*UPDATE_METRICS, *COUNTED_UPDATES))
        return self.mark.row - max(each.last_row for each in logged if each is not None)

    @property
    def updates_stopped(self) -> bool:
        """Whether updates have been missing far longer than they usually are, for ten rows or more.

        Some trainers update less often than they log.
        """
        gone = self.rows_without_updates
        if gone < STOPPED_ROWS:
            return False
        times = max(self.histories[name].count for name in COUNTED_UPDATES & self.histories.keys())
        return gone * times > STOPPED_TIMES * (self.mark.row - gone + 1)

    @property
    def should_log_losses(self) -> bool:
        """Whether the trainer logs losses beside tags such as these.

        CleanRL prints none; SB3's monitors and evaluations.npz hold nothing of updates.
        """
        beside = tuple(self.facts.get("logs-losses", "").split())
        return any(tag.startswith(beside) for tag in self.profile.tags.values())

    @property
    def falling(self) -> bool:
        """Whether the reward is falling."""
        return self.reward is not None and self.reward.falling

    @property
    def flat(self) -> bool:
        """Whether the reward is flat (not at its ceiling), with enough points to tell."""
        return self.reward is not None and self.reward.flat

    @property
    def gains_nothing(self) -> bool:
        """Whether the reward is flat and has gained nothing, or is not logged; no tiny updates.

        The reward and the size of updates are no reason then to judge a row unlike the one before,
        and no finding is tolerated.
        """
        reward = self.reward
        nothing = reward is None or (not reward.gained and reward.flat)
        return nothing and not self.tiny_updates

    @property
    def stuck(self) -> bool:
        """Whether the reward is flat or falling."""
        return self.reward is not None and self.reward.stuck

    @property
    def at_max(self) -> bool:
        """Whether the reward sits at its ceiling."""
        return self.reward is not None and self.reward.at_max

    @property
    def gained(self) -> bool:
        """Whether the reward has risen by more than noise."""
        return self.reward is not None and self.reward.gained

    @property
    def keeps_gain(self) -> bool:
        """Whether the reward has risen by more than noise, and does not fall."""
        return self.gained and not self.falling

    @property
    def reward_pays(self) -> bool:
        """Whether the reward has risen by more than noise, and keeps most of that."""
        return self.keeps_gain and self.reward is not None and self.reward.lost_share <= KEPT_SHARE

    @property
    def rewarded_by_rules(self) -> bool:
        """Whether the reward is computed by rules; one learned by a model can be exploited.

        TRL names its reward after the model, with hyphens or dots, and one of a function after
        that.
        """
        return self.family == GRPO and not any("-" in x or "." in x for x in self.reward_parts)

    @property
    def reward_parts(self) -> dict[str, History]:
        """What each of several reward functions gives, by its name."""
        start = len(REWARD_COMPONENT_PREFIX)
        logged = self.histories.items()
        return {k[start:-1]: each for k, each in logged if k.startswith(REWARD_COMPONENT_PREFIX)}

    @property
    def learned(self) -> bool:
        """Whether the reward rises, keeps what it gained, or sits at its ceiling."""
        return self.rising or self.at_max or self.keeps_gain

    @property
    def reward_words(self) -> str:
        """The reward whose levels a message states: not always that which stands in the log."""
        words = label(self.reward_concept or REWARD_CONCEPTS[0])
        taken_apart = self.reward is not None and self.reward.source.is_taken_apart
        return f"{words} of new episodes" if taken_apart else words

    def is_tolerated(self, rule: str) -> bool:
        """Whether a finding of a rule has long been open, and the reward pays for it all the same.

        It has risen by more than noise, and keeps most of that.
        """
        if rule not in self.open_severities or self.reward is None:
            return False
        lasted = self.mark.row - self.opened_rows.get(rule, self.mark.row)
        return lasted >= TOLERATED_ROWS and self.reward_pays

    @property
    def rising(self) -> bool:
        """Whether the reward is rising."""
        return self.reward is not None and self.reward.rising
