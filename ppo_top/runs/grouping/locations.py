"""Where a log belongs by its path alone: the directory of its run, and what is certain of that.

Paths are absolute, so that the answer is the same whichever directory is watched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.file_names import D3RLPY_METRICS
from ppo_top.paths import is_inside
from ppo_top.text.lazy_pattern import lazy_pattern

INNER_FOLDER = lazy_pattern(
    r"tb|tensorboard|tb_logs|tensorboard_logs?|logs?|summaries|\.?summary|metrics|scalars|monitors?"
    r"|train|eval|evaluation|valid|validation|val|test|dvclive|\.hydra"
)
"""Names of folders inside a run's directory."""
EVALUATION_NAME = lazy_pattern(
    r"(?i)(?:^|[^a-z])(?:eval|evaluations?|evaluate|test|tests|enjoy|play|infer|inference)(?:[^a-z]|$)"
)
"""A name of a file or a folder of an evaluation."""
SINGLE_RUN_FILE = lazy_pattern(
    r"(?i)tfevents|^(?:(?:\d+(?:\.\d+)?|train|eval)[._])?monitor\.csv$|^(progress\.(csv|json|txt)|log\.txt|result\.json|evaluations\.npz"
    r"|trainer_state\.json|hparams\.ya?ml|config\.(ya?ml|json)|params\.json|(sf_log|args|scores)\.txt"
    r"|\d{8}\.jsonl"  # an inbox of Trackio
    r"|(?:metrics|scores)\.jsonl"  # Dreamer
    rf"|(?:{D3RLPY_METRICS})\.csv)$"
)
"""Files that occur once in a run's directory."""
CHECKPOINT_FOLDER = lazy_pattern(r"checkpoint[-_]\d+$")
START_TIME_FOLDER = lazy_pattern(r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+")
"""A folder that torch and transformers name after the start: Nov21_00-40-41_host."""
UNIX_TIME_FOLDER = lazy_pattern(r"\d{9,10}(\.\d+)?$")
"""A folder of hyperparameters that add_hparams and accelerate make next to the metrics."""
TRACKER_RUN_FOLDER = lazy_pattern(r"(offline-)?run-\d{8}_\d{6}-.+")
"""The folder of a run of Weights & Biases or SwanLab; its id may be any name, such as a UUID."""
ZOO_SETTINGS_PATH = lazy_pattern(r"(?:.*/)?([^/]+)_\d+/\1/(?:config|args)\.ya?ml")
"""rl-baselines3-zoo's settings: PPO/CartPole-v1_3/CartPole-v1/config.yml."""
ISAAC_LAB_SETTINGS_PATH = lazy_pattern(r".*/params/agent\.ya?ml")
"""Isaac Lab's settings of the trainer, in the folder of its log."""
ATTEMPT_FOLDER = lazy_pattern(r"attempt_\d+$")
DI_ENGINE_WORKER = lazy_pattern(r"(?:serial|learner|collector|evaluator|buffer|commander)\d*")
"""DI-engine's folders in `<experiment>/log`, in each of which there are logs of one training."""
MAX_SCALARS_DEPTH = 8
"""Folders below its writer's in which add_scalars may put an event file."""


class RunLocation(NamedTuple):
    """Where a log belongs by its path.

    `directory` is that of its run. Logs of the same `unit` (empty: none) are one run whatever they
    hold. `is_direct`: the log is in the directory itself. `writer` is the folder of the writer
    whose add_scalars seems to have made the log; empty if none has.
    """

    directory: str
    unit: str = ""
    is_direct: bool = True
    writer: str = ""


def locate_run(path: str, tags: tuple[str, ...] = (), use_writer: bool = True) -> RunLocation:
    """The location of a log by its path, and of an event file by its tags too.

    `use_writer`: take a folder that looks like one of add_scalars for one.
    """
    *folders, name = path.split("/")
    if (launch := _launch_location(folders)) is not None:
        return launch
    tag = path.rpartition("/scalars/")[2].removesuffix(".csv")
    if folders[-2:-1] == ["log"] and DI_ENGINE_WORKER.fullmatch(folders[-1]):
        home = join_folders(folders[:-2])
        return RunLocation(home, home)
    if name.endswith(".csv") and "scalars" in folders[1:] and set(tags) == {tag}:
        home = join_folders(folders[: folders.index("scalars", 1)])
        return RunLocation(home, home)  # TorchRL: one file a tag
    folder, _, tag = path.rpartition("/plots/metrics/")
    if name.endswith(".tsv") and folder and set(tags) == {tag.removesuffix(".tsv")}:
        home = join_folders(_without_inner(folder.split("/")))
        return RunLocation(home, home)  # DVCLive: one file a tag, too
    events, writer = "tfevents" in name, ""
    is_below = ZOO_SETTINGS_PATH.fullmatch(path) or ISAAC_LAB_SETTINGS_PATH.fullmatch(path)
    if is_below or (folders and CHECKPOINT_FOLDER.search(folders[-1])):
        folders.pop()  # trainer_state.json
    elif folders and UNIX_TIME_FOLDER.match(folders[-1]):
        folders.pop()
    elif events and use_writer and (depth := _depth_below_writer(folders, tags)):
        folders = folders[:-depth]
        writer = join_folders(folders)
    inner = _without_inner(folders)
    if events and len(inner) > 1 and inner[-2] == "runs" and START_TIME_FOLDER.fullmatch(inner[-1]):
        return RunLocation(join_folders(inner[:-2]), join_folders(inner), False, writer)
    home = join_folders(inner)
    return RunLocation(home, home if SINGLE_RUN_FILE.search(name) else "", True, writer)


def _launch_location(folders: Sequence[str]) -> RunLocation | None:
    """The location of a log in a tracker's folder or that of an attempt of torchrun."""
    for depth, folder in enumerate(folders):
        if TRACKER_RUN_FOLDER.fullmatch(folder):
            above = list(folders[:depth])
            if above and above[-1] in ("wandb", "swanlog"):
                above.pop()
            return RunLocation(join_folders(above), join_folders(folders[: depth + 1]), False)
        if ATTEMPT_FOLDER.fullmatch(folder):
            return RunLocation(join_folders(folders[:depth]), join_folders(folders[:depth]))
    return None


def _depth_below_writer(folders: Sequence[str], tags: Collection[str]) -> int:
    """How many folders add_scalars has put an event file below its writer's; 0 if it has not.

    The file holds the main tag only. torch names one folder `<tag>_<key>`, with `_` for each `/` of
    the tag, tensorboardX makes folders `<tag>/<key>`; keys may hold slashes too.
    """
    if len(tags) != 1:
        return 0
    (tag,) = tags
    starts = tag.replace("/", "_") + "_", tag + "/"
    for depth in range(1, min(len(folders), MAX_SCALARS_DEPTH + 1)):
        if "/".join(folders[-depth:]).startswith(starts):
            return depth
    return 0


def _without_inner(folders: Sequence[str]) -> list[str]:
    """The run's own directory, without the folders inside it."""
    inner = list(folders)
    if len(inner) > 1 and inner[-2] == ".summary":
        inner.pop()
    while inner and INNER_FOLDER.fullmatch(inner[-1]):
        inner.pop()
    return inner


def join_folders(folders: Sequence[str]) -> str:
    """The path of the last of these folders; `/` or `.` above the first."""
    return "/".join(folders) or ("/" if folders else ".")


def folders_above(directory: str) -> tuple[str, ...]:
    """The directories above an absolute one, the nearest first."""
    parts = directory.split("/")
    return tuple("/".join(parts[:count]) or "/" for count in range(len(parts) - 1, 0, -1))


def path_distance(one: str, other: str) -> int:
    """How many steps up and down the tree lead from one directory to another."""
    return one.count("/") + other.count("/") + 2 - 2 * _common_parts(one, other)


def common_folder(one: str, other: str) -> str:
    """The deepest directory that two absolute ones are, or are inside."""
    return "/".join(one.split("/")[: _common_parts(one, other)]) or "/"


def _common_parts(one: str, other: str) -> int:
    common = 0
    for our, their in zip(one.split("/"), other.split("/"), strict=False):
        if our != their:
            break
        common += 1
    return common


def is_same_or_nested(one: str, other: str) -> bool:
    """Whether two directories are the same, or one is inside the other."""
    return is_inside(one, other) or is_inside(other, one)
