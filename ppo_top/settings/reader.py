"""Reads `ppo-top.toml`.

A file in a log directory may have been written by somebody else, so it is data: it can name no
command and no path, and may not set everything (`USER_ONLY_TABLES`). The user's own file takes
precedence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ppo_top.paths import config_directory, is_file, unreachable_reason
from ppo_top.settings.custom_rule import (
    RULE_KEYS,
    CustomRule,
    find_fault,
    is_finite_number,
    make_custom_rule,
)
from ppo_top.settings.hook import HOOK_KEYS, find_hook_fault, make_hook
from ppo_top.settings.run_patterns import RunPatterns, find_pattern_fault
from ppo_top.settings.settings import Settings

SETTINGS_FILE = "ppo-top.toml"
MAX_SETTINGS_BYTES = 256 * 1024
"""A larger settings file is not read."""
USER_ONLY_TABLES = ("console", "on")
"""Allowed only in the user's own file: a regular expression can be made to run forever, and a
command can do anything.
"""
TAG_TRANSFORMS = ("neg", "pct", "ms", "1-x", "bin", "zero-missing")
"""What can be done to the numbers of a tag that is mapped to a metric."""
MAX_HINT_CHARS = 300
MAX_SHOWN_CHARS = 200
"""Of a longer key or value only the beginning is shown."""

KnownThresholds = Callable[[], Mapping[str, Iterable[str]]]
"""Gives the names of the thresholds of every rule; called only when a file names rules."""


MetricLike = Callable[[str], str]
"""Gives the name of the metric that a name is, or else of one like it; empty if there is none."""


class UnusableSettingsError(Exception):
    """A settings file that was named is missing or cannot be read at all; its text says which."""


def load_settings(
    logs: Path | None,
    known: KnownThresholds,
    metric_like: MetricLike,
    environ: Mapping[str, str] = os.environ,
    user_file: Path | None = None,
) -> Settings:
    """Load the settings of a log directory, overridden by the user's own.

    `user_file` takes the place of the user's own; UnusableSettingsError if it cannot.
    """
    settings = Settings()
    files = [(logs / SETTINGS_FILE, False)] if logs is not None else []
    files.append((user_file or config_directory(environ) / SETTINGS_FILE, True))
    for path, trusted in files:
        if is_file(path):
            reader = _SettingsReader(path, trusted, known, metric_like)
            settings = reader.apply_to(settings)
            if path == user_file and not reader.is_readable:
                raise UnusableSettingsError(reader.problems[0])
        elif path == user_file:
            why = unreachable_reason(path) or "not a file"
            raise UnusableSettingsError(f"{path}: {why}")
    return settings


class _SettingsReader:
    """Applies one file to settings and reports everything in it that is wrong."""

    def __init__(
        self, path: Path, trusted: bool, known: KnownThresholds, metric_like: MetricLike
    ) -> None:
        self.path, self.trusted = path, trusted
        self.known, self.metric_like = known, metric_like
        self.problems: list[str] = []
        self.changes: dict[str, object] = {}
        self.curriculum = False
        self.is_readable = True
        """Whether it is TOML; mistakes within it cost only what they stand at."""

    def apply_to(self, before: Settings) -> Settings:
        """The settings with those of the file on top."""
        readers: dict[str, Callable[[object, Settings], None]] = {
            "goal": self._goal,
            "curriculum": self._curriculum,
            "rules": self._thresholds,
            "rule": self._custom_rules,
            "tags": self._tags,
            "runs": self._runs,
            "console": self._console,
            "on": self._hooks,
            "notify": self._notify,
            "display": self._display,
        }
        for key, value in self._document().items():
            if key not in readers:
                self._unknown("", key, readers)
            elif key in USER_ONLY_TABLES and not self.trusted:
                own = config_directory() / SETTINGS_FILE
                self._problem(key, f"allowed only in your own settings ({own})")
            else:
                readers[key](value, before)
        problems = (*before.problems, *self.problems)
        after = before._replace(problems=problems, **self.changes)  # type: ignore[arg-type]
        return after.with_curriculum() if self.curriculum else after

    def _document(self) -> dict[str, object]:
        import tomllib

        try:
            with open(self.path, "rb") as file:
                text = file.read(MAX_SETTINGS_BYTES + 1)
            if len(text) <= MAX_SETTINGS_BYTES:
                return tomllib.loads(text.decode("utf-8"))
            self._problem("", f"larger than {MAX_SETTINGS_BYTES // 1024} KiB, ignored")
        except OSError as error:
            self._problem("", f"cannot read: {(error.strerror or str(error)).lower()}")
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            self._problem("", f"invalid TOML: {error}")
        except ValueError:  # Python refuses to convert thousands of digits
            self._problem("", "invalid TOML: a number with too many digits")
        self.is_readable = False
        return {}

    # --- the keys ----------------------------------------------------------------------------

    def _goal(self, value: object, before: Settings) -> None:
        number = self._number("goal", value)
        if number is not None:
            self.changes["goal"] = number

    def _curriculum(self, value: object, before: Settings) -> None:
        if isinstance(value, bool):
            self.curriculum = value
        else:
            self._expected("curriculum", "true or false", value)

    def _thresholds(self, value: object, before: Settings) -> None:
        known = self.known()
        thresholds = {rule: dict(limits) for rule, limits in before.thresholds.items()}
        reasons = dict(before.reasons)
        muted = set(before.muted)
        for rule, limits in self._table("rules", value).items():
            if rule not in known:
                self._unknown("rules", rule, known, "rule")
                continue
            for name, limit in self._table(f"rules.{rule}", limits).items():
                if name == "mute":
                    self._mute(rule, limit, muted, reasons)
                elif name not in known[rule]:
                    self._unknown(f"rules.{rule}", name, [*known[rule], "mute"])
                elif (number := self._number(f"rules.{rule}.{name}", limit)) is not None:
                    thresholds.setdefault(rule, {})[name] = number
        self.changes.update(thresholds=thresholds, muted=frozenset(muted), reasons=reasons)

    def _mute(self, rule: str, value: object, muted: set[str], reasons: dict[str, str]) -> None:
        if value is False:
            muted.discard(rule)
        elif value is True or isinstance(value, str):
            muted.add(rule)
            reasons[rule] = value if isinstance(value, str) else ""
        else:
            self._expected(f"rules.{rule}.mute", "true, false or a reason in quotes", value)

    def _custom_rules(self, value: object, before: Settings) -> None:
        rules = {rule.id: rule for rule in before.rules}
        for number, entry in enumerate(_as_list(value), 1):
            rule = self._custom_rule(f"rule[{number}]", entry)
            if rule is not None:
                rules[rule.id] = rule
        self.changes["rules"] = tuple(rules.values())

    def _custom_rule(self, where: str, entry: object) -> CustomRule | None:
        given = dict(self._table(where, entry))
        for key in given:
            if key not in RULE_KEYS:
                self._unknown(where, key, RULE_KEYS)
                return None
        fault = find_fault(given)
        if fault is None and given["id"] in self.known():
            fault = "id", f"{given['id']!r} is a built-in rule"
        if fault is None:
            return make_custom_rule(given)
        self._problem(".".join(part for part in (where, fault[0]) if part), fault[1])
        return None

    def _tags(self, value: object, before: Settings) -> None:
        tags = dict(before.tags)
        for tag, meaning in self._table("tags", value).items():
            concept, *transforms = (meaning.split() if isinstance(meaning, str) else []) or [""]
            near = self.metric_like(concept)
            if near != concept or not near:
                hint = f"did you mean {near!r}?" if near else "see `ppo-top explain`"
                what = f"unknown metric {_shown(meaning)}, {hint}"
                self._problem(f"tags.{_shown(tag)}", what)
            elif unknown := [word for word in transforms if word not in TAG_TRANSFORMS]:
                self._unknown(f"tags.{_shown(tag)}", unknown[0], TAG_TRANSFORMS, "transform")
            else:
                tags[tag] = str(meaning)
        self.changes["tags"] = tags

    def _runs(self, value: object, before: Settings) -> None:
        entries = before.runs._asdict()
        for key, given in self._table("runs", value).items():
            if key not in entries:
                self._unknown("runs", key, entries)
                continue
            read = [self._patterns(f"runs.{key}", each) for each in _as_list(given)]
            entries[key] += tuple(filter(None, read))
        self.changes["runs"] = RunPatterns(**entries)

    def _patterns(self, where: str, value: object) -> tuple[str, ...]:
        """An entry of `join` or `split`: a pattern, or a list of some that belong together."""
        patterns = []
        for pattern in _as_list(value):
            if not isinstance(pattern, str):
                self._expected(where, "patterns in quotes", pattern)
            elif fault := find_pattern_fault(pattern):
                self._problem(f"{where}: {_shown(pattern)}", fault)
            else:
                patterns.append(pattern)
        return tuple(patterns)

    def _console(self, value: object, before: Settings) -> None:
        expressions = []
        for number, text in enumerate(_as_list(value), 1):
            try:
                if not isinstance(text, str) or not re.compile(text).groupindex:
                    raise re.error("no named groups, such as (?P<reward_mean>...)")
                expressions.append(text)
            except (re.error, RecursionError, OverflowError) as error:
                what = f"invalid regular expression: {str(error)[:MAX_SHOWN_CHARS]}"
                self._problem(f"console[{number}]", what)
        self.changes["console"] = tuple(expressions)

    def _hooks(self, value: object, before: Settings) -> None:
        hooks = list(before.hooks)
        for number, entry in enumerate(_as_list(value), 1):
            given = self._table(f"on[{number}]", entry)
            if given is not entry:  # no table, which was told
                continue
            if unknown := [key for key in given if key not in HOOK_KEYS]:
                self._unknown(f"on[{number}]", unknown[0], HOOK_KEYS)
            elif fault := find_hook_fault(given):
                where = ".".join(part for part in (f"on[{number}]", fault[0]) if part)
                self._problem(where, fault[1])
            else:
                hooks.append(make_hook(given))
        self.changes["hooks"] = tuple(hooks)

    def _notify(self, value: object, before: Settings) -> None:
        self._switches("notify", value, ("bell", "desktop", "tmux"))

    def _display(self, value: object, before: Settings) -> None:
        table = dict(self._table("display", value))
        theme = table.pop("theme", None)
        if isinstance(theme, str):
            self.changes["theme"] = theme
        elif theme is not None:
            self._expected("display.theme", "a name in quotes", theme)
        self._switches("display", table, ("ascii", "machine"), also=("theme",))

    # --- helpers -----------------------------------------------------------------------------

    def _switches(
        self, where: str, value: object, names: tuple[str, ...], also: tuple[str, ...] = ()
    ) -> None:
        for key, switch in self._table(where, value).items():
            if key not in names:
                self._unknown(where, key, names + also)
            elif isinstance(switch, bool):
                self.changes[key] = switch
            else:
                self._expected(f"{where}.{key}", "true or false", switch)

    def _table(self, where: str, value: object) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        self._expected(where, "a table", value)
        return {}

    def _number(self, where: str, value: object) -> float | None:
        if is_finite_number(value):
            return float(value)  # type: ignore[arg-type]
        self._expected(where, "a finite number", value)
        return None

    def _unknown(self, where: str, key: str, names: Iterable[str], kind: str = "key") -> None:
        from difflib import get_close_matches

        near = get_close_matches(key[:MAX_SHOWN_CHARS], list(names), 1, 0.5)
        hint = f", did you mean {near[0]!r}?" if near else f"; known: {', '.join(sorted(names))}"
        hint = hint if len(hint) < MAX_HINT_CHARS else ""
        self._problem(where, f"unknown {kind} {_shown(key)}{hint}")

    def _expected(self, where: str, expected: str, value: object) -> None:
        self._problem(where, f"expected {expected}, got {_shown(value)}")

    def _problem(self, where: str, what: str) -> None:
        line = ": ".join(part for part in (str(self.path), where, what) if part)
        self.problems.append("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _shown(value: object) -> str:
    """A value of the file as text; some that can be written in TOML have none in Python."""
    try:
        text = repr(value)
        return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}..."
    except (ValueError, RecursionError):  # thousands of digits, of levels
        return "something too long to show"
