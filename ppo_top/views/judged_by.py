"""How much of a run was looked at: rules, crucial values, and names that were not understood."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.catalogue import (
    PREFERENCE,
    TAG_PREFIX,
    UNKNOWN_TRAINER,
    names_self_play,
    suggested_alias,
)
from ppo_top.model import Profile
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.book import RULES
from ppo_top.rules.crucial_values import essential_values
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS, SELF_PLAY_MEASURES
from ppo_top.runs.run import Run
from ppo_top.text.format import first_names

MOST_SHARE = 0.75
"""A run that logs this share of its essential values is called healthy without a reservation."""

LEAST_VALUES = 3
"""Essential values that must be logged for a verdict without a reward."""

MAX_NAMES = 3
"""Names in a headline; more are counted."""


class JudgedBy(NamedTuple):
    """What a verdict rests on.

    `rules` is how many rules had the metrics that they look at, `of` how many there are for this
    family. `suggested_tags`: tags that were not understood -> the alias of the settings that they
    may need.
    """

    rules: int
    of: int
    suggested_tags: dict[str, str]


def judged_by(run: Run) -> JudgedBy:
    """What the verdict on a run rests on."""
    mine = {rule.id for rule in RULES if run.profile.family in rule.families}
    skipped = {each.rule for each in run.evaluation.skipped_rules()}
    return JudgedBy(len(mine - skipped), len(mine), _suggested_tags(run.profile))


def _suggested_tags(profile: Profile) -> dict[str, str]:
    """tag -> alias, for the tags of an unknown trainer that may mean a metric it lacks."""
    if profile.trainer_id != UNKNOWN_TRAINER.id:
        return {}
    unmapped = [tag for name, tag in profile.tags.items() if name.startswith(TAG_PREFIX)]
    found = {tag: alias for tag in unmapped if (alias := suggested_alias(tag)) is not None}
    return {tag: alias for tag, alias in found.items() if alias.split()[0] not in profile.tags}


def has_reward(profile: Profile) -> bool:
    """Whether a run logs something that serves as the reward."""
    measures = SELF_PLAY_MEASURES if names_self_play(profile.config) else REWARD_CONCEPTS
    return any(name in profile.tags for name in measures)


def enough_to_judge(profile: Profile) -> bool:
    """Whether silence of the rules says anything: a reward is logged, or several other values."""
    if has_reward(profile) or "eval_reward_mean" in profile.tags:
        return True
    logged, _ = essential_values(profile)
    return len(logged) >= (1 if profile.family == PREFERENCE else LEAST_VALUES)


def reservation(profile: Profile) -> str:
    """How far the health of a run can be told; "" where enough is logged."""
    logged, missing = essential_values(profile)
    if names_self_play(profile.config) and not has_reward(profile):
        others = [label for name, label in logged if name not in REWARD_CONCEPTS]
        tells = "in self-play only Elo or evaluation games tell of progress"
        return f"{_as_far_as(others)}; {tells}"
    if len(logged) >= MOST_SHARE * (len(logged) + len(missing)):
        return ""
    verb = "is" if len(missing) == 1 else "are"
    unseen = first_names([label for _, label in missing], MAX_NAMES)
    return f"{_as_far_as([label for _, label in logged])}; {unseen} {verb} not logged"


def _as_far_as(labels: Sequence[str]) -> str:
    """What a reserved verdict rests on."""
    seen = labels or ["evaluation"]
    return (
        f"Healthy as far as {first_names(seen, MAX_NAMES)} {'tells' if len(seen) == 1 else 'tell'}"
    )
