"""Colours can be read: contrast by WCAG 2, and no difference by shade alone."""

from __future__ import annotations

import pytest
from rich.color import Color
from rich.style import Style

from ppo_top.tui.graphics.theme import THEMES, Theme

PAPERS = [THEMES["dark-paper"], THEMES["light-paper"]]

DECORATION = {"frame", "band", "selected"}
"""Styles that no text has."""

CURVES = ["curve", "watch", "warn", "crit"]
SERIES = list("abcdefgh")
"""Curves of a comparison."""


def contrast(one: Color | None, other: Color | None) -> float:
    """The contrast of two colours, 1 to 21."""
    assert one is not None and other is not None
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    shares = [channel / 255 for channel in colour.get_truecolor()]
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", PAPERS, ids=lambda theme: theme.name)
def test_every_text_can_be_read(theme: Theme) -> None:
    """At least 4.5:1 on the background of the theme."""
    for name in set(theme.styles) - DECORATION - set(SERIES):
        style = theme.style(name)
        assert contrast(style.color, style.bgcolor) >= 4.5, name


@pytest.mark.parametrize("theme", PAPERS, ids=lambda theme: theme.name)
def test_the_healthy_band_is_visible_and_curves_on_it_too(theme: Theme) -> None:
    """The band stands out from the background, curves and texts from the band."""
    band = theme.style("band").bgcolor
    assert contrast(band, theme.style("").bgcolor) >= 1.35
    assert all(contrast(theme.style(name).color, band) >= 3 for name in CURVES)
    assert all(contrast(theme.style(name).color, band) >= 4.5 for name in ("dim", "limit"))


@pytest.mark.parametrize("theme", PAPERS, ids=lambda theme: theme.name)
def test_compared_curves_stand_out(theme: Theme) -> None:
    """At least 3:1."""
    for name in SERIES:
        assert contrast(theme.style(name).color, theme.style("").bgcolor) >= 3, name


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_watch_and_warn_differ_by_more_than_their_shade(theme: Theme) -> None:
    """`warn` is bold: the difference is seen without colours, too."""
    assert theme.style("warn").bold
    assert not theme.style("watch").bold


def test_nothing_is_ansi_blue_in_sixteen_colours() -> None:
    """Many terminals draw it too dark to be read on black."""
    styles = [THEMES["16"].style(name) for name in THEMES["16"].styles]
    assert Style.parse("color(4)").color not in [style.color for style in styles]
