"""What people paste: quoted, numbered, wrapped, with the prefixes of whatever showed the log."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers import detect_by_content, detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, feed_parser, parse_every_way

RECORDS = [
    f"{{'loss': 0.0{n}, 'grad_norm': 0.488365799178613{n}, 'reward': {n}.25, 'kl': 1.25e-0{n}, "
    f"'completions/mean_length': 12{n}.0, 'epoch': 0.{n}}}"
    for n in range(1, 8)
]
PLAIN = feed_parser(ConsoleParser(), ["".join(f"{each}\n" for each in RECORDS).encode()])


def read(lines: list[str]) -> ParserOutput:
    """The lines as a console, fed in every way."""
    return parse_every_way(ConsoleParser, "".join(f"{line}\n" for line in lines).encode())


@pytest.mark.parametrize(
    "prefix",
    [
        "> ",
        ">> ",
        "\x1b[32m",
        "trainer-1  | ",
        "ppo_trainer_1    | ",
        "[pod/ppo-7c9/trainer] ",
        "2026-01-01T00:00:00.123456789Z ",
        "2026-01-01T00:00:00.123456789Z stdout F ",
        "Nov 22 15:00:00 node7 python3[4711]: ",
        "[2026-01-01 00:00:00] ",
    ],
)
def test_what_stands_before_each_line(prefix: str) -> None:
    """Quotes, containers, clocks."""
    found = read(["```", *(prefix + each for each in RECORDS), "```"])
    assert found.values_by_step() == PLAIN.values_by_step()


def test_each_line_may_be_code() -> None:
    """A line of Markdown that was copied with its marks."""
    found = read([f"`Frame {2560 * n}. reward: {n}.25`" for n in range(1, 8)])
    assert found.values_by_step()["reward"] == [(2560 * n, n + 0.25) for n in range(1, 8)]


@pytest.mark.parametrize("form", ["'reward': {}.25", "'reward': '{}.25'", "'reward': {}.25, "])
def test_items_that_grep_has_left(form: str) -> None:
    """`grep -o "'reward': [^,]*" train.log`: one a line, without brackets."""
    found = read([form.format(n) for n in range(1, 8)])
    assert found.values("reward") == PLAIN.values("reward")
    assert read(["'lr': 0.001,", "'gamma': 0.99,", "'reward': 'dense',"]).points == {}


@pytest.mark.parametrize("size", [2, 3, 7])
def test_several_dictionaries_in_a_line(size: int) -> None:
    """A browser's copy has lost the ends of lines; what is left of the first one is no record."""
    joined = [" ".join(RECORDS[at : at + size]) for at in range(0, len(RECORDS), size)]
    assert read(joined).values_by_step() == PLAIN.values_by_step()
    assert read([f"_steps': '31/94'}} {joined[0]}", *joined[1:]]).values("loss") == [
        *PLAIN.values("loss")
    ]


@pytest.mark.parametrize("number", ["{}  ", "{} ", "{}: ", "{} | ", "{}\t", "> {} "])
def test_line_numbers(number: str) -> None:
    """Of an editor or a web page, from any number on."""
    found = read([number.format(n) + each for n, each in enumerate(RECORDS, 41)])
    assert found.values_by_step() == PLAIN.values_by_step()
    pairs = [number.format(n) + f"step: {10 * n} | reward: {n}.5" for n in range(1, 9)]
    assert read(pairs).steps("reward") == [10 * n for n in range(1, 9)]


def test_items_of_a_markdown_list() -> None:
    """From any number on, also where the record itself begins with a number."""
    lines = [f"{n}.  {70 * n}/50000: episode: {n}, episode reward: 0.5" for n in range(20, 25)]
    assert read(lines).steps("episode reward") == [70 * n for n in range(20, 25)]
    assert read(["1. 0.5 0.25", "2. 0.5 0.25"]).points == {}


BASELINES = "".join(
    f"--------------------------------\n| ep_reward_mean     | -{n}.5       |\n"
    f"| policy_entropy | 1.4{n} |\n| total_timesteps       | {100 * n}     |\n"
    "--------------------------------\n"
    for n in range(1, 5)
)
"""Whose columns the web page has not kept."""


@pytest.mark.parametrize("margin", [" ", "    "])
def test_a_table_in_a_code_block_may_be_indented(margin: str) -> None:
    """Four blanks make one in Markdown; a single one is left of copying."""
    found = read([margin + line for line in BASELINES.split("\n")[:-1]])
    assert found.values_by_step()["ep_reward_mean"] == [(100 * n, -n - 0.5) for n in range(1, 5)]


@pytest.mark.parametrize("rule", ["", "//-------------------\n", "\n"])
def test_tables_whose_rules_are_lost(rule: str) -> None:
    """As in Markdown, where they are headings: what ends a table is a name that comes again."""
    table = (
        "| approxkl           | 0.0{n}      |\n| policy_entropy     | 1.5          |\n"
        "| total_timesteps    | {n}000        |\n| value_loss         | 278.5        |\n"
    )
    text = "How do I read this?\n" + "".join(rule + table.format(n=n) for n in range(1, 4))
    got = read(text.splitlines())
    assert got.values_by_step()["value_loss"] == [(1000, 278.5), (2000, 278.5), (3000, 278.5)]
    assert got.values_by_step()["approxkl"] == [(1000, 0.01), (2000, 0.02), (3000, 0.03)]


@pytest.mark.parametrize("above", ["", "| Metric | Value |\n|---|---|\n"])
def test_a_table_of_results_that_says_no_step_is_none(above: str) -> None:
    """Nor is the rest of one whose start is cut off."""
    rows = "| Mean reward | 200.0 |\n| value_loss | 0.5 |\n| explained_variance | 0.9 |\n"
    assert read(("The results:\n" + above + rows).splitlines()).points == {}


def test_a_code_block_may_begin_within_a_line() -> None:
    """The marks are no part of its first record."""
    lines = [f"episode {n} score {n}.5 average score {n}.25" for n in range(6, 10)]
    found = read(["```" + lines[0], *lines[1:], "```"])
    assert found.steps("average score") == [6, 7, 8, 9]


def test_a_dictionary_pasted_without_its_first_bracket() -> None:
    """As somebody copies a line of ms-swift."""
    rest = "'loss': -0.0, 'reward': 0.34375, 'kl': 0.01, 'global_step/max_steps': '5/3766'}"
    assert read([rest]).values_by_step()["reward"] == [(5, 0.34375)]
    assert read(["'red', 'green': 3}", "'a note': see {below}"]).points == {}


def test_a_tuple_that_python_2_printed() -> None:
    """`print("Episode", n, "reward", r)`, its strings quoted and its tabs spelled out."""
    line = "('Episode #', {}, '\\tfinished with reward', {}, '\\tNoise', nan)"
    found = read([line.format(100 * n, -90.5 - n) for n in range(5)])
    assert found.steps("reward") == [0, 100, 200, 300, 400]
    assert found.values("reward") == [-90.5, -91.5, -92.5, -93.5, -94.5]
    assert read(["('checkpoint', 'saved to', '/tmp/x')"]).points == {}


@given(st.integers(40, 200))
@settings(deadline=None, max_examples=60)
def test_hard_wrapped_dictionaries(width: int) -> None:
    """Cut at the width of a terminal, in the middle of names and numbers."""
    lines = [each[at : at + width] for each in RECORDS for at in range(0, len(each), width)]
    data = "".join(f"{line}\n" for line in lines).encode()
    assert feed_parser(ConsoleParser(), [data]).values_by_step() == PLAIN.values_by_step()


@pytest.mark.parametrize("comma", [",\n", ",\n ", ", \n    "])
def test_dictionaries_broken_at_their_commas(comma: str) -> None:
    """By hand, or pretty-printed."""
    found = read([each.replace(", ", comma) for each in RECORDS])
    assert found.values_by_step() == PLAIN.values_by_step()


def test_a_dictionary_that_is_never_closed_costs_only_itself() -> None:
    """The rest of the log is read."""
    found = read([RECORDS[0], RECORDS[1][:60], "step: 7 | reward: 7.5", RECORDS[2]])
    assert found.values("reward") == [1.25, 7.5, 3.25]


VERL = [
    f"step:{n} - actor/entropy:np.float64(4.16) - actor/pg_loss:0.0012 - critic/score/mean:0.{n} - "
    "critic/score/max:1.0 - response_length/mean:120.5 - timing_s/gen:12.25 - actor/grad_norm:nan"
    for n in range(1, 6)
]


@given(st.integers(60, 130))
@settings(deadline=None, max_examples=60)
def test_hard_wrapped_pairs(width: int) -> None:
    """verl prints a line of a hundred pairs: no torn names, no torn numbers."""
    lines = [each[at : at + width] for each in VERL for at in range(0, len(each), width)]
    data = "".join(f"{line}\n" for line in lines).encode()
    whole = feed_parser(ConsoleParser(), ["".join(f"{each}\n" for each in VERL).encode()])
    found = feed_parser(ConsoleParser(), [data])
    assert found.steps("critic/score/mean") == [1, 2, 3, 4, 5]
    assert set(found.points) == set(whole.points)
    assert all(math.isnan(value) for value in found.values("actor/grad_norm"))


@pytest.mark.parametrize("prefix", ["", "(TaskRunner pid=222265) "])
def test_pairs_broken_once_within_a_name(prefix: str) -> None:
    """As lines of 1,000 characters come out of a terminal: only their start has Ray's prefix."""
    more = " - ".join(f"perf/part_{n}:0.5" for n in range(60))
    whole = [f"{prefix}{line} - {more}" for line in VERL]
    torn = [line.replace("part_38", "par\nt_38") for line in whole]
    found = parse_every_way(ConsoleParser, "".join(f"{each}\n" for each in torn).encode())
    assert found.points == read(whole).points
    assert found.steps("critic/score/mean") == [1, 2, 3, 4, 5]


def test_whole_pairs_are_not_joined_with_what_follows() -> None:
    """A short line with all its pairs, then other text."""
    found = read([VERL[0], "Saved a checkpoint", VERL[1], "x" * len(VERL[1])])
    assert found.steps("critic/score/mean") == [1, 2]


@pytest.mark.parametrize("line", ["{{'loss': 0.{n}, 'reward': 1.5}}", "[INFO] step={n} reward=1.5"])
def test_a_console_that_begins_like_json_is_known_under_any_name(line: str) -> None:
    """A Python dictionary or a bracket is no JSON document."""
    head = "".join(line.format(n=n) + "\n" for n in range(1, 4)).encode()
    found = detect_by_content(detect_format, head)
    assert isinstance(found, Format)
    assert found.name == "console"


PROGRESS_IN_MARKDOWN = """Which results in the following section of progress.csv:
| episode_reward_mean | episode_len_mean | episodes_this_iter | episodes_total |
|---------------------|------------------|--------------------|----------------|
| 0.502040816326583   | 69.9591836734694 | 98                 | 98             |
| 18.9261194029848    | 93.2089552238806 | 134                | 234            |
"""


def test_a_table_in_markdown_may_be_any_trainers() -> None:
    """RLlib's `progress.csv`, of which some columns were chosen; no column of these is a step."""
    read = parse_every_way(ConsoleParser, PROGRESS_IN_MARKDOWN.encode())
    assert read.values("episode_reward_mean") == [0.502040816326583, 18.9261194029848]
    assert read.steps("episodes_total") == [1, 2]


def test_the_step_of_a_table_in_markdown_may_stand_in_any_column() -> None:
    """As GitHub quotes a table, without bars at its sides."""
    text = (
        "episode_len_mean | done | timesteps_total | training_iteration\n"
        "-- | -- | -- | --\n"
        "4000 | False | 4000 | 1\n"
        "4000 | False | 16000 | 2\n"
    )
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("episode_len_mean") == [4000, 16000]


def test_the_step_of_a_table_in_markdown_counts_what_its_column_says() -> None:
    """Lines below it go on in the same count."""
    rows = "".join(f"| {20 + i} | 0.1 | 0.01 | {i} |\n" for i in range(6, 10))
    table = f"| reward | policy_loss | kl | iteration |\n|---|---|---|---|\n{rows}\n"
    above, below = (
        "".join(f"Iteration: {i}, reward: {20 + i}, kl: 0.01\n" for i in some)
        for some in (range(1, 6), range(10, 13))
    )
    read = parse_every_way(ConsoleParser, (above + table + below).encode())
    assert read.steps("reward") == list(range(1, 13))


@pytest.mark.parametrize(
    "table",
    [
        "| method | mean reward | loss | steps |\n|---|---|---|---|\n| PPO | 21.5 | 0.3 | 100 |\n",
        "| lr | reward |\n|---|---|\n| 0.1 | 21.5 |\n| 0.2 | 3.5 |\n",
        "| reward | loss | kl | ev |\n| 1 | 2 | 3 | 4 |\n",
    ],
    ids=["results", "settings", "without a rule"],
)
def test_other_tables_in_markdown_are_no_training(table: str) -> None:
    """What was tried stands before its results."""
    assert parse_every_way(ConsoleParser, table.encode()).points == {}


def test_columns_aligned_by_blanks_may_begin_with_steps_and_episodes() -> None:
    """What `column -t` makes of the scores.txt of PFRL and ChainerRL."""
    text = (
        "steps    episodes  elapsed            mean                average_value\n"
        "10000    317       33.05278420448303  119.26321076698106  28.8124\n"
        "20000    438       59.16174173355103  202.04704965249138  57.5549\n"
    )
    read = parse_every_way(ConsoleParser, text.encode())
    assert (read.steps("mean"), read.values("average_value")) == (
        [10000, 20000],
        [28.8124, 57.5549],
    )


def test_a_paste_of_one_line_of_dictionaries_is_a_console() -> None:
    """No document: another dictionary stands behind the first one."""
    line = " ".join(f"{{'loss': 0.{n}, 'rewards/margins': {n}.5, 'step': {n}}}" for n in (1, 2, 3))
    found = detect_by_content(detect_format, line.encode())
    assert isinstance(found, Format)
    assert found.console
    read_line = parse_every_way(ConsoleParser, line.encode())
    assert read_line.values_by_step()["loss"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
