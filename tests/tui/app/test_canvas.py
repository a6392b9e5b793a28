"""The canvas writes changed cells and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.geometry import Size

from ppo_top.tui.app.canvas import (
    Canvas,
    CellCompositor,
    changed_ranges,
    to_cells,
    use_cell_compositor,
)
from ppo_top.tui.app.screen import MainScreen
from ppo_top.tui.graphics.styled_text import line

CELL_TEXT = st.text(st.sampled_from("ab┄界✗ "), max_size=12)


@given(CELL_TEXT, CELL_TEXT)
def test_repainting_the_changes_gives_the_new_line(old: str, new: str) -> None:
    """The old cells with the changed stretches painted over are the new cells."""
    before, after = to_cells(line(old), 24), to_cells(line(new), 24)
    painted = list(before)
    for first, last in changed_ranges(before, after):
        painted[first:last] = after[first:last]
        assert first == 0 or after[first][0] != ""
        assert last == 24 or after[last][0] != ""
    assert painted == after


def test_an_equal_line_is_not_repainted() -> None:
    """Nothing changed, nothing to do."""
    cells = to_cells(line("same"), 10)
    assert list(changed_ranges(cells, list(cells))) == []


def test_far_changes_are_two_stretches_and_near_ones_one() -> None:
    """A jump is dearer than a few unchanged cells."""
    old = to_cells(line("a" + "." * 20 + "b"), 22)
    new = to_cells(line("x" + "." * 20 + "y"), 22)
    assert list(changed_ranges(old, new)) == [(0, 1), (21, 22)]
    near = to_cells(line("x..y"), 4)
    assert list(changed_ranges(to_cells(line("a..b"), 4), near)) == [(0, 4)]


async def test_one_changed_cell_costs_few_bytes() -> None:
    """A digit that changes in a screen of 140x40 is a jump and a digit."""
    canvas = Canvas()
    front = MainScreen(canvas)

    class Small(App[None]):
        def get_default_screen(self) -> MainScreen:
            return front

    app = Small()
    async with app.run_test(size=(140, 40)) as pilot:
        rows = [line("." * 140) for _ in range(40)]
        canvas.show_lines(rows)
        await pilot.pause()
        rows = list(rows)
        rows[20] = line("." * 70 + "7" + "." * 69)
        assert canvas.show_lines(rows) == 1
        update = front._compositor
        assert isinstance(update, CellCompositor)
        update.update_widgets({canvas})
        partial = update.render_partial_update()
        assert partial is not None
        written = partial.render_segments(app.console)
        assert "7" in written and len(written) < 30
        assert canvas.size == Size(140, 40)


def test_an_unknown_textual_is_left_alone() -> None:
    """With an unknown compositor, Textual draws in its own way."""

    class Other:
        _compositor = object()

    assert use_cell_compositor(Other()) is False
    assert use_cell_compositor(object()) is False
