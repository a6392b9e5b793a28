"""The names (without folder) of the files of each format: what is worth opening, and for whom.

They stand here so that a parser is only loaded where there may be a file for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

_ALGORITHMS = (
    "a2c|a3c|acktr|c51|ddpg|ddqn|dpo|dqn|grpo|impala|ppo|reinforce|rloo|sac|sarsa|td3|trpo"
)
UNSURE_CONSOLE_NAMES = (
    rf"(?:out|run|results?|progress|rewards?|returns?|episodes?|{_ALGORITHMS})[\w-]*\.txt$|log\Z"
)
"""Names of consoles that other texts have, too: their content decides."""
_NUMBERS = (
    r"(?i:(?:(?:rewards?|returns?|scores?)[\w-]*|loss(?:es)?[\d_-]*)\.(?:txt|csv|dat|log)$"
    rf"|(?:^|[_-])(?:{_ALGORITHMS})(?:[_-][\w-]*)?\.(?:txt|csv|dat|log|out)$)"
)
_COPY = r"(?: ?\(\d{1,2}\))?"
"""What a browser puts behind the name of a second download: `evaluations (1).npz`."""
_JSON_NAMES = (
    "history|metrics|monitoring|rewards?|returns|scores|loss(?:es)?|logs?|curves?"
    "|training_(?:stats|data|results)"
)
D3RLPY_METRICS = (
    r"rollout_return|evaluation|environment|time_\w+|temp|alpha"
    r"|(?:(?:actor|alpha|bc|conservative|critic|dc|imitator|mmd|q|td|temp|v|vae)_)?loss"
    r"|td_error|soft_opc|value_scale|average_value(?:_estimation)?|discounted_sum_of_advantage"
    r"|init(?:ial)?(?:_state)?_value(?:_estimation)?|(?:compare_)?\w+_action_(?:diff|match)"
)
"""What d3rlpy logs, and what its documentation calls its evaluators: a file each."""

FILE_NAMES: Mapping[str, Mapping[str, str]] = {
    "bare_table": {
        "bare-table": (
            r"(?i:(?:rewards?|returns?|scores?|episodes?|train\w*|results?|metrics|progress|log"
            r"|history)"
            r"[\w-]*\.csv$|(?:rewards?|returns?|scores?)[\w-]*\.(?:txt|dat|log)$"
            r"|^(?:log|train)[^.]*\.txt$)"
        )
    },
    "console": {
        "console": (
            r"(?i:\.(?:log|out|err|stdout|stderr)(?:\.\d+)?$"
            r"|^(?:stdout|stderr|nohup\.out|console)"
            r"(?!.*\.(?:pyc?|php|[jt]sx?|css|html?|java|go|rs|c|cc|cpp|h)$)"
            r"|(?:log|output|console|train|stdout|stderr)[^.]*\.txt$|^cout\.txt$"
            rf"|^(?:{UNSURE_CONSOLE_NAMES}))"
        )
    },
    "csv_table": {
        "sb3-csv": rf"^progress{_COPY}\.csv$",
        "lightning-csv": r"^metrics\.csv$",
        "csv": (
            r"(?i:\.(?:csv|tsv|log)$|^(?:log|train)[^.]*\.txt$"
            r"|^(?:progress|scores|(?:\w+_)?rewards?\w*)\.txt$)"
        ),
    },
    "dvclive": {"dvclive": r"\.tsv$"},
    "json_document": {
        "json-document": (
            rf"(?i:(?:{_JSON_NAMES})[\w-]*\.json$|(?:rewards?|returns|scores)[\w-]*\.txt$"
            r"|^logs\.txt$|-tag-.*\.json$|^openaigym\.episode_batch\.[\d.]+\.stats\.json$)"
        ),
        "json-trainings": rf"(?i:(?:results?|{_JSON_NAMES})[\w-]*\.json$)",
    },
    "json_lines": {
        "jsonl": r"(?i:^(?:progress|result|metrics|[\w-]*logs?)\.json$|\.(?:jsonl|ndjson)$)"
    },
    "metric_files": {
        "d3rlpy-csv": rf"^(?:{D3RLPY_METRICS}|\w+_loss)\.csv$",
        "torchrl-csv": r"\.csv$",
    },
    "mlflow": {
        "mlflow-db": r"(?i:^(?:mlflow|mlruns)[\w.-]*\.(?:db|sqlite3?)$)",
        "mlflow-run": r"^meta\.yaml$",
    },
    "notebook": {"notebook": r"\.ipynb$"},
    "number_list": {"number-list": rf"{_NUMBERS}|\.out$"},
    "number_row": {"number-row": _NUMBERS},
    "numpy_array": {
        "numpy-array": (
            r"(?i:(?:(?:rewards?|returns?|scores?)[\w-]*|loss(?:es)?[\d_-]*)\.npy$"
            rf"|(?:^|[_-])(?:{_ALGORITHMS})(?:[_-][\w-]*)?\.npy$)"
        ),
    },
    "run_columns": {
        "algorithm-columns": r"(?i:(?:rewards?|returns?|scores?)[\w-]*\.csv$)",
        "panel-export": r"\.csv$",
    },
    "sb3_evaluations": {"sb3-evaluations": rf"^evaluations{_COPY}\.npz$"},
    "sb3_monitor": {"sb3-monitor": r"monitor[\w-]*\.csv$"},
    "settings_files": {
        "settings-yaml": (
            r"^(?:config(?:uration)?|hparams|args|settings|params|hyperparameters|agent|\w+_config)\.ya?ml$"
        ),
        "settings-json": (
            r"^(?:config|hparams|args|params|hyperparameters|hyperparams|\w+_args)\.json$|^args\.txt$"
        ),
    },
    "swanlab": {
        "swanlab": r"\.swanlab$",
        "swanlab-store": r"^runs\.swanlab$",
        "swanlab-store-points": r"^[1-9]\d{0,6}000\.log$",
    },
    "tensorboard": {"tfevents": "tfevents"},
    "tensorboard_csv": {"tensorboard-csv": r"\.csv$"},
    "trackio": {"trackio": r"\.db$", "trackio-inbox": r"^\d{8}\.jsonl$"},
    "trainer_state": {
        "trainer-state": (
            rf"^(?:trainer_state|train(?:ing|er)?_?logs?|log_history)[\w-]*{_COPY}\.json$"
        )
    },
    "wandb": {"wandb": r"\.wandb$"},
}
"""Module -> format -> pattern."""

ON_DEMAND = frozenset({"notebook"})
"""Modules whose files are read only where somebody asks for them."""

ANY_FILE_NAME = "|".join(
    f"(?:{each})".replace("$", r"(?:\.[gx]z)?$")
    for module, patterns in FILE_NAMES.items()
    for each in patterns.values()
    if module not in ON_DEMAND
)
"""Matches what `is_file_name` does, for another machine: here, compiling it takes too long."""


ENDINGS: Mapping[str, str] = {
    "bare_table": "csv dat log txt",
    "csv_table": "csv log tsv txt",
    "dvclive": "tsv",
    "json_document": "json txt",
    "json_lines": "json jsonl ndjson",
    "metric_files": "csv",
    "mlflow": "db sqlite sqlite3 yaml",
    "notebook": "ipynb",
    "number_list": "csv dat log out txt",
    "number_row": "csv dat log out txt",
    "numpy_array": "npy",
    "run_columns": "csv",
    "sb3_evaluations": "npz",
    "sb3_monitor": "csv",
    "settings_files": "json txt yaml yml",
    "swanlab": "log swanlab",
    "tensorboard_csv": "csv",
    "trackio": "db jsonl",
    "trainer_state": "json",
    "wandb": "wandb",
}
"""Module -> the endings that all its names have; those of other modules may end in anything.

Most patterns are compiled, and tried on each of many files, only where there are such names.
"""


@lru_cache(maxsize=64)
def _patterns_of(ending: str) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """(module, format, pattern) of what may have names with this ending."""
    return tuple(
        (module, format_, re.compile(pattern))
        for module, patterns in FILE_NAMES.items()
        if module not in ENDINGS or ending in ENDINGS[module].split()
        for format_, pattern in patterns.items()
    )


def _formats_with(name: str) -> Iterator[tuple[str, str]]:
    """(module, format) of the formats that have files of this very name."""
    for module, format_, names in _patterns_of(name.rpartition(".")[2].lower()):
        if names.search(name):
            yield module, format_


def compression_of(name: str) -> str:
    """`gz` or `xz` if that is how the name of a compressed file ends, else empty."""
    return name[-2:] if name.endswith((".gz", ".xz")) else ""


def without_compression(name: str) -> str:
    """The name of the file that was compressed."""
    return name[:-3] if compression_of(name) else name


def is_file_name(name: str) -> bool:
    """Whether a format that is read in directories has files of this name, compressed or not."""
    bare = without_compression(name)
    asked = bare if "." in bare else name  # `log.gz` may be anything
    return any(module not in ON_DEMAND for module, _ in _formats_with(asked))


def formats_by_module(name: str) -> tuple[tuple[str, str], ...]:
    """(module, format) of the formats that have files of this name, compressed or not."""
    return tuple(_formats_with(without_compression(name)))
