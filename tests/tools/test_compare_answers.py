"""What counts as a different answer when two versions judge the same logs."""

from __future__ import annotations

from tools.compare_answers import differences

OLD = {"runs": [{"state": "unknown", "verdict": "warn", "findings": [{"rule": "kl-high"}]}]}


def test_the_same_answers_do_not_differ() -> None:
    """Also where a word was renamed on purpose, and where only prose is another."""
    new = {"runs": [{"state": "ended", "verdict": "warn", "findings": [{"rule": "kl-high"}]}]}
    assert not list(differences(OLD, new, {"unknown": "ended"}))
    assert not list(differences({"message": "fell"}, {"message": "dropped"}, {}))


def test_a_value_that_differs_is_found_where_it_stands() -> None:
    """A verdict, and a finding that is there once only."""
    new = {"runs": [{"state": "unknown", "verdict": "crit", "findings": []}]}
    assert list(differences(OLD, new, {})) == [
        (".runs[0].findings[0]", {"rule": "kl-high"}, None),
        (".runs[0].verdict", "warn", "crit"),
    ]


def test_a_renamed_word_excuses_no_other_value() -> None:
    """`unknown` may have become `ended`, not `live`."""
    new = {"runs": [{**OLD["runs"][0], "state": "live"}]}
    assert list(differences(OLD, new, {"unknown": "ended"})) == [
        (".runs[0].state", "unknown", "live")
    ]
