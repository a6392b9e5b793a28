"""Settings that the log states, and with which hardly anything is learned."""

from __future__ import annotations

from ppo_top.rules.advice.setting_symptoms import ODD_SETTINGS, SETTING_LIMITS
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import WARN, WATCH
from ppo_top.rules.engine.wording import num

EFFECTS = (
    "reward-never-moves",
    "reward-wrong-way",
    "reward-crash",
    "nothing-learns",
    "no-op-updates",
    "critic-not-learning",
    "value-loss-rising",
    "entropy-collapsed",
    "entropy-not-falling",
)
"""What such settings do: one of these findings shows that it matters."""


def setting_extreme(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A setting out of its range: as severe as what is open that it explains."""
    odd = next(filter(None, (find(run, limits) for find in ODD_SETTINGS.values())), None)
    if odd is None:
        return None
    worst = max(map(run.severity_of, EFFECTS))
    message = f"{odd.label} is {num(odd.value)}: {odd.effect}"
    return Assessment(max(WATCH, min(worst, WARN)), odd.value, odd.limit, message)


def _no_odd_setting(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No setting is out of its range by what is logged so far; a new metric may tell more."""
    if not run.histories.keys() >= block.columns.keys():
        return False
    return setting_extreme(run, limits) is None


RULES = (
    Rule(
        id="setting-extreme",
        title="Setting out of range",
        description="a setting that the log states is one with which hardly anything is learned",
        concepts=(),
        assess=setting_extreme,
        stays_calm=_no_odd_setting,
        asks_about=EFFECTS,
        limits=SETTING_LIMITS,
        persistence=k_of_n(2, 2),
        ranks_causes=True,
        causes=("a setting wrong by powers of ten, or with the wrong sign",),
        remedies=("check the settings of the run",),
        source="what the losses say (SB3's ppo.py: policy loss + ent_coef * entropy loss + vf_coef "
        "* value loss) and the share of random actions; all trainers' defaults are far from these",
        grade="B",
    ),
)
