"""A defect in a rule fails its tests; users only lose that rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import pytest

from ppo_top.support import internal_errors

pytest.register_assert_rewrite("tests.rules.specification")


@pytest.fixture(autouse=True, scope="module")
def _defects_are_raised() -> Iterator[None]:
    def fail(where: str, error: Exception) -> NoReturn:
        raise AssertionError(f"{where} failed") from error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(internal_errors, "report_internal_error", fail)
        yield
