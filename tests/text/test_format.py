"""Numbers, durations and hostile text as short text."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ppo_top.text import format


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.214, "0.214"),
        (0.0123456, "0.01235"),
        (187.43, "187.4"),
        (999.96, "1,000"),
        (14336, "14,336"),
        (-1204.4, "-1,204"),
        (0.00001234, "1.23e-5"),
        (0.0001, "0.0001"),
        (9.999999747378752e-05, "0.0001"),  # the same in single precision
        (0.0000999, "9.99e-5"),
        (1.5e9, "1.5e9"),
        (1e300, "1e300"),
        (math.nan, "NaN"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (None, "–"),
    ],
)
def test_numbers_have_three_or_four_digits(value: float | None, text: str) -> None:
    """A number keeps what an eye can use, and says plainly that it is none."""
    assert format.number(value) == text


@given(st.floats(min_value=-1e307, max_value=1e307))
def test_a_number_is_short_and_close(value: float) -> None:
    """Whatever the value, its text is short and means nearly the same."""
    text = format.number(value)
    assert len(text) <= 11
    assert math.isclose(float(text.replace(",", "")), value, rel_tol=0.005, abs_tol=1e-323)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.61, "61 %"), (0.062, "6.2 %"), (0.0, "0 %"), (1.0, "100 %"), (0.0004, "0.04 %")],
)
def test_fractions_are_printed_in_percent(share: float, text: str) -> None:
    """A share of one is printed in percent."""
    assert format.percent(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0004, "0.4 ms"),
        (0.0077, "7.7 ms"),
        (0.0421, "42 ms"),
        (0.0999, "0.1 s"),
        (0.42, "0.42 s"),
        (17.2, "17 s"),
        (59.9, "60 s"),
        (365, "6 min"),
        (3599, "1 h"),
        (7500, "2 h 5 min"),
        (86399, "1 d"),
        (273600, "3 d 4 h"),
        (None, "–"),
    ],
)
def test_durations_use_two_units_at_most(seconds: float | None, text: str) -> None:
    """A time span is told in the units in which one would say it."""
    assert format.duration(seconds) == text


@pytest.mark.parametrize(
    ("speed", "text"),
    [(1204.0, "1.2k/s"), (35.2, "35/s"), (0.5, "30/min"), (0.001, "3.6/h"), (None, "–")],
)
def test_slow_speeds_are_per_minute_or_hour(speed: float | None, text: str) -> None:
    """A slow run is told by the minute or the hour rather than in fractions."""
    assert format.rate(speed) == text


def test_steps_and_counts() -> None:
    """Steps carry thousands separators, totals where they are known, and amounts their noun."""
    assert format.steps(14336, 80000) == "14,336 / 80,000"
    assert format.steps(14336) == "14,336"
    assert [format.compact(n) for n in (7, 950, 1234, 14336, 3_100_000)] == [
        "7",
        "950",
        "1.2k",
        "14k",
        "3.1M",
    ]
    assert (format.plural(1, "run"), format.plural(2, "run")) == ("1 run", "2 runs")
    assert format.plural(2, "retry", "retries") == "2 retries"


def test_a_value_is_printed_in_the_format_of_its_metric() -> None:
    """Shares, counts and plain numbers each have their way."""
    assert format.format_metric_value(0.61, "pct") == "61 %"
    assert format.format_metric_value(39.0, "int") == "39"
    assert format.format_metric_value(0.214, "4g") == "0.214"
    assert format.format_metric_value(12.0, "s") == "12 s"
    assert [format.format_metric_value(rate, "lr") for rate in (0.03, 0.0003, 0.0)] == [
        "0.03",
        "3e-4",
        "0",
    ]


def test_escape_sequences_are_made_harmless() -> None:
    """Nothing is left of a string that would recolour, clear or retitle a terminal."""
    assert format.clean("\x1b[31mred\x1b]0;title\x07") == "�[31mred�]0;title�"


def test_bidirectional_and_invisible_characters_become_visible() -> None:
    """Bidirectional overrides and zero-width characters become visible."""
    assert format.clean("a\u202eb\u200bc\ufeff") == "a�b�c�"
    assert format.clean("two\nlines\tand tab") == "two lines and tab"


@given(st.text())
def test_clean_text_has_no_unsafe_character(text: str) -> None:
    """No character that is left is a control, a format sign, a surrogate or a combining mark."""
    for character in format.clean(text):
        assert unicodedata.category(character)[0] != "C"
        assert unicodedata.category(character) not in ("Zl", "Zp", "Mn", "Me")


@pytest.mark.parametrize(
    "text",
    ["ppo_7", "über-α", "实验一", "ランナー", "한국어", "🚀 rocket", "ｗｉｄｅ", "e\u0301", "×3 ✓"],
)
def test_reports_measure_a_text_as_the_screen_does(text: str) -> None:
    """In cells, without loading Rich; padding fills up to a width on either side."""
    assert format.cells(text) == cell_len(text)
    for padded in (format.pad(text, 12), format.pad(text, 12, right=True)):
        assert cell_len(padded) == 12 and padded.strip() == text


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("a", "a"),
        ("a b c", "a, b, c"),
        ("a b c d", "a, b and 2 more"),
        ("a b c d e", "a, b and 3 more"),
    ],
)
def test_of_many_names_the_first_are_listed(names: str, text: str) -> None:
    """Never "and 1 more": that one has room."""
    assert format.first_names(names.split(), 3) == text
