"""Generates parts of README.md and docs/, and the man page: `python -m tools.docs`.

A generated part is between `<!-- name -->` and `<!-- /name -->`; tests/hygiene/test_docs.py checks
that it is up to date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from corpus.table import runs_table
from ppo_top.catalogue import concept, concepts, known_trainers
from ppo_top.cli.commands import COMMANDS, make_parser
from ppo_top.model import State, Verdict
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.engine.terms import REINFORCEMENT_LEARNING
from ppo_top.serve.fleet import ExportedRun, Fleet
from ppo_top.serve.metric_families import VALUE_PREFIX, FleetCollector
from ppo_top.tui.state.keys import KEY_GROUPS, KEYS
from ppo_top.views.run_facts import OpenRule, RunFacts
from tools.man_page import man_page

ROOT = Path(__file__).parent.parent
MAN_PAGE = ROOT / "docs" / "ppo-top.1"


class LogSystem(NamedTuple):
    """A row of the table of what is read: its formats, and real files that a test reads."""

    name: str
    text: str
    formats: tuple[str, ...]
    samples: tuple[str, ...]


SYSTEMS = (
    LogSystem(
        "TensorBoard",
        "`*tfevents*`: scalars old and new style, histograms as quantiles, hyperparameters; "
        "resumed runs continue each other; its downloads as CSV and JSON",
        ("tfevents", "tensorboard-csv", "json-document"),
        ("demo_logs/sb3_cartpole/*tfevents*", "tests/data/rllib_*/**/*tfevents*"),
    ),
    LogSystem(
        "Stable-Baselines3",
        "console tables and `log.txt`, `progress.csv`, `progress.json`, `monitor.csv`, "
        "`evaluations.npz`",
        ("console", "sb3-csv", "jsonl", "sb3-monitor", "sb3-evaluations"),
        ("demo_logs/sb3_cartpole/[0lps]*", "demo_logs/sb3_cartpole/eval*"),
    ),
    LogSystem(
        "TRL, Hugging Face",
        "console dictionaries, `trainer_state.json`, TensorBoard; notebooks (`check nb.ipynb`, "
        "those in directories with `--notebooks`) and their table as text, Markdown or HTML",
        ("console", "trainer-state", "tfevents", "notebook"),
        (
            "demo_logs/trl_grpo/stdout.log",
            "demo_logs/trl_grpo/**/trainer_state.json",
            "tests/data/hf_notebook_*/*.ipynb",
        ),
    ),
    LogSystem(
        "your own script",
        "`Iteration 1/20 \\| Mean Reward: 20.8 \\| KL: 0.0047 \\| clip%: 6.2%`, `key: value`, "
        "`key=value`, or your own regular expression; CSV and TSV, JSON lines, a JSON list of rows "
        "or of trainings, or an object of lists (`history.json`), one number a line or one line "
        "of them (`rewards.txt`, `dqn_pong.out`), a NumPy "
        "array (`rewards.npy`), tables without a header (`episode_rewards.csv`) or with a column "
        "for each algorithm; a file that you "
        "name, or texts alone in a directory that you name, may be called anything",
        (
            "console",
            "csv",
            "jsonl",
            "json-document",
            "json-trainings",
            "number-list",
            "number-row",
            "numpy-array",
            "bare-table",
            "algorithm-columns",
        ),
        ("demo_logs/torch_cartpole/stdout.log",),
    ),
    LogSystem(
        "Weights & Biases",
        "`*.wandb` of offline and online runs, with its system metrics (GPU, CPU, memory); the "
        "CSV of a panel, whose columns are runs",
        ("wandb", "panel-export"),
        ("tests/data/wandb_*/finished/**/*.wandb",),
    ),
    LogSystem(
        "SwanLab",
        "`*.swanlab`, and the older store of a database and `logs/`",
        ("swanlab", "swanlab-store", "swanlab-store-points"),
        (
            "tests/data/swanlab_*/finished/**/*.swanlab",
            "tests/data/swanlab_0.4*/finished/**/1000.log",
        ),
    ),
    LogSystem(
        "Trackio, MLflow",
        "Trackio's SQLite database and its inbox of `.jsonl` files; `mlflow.db` and `mlruns/`",
        ("trackio", "trackio-inbox", "mlflow-db", "mlflow-run"),
        (
            "tests/data/trackio_*/**/*.db",
            "tests/data/trackio_*/**/0*.jsonl",
            "tests/data/mlflow_*/**/mlflow.db",
            "tests/data/mlflow_*/**/mlruns/0/*/meta.yaml",
        ),
    ),
    LogSystem(
        "RLlib, Spinning Up, rsl_rl, TorchRL, Lightning, DVCLive, ...",
        "`result.json`, `progress.txt`, `metrics.csv`, console blocks and bars, one CSV or TSV "
        "file per tag",
        ("jsonl", "csv", "console", "torchrl-csv", "d3rlpy-csv", "lightning-csv", "dvclive"),
        (
            "tests/data/rllib_*/**/result.json",
            "tests/data/spinup_*/**/progress.txt",
            "tests/data/torchrl_*/**/scalars/loss.csv",
            "tests/data/lightning_*/**/metrics.csv",
            "tests/data/dvclive_*/**/*.tsv",
        ),
    ),
    LogSystem(
        "settings files next to a log",
        "`config.json`, `params.json`, `config.yaml`, `hparams.yaml`, ...",
        ("settings-json", "settings-yaml"),
        ("tests/data/spinup_*/**/config.json",),
    ),
)

SHARED_OPTIONS = re.compile(
    r" \[(?:-h|--version|--settings FILE|--goal REWARD|--curriculum|--notebooks|--ascii"
    r"|--ssh COMMAND|--remote-python PROGRAM|--remote-space SIZE"
    r"|--theme \{[^}]*\}|--no-bell)\]"
)
"""Options that most commands have; the README lists them once."""


def commands() -> str:
    """The table of commands, with argparse's usage."""
    rows = ["| command | what it does |", "|---|---|"]
    for name, (_, what, _) in COMMANDS.items():
        parser, _ = make_parser(name)
        parser.usage = None
        usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
        usage = SHARED_OPTIONS.sub("", usage).replace("{", "").replace("}", "").replace(",", "|")
        rows.append(f"| `{usage.replace('|', chr(92) + '|')}` | {what} |")
    return "\n".join(rows) + "\n"


def formats() -> str:
    """The table of systems, and the known trainers."""
    rows = ["| system | what is read |", "|---|---|"]
    rows += [f"| {each.name} | {each.text} |" for each in SYSTEMS]
    labels = [each.label for each in known_trainers() if each.id not in ("custom", "monitor")]
    known = f"Trainers whose tags are known: {', '.join(labels)}."
    return "\n".join(rows) + f"\n\n{known}\n"


def rules_summary() -> str:
    """The number of rules and metrics."""
    diagnoses = sum(bool(rule.members) for rule in RULES)
    return (
        f"{len(RULES) - diagnoses} rules, {diagnoses} diagnoses that combine several signs, and "
        f"{len(concepts())} recognised metrics: [docs/rules.md](docs/rules.md) lists the rules, "
        "`ppo-top explain NAME` describes each of them.\n"
    )


def rules() -> str:
    """The table of all rules."""
    rows = [
        "| rule | what it finds | fires when | looks at | trainers | grade |",
        "|---|---|---|---|---|---|",
    ]
    rows += [_row(rule) for rule in RULES]
    return "\n".join(rows) + "\n"


def _row(rule: Rule) -> str:
    metrics = tuple(f"`{name}`" for name in rule.members) or tuple(
        concept(name).label for name in rule.concepts
    )
    families = (
        "all" if rule.families >= REINFORCEMENT_LEARNING else ", ".join(sorted(rule.families))
    )
    grades = "".join(
        f", {family} {grade}" for family, grade in sorted(rule.grade_by_family.items())
    )
    cells = (
        f"`{rule.id}`",
        rule.title,
        rule.description,
        ", ".join(metrics),
        families,
        rule.grade + grades,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def metrics() -> str:
    """What `serve` exports: name, labels, meaning; labels as an exported run has them."""
    opened = OpenRule("kl-high", 4, 1, 1.0)
    facts = RunFacts(
        *(Verdict.CRIT, 4, "sb3", "on-policy", 1, 2, 1.0, 1.0, 1.0, 0, [opened]),
        crucial_values={"approx_kl": 0.1},
        other_values={},
    )
    collector = FleetCollector()
    left_out = {"retired": 0, "limit": 0, "inactive": 0}
    collector.fleet = Fleet([ExportedRun("a", "a", facts, State.LIVE)], {}, left_out)
    lines = ["| name | labels | meaning |", "|---|---|---|"]
    for family in collector.collect():
        name = family.samples[0].name
        labels = ", ".join(family.samples[0].labels)
        text = family.documentation
        if name.startswith(VALUE_PREFIX):
            name, labels = f"{VALUE_PREFIX}CONCEPT", "run, part"
            text = "Newest value of a metric (`ppo-top explain CONCEPT`), in its unit and sign; "
            text += "`part` is the reward function, quantile or stage, where there are several."
        lines.append(f"| `{name}` | {labels} | {text} |")
    return "\n".join(lines)


def key_table() -> str:
    """The monitor's keys, two in a row."""
    rows = ["| key | what it does | key | what it does |", "|---|---|---|---|"]
    for group in KEY_GROUPS:
        rows.append(f"| **{group}** | | | |")
        cells = [
            f"{_key_code(key.label)} | {key.description}" for key in KEYS if key.group == group
        ]
        cells += ["| "] * (len(cells) % 2)
        rows += [f"| {left} | {right} |" for left, right in zip(*[iter(cells)] * 2, strict=True)]
    return "\n".join(rows) + "\n"


def _key_code(label: str) -> str:
    return "`" + label.replace("|", "\\|") + "`"


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {
        "commands": commands,
        "formats": formats,
        "rules": rules_summary,
        "keys": key_table,
    },
    "docs/rules.md": {"rules": rules},
    "docs/fleet.md": {"metrics": metrics},
    "corpus/README.md": {"runs": runs_table},
}


def fill_parts(text: str, parts: dict[str, Callable[[], str]]) -> str:
    """The document with its generated parts up to date."""
    for name, make in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"no part called {name!r}")
        text = before + begin + make() + end + after
    return text


def main() -> None:
    """Write every part and the man page."""
    for name, parts in PARTS.items():
        path = ROOT / name
        path.write_text(fill_parts(path.read_text("utf-8"), parts), "utf-8")
    MAN_PAGE.write_text(man_page(), "utf-8")


if __name__ == "__main__":
    main()
