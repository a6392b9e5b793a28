"""Tables in text: the Trainer's in every way it gets out of a notebook, and those of scripts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, feed_parser, parse_every_way

HEADER = ["Step", "Training Loss", "reward", "completions / mean_length", "rewards / right / mean"]
TAGS = ["loss", "reward", "completions/mean_length", "rewards/right/mean"]
LAYOUTS = ("tabs", "markdown", "bars", "aligned", "blanks", "html", "html in one line")
NUMBERS = st.floats(-1e6, 1e6).map(lambda value: f"{value:.6f}") | st.just("nan")
ROWS = st.lists(st.lists(NUMBERS | st.just("No Log"), min_size=4, max_size=4), min_size=1)


def table(layout: str, rows: list[list[str]]) -> str:
    """The rows below their header in a layout."""
    lines = [HEADER, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    if layout == "markdown":
        aligned.insert(1, ["-" * width for width in widths])
        return "".join(f"| {' | '.join(line)} |\n" for line in aligned)
    if layout.startswith("html"):
        return html_table(lines, "" if "one line" in layout else "\n")
    separator = {"tabs": "\t", "bars": " | ", "aligned": "  ", "blanks": " "}[layout]
    return "".join(
        separator.join(line) + "\n" for line in (aligned if layout == "aligned" else lines)
    )


def html_table(lines: list[list[str]], end: str) -> str:
    """As transformers/utils/notebook.py writes it."""
    head = "".join(f"      <th>{cell}</th>{end}" for cell in lines[0])
    body = "".join(
        f"    <tr>{end}"
        + "".join(f"      <td>{cell}</td>{end}" for cell in line)
        + f"    </tr>{end}"
        for line in lines[1:]
    )
    return (
        f'<table border="1" class="dataframe">{end}  <thead>{end} '
        f'<tr style="text-align: left;">{end}{head}'
        f"    </tr>{end}  </thead>{end}  <tbody>{end}{body}  </tbody>{end}</table><p>\n"
    )


def expected(rows: list[list[str]]) -> dict[str, list[tuple[int, str]]]:
    """Steps and values by tag, NaN equal to NaN."""
    return {
        tag: [(int(row[0]), repr(float(row[at]))) for row in rows if row[at] != "No Log"]
        for at, tag in enumerate(TAGS, 1)
        if any(row[at] != "No Log" for row in rows)
    }


def read(text: str) -> ParserOutput:
    """The text as a console."""
    return feed_parser(ConsoleParser(), [text.encode()])


def found(output: ParserOutput) -> dict[str, list[tuple[int, str]]]:
    """As `expected`."""
    return {tag: [(at, value) for at, _, value in rows] for tag, rows in output.points.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(values=ROWS)
def test_every_value_of_every_layout_is_read(layout: str, values: list[list[str]]) -> None:
    """Steps of ten; a cell without a value is no point."""
    rows = [[str(10 * number), *row] for number, row in enumerate(values, 1)]
    assert found(read(table(layout, rows))) == expected(rows)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_cut_of_the_bytes_changes_nothing(layout: str) -> None:
    """Whole, byte by byte and in odd chunks."""
    rows = [[str(step), "0.100000", "1.5", "20.0", "nan"] for step in (1, 2, 3)]
    assert found(parse_every_way(ConsoleParser, table(layout, rows).encode())) == expected(rows)


def test_columns_of_an_evaluation_are_told_from_those_of_the_training() -> None:
    """With an evaluation the Trainer capitalises the names of its metrics."""
    names = ("Epoch", "Training Loss", "Validation Loss", "Rewards/chosen", "Mean Token Accuracy")
    text = "\t".join(names) + "\n1\t0.6\t0.7\t0.1\t0.9\n"
    output = read(text)
    assert output.values_by_step() == {
        "loss": [(1, 0.6)],
        "eval/loss": [(1, 0.7)],
        "eval/rewards/chosen": [(1, 0.1)],
        "eval/mean_token_accuracy": [(1, 0.9)],
    }


def test_text_around_and_between_tables_stays_text() -> None:
    """An issue: a sentence, a table, a log line, another table with its own columns."""
    rows = [["1", "0.5", "1.0", "20.0", "0.1"], ["2", "0.4", "2.0", "21.0", "0.2"]]
    text = (
        "My reward does not move:\n"
        + table("markdown", rows)
        + "lr: 0.001 | reward: 7\n"
        + "Step\tTraining Loss\n3\t0.3\n"
    )
    output = read(text)
    assert output.values_by_step()["loss"] == [(1, 0.5), (2, 0.4), (3, 0.3)]
    assert output.values("reward")[:2] == [1.0, 2.0]
    assert not any(math.isnan(value) for value in output.values("loss"))


PLAIN = {
    "aligned": ("   epoch    reward      kl", "{:8} {:9.2f} {:7.4f}"),
    "tabs": ("epoch\treward\tkl", "{}\t{}\t{}"),
    "markdown": ("| epoch | reward | kl |\n|---|---:|---|", "| {} | {} | {} |"),
    "boxed": ("+---+---+---+\n| epoch | reward | kl |\n+---+---+---+", "| {} | {} | {} |"),
}


@pytest.mark.parametrize("layout", PLAIN)
def test_a_script_prints_its_header_once(layout: str) -> None:
    """A step first, then metrics; the rows follow while it trains, with other lines between.

    The number of an epoch, or of an episode, is one of them: it says what the steps are.
    """
    header, row = PLAIN[layout]
    lines = [header, row.format(1, 21.5, 0.25), "saved checkpoint", row.format(2, 23.5, 0.5)]
    output = parse_every_way(ConsoleParser, "".join(f"{each}\n" for each in lines).encode())
    assert output.values_by_step() == {
        "epoch": [(1, 1.0), (2, 2.0)],
        "reward": [(1, 21.5), (2, 23.5)],
        "kl": [(1, 0.25), (2, 0.5)],
    }


@pytest.mark.parametrize("first", [-266.32, 31.5])
def test_shares_and_a_remark_behind_the_last_column(first: float) -> None:
    """A share keeps its sign as its name; what stands in brackets at the end of a row has none."""
    text = f"""\
     EP    Reward   DropRate      Loss       ε
  ────────────────────────────────────────────
      1   {first:7.2f}     14.0%   0.00000  1.0000  [0s]
  saved models/best.keras
     10   -316.82     17.5%   0.47705  0.8187  (5s)
     20    -75.00      0.0%   0.25000  0.5000
"""
    output = parse_every_way(ConsoleParser, text.encode())
    assert output.values_by_step() == {
        "EP": [(1, 1.0), (10, 10.0), (20, 20.0)],
        "Reward": [(1, first), (10, -316.82), (20, -75.0)],
        "DropRate%": [(1, 14.0), (10, 17.5), (20, 0.0)],
        "Loss": [(1, 0.0), (10, 0.47705), (20, 0.25)],
        "ε": [(1, 1.0), (10, 0.8187), (20, 0.5)],
    }


def test_a_remark_is_no_cell_of_a_column() -> None:
    """A row with more cells than names, the last of them a number, belongs to another table."""
    output = read("epoch  reward  kl\n10  2.5  0.1  [0s] 7\n20  3.5  0.2  9\n30  4.5  0.3\n")
    assert output.values_by_step() == {
        "epoch": [(30, 30.0)],
        "reward": [(30, 4.5)],
        "kl": [(30, 0.3)],
    }


def test_names_with_blanks_are_not_taken_apart() -> None:
    """As pandas prints a frame: which words of the header are a name shows in no row."""
    output = read(
        "   episode length  cumulative reward  average reward learning rate\n"
        "0             700               12.0        0.017143          1e-3\n"
        "1             919               23.0        0.025027          1e-3\n"
    )
    assert output.points == {}


def test_a_frame_that_pandas_wraps_is_read_with_its_last_columns() -> None:
    """Its rows begin with their number, for which there is no name."""
    output = read(
        "   Episode  AvgLength  PreyReward  \\\n"
        "0       20        289   -0.077850   \n"
        "1       40        264   -0.070882   \n\n"
        "   TotalReward  \n"
        "0     0.125382  \n"
        "1     0.157641  \n"
    )
    assert output.steps("TotalReward") == output.steps("PreyReward") == [20, 40]
    assert output.values("TotalReward") == [0.125382, 0.157641]
    assert output.values("AvgLength") == [289.0, 264.0]


def test_another_table_is_no_training() -> None:
    """Without a metric, or with two columns, it may be anything."""
    assert (
        read(
            "<table><tr><th>name</th><th>Step</th></tr><tr><td>1</td><td>2</td></tr></table>\n"
        ).points
        == {}
    )
    assert read("Step  size\n1  2\n").points == {}


def test_cells_may_be_seconds_or_left_out_by_a_dash() -> None:
    """As scripts align them below a header, in a file of text."""
    text = """\
Iter  Games  GenTime  TrainT    Evals     Loss  Value  Notes
----  -----  -------  ------  -------  -------  -----  -----
  24    109  5907.5s   31.7s        \N{EM DASH}   3.0551  0.188
  25     98  2738.3s   31.3s  3636136   3.0612  0.186  100% vs random, 8-0 before
  26     99  2778.3s   30.9s        -   2.9524  0.170
"""
    output = parse_every_way(ConsoleParser, text.encode())
    assert output.values_by_step() == {
        "Games": [(24, 109.0), (25, 98.0), (26, 99.0)],
        "GenTime": [(24, 5907.5), (25, 2738.3), (26, 2778.3)],
        "TrainT": [(24, 31.7), (25, 31.3), (26, 30.9)],
        "Evals": [(25, 3636136.0)],
        "Loss": [(24, 3.0551), (25, 3.0612), (26, 2.9524)],
        "Value": [(24, 0.188), (25, 0.186), (26, 0.17)],
    }


DRAWN = {
    # rich.table.Table (rich 13), box.HEAVY_HEAD
    "rich": ("┏━━━┳━━━┳━━━┓", "┃", "┡━━━╇━━━╇━━━┩", "│", "", "└───┴───┴───┘"),
    # tabulate(..., tablefmt="fancy_grid") (tabulate 0.9)
    "tabulate": ("╒═══╤═══╤═══╕", "│", "╞═══╪═══╪═══╡", "│", "├───┼───┼───┤", "╘═══╧═══╧═══╛"),
}


@pytest.mark.parametrize("style", DRAWN)
def test_lines_of_boxes_part_the_cells(style: str) -> None:
    """Once for all rows, or anew for each of them."""
    top, head_bar, below, bar, between, bottom = DRAWN[style]

    def drawn(rows: list[int]) -> str:
        lines = [top, f"{head_bar} Episode {head_bar} Reward {head_bar} Loss {head_bar}", below]
        for n in rows:
            lines += [f"{bar} {n} {bar} {n}.5 {bar} 0.25 {bar}", *([between] if between else [])]
        return "\n".join([*lines, bottom, ""])

    for text in (drawn([1, 2, 3, 4]), "".join(drawn([n]) for n in range(1, 5))):
        read = parse_every_way(ConsoleParser, text.encode())
        assert read.values_by_step()["Reward"] == [(n, n + 0.5) for n in range(1, 5)]


def test_rules_between_the_rows_of_a_table_do_not_end_it() -> None:
    """Other names above a rule do: what follows is another table."""
    rows = "| 21.5 | 0.1 | 100 |\n|---|---|---|\n| 22.5 | 0.2 | 200 |\n"
    other = "| seed | wins | of |\n|---|---|---|\n| 1 | 2 | 300 |\n"
    output = read("| reward | kl | step |\n|---|---|---|\n" + rows + other)
    assert output.values_by_step() == {
        "reward": [(100, 21.5), (200, 22.5)],
        "kl": [(100, 0.1), (200, 0.2)],
    }


def test_a_table_with_its_step_in_the_middle_goes_on_behind_other_lines() -> None:
    """As one that begins with its step does, also where many rows are read at once."""
    rows = [f"| {n}.5 | {n}00 | 0.25 |\n" for n in range(1, 41)]
    text = "".join(["| reward | step | kl |\n|:--|--:|---|\n", *rows[:20], "saved\n", *rows[20:]])
    output = parse_every_way(ConsoleParser, text.encode())
    assert output.steps("reward") == output.steps("kl") == [100 * n for n in range(1, 41)]
    assert output.values("reward")[-1] == 40.5


def test_a_cell_in_bold_or_with_a_sign_is_its_number() -> None:
    """Somebody marks the best row; a share has its sign behind it."""
    rows = "| 21.5 | 100 | 50.0% |\n| **22.5** | 200 | `75.0%` |\n"
    output = read("| reward | step | win_rate |\n|---|---|---|\n" + rows)
    assert output.values_by_step() == {
        "reward": [(100, 21.5), (200, 22.5)],
        "win_rate%": [(100, 50.0), (200, 75.0)],
    }
