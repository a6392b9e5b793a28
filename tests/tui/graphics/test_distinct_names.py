"""Names in few cells keep the part that tells them apart."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from ppo_top.tui.graphics.distinct_names import shared_parts, shorten_distinctly


def shortened(names: list[str], cells: int) -> list[str]:
    """Each name in so many cells."""
    shared = shared_parts(tuple(names))
    return [shorten_distinctly(name, shared[name], cells) for name in names]


@pytest.mark.parametrize(
    "names",
    [
        ["trl_ppo_kl/tb/tiny-ppo", "trl_ppo_reward/tb/tiny-ppo"],
        ["CartPole-v1__ppo__1__1700000000", "CartPole-v1__ppo__1__1700009999"],
        [
            "experiment_with_long_name_lr1e-4_layers2_x",
            "experiment_with_long_name_lr1e-3_layers2_x",
        ],
        ["nothing_in_common_here_at_all", "something_else_altogether_now"],
    ],
)
@pytest.mark.parametrize("cells", [14, 18, 24])
def test_what_differs_is_kept(names: list[str], cells: int) -> None:
    """At the start, in the middle or at the end."""
    shown = shortened(names, cells)
    assert len(set(shown)) == 2
    assert all(len(each) <= cells for each in shown)


def test_a_name_that_fits_stays_as_it_is() -> None:
    """Only what does not fit is shortened."""
    assert shortened(["a_name", "another_name_that_is_longer"], 12)[0] == "a_name"


@example(["0000\x1f\x1f\x1f⺀⺀⺀⼀\x1f\x1f⺀"], 12)  # letters of no cell, and of two
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=6), st.integers(1, 40))
def test_no_name_is_wider_than_its_cells(names: list[str], cells: int) -> None:
    """Whatever it is made of."""
    assert all(cell_len(each) <= cells for each in shortened(names, cells))
