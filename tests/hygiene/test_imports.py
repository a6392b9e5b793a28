"""Imports at run time: no headless command loads the interface, nothing loads a trainer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "demo_logs"
HEAVY = {
    "textual",
    "rich",
    "plotext",
    "torch",
    "tensorboard",
    "gymnasium",
    "trl",
    "stable_baselines3",
}


def loaded_by(code: str) -> set[str]:
    """The top-level names in `sys.modules` after some code ran in a fresh interpreter."""
    names = "sorted({name.split('.')[0] for name in sys.modules})"
    report = f"\nimport sys, json; print('@' + json.dumps({names}))"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.rsplit("@", 1)[1]))


@pytest.mark.parametrize(
    "module",
    [
        "output.check",
        "output.export",
        "output.status_line",
        "output.explain",
        "runs.session",
        "cli",
        "parsers",
    ],
)
def test_the_core_loads_without_the_interface(module: str) -> None:
    """Neither the interface nor numpy is needed before something needs it."""
    assert not loaded_by(f"import ppo_top.{module}") & (HEAVY | {"numpy", "watchdog"})


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--json", str(DEMO / "sb3_cartpole")],
        ["check", str(DEMO)],
        ["export", "--format", "csv", str(DEMO / "sb3_cartpole")],
        ["status", str(DEMO)],
        ["explain", "approx_kl"],
    ],
)
def test_headless_commands_never_load_the_interface(arguments: list[str]) -> None:
    """A real verdict on a real log without Textual, Rich, plotext or a trainer."""
    assert not loaded_by(f"import ppo_top.cli; ppo_top.cli.main({arguments!r})") & HEAVY


@pytest.mark.parametrize("log", ["torch_cartpole", "trl_grpo"])
def test_a_check_compiles_no_dataclass(log: str) -> None:
    """Their methods are compiled at every start: forty of them cost a short check a fifth.

    `statistics`, too, costs more than the few means that it would compute.
    """
    call = f"import ppo_top.cli; ppo_top.cli.main(['check', '--no-cache', {str(DEMO / log)!r}])"
    assert not loaded_by(call) & {"dataclasses", "inspect", "statistics"}


@pytest.mark.parametrize("log", ["torch_cartpole", "trl_grpo"])
def test_a_check_compiles_no_annotation(log: str) -> None:
    """`typing.NamedTuple` does, and a hundred of them cost a short check a tenth."""
    watch = "import typing; made = []; typing.ForwardRef.__init__ = lambda *a, **k: made.append(a)"
    call = f"import ppo_top.cli; ppo_top.cli.main(['check', '--no-cache', {str(DEMO / log)!r}])"
    loaded_by(f"{watch}\n{call}\nassert not made, [each[1] for each in made]")


def test_a_check_reads_the_tags_of_what_wrote_its_logs_only() -> None:
    """Of the other tables only the head lines, which say what is their evidence."""
    demo = str(DEMO / "sb3_cartpole")
    call = f"import ppo_top.cli; ppo_top.cli.main(['check', '--no-cache', {demo!r}])"
    tables = "ppo_top.catalogue.table.trainer_tables().values()"
    read = f"read = [each.id for each in {tables} if 'entries' in vars(each)]"
    loaded_by(f"{call}\n{read}\nassert sorted(read) == ['monitor', 'sb3'], read")


def test_a_check_does_not_read_what_thresholds_mean() -> None:
    """Only `ppo-top explain` says it."""
    call = f"import ppo_top.cli, sys; ppo_top.cli.main(['check', '--no-cache', {str(DEMO)!r}])"
    loaded_by(f"{call}\nassert 'ppo_top.catalogue.limits' not in sys.modules")


@pytest.mark.parametrize(("rows", "is_loaded"), [(500, False), (20_000, True)])
def test_a_faster_reader_is_loaded_where_there_is_much_to_read(
    rows: int, is_loaded: bool, tmp_path: Path
) -> None:
    """The import of orjson takes as long as the standard library needs for half a megabyte."""
    lines = [f"{row},{row / 7},{row / 9},0.25,0.5" for row in range(rows)]
    table = "\n".join(["step,train/loss,train/approx_kl,train/std,train/clip_range", *lines, ""])
    (tmp_path / "progress.csv").write_text(table)
    call = f"import ppo_top.cli; ppo_top.cli.main(['check', '--no-cache', {str(tmp_path)!r}])"
    assert ("orjson" in loaded_by(call)) == is_loaded


def test_importing_the_package_loads_nothing() -> None:
    """`import ppo_top` gives the version and loads nothing else, not even a module of ours."""
    more = "import sys; before = set(sys.modules); import ppo_top; assert ppo_top.__version__; "
    loaded_by(more + "assert set(sys.modules) - before == {'ppo_top'}, set(sys.modules) - before")


def test_the_library_loads_without_the_interface() -> None:
    """`ppo_top.check` in a notebook loads neither Textual nor the command line."""
    demo = str(DEMO / "torch_cartpole")
    call = f"import ppo_top, sys; ppo_top.check({demo!r}); assert 'ppo_top.cli' not in sys.modules"
    assert not loaded_by(call) & (HEAVY | {"argparse", "watchdog"})
