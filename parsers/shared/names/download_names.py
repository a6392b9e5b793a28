"""Names of the files that TensorBoard's downloads are: `run-<run>-tag-<tag>.csv`, or `.json`."""

from __future__ import annotations

from pathlib import PurePath

from ppo_top.parsers.shared.names import metric_names
from ppo_top.text.lazy_pattern import lazy_pattern

_NAME = lazy_pattern(r"(?:^|-)tag-(.+)$")


def tag_of(path: str) -> str:
    """The tag in a file's name, its group before a slash again.

    A file that was renamed may still say what it holds, between other words: `ppo_rewards_2.csv`.
    Newer downloads are named by the run alone: what such a file holds nothing says.
    """
    stem = PurePath(path).stem
    if match := _NAME.search(stem):
        return match[1].replace("_", "/", 1)
    words = metric_names.split_words(stem)
    telling = [at for at, word in enumerate(words) if word in metric_names.METRIC_WORDS]
    return "_".join(words[telling[0] : telling[-1] + 1]) if telling else f"{stem} (Value)"
