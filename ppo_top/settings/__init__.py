"""What a user sets in `ppo-top.toml`: thresholds, rules, tags, a goal, notifications."""

from ppo_top.settings.custom_rule import CustomRule as CustomRule

SETTINGS_FILE = "ppo-top.toml"
MAX_SETTINGS_BYTES = 256 * 1024
"""A settings file is smaller than this; a larger one is not read."""

USER_ONLY_TABLES = ("console",)
"""Tables that count only in the user's own file: an expression can be made to run for ever."""

TAG_TRANSFORMS = ("neg", "pct", "ms", "1-x", "bin", "zero-missing")
"""What may be done to the numbers of a tag that is given a concept."""

Thresholds = Mapping[str, Mapping[str, float]]
KnownThresholds = Callable[[], Mapping[str, Iterable[str]]]
"""Gives the names of the thresholds of every rule; asked only when a file speaks of rules."""

CURRICULUM_RULES = (
    "reward-crash",
    "value-loss-spike",
    "reward-wrong-way",
    "explained-variance-dropped",
)
"""Rules that speak of what is expected where tasks grow harder on the way: a level less then."""

_EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a session; `problems` are lines on what could not be understood."""

    thresholds: Thresholds = field(default_factory=lambda: MappingProxyType({}))
    muted: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """rule -> why it is muted"""
    rules: tuple[CustomRule, ...] = ()
    tags: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    """tag -> concept, with what is to be done to the number: `entropy neg`"""
    console: tuple[str, ...] = ()
    """expressions for console lines: named groups are metrics, `step` is the step"""
    goal: float | None = None
    bell: bool = True
    desktop: bool = False
    """notify through the terminal (OSC 9)"""
    tmux: bool = False
    theme: str | None = None
    ascii: bool | None = None
    problems: tuple[str, ...] = ()

    def with_curriculum(self) -> Settings:
        """The same for runs whose task changes on the way, which is no fault of the learner."""
        softer = {
            rule: {"milder": 1.0, **self.thresholds.get(rule, {})} for rule in CURRICULUM_RULES
        }
        return replace(self, thresholds={**self.thresholds, **softer})

    @property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The expressions for console lines, ready for use."""
        return tuple(re.compile(expression) for expression in self.console)


def load_settings(
    logs: Path | None,
    known: KnownThresholds,
    is_concept: Callable[[str], bool],
    environ: Mapping[str, str] = os.environ,
    user_file: Path | None = None,
) -> Settings:
    """The settings for a log directory: its own file, then the user's (or `user_file`)."""
    settings = Settings()
    places = [(logs / SETTINGS_FILE, False)] if logs is not None else []
    places.append((user_file or config_directory(environ) / SETTINGS_FILE, True))
    for path, trusted in places:
        if user_file is not None and path == user_file and not is_file(path):
            problems = (*settings.problems, f"{path}: no such file")
            settings = replace(settings, problems=problems)
        elif is_file(path):
            settings = _SettingsReader(path, trusted, known, is_concept).apply_to(settings)
    return settings


class _SettingsReader:
    """Takes one file into settings, and says of each thing that it cannot take why."""

    def __init__(
        self, path: Path, trusted: bool, known: KnownThresholds, is_concept: Callable[[str], bool]
    ) -> None:
        self.path, self.trusted = path, trusted
        self.known, self.is_concept = known, is_concept
        self.problems: list[str] = []
        self.changes: dict[str, object] = {}
        self.curriculum = False

    def apply_to(self, before: Settings) -> Settings:
        """The settings with what the file says laid over them."""
        takers: dict[str, Callable[[object, Settings], None]] = {
            "goal": self._goal,
            "curriculum": self._curriculum,
            "rules": self._thresholds,
            "rule": self._custom_rules,
            "tags": self._tags,
            "console": self._console,
            "notify": self._notify,
            "display": self._display,
        }
        for key, value in self._document().items():
            if key not in takers:
                self._unknown("", key, takers)
            elif key in USER_ONLY_TABLES and not self.trusted:
                own = config_directory() / SETTINGS_FILE
                self._problem(key, f"counts only in your own settings ({own})")
            else:
                takers[key](value, before)
        problems = (*before.problems, *self.problems)
        after = replace(before, problems=problems, **self.changes)  # type: ignore[arg-type]
        return after.with_curriculum() if self.curriculum else after

    def _document(self) -> dict[str, object]:
        import tomllib

        try:
            with open(self.path, "rb") as file:
                text = file.read(MAX_SETTINGS_BYTES + 1)
            if len(text) > MAX_SETTINGS_BYTES:
                self._problem("", f"larger than {MAX_SETTINGS_BYTES // 1024} KiB: not read")
                return {}
            return tomllib.loads(text.decode("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            self._problem("", f"cannot be read: {error}")
            return {}

    # --- what the keys hold ------------------------------------------------------------------

    def _goal(self, value: object, before: Settings) -> None:
        number = self._number("goal", value)
        if number is not None:
            self.changes["goal"] = number

    def _curriculum(self, value: object, before: Settings) -> None:
        if isinstance(value, bool):
            self.curriculum = value
        else:
            self._problem("curriculum", "is true or false")

    def _thresholds(self, value: object, before: Settings) -> None:
        known = self.known()
        thresholds = {rule: dict(limits) for rule, limits in before.thresholds.items()}
        reasons = dict(before.reasons)
        muted = set(before.muted)
        for rule, limits in self._table("rules", value).items():
            if rule not in known:
                self._unknown("rules", rule, known)
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
            self._problem(f"rules.{rule}.mute", "is true, false or the reason in quotes")

    def _custom_rules(self, value: object, before: Settings) -> None:
        entries = value if isinstance(value, list) else [value]
        written = {rule.id: rule for rule in before.rules}
        for number, entry in enumerate(entries, 1):
            rule = self._custom_rule(f"rule[{number}]", entry)
            if rule is not None:
                written[rule.id] = rule
        self.changes["rules"] = tuple(written.values())

    def _custom_rule(self, where: str, entry: object) -> CustomRule | None:
        given = dict(self._table(where, entry))
        for key in given:
            if key not in RULE_KEYS:
                self._unknown(where, key, RULE_KEYS)
                return None
        wrong = find_fault(given)
        if wrong is None and given["id"] in self.known():
            wrong = "id", f"{given['id']!r} is the name of a rule that is built in"
        if wrong is None:
            return make_custom_rule(given)
        self._problem(".".join(part for part in (where, wrong[0]) if part), wrong[1])
        return None

    def _tags(self, value: object, before: Settings) -> None:
        tags = dict(before.tags)
        for tag, words in self._table("tags", value).items():
            concept, *how = words.split() if isinstance(words, str) and words.split() else [""]
            if not self.is_concept(concept):
                self._problem(f"tags.{tag!r}", f"{words!r} is not a concept (ppo-top explain)")
            elif unknown := [word for word in how if word not in TAG_TRANSFORMS]:
                self._unknown(f"tags.{tag!r}", unknown[0], TAG_TRANSFORMS)
            else:
                tags[tag] = str(words)
        self.changes["tags"] = tags

    def _console(self, value: object, before: Settings) -> None:
        expressions = []
        for number, text in enumerate(value if isinstance(value, list) else [value], 1):
            try:
                if not isinstance(text, str) or not re.compile(text).groupindex:
                    raise re.error("it needs named groups: (?P<reward_mean>...)")
                expressions.append(text)
            except (re.error, RecursionError, OverflowError) as error:
                self._problem(f"console[{number}]", f"is no usable expression: {error}")
        self.changes["console"] = tuple(expressions)

    def _notify(self, value: object, before: Settings) -> None:
        self._switches("notify", value, ("bell", "desktop", "tmux"))

    def _display(self, value: object, before: Settings) -> None:
        table = dict(self._table("display", value))
        theme = table.pop("theme", None)
        if isinstance(theme, str):
            self.changes["theme"] = theme
        elif theme is not None:
            self._problem("display.theme", "is a name in quotes")
        self._switches("display", table, ("ascii",), also=("theme",))

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
                self._problem(f"{where}.{key}", "is true or false")

    def _table(self, where: str, value: object) -> Mapping[str, object]:
        if isinstance(value, dict):
            return value
        self._problem(where, "is a table: it has names and values of its own")
        return {}

    def _number(self, where: str, value: object) -> float | None:
        if is_number(value):
            return float(value)  # type: ignore[arg-type]
        self._problem(where, f"{value!r} is not a number")
        return None

    def _unknown(self, where: str, key: str, names: Iterable[str]) -> None:
        near = difflib.get_close_matches(key, list(names), 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(names))}"
        path = f"{where}.{key!r}" if where else repr(key)
        self._problem(path, "is not known" + (hint if len(hint) < 300 else ""))

    def _problem(self, where: str, what: str) -> None:
        line = ": ".join(part for part in (str(self.path), where, what) if part)
        self.problems.append("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))
