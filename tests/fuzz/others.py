"""What is fuzzed besides log formats: settings, shared decoders, words, and the judge."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from ppo_top.catalogue import concept_like
from ppo_top.files.update import PollResult, Source, SourceUpdate
from ppo_top.output.reports.json_report import run_json_text
from ppo_top.output.reports.text_report import report_lines
from ppo_top.parsers import formats
from ppo_top.parsers.shared.stores.protobuf import MalformedMessage, fields
from ppo_top.rules.book import RULES
from ppo_top.runs.liveness import run_status
from ppo_top.runs.session import Session
from ppo_top.settings import Settings, UnusableSettingsError, load_settings
from ppo_top.support import internal_errors
from ppo_top.text.format import clean
from ppo_top.views.run_view import make_run_view
from tests.support.recordings import memory_folder

LAST_WRITE_S = 900.0
"""When the judged run was last written, in unix seconds."""


def fuzz_settings(given: bytes) -> None:
    """A settings file, trusted or not: settings and problems, and no line that a terminal obeys."""
    names = {rule.id: rule.threshold_names for rule in RULES}
    with memory_folder() as folder:
        (folder / "ppo-top.toml").write_bytes(given)
        environ = {"XDG_CONFIG_HOME": str(folder / "none")}
        theirs = load_settings(folder, lambda: names, concept_like, environ)
        read = [theirs]
        try:
            own = folder / "ppo-top.toml"
            read.append(load_settings(None, lambda: names, concept_like, environ, user_file=own))
        except UnusableSettingsError as unusable:
            assert str(unusable).isprintable()
    assert not theirs.console
    for each in read:
        assert all(problem.isprintable() for problem in each.problems)
        assert len(each.patterns) == len(each.console)


def fuzz_protobuf(given: bytes) -> None:
    """The fields of any bytes lie inside them, in order, or the bytes are no message."""
    place = 0
    try:
        for field in fields(given, 0, len(given)):
            assert place < field.start <= field.stop <= len(given)
            assert 0 <= field.integer < 1 << 64
            place = field.stop
    except MalformedMessage:
        pass


def fuzz_shown_text(given: bytes) -> None:
    """Text that is drawn: nothing in it is obeyed, and cleaning it again changes nothing."""
    text = clean(given.decode(errors="surrogateescape"))
    assert not {unicodedata.category(c) for c in text} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert clean(text) == text


def fuzz_judge(given: bytes) -> None:
    """A table of any numbers: every rule has its say and none fails, and it can be reported."""
    columns = next(each for each in formats() if each.name == "csv")
    assert columns.parser is not None
    root = Path("/nowhere")
    source = Source("run/progress.csv", root / "run/progress.csv", root, columns)
    parser, session = columns.parser(), Session(Settings())
    for batch in (parser.feed(given), parser.finish()):
        update = SourceUpdate(source, batch, False, LAST_WRITE_S, len(given))
        session.apply(PollResult([update], [], False, 0, 0))
    session.assign_pending_logs()
    with mock.patch.object(internal_errors, "report_internal_error", raise_error):
        session.judge()
    runs = session.runs.values()
    pairs = [(run, make_run_view(run, None, run_status(run, 2 * LAST_WRITE_S))) for run in runs]
    assert all(json.loads(run_json_text(*pair)) for pair in pairs)
    assert all(list(report_lines(*pair)) for pair in pairs)


def raise_error(_where: str, error: Exception) -> str:
    """What is done with a defect here in place of noting it."""
    raise error


OTHER_TARGETS: dict[str, Callable[[bytes], None]] = {
    "settings": fuzz_settings,
    "protobuf": fuzz_protobuf,
    "words": fuzz_shown_text,
    "judge": fuzz_judge,
}
