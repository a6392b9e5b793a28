"""The settings for some paths: those of their directory, and the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ppo_top.paths import is_folder
from ppo_top.settings import Settings, load_settings


def settings_for(paths: Sequence[Path], own: Path | None = None) -> Settings:
    """The settings in the first path's directory, with the user's own on top.

    `own` is read instead of the user's file; UnusableSettingsError if it cannot be.
    """

    def thresholds() -> dict[str, Iterable[str]]:
        from ppo_top.rules.book import RULES

        return {rule.id: rule.threshold_names for rule in RULES}

    def metric_like(name: str) -> str:
        from ppo_top import catalogue

        return catalogue.concept_like(name)

    folder = next((path if is_folder(path) else path.parent for path in paths), None)
    return load_settings(folder, thresholds, metric_like, user_file=own)
