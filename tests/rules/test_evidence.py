"""The lines below a finding: related metrics, the reward, and what a diagnosis explains."""

from __future__ import annotations

import pytest

from ppo_top.model import Finding, Mark, Profile, Sample, Severity, SeverityChange
from ppo_top.rules.book import BY_ID
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment
from ppo_top.rules.evidence import collect_evidence, first_member, gather_members
from tests.rules.courses import fallen, rise
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, draw_rows, jitter

SPOKEN = Assessment(Severity.WARN, 1.0, None, "something is wrong")


def evidence(rule: str, columns: DrawnColumns, count: int = 60, **config: float) -> list[str]:
    """The lines of a finding of a rule at the end of a run."""
    about = Profile("sb3", "on-policy", config, samples={"reward_mean": Sample("update")})
    run = JudgedRun(about)
    for row in draw_rows(columns, count):
        run.add_row(row)
    return list(collect_evidence(BY_ID[rule], SPOKEN, run))


@pytest.mark.parametrize(("last", "lines"), [(56, 1), (55, 0)])
def test_a_related_metric_is_at_most_three_rows_old(last: int, lines: int) -> None:
    """A spike of the value loss is told with the explained variance beside its range."""
    columns: DrawnColumns = {
        "explained_variance": lambda i: 0.52 if i <= last else None, "value_loss": 5.0,
    }  # fmt: skip
    found = evidence("value-loss-spike", columns)
    assert len(found) == lines
    assert all(line.startswith("explained var 0.52 (healthy >= 0.5") for line in found)


def sunk(i: int) -> float:
    """A reward that begins at 50 and is half of that from the fifteenth update on."""
    return jitter(i) + (50.0 if i < 15 else 25.0)


@pytest.mark.parametrize(
    ("reward", "count", "end"),
    [
        (rise, 60, ", rising"),
        (fallen, 44, ", falling"),
        (lambda i: 22 + jitter(i + 2, 2), 60, ", not rising"),
        (lambda i: 22 + min(i, 30) + jitter(i + 2, 2), 90, ", no longer rising"),
        (sunk, 60, ", below its start"),
        (lambda i: sunk(i) + 0.8 * max(0, i - 44), 60, ", below its start, rising again"),
        (lambda i: 500.0 * min(1, i / 20), 60, ", at its ceiling"),
    ],
)
def test_the_reward_stands_beside_what_is_wrong(reward: DrawnColumn, count: int, end: str) -> None:
    """From where to where, and what it does."""
    (line,) = evidence("kl-high", {"reward_mean": reward}, count, reward_threshold=500.0)
    told, _, step = line.rpartition(", at step ")
    assert told.startswith("reward ") and told.endswith(end)
    assert "," in end and told.count(",") == end.count(",")
    assert step == f"{count},000"  # a finding may be read long after it was made


@pytest.mark.parametrize(
    ("rewards", "lines"), [([5.0, 6.0], 0), ([5.0] * 3, 0), ([1.0, 5.0, 9.0, 9.0], 1)]
)
def test_a_few_rewards_say_nothing(rewards: list[float], lines: int) -> None:
    """Fewer than three, or as many that are where they began."""
    assert len(evidence("kl-high", {"reward_mean": rewards}, len(rewards))) == lines


def test_a_finding_about_the_reward_does_not_repeat_it() -> None:
    """It tells of it itself."""
    assert evidence("reward-crash", {"reward_mean": rise}) == []


# --- diagnoses ---------------------------------------------------------------------------------


def finding(
    rule: str, opened: int, severity: Severity = Severity.WARN, cleared: int | None = None
) -> Finding:
    """A finding that opened at a row; at watch it became a warning ten rows later."""
    mark = Mark(opened, 1000 * opened, 0.0)
    changes = [SeverityChange(mark, severity)]
    if severity == Severity.WATCH:
        later = Mark(opened + 10, 1000 * opened + 10_000, 0.0)
        changes.append(SeverityChange(later, Severity.WARN))
    ended = Mark(cleared, 1000 * cleared, 0.0) if cleared is not None else None
    return Finding(rule, rule, (), mark, changes, 1.0, None, f"{rule} speaks", cleared=ended)


RULES = ("kl-high", "clip-high", "reward-crash")


def gathered(*found: Finding, opened: int = 40, dated_by: tuple[str, ...] = ()) -> Finding:
    """A diagnosis that explains findings of these rules."""
    diagnosis = finding("updates-too-large", opened)
    diagnosis.evidence = ("after 7 updates: told before", "its own line")
    gather_members(found, diagnosis, RULES, Profile(), dated_by=dated_by)
    return diagnosis


def test_a_diagnosis_tells_in_which_order_things_broke() -> None:
    """From the first warning on; what was said of the order before is replaced."""
    diagnosis = gathered(
        finding("reward-crash", 42), finding("clip-high", 38), finding("kl-high", 37),
        finding("grad-high", 20),
    )  # fmt: skip
    starts = [line.partition(":")[0] for line in diagnosis.evidence]
    assert starts == ["first", "after 1 update", "after 5 updates", "its own line"]
    assert diagnosis.members == ("kl-high", "clip-high", "reward-crash")
    assert diagnosis.since.row == 37


def test_a_diagnosis_tells_once_of_each_rule() -> None:
    """Of what came and went again it tells when it first was a warning."""
    mild, again, third = (
        finding("kl-high", 20, Severity.INFO, 37), finding("kl-high", 38, cleared=39),
        finding("kl-high", 41),
    )  # fmt: skip
    diagnosis = gathered(mild, again, third, finding("reward-crash", 42))
    assert diagnosis.evidence[:-1] == (
        "first: kl-high speaks, since step 38,000",
        "after 4 updates: reward-crash speaks, since step 42,000",
    )


def test_what_was_mild_for_long_broke_when_it_became_a_warning() -> None:
    """An info before it did not break anything."""
    diagnosis = gathered(
        finding("kl-high", 30, Severity.WATCH), finding("clip-high", 40),
        finding("reward-crash", 25, Severity.INFO),
    )  # fmt: skip
    starts = [line.partition(":")[0] for line in diagnosis.evidence[:-1]]
    assert starts == ["before", "first", "with it"]
    assert diagnosis.evidence[1].endswith("since step 30,000, a warning at 40,000")
    assert diagnosis.evidence[2].endswith("since step 40,000")
    assert diagnosis.since.row == 40


@pytest.mark.parametrize(
    ("fell", "severity", "since"),
    [(38, Severity.WARN, 38), (42, Severity.WARN, 40), (30, Severity.WATCH, 40), (30, None, 40)],
)
def test_a_state_holds_since_what_shows_it_not_since_what_led_to_it(
    fell: int, severity: Severity | None, since: int
) -> None:
    """A policy that collapsed had not collapsed when its updates became too large."""
    found = [finding("kl-high", 20)]
    found += [finding("reward-crash", fell, severity)] if severity is not None else []
    diagnosis = gathered(*found, dated_by=("reward-crash",))
    assert diagnosis.first_sign.row == 20
    assert diagnosis.evidence[0].startswith("first: kl-high")
    assert diagnosis.since.row == since


@pytest.mark.parametrize(("cleared", "members"), [(37, ("kl-high",)), (36, ())])
def test_what_cleared_within_three_rows_before_belongs_to_it(
    cleared: int, members: tuple[str, ...]
) -> None:
    """Earlier trouble was over by itself."""
    diagnosis = gathered(finding("kl-high", 20, cleared=cleared))
    assert diagnosis.members == members
    assert diagnosis.since.row == (20 if members else 40)


def test_its_first_member_is_the_first_warning() -> None:
    """Or what came first, where none is."""
    mild, severe = finding("kl-high", 20, Severity.INFO), finding("clip-high", 30)
    diagnosis = gathered(mild, severe)
    assert first_member([mild, severe], diagnosis, RULES) is severe
    assert first_member([mild, severe], diagnosis, ("kl-high",)) is mild
    assert first_member([severe], diagnosis, ("reward-crash",)) is None
