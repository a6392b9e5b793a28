"""Compares the first values of two logs: are they the same training?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from ppo_top.model import HEAD_ROWS, Head
from ppo_top.model.named_tuple import NamedTuple

Heads = Mapping[str, Head]
"""tag -> its first points."""

INDISTINCT_TAG = re.compile(
    r"(?i)time|fps|sps\b|per_sec|speed|runtime|epoch|iter|step|episodes|n_updates|num_tokens|lr\b"
    r"|learning_rate|clip_range|coef|beta\b|epsilon|\beps\b|exploration|anneal|temperature"
)
"""Tags with equal values in different runs (settings, counters), or unequal ones in the same run
(clocks)."""
CLOCK_TAG = re.compile(r"(?i)time(?!steps?)|fps|sps\b|per_sec|speed|runtime")
"""Tags whose values differ each time a training is run."""
RELATIVE_TOLERANCE = 1e-4
"""Relative difference up to which values are the same: float32, or five digits in a file."""
MAX_DIGITS = 4
"""Digits of one value that count: more of them are as good as certain anyway."""
MIN_DIGITS = 9
"""Equal digits by which two logs in different folders are the same training."""
MIN_EQUAL_SHARE = 0.9
"""Share of the common tags that must be equal for that."""
MAX_LOST = 0.1
"""The share of its steps by which a log that lost some lines may be ahead of another one."""
MIN_UNNAMED_ROWS = 4
"""Points needed to compare tags with different names."""
RECENT = 5
"""Newest values of which a console may print the mean."""
MAX_TAGS = 100
"""Common tags that are compared."""
MAX_KNOWN_DIGITS = 100_000
"""Numbers whose digits are kept: a run is compared with many others by the same values."""


class Likeness(NamedTuple):
    """How alike two logs are.

    `equal` and `unequal` count common tags that tell runs apart, `digits` the digits of all equal
    values, each value of a tag once, and `noisy_digits` those of tags that follow no schedule.
    `is_refuted`: there are unequal values at the same step.
    """

    equal: int
    unequal: int
    digits: int
    noisy_digits: int
    is_refuted: bool

    @property
    def is_certain(self) -> bool:
        """Whether they are the same training if one is in a folder above the other."""
        return self.digits >= MIN_DIGITS and self._is_mostly_equal

    @property
    def is_certain_anywhere(self) -> bool:
        """Whether they are the same training, wherever they are."""
        return self.noisy_digits >= MIN_DIGITS and self._is_mostly_equal

    @property
    def _is_mostly_equal(self) -> bool:
        return self.equal >= MIN_EQUAL_SHARE * (self.equal + self.unequal)

    @property
    def is_likely(self) -> bool:
        """Whether they are the same training, if they are in one folder."""
        return self.digits > 0 and self.equal > self.unequal

    @property
    def is_contradiction(self) -> bool:
        """Whether they are different trainings."""
        return self.unequal > 0 and self.equal <= self.unequal


NO_LIKENESS = Likeness(0, 0, 0, 0, False)


def compare(ours: Heads, theirs: Heads) -> Likeness:
    """How alike two logs are, by the tags that both have, else by the values alone."""
    common = sorted(tag for tag in ours if tag in theirs and is_distinct(tag))[:MAX_TAGS]
    if not common:
        return _compare_unnamed(ours, theirs)
    equal = unequal = digits = noisy_digits = 0
    is_refuted = False
    for tag in common:
        our, their = ours[tag], theirs[tag]
        pairs = _pairs_at_steps(our, their)
        is_equal = bool(pairs) and _all_same(pairs)
        is_refuted = is_refuted or (bool(pairs) and not is_equal)
        if not is_equal:
            pairs = _pairs_in_order(our, their)
            is_equal = bool(pairs) and (_all_same(pairs) or _are_recent_means(pairs))
        equal, unequal = equal + is_equal, unequal + (not is_equal)
        found = _equal_digits(pairs) if is_equal else 0
        digits += found
        noisy_digits += found if found and not _is_schedule(our) else 0
    return Likeness(equal, unequal, digits, noisy_digits, is_refuted and equal <= unequal)


def _are_recent_means(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether one log has the means of what the other had so far: PyMARL prints those of five."""
    if len(pairs) < MIN_UNNAMED_ROWS or not is_same_value(*pairs[0]):
        return False
    ours, theirs = zip(*pairs, strict=True)
    return any(
        _all_same(zip(_recent_means(values), means, strict=True))
        for values, means in ((ours, theirs), (theirs, ours))
    )


def _recent_means(values: Sequence[float]) -> list[float]:
    """The mean of each value and the few before it."""
    windows = (values[max(0, end - RECENT) : end] for end in range(1, len(values) + 1))
    return [sum(window) / len(window) for window in windows]


@lru_cache(maxsize=1024)
def is_distinct(tag: str) -> bool:
    """Whether the values of a tag tell runs apart."""
    return not INDISTINCT_TAG.search(tag)


def _compare_unnamed(ours: Heads, theirs: Heads) -> Likeness:
    """How alike two logs without a common tag are: a script may print names of its own."""
    equal = digits = 0
    candidates = list(_telling_heads(theirs))
    for our in _telling_heads(ours):
        for their in candidates:
            pairs = _pairs_in_order(our, their)
            if is_same_value(*pairs[0]) and _all_same(pairs):
                equal, digits = equal + 1, digits + _equal_digits(pairs)
                break
    return Likeness(equal, 0, digits, digits, False) if digits >= MIN_DIGITS else NO_LIKENESS


def _telling_heads(heads: Heads) -> Iterable[Head]:
    """The first points of tags whose values are no counter, no constant and no schedule."""
    for tag in sorted(heads)[:MAX_TAGS]:
        head = heads[tag]
        if len(head.values) >= MIN_UNNAMED_ROWS and is_distinct(tag) and _is_noisy(head):
            yield head


def _is_schedule(head: Head) -> bool:
    """Whether values change by the same amount or factor each time, as epsilon may: no measurement.

    Two values are no proof.
    """
    changes = [after - before for before, after in pairwise(head.values)]
    ratios = [after / before for before, after in pairwise(head.values) if before]
    return any(
        len(each) > 1 and all(math.isclose(other, each[0], rel_tol=1e-3) for other in each)
        for each in (changes, ratios)
    )


def _is_noisy(head: Head) -> bool:
    """Whether values rise and fall, unlike a schedule or a counter."""
    pairs = list(pairwise(head.values))
    return any(a < b for a, b in pairs) and any(a > b for a, b in pairs)


def _pairs_at_steps(ours: Head, theirs: Head) -> list[tuple[float, float]]:
    at = dict(zip(theirs.steps[:HEAD_ROWS], theirs.values, strict=False))
    pairs = zip(ours.steps[:HEAD_ROWS], ours.values, strict=False)
    return [(value, at[step]) for step, value in pairs if step in at]


def _pairs_in_order(ours: Head, theirs: Head) -> list[tuple[float, float]]:
    """Logs may count differently, and a later row may be missing in one of them.

    What one logs as NaN, before the first update, another one leaves out.
    """
    known = [
        [value for value in head.values[:HEAD_ROWS] if not math.isnan(value)]
        for head in (ours, theirs)
    ]
    return list(zip(*known, strict=False))


def _all_same(pairs: Iterable[tuple[float, float]]) -> bool:
    return all(is_same_value(*pair) for pair in pairs)


def is_same_value(one: float, other: float) -> bool:
    """Whether two numbers are the same within the rounding of the one with fewer digits."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return repr(one) == repr(other)
    if math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE):
        return True
    rounding = 0.501 * 10.0 ** max(_last_digit(one), _last_digit(other))  # 0.6 may be 0.5723
    return abs(one - other) <= rounding


@lru_cache(maxsize=MAX_KNOWN_DIGITS)
def _last_digit(number: float) -> int:
    """The exponent of the last digit that a number was printed with.

    Zeros at the end of a large one may be digits: 1.23e+03 is printed for 1226, but also 1230.
    """
    from decimal import Decimal  # seldom needed

    text = repr(number)
    if "e" in text or not number.is_integer() or number == 0:
        return int(Decimal(text).as_tuple().exponent)
    exact = Decimal(text).normalize()
    return min(int(exact.as_tuple().exponent), max(0, exact.adjusted() - 2))


def _equal_digits(pairs: Iterable[tuple[float, float]]) -> int:
    """How many digits of a tag are equal, each value once."""
    return sum({min(pair): min(map(_digits, pair)) for pair in pairs}.values())


@lru_cache(maxsize=MAX_KNOWN_DIGITS)
def _digits(number: float) -> int:
    """How many digits a number was printed with, at most `MAX_DIGITS`; none for 0."""
    if number == 0 or not math.isfinite(number):
        return 0
    from decimal import Decimal  # seldom needed

    digits = Decimal(repr(number)).normalize().as_tuple().digits
    return min(MAX_DIGITS, len(digits))


def parts_later(ours: Heads, theirs: Heads) -> bool:
    """Whether logs that begin alike part later: trainings of one seed, until the first update.

    A log that lost some lines is at nearly the same step after as many rows.
    """
    common = [tag for tag in ours if tag in theirs and is_distinct(tag)]
    partings = [_parts_later(ours[tag], theirs[tag]) for tag in common]
    return any(partings) and 2 * sum(partings) >= len(partings)


def _parts_later(ours: Head, theirs: Head) -> bool:
    steps = list(zip(ours.steps, theirs.steps, strict=False))[HEAD_ROWS:]
    values = zip(ours.values[HEAD_ROWS:], theirs.values[HEAD_ROWS:], strict=False)
    return any(
        not is_same_value(*pair) if one == other else abs(one - other) > MAX_LOST * max(one, other)
        for (one, other), pair in zip(steps, values, strict=False)
    )


def has_equal_heads(ours: Heads, theirs: Heads) -> bool:
    """Whether one log is the beginning of the other, as far as points are kept, clocks included."""
    fewer, more = sorted((ours, theirs), key=len)
    return fewer.keys() <= more.keys() and all(
        _is_beginning(fewer[tag].steps, more[tag].steps)
        and _is_beginning(fewer[tag].values, more[tag].values)
        for tag in fewer
    )


def _is_beginning(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    common = min(len(ours), len(theirs))
    if ours[:common] == theirs[:common]:
        return True
    # NaN is unequal to itself
    return all(repr(our) == repr(their) for our, their in zip(ours, theirs, strict=False))


def has_same_clock(ours: Heads, theirs: Heads) -> bool:
    """Whether nothing that depends on the speed of the machine differs."""
    clocks = (tag for tag in ours if tag in theirs and CLOCK_TAG.search(tag))
    return all(_all_same(_pairs_in_order(ours[tag], theirs[tag])) for tag in clocks)


def without_prefix(tag: str) -> str:
    """A tag without the prefix that transformers adds in some of its outputs."""
    return tag.removeprefix("train/")


def merged_heads(logs: Iterable[Heads]) -> dict[str, Head]:
    """The first points of each tag, from the first log that has it."""
    found: dict[str, Head] = {}
    for heads in logs:
        for tag, head in heads.items():
            found.setdefault(without_prefix(tag), head)
    return found


def rough_values(heads: Heads) -> Iterator[tuple[str, int, int]]:
    """(tag, exponent, first three digits) of the first value of each tag, to look up equals."""
    for tag, head in heads.items():
        value = head.values[0]
        if value and math.isfinite(value) and is_distinct(tag):
            exponent = math.floor(math.log10(abs(value)))
            yield tag, exponent, round(value / 10.0 ** (exponent - 2))
