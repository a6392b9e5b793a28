"""Rules from the settings through the judge: limits on either side, k of n, warm-up, clearing."""

from __future__ import annotations

import pytest

from ppo_top.model import Finding, Profile
from ppo_top.rules.judge import Judge
from ppo_top.settings.custom_rule import CustomRule
from tests.support.drawn_runs import DrawnColumn, draw_rows

LOW = CustomRule("mine", "my/score", below=0.5, k=1, n=1)
HIGH = CustomRule("mine", "my/score", above=0.5, k=1, n=1)


def found(
    entry: CustomRule, values: DrawnColumn, tags: dict[str, str] | None = None
) -> list[Finding]:
    """What a rule of the user's says of these values; its tag is no metric that is known."""
    about = Profile("custom", "on-policy", tags=tags or {})
    name = next(iter(about.tags), "tag:my/score")
    judge = Judge(about, [entry])
    for row in draw_rows({name: values}, 12):
        judge.add_row(row)
    return [finding for finding in judge.findings if finding.rule == "mine"]


@pytest.mark.parametrize(
    ("entry", "beyond", "within"),
    [
        (LOW, 0.49, 0.51),
        (HIGH, 0.51, 0.49),
        (LOW, 0.49, 0.5),
        (HIGH, 0.51, 0.5),
        (HIGH._replace(below=0.1), 0.09, 0.11),
        (HIGH._replace(below=0.1), 0.51, 0.49),
    ],
)
def test_a_value_beyond_a_limit_is_told(entry: CustomRule, beyond: float, within: float) -> None:
    """A limit on one side leaves the other one open."""
    (finding,) = found(entry, beyond)
    assert finding.severity.word == "warn"
    assert not found(entry, within)


def test_k_of_n_values_must_be_beyond_it() -> None:
    """Two of three; single ones are none."""
    entry = HIGH._replace(k=2, n=3)
    assert found(entry, [0.6, 0.4, 0.6, 0.4])
    assert not found(entry, [0.6, 0.4, 0.4, 0.6, 0.4])


def test_the_first_values_may_be_left_out() -> None:
    """A warm-up of three values: the fourth counts."""
    assert found(HIGH._replace(warmup=3), [0.4, 0.4, 0.4, 0.6, 0.4])
    assert not found(HIGH._replace(warmup=3), [0.4, 0.4, 0.6, 0.4])


@pytest.mark.parametrize(("clear", "times"), [(2, 2), (3, 1)])
def test_it_clears_after_so_many_values_within(clear: int, times: int) -> None:
    """Then it may open again."""
    assert len(found(HIGH._replace(clear=clear), [0.6, 0.4, 0.4, 0.6, 0.4])) == times


def test_none_is_taken_for_one() -> None:
    """0 of 0 values, cleared after 0: the least there is."""
    entry = HIGH._replace(k=0, n=0, clear=0)
    assert len(found(entry, [0.6, 0.4, 0.6, 0.4])) == 2
    assert not found(entry, 0.4)


def test_a_title_and_a_message_can_be_given() -> None:
    """Else both are made of the metric and its limits."""
    own = HIGH._replace(title="Too sure", say="the score is off")
    (given,), (made,) = found(own, 0.6), found(HIGH._replace(below=0.1), 0.6)
    assert (given.title, given.message) == ("Too sure", "the score is off")
    assert made.title == "my/score out of limits"
    assert made.message == "my/score is 0.6, above 0.5 or below 0.1"


@pytest.mark.parametrize("metric", ["reward_component_mean{a/b}", "rewards/a/b/mean"])
def test_a_metric_goes_by_its_own_name_or_its_tag(metric: str) -> None:
    """A tag that is mapped to a metric is judged as that metric."""
    entry = HIGH._replace(metric=metric)
    assert found(entry, 0.6, {"reward_component_mean{a/b}": "rewards/a/b/mean"})
