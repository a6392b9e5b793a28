"""What `ppo-top.toml` can set, and the errors of a wrong file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ppo_top.catalogue import alias_meaning, concept_like
from ppo_top.paths import config_directory, state_directory
from ppo_top.settings import (
    SETTINGS_FILE,
    CustomRule,
    Hook,
    Settings,
    UnusableSettingsError,
    load_settings,
)
from ppo_top.settings.reader import MAX_SETTINGS_BYTES, TAG_TRANSFORMS
from ppo_top.settings.run_patterns import RunPatterns
from ppo_top.settings.settings import CURRICULUM_RULES

RULES = {"kl-high": ("warn", "crit", "k", "n"), "entropy-collapsed": ("share",)}

Read = Callable[[str], Settings]


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    """An empty home directory."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home)}


def write(path: Path, text: str) -> Path:
    """Write a settings file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def own(tmp_path: Path, environ: Mapping[str, str]) -> Read:
    """Reads a text as the user's own settings."""

    def read(text: str) -> Settings:
        path = write(config_directory(environ) / SETTINGS_FILE, text)
        assert str(path).startswith(str(tmp_path))
        return load_settings(tmp_path / "logs", lambda: RULES, concept_like, environ)

    return read


def test_without_a_file_everything_is_as_usual(tmp_path: Path, environ: Mapping[str, str]) -> None:
    """No file is no problem, and nothing is read or asked for."""

    def never() -> Mapping[str, tuple[str, ...]]:
        raise AssertionError("asked for the rules although no file speaks of them")

    assert load_settings(tmp_path, never, concept_like, environ) == Settings()
    assert load_settings(None, never, concept_like, environ) == Settings()


EVERYTHING = """
goal = 475
console = ['(?P<step>\\d+): (?P<reward_mean>\\S+)']

[rules.kl-high]
warn = 0.05
crit = 0.2

[rules.entropy-collapsed]
mute = "a puzzle with one solution"

[tags]
"my/kl" = "approx_kl"
"my/h" = "entropy neg"
"my/acc" = "reward_component_mean{acc}"

[[rule]]
id = "too-hot"
metric = "gpu/temperature"
above = 85
severity = "watch"
k = 2
try = ["open a window"]

[[on]]
event = "crit"
command = ["notify", "--title", "ppo-top"]

[notify]
bell = false
desktop = true

[display]
theme = "light"
ascii = true
machine = true
"""


def test_all_that_can_be_said(own: Read) -> None:
    """Each part of a file is taken as it stands."""
    settings = own(EVERYTHING)
    assert settings.problems == ()
    assert settings.goal == 475.0
    assert settings.thresholds == {"kl-high": {"warn": 0.05, "crit": 0.2}}
    assert settings.muted == {"entropy-collapsed"}
    assert settings.reasons == {"entropy-collapsed": "a puzzle with one solution"}
    assert settings.tags["my/h"] == "entropy neg"
    assert settings.rules == (
        CustomRule(
            id="too-hot",
            metric="gpu/temperature",
            above=85,
            severity="watch",
            k=2,
            remedies=("open a window",),
        ),
    )
    assert settings.console == ("(?P<step>\\d+): (?P<reward_mean>\\S+)",)
    assert settings.hooks == (Hook("crit", ("notify", "--title", "ppo-top")),)
    assert (settings.bell, settings.desktop, settings.tmux) == (False, True, False)
    assert (settings.theme, settings.ascii, settings.machine) == ("light", True, True)


def test_a_curriculum_softens_the_rules_it_explains(own: Read) -> None:
    """`curriculum = true` leaves the user's own thresholds alone."""
    settings = own("curriculum = true\n[rules.kl-high]\nwarn = 0.5")
    assert settings.thresholds["kl-high"] == {"warn": 0.5}
    assert {settings.thresholds[rule]["milder"] for rule in CURRICULUM_RULES} == {1.0}
    assert own("curriculum = false").thresholds == {}


WRONG = [
    ("gaol = 1", ": unknown key 'gaol', did you mean 'goal'?"),
    ("goal = 'high'", "goal: expected a finite number, got 'high'"),
    ("goal = nan", "goal: expected a finite number, got nan"),
    ("goal = true", "goal: expected a finite number, got True"),
    ("goal = inf", "goal: expected a finite number, got inf"),
    ("goal = 1e999", "goal: expected a finite number, got inf"),
    (f"goal = 1{'0' * 400}", "goal: expected a finite number, got 1000"),
    (f"goal = 1{'0' * 5000}", "invalid TOML: a number with too many digits"),
    (f"goal = 0x{'f' * 5000}", "goal: expected a finite number, got something too long"),
    (f"goal{'.a' * 3000} = 1", "goal: expected a finite number, got something too long"),
    ("rules = 3", "rules: expected a table, got 3"),
    ("[rules.kl-hihg]\nwarn = 1", "rules: unknown rule 'kl-hihg', did you mean 'kl-high'?"),
    ("[rules.kl-high]\nwran = 1", "rules.kl-high: unknown key 'wran', did you mean 'warn'?"),
    ("[rules.kl-high]\nwarn = 'a'", "rules.kl-high.warn: expected a finite number, got 'a'"),
    ("[rules.kl-high]\nwarn = inf", "rules.kl-high.warn: expected a finite number, got inf"),
    (f"[rules.kl-high]\nwarn = 1{'0' * 400}", "rules.kl-high.warn: expected a finite number"),
    ("[rules.kl-high]\nmute = 3", "rules.kl-high.mute: expected true, false or a reason in quotes"),
    ("[tags]\nx = 'aprox_kl'", "tags.'x': unknown metric 'aprox_kl', did you mean 'approx_kl'?"),
    ("[tags]\nx = 'zz zz'", "tags.'x': unknown metric 'zz zz', see `ppo-top explain`"),
    ("[tags]\nx = 3", "tags.'x': unknown metric 3"),
    (f"[tags]\nx = 0x{'f' * 5000}", "tags.'x': unknown metric something too long"),
    ("[tags]\nx = 'entropy ngt'", "tags.'x': unknown transform 'ngt', did you mean 'neg'?"),
    ("console = ['(']", "console[1]: invalid regular expression"),
    ("console = ['loss (.*)']", "no named groups"),
    ("console = 3", "console[1]: invalid regular expression"),
    ("[[rule]]\nid = 'x'", "rule[1]: needs id, metric, and above or below"),
    ("[[rule]]\nid='x'\nmetirc='y'", "rule[1]: unknown key 'metirc', did you mean 'metric'?"),
    ("[[rule]]\nid='x'\nmetric='y'\nabove='z'", "rule[1].above: expected a finite number"),
    ("[[rule]]\nid='x'\nmetric='y'\nabove=inf", "rule[1].above: expected a finite number"),
    (
        f"[[rule]]\nid='x'\nmetric='y'\nabove=1{'0' * 400}",
        "rule[1].above: expected a finite number",
    ),
    ("[[rule]]\nid='x'\nmetric='y'\nabove=1\nk=-1", "rule[1].k: expected a whole number"),
    ("[[rule]]\nid='x'\nmetric='y'\nabove=1\nk=9", "rule[1].k: must not exceed n"),
    ("[[rule]]\nid='x'\nmetric='y'\nabove=1\nseverity='bad'", "rule[1].severity: expected one of"),
    (
        "[[rule]]\nid='x'\nmetric='y'\nabove=1\ntry='pray'",
        "rule[1].try: expected a list of strings",
    ),
    ("[[rule]]\nid='kl-high'\nmetric='y'\nabove=1", "rule[1].id: 'kl-high' is a built-in rule"),
    ("[[on]]\nevent = 'crit'", "on[1]: needs event and command"),
    ("[[on]]\nevent='crit'\ncomand=['x']", "on[1]: unknown key 'comand', did you mean 'command'"),
    ("[[on]]\nevent='red'\ncommand=['x']", "on[1].event: expected one of watch, warn, crit"),
    ("[[on]]\nevent='crit'\ncommand='rm -r x'", "on[1].command: expected a program and its"),
    ("[[on]]\nevent='crit'\ncommand=[]", "on[1].command: expected a program and its"),
    ("[[on]]\nevent='crit'\ncommand=[\"a\\u0000\"]", "on[1].command: expected a program and"),
    ("on = 3", "on[1]: expected a table, got 3"),
    ("[notify]\nbel = true", "notify: unknown key 'bel', did you mean 'bell'?"),
    ("[notify]\nbell = 1", "notify.bell: expected true or false, got 1"),
    ("[display]\ntheme = 1", "display.theme: expected a name in quotes"),
    ("[display]\nascci = true", "display: unknown key 'ascci', did you mean 'ascii'?"),
    ("curriculum = 1", "curriculum: expected true or false"),
    ("goal = = 3", "invalid TOML: Invalid value (at line 1, column 8)"),
    ("x = " + "[" * 5000, "invalid TOML"),
]


@pytest.mark.parametrize(("text", "expected"), WRONG, ids=[text[:40] for text, _ in WRONG])
def test_a_wrong_file_gets_one_line(
    own: Read, environ: Mapping[str, str], text: str, expected: str
) -> None:
    """The line names the file, the key, and the right word where one is near; the rest holds."""
    settings = own(text)
    assert len(settings.problems) == 1
    assert settings.problems[0].startswith(str(config_directory(environ) / SETTINGS_FILE))
    assert expected in settings.problems[0]


LONG = "k" * 200_000


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[rules.{LONG}]\nwarn = 1",
        f"[rules.kl-high]\n{LONG} = 1",
        f"[tags]\n{LONG} = 'x'",
        f"[tags]\nx = '{LONG}'",
        f"[tags]\nx = 'entropy {LONG}'",
        f"goal = '{LONG}'",
        f"[runs]\njoin = '{LONG}'",
        f"console = ['(?P<{LONG[:999]}>.)(?P<{LONG[:999]}>.)']",
        f"[display]\n{LONG} = 1",
    ],
    ids=lambda text: text[:12],
)
def test_of_what_is_long_the_line_shows_the_beginning(own: Read, text: str) -> None:
    """A file that somebody else may have written does not fill the terminal."""
    (problem,) = own(text).problems
    assert "k" * 100 in problem
    assert len(problem) < 1_000


@pytest.mark.parametrize("word", TAG_TRANSFORMS)
def test_every_transform_does_something(word: str) -> None:
    """The words for one's own tags are those of the catalogue's tables."""
    assert alias_meaning(f"entropy {word}") != alias_meaning("entropy")


def test_what_is_right_beside_what_is_wrong_still_holds(own: Read) -> None:
    """One wrong key does not cost the others."""
    settings = own("goal = 10\nxyz = 1\n[rules.kl-high]\nwarn = 0.5\nnope = 1")
    assert settings.goal == 10.0
    assert settings.thresholds == {"kl-high": {"warn": 0.5}}
    assert len(settings.problems) == 2


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * (MAX_SETTINGS_BYTES + 1)])
def test_rubbish_is_a_problem_and_no_crash(
    tmp_path: Path, environ: Mapping[str, str], content: bytes
) -> None:
    """A file that is no text, or far too large, is left alone."""
    (tmp_path / SETTINGS_FILE).write_bytes(content)
    settings = load_settings(tmp_path, lambda: RULES, concept_like, environ)
    assert len(settings.problems) == 1


def test_the_users_own_file_counts_before_that_of_the_logs(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """Both are read; where they differ the user's own word holds."""
    write(tmp_path / SETTINGS_FILE, "goal = 1\n[rules.kl-high]\nwarn = 1\ncrit = 2\nmute = true")
    write(config_directory(environ) / SETTINGS_FILE, "[rules.kl-high]\nwarn = 3\nmute = false")
    settings = load_settings(tmp_path, lambda: RULES, concept_like, environ)
    assert settings.goal == 1.0
    assert settings.thresholds == {"kl-high": {"warn": 3.0, "crit": 2.0}}
    assert settings.muted == frozenset()


@pytest.mark.parametrize(
    "text", ["console = ['(?P<reward_mean>(a+)+)$']", "[[on]]\nevent='any'\ncommand=['reboot']"]
)
def test_a_file_in_a_log_directory_may_not_bring_expressions_and_commands(
    tmp_path: Path, environ: Mapping[str, str], text: str
) -> None:
    """An expression can be made to run for ever, a command does anything."""
    write(tmp_path / SETTINGS_FILE, f"goal = 5\n{text}")
    settings = load_settings(tmp_path, lambda: RULES, concept_like, environ)
    assert settings.console == ()
    assert settings.hooks == ()
    assert settings.goal == 5.0
    assert "allowed only in your own settings" in settings.problems[0]


def test_a_file_that_is_asked_for_has_to_be_there(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """`--settings FILE` takes the place of the user's own file; without it nothing is judged."""
    path = write(tmp_path / "mine.toml", "goal = 7")
    write(config_directory(environ) / SETTINGS_FILE, "goal = 1")
    assert load_settings(None, lambda: RULES, concept_like, environ, user_file=path).goal == 7.0
    broken = write(tmp_path / "broken.toml", "goal = = 1")
    for unusable, why in ((tmp_path / "no.toml", "no such file"), (broken, "invalid TOML")):
        with pytest.raises(UnusableSettingsError, match=f"{re.escape(str(unusable))}.*: {why}"):
            load_settings(None, lambda: RULES, concept_like, environ, user_file=unusable)


def test_escape_sequences_in_a_file_do_not_reach_the_terminal(own: Read) -> None:
    """What is quoted of a wrong file is written so that a terminal obeys none of it."""
    settings = own('"\\u001b[2J" = 1\n[tags]\n"\\u009b1m" = "\\u001bx"')
    assert len(settings.problems) == 2
    assert all(line.isprintable() for line in settings.problems)


def test_nor_do_those_in_the_name_of_the_directory(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """A log directory may be called anything."""
    write(tmp_path / "\x1b[2J" / SETTINGS_FILE, "x = 1")
    settings = load_settings(tmp_path / "\x1b[2J", lambda: RULES, concept_like, environ)
    assert all(line.isprintable() for line in settings.problems)


def test_places_follow_the_xdg_convention() -> None:
    """Absolute places are used; relative ones are ignored, as the convention says."""
    assert config_directory({"XDG_CONFIG_HOME": "/x"}) == Path("/x/ppo-top")
    assert config_directory({"XDG_CONFIG_HOME": "x", "HOME": "/h"}) == Path("/h/.config/ppo-top")
    assert state_directory({"HOME": "/h"}) == Path("/h/.local/state/ppo-top")


def test_the_longest_file_that_is_read_is_read_quickly(own: Read) -> None:
    """Nothing in the size limit makes reading slow."""
    text = "[tags]\n" + "".join(f'"t{number}" = "approx_kl"\n' for number in range(9000))
    assert len(text) < MAX_SETTINGS_BYTES
    assert len(own(text).tags) == 9000
    assert tomllib.loads(text)["tags"]["t1"] == "approx_kl"


def test_runs_are_joined_and_split_by_patterns(own: Read) -> None:
    """An entry is a pattern or a list of patterns; what is wrong is said and left out."""
    text = 'runs.join = [["a/{run}.log", "b/{run}/**"]]\nruns.split = ["old/**", 3, "a{b", ""]\n'
    settings = own(text + "runs.merge = []")
    assert settings.runs.join == (("a/{run}.log", "b/{run}/**"),)
    assert settings.runs.split == (("old/**",),)
    faults = [line.partition(": ")[2] for line in settings.problems]
    assert faults[0].startswith("runs.split: expected patterns in quotes, got 3")
    assert "braces need a word" in faults[1]
    assert "expected 1 to 200 characters" in faults[2]
    assert "unknown key 'merge'" in faults[3]


@pytest.mark.parametrize(
    ("pattern", "path", "words"),
    [
        ("old", "/x/old/a.log", ()),
        ("old/", "/x/older/a.log", None),
        ("*.log", "/x/a.log", ()),
        ("x/*.log", "/x/y/a.log", None),
        ("x/**/*.log", "/x/y/z/a.log", ()),
        ("x/**/*.log", "/x/a.log", ()),
        ("seed_{n}.log", "/x/seed_7.log", ("w_n=7",)),
        ("{a}/tb/{a}.log", "/x/p/tb/p.log", ("w_a=p",)),
        ("{a}/tb/{a}.log", "/x/p/tb/q.log", None),
    ],
)
def test_patterns_fit_the_end_of_a_path(
    pattern: str, path: str, words: tuple[str, ...] | None
) -> None:
    """Or a folder on it, whichever directory is watched."""
    found = list(RunPatterns(join=((pattern,),)).joined_as(path))
    assert found == ([] if words is None else [(0, words)])
