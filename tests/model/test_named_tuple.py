"""Our named tuples are those of `typing`, made sooner."""

from __future__ import annotations

import pickle
import typing

import pytest

from ppo_top.model.named_tuple import NamedTuple


class Ours(NamedTuple):
    """A step and its value."""

    step: int
    values: list[float] | None = None
    unit: str = "steps"

    @property
    def has_values(self) -> bool:
        """Whether there is one."""
        return bool(self.values)

    @classmethod
    def of_text(cls, text: str) -> Ours:
        """Reads a step."""
        return cls(int(text))


class Theirs(typing.NamedTuple):
    """A step and its value."""

    step: int
    values: list[float] | None = None
    unit: str = "steps"


class Nothing(NamedTuple):
    """A value without fields."""


def test_it_is_what_typing_makes() -> None:
    """Fields, defaults, types, texts and errors; it is a tuple, and pickles."""
    assert tuple(Ours(3, [1.0])) == tuple(Theirs(3, [1.0])) == (3, [1.0], "steps")
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert Ours.__doc__ == Theirs.__doc__
    assert (Ours.__module__, Ours.__qualname__) == (__name__, "Ours")
    assert Ours.__bases__ == Theirs.__bases__ == (tuple,)
    assert repr(Ours(3)) == repr(Theirs(3)).replace("Theirs", "Ours")
    assert Ours(3)._replace(unit="episodes").unit == "episodes"
    assert pickle.loads(pickle.dumps(Ours(3, [1.0]))) == Ours(3, [1.0])
    assert Ours.of_text("4").has_values is False
    assert tuple(Nothing()) == ()
    with pytest.raises(TypeError, match="step"):
        Ours()  # type: ignore[call-arg]  # that is the error
    with pytest.raises(AttributeError):
        Ours(3).extra = 1  # type: ignore[attr-defined]  # that too
