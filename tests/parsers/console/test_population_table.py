"""AgileRL's console: a table a generation, as `MetricsReport.render` of 2.58 draws it with rich."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way


def drawn(table: Table) -> str:
    """A table as AgileRL prints it: in bold, with the escape sequences of a terminal."""
    text = io.StringIO()
    Console(file=text, force_terminal=True, width=100).print(table)
    return f"{text.getvalue()}\n"


def generation(step: int, agents: Sequence[int], rows: Mapping[str, Sequence[str]]) -> str:
    """The report of one generation; a population of several has a column for the mean."""
    table = Table(title=f"Global Steps: {step:_}", title_style="bold", header_style="bold")
    table.add_column("Metric", justify="left", style="bold")
    for number in agents:
        table.add_column(f"Agent {number}", justify="right")
    if len(agents) > 1:
        table.add_column("Mean", justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
        table.add_section()
    return drawn(table)


def two_agents(number: int) -> str:
    """Selection gives the agents new numbers; their settings and steps have no mean."""
    rows = {
        "fitness": (f"{number}50.0", f"{number}00.0", f"{number}25.0"),
        "score": (f"{number}1.50", f"{number}0.50", f"{number}1.00"),
        "policy_loss": ("-2.69e-05", "-2.49e-05", "-2.59e-05"),
        "lr": ("1.00e-03", "1.00e-03", ""),
        "batch_size": ("128", "64", ""),
        "last_mutation": ("None", "param", ""),
        "steps/s": ("1.51e+03", "1.97e+03", "1.74e+03"),
    }
    return generation(4096 * number, (2 * number, 2 * number + 1), rows)


def test_a_population_counts_by_its_mean() -> None:
    """Below a title that says the step; where there is no mean, by what all agents share."""
    console = "".join(f"Training Progress\n{two_agents(n)}" for n in (1, 2, 3))
    read = parse_every_way(ConsoleParser, console.encode())
    assert read.values_by_step() == {
        "fitness": [(4096, 125.0), (8192, 225.0), (12_288, 325.0)],
        "score": [(4096, 11.0), (8192, 21.0), (12_288, 31.0)],
        "policy_loss": [(4096, -2.59e-5), (8192, -2.59e-5), (12_288, -2.59e-5)],
        "lr": [(4096, 0.001), (8192, 0.001), (12_288, 0.001)],
        "steps/s": [(4096, 1740.0), (8192, 1740.0), (12_288, 1740.0)],
    }


def test_an_agent_alone_has_no_mean() -> None:
    """Its own values count, in all sections of the table."""
    rows = {"fitness": ("21.5",), "score": ("20.5",), "steps": ("2048",)}
    read = parse_every_way(ConsoleParser, generation(2048, (0,), rows).encode())
    assert read.values_by_step()["score"] == [(2048, 20.5)]
    assert read.values_by_step()["fitness"] == [(2048, 21.5)]


def test_a_table_of_other_columns_is_read_as_before() -> None:
    """A script may print its steps above any table."""
    table = Table("Metric", "Value")
    for name, value in (("step", "100"), ("reward", "2.5")):
        table.add_row(name, value)
    read = parse_every_way(ConsoleParser, f"Global Steps: 100\n{drawn(table)}".encode())
    assert read.values_by_step()["reward"] == [(100, 2.5)]
