"""What fuzzing begins with: the first bytes of every recorded log, and pieces made for a target."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.documents.numpy_array import MAGIC
from ppo_top.parsers.shared.stores.leveldb import LevelDbReader, LevelDbRecord
from ppo_top.parsers.tensorboard.tfrecord import HEADER_BYTES as RECORD_HEADER
from tests.fuzz import files
from tests.fuzz.framed import LEVELDB_IDENT, RECORD_SEPARATOR
from tests.fuzz.targets import with_cuts

ROOT = Path(__file__).parent.parent.parent
SEED_FOLDERS = (ROOT / "tests" / "data", ROOT / "demo_logs")
MAX_SEED_BYTES = 6_000
"""Of each log: a mutation of some bytes is lost in a long one."""
MAX_SEEDS = 24
"""Of each target; recordings of one writer are much alike."""
TOGETHER_SEEDS = 6

SETTINGS_SEED = b"""goal = 195.0
[rules.kl-high]
warn = 0.05
mute = "known"
[tags]
"a/b" = "entropy neg"
[notify]
desktop = true
[display]
theme = "mono"
"""
CUSTOM_RULE_SEED = b"""console = ["(?P<reward_mean>[0-9.]+)"]
[[rule]]
id = "mine"
metric = "approx_kl"
warn = 0.3
"""
DOWNLOADED_CSV_SEED = b"Wall time,Step,Value\n" + b"1700000000.5,2048,21.5\n" * 20
JSON_DOCUMENT_SEEDS = [
    b'[{"step": 1, "train": {"reward": 2.5, "kl": NaN}}, {"step": 2, "train": {"reward": 3}}]',
    b'{"config": {"lr": 3e-4}, "rewards": [1, 2.5, "nan"], "losses": [3, 2, 1, 0], "steps": [1]}',
    b'{"1": {"reward": 2.5, "loss": 3}, "2": {"reward": 3.5, "loss": NaN}}',
]
TABLE_SEED = (
    b"step,loss,approx_kl,entropy,reward_mean,explained_variance,clip_fraction\n"
    + b"".join(
        b"%d,%g,%g,%g,%g,%g,%g\n" % (n, 1 / (n + 1), 0.01 * n, 0.7 - n / 99, n, 1 - n / 40, 0.2)
        for n in range(40)
    )
)


def recorded_logs() -> Iterator[tuple[str, bytes]]:
    """Format and bytes of every recorded log that some format claims."""
    for path in sorted(
        each for folder in SEED_FOLDERS for each in folder.rglob("*") if each.is_file()
    ):
        data = path.read_bytes()
        found = detect_format(path.name, data[:4096])
        if isinstance(found, Format):
            yield found.name, data


def event_records(data: bytes) -> bytes:
    """The first payloads of an event file."""
    place = 0
    found: list[bytes] = []
    while place + RECORD_HEADER < len(data) and sum(map(len, found)) < MAX_SEED_BYTES:
        size = int.from_bytes(data[place : place + 8], "little")
        found.append(data[place + RECORD_HEADER : place + RECORD_HEADER + size])
        place += RECORD_HEADER + size + 4
    return RECORD_SEPARATOR.join(found)


def log_records(data: bytes) -> bytes:
    """The first payloads of a transaction log."""
    found = [
        each.data
        for each in LevelDbReader(data[:5]).add_bytes(data)
        if isinstance(each, LevelDbRecord)
    ]
    return RECORD_SEPARATOR.join(found)[:MAX_SEED_BYTES]


def numpy_array(floats: bytes) -> bytes:
    """A file of `numpy.save` with single-precision numbers."""
    about = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(floats) // 4},), }}"
    header = about.encode().ljust(117) + b"\n"
    return MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header + floats


def seeds() -> dict[str, list[bytes]]:
    """Inputs by target, the shortest recordings first."""
    by_format: dict[str, set[bytes]] = {}
    for name, data in recorded_logs():
        by_format.setdefault(name, set()).add(data)
    found = {
        name: [with_cuts(data[:MAX_SEED_BYTES]) for data in sorted(logs, key=len)[:MAX_SEEDS]]
        for name, logs in by_format.items()
    }
    found["bare-table"] = [with_cuts(b"0,1.5,200,1.0\n1,-2e3,93,nan\n2,0.5,12,1755339958\n" * 9)]
    found["algorithm-columns"] = [with_cuts(b"episode,DQN,PER-DDQN\n" + b"1,-2.5,7\n2,,nan\n" * 9)]
    found["d3rlpy-csv"] = [with_cuts(b"1,500,21.5\n2,1000,1e-05\n3,1500,nan\n" * 9)]
    panel = b'"Step","a - loss","a - loss__MIN","b - loss"\n' + b'"10","0.5","0.5",""\n' * 9
    found["panel-export"] = [with_cuts(panel)]
    found["number-list"] = [with_cuts(b"reward\n1.5\n-2e3\nnan\n" * 20)]
    found["number-row"] = [b"1.5,-2e3,nan, 7," * 20]
    found["numpy-array"] = [numpy_array(b"\x00\x00\x80?" * 40)]
    found["tensorboard-csv"] = [with_cuts(DOWNLOADED_CSV_SEED)]
    found["json-document"] = JSON_DOCUMENT_SEEDS
    found["json-trainings"] = [
        b'[{"algorithm": "DQN", "episode_rewards": [1, 2.5]}, {"agent": "DQN", "returns": [3, 4]}]'
    ]
    found["sb3-evaluations"] = sorted(by_format["sb3-evaluations"], key=len)
    found["trackio"] = [
        files.database_bytes(files.build_trackio_database, files.seed_of_trackio_database())
    ]
    found["swanlab-store"] = [
        files.database_bytes(files.build_swanlab_store, files.seed_of_swanlab_store())
    ]
    found["mlflow-db"] = [
        files.database_bytes(files.build_mlflow_database, files.seed_of_mlflow_database())
    ]
    found["notebook"] = [
        files.database_bytes(files.build_notebook, files.seed_of_notebook()),
        files.database_bytes(files.build_notebook, files.seed_of_notebook() * 9),
    ]
    found["mlflow-rows"] = [files.seed_of_mlflow_database()]
    found["mlflow-lines"] = [files.seed_of_mlflow_run()]
    found["notebook-outputs"] = [files.seed_of_notebook()]
    found["tfevents-records"] = prepared_records(by_format["tfevents"], event_records)
    found["tfevents-columns"] = [data[:3000] for data in found["tfevents-records"]]
    found["wandb-records"] = prepared_records(by_format["wandb"], log_records)
    found["swanlab-records"] = prepared_records(by_format["swanlab"], log_records)
    packed = [files.seed_of_archive(data) for data in by_format["sb3-evaluations"]]
    found["sb3-evaluations-arrays"] = [*packed, files.seed_of_false_header()]
    found["trackio-rows"] = [files.seed_of_trackio_database()]
    found["swanlab-store-lines"] = [files.seed_of_swanlab_store()]
    found["names"] = [
        b"progress.csv\0r,l,t\n",
        b"a.log\0| loss | 1 |",
        b"x.tfevents\0" + LEVELDB_IDENT,
    ]
    found["settings"] = [SETTINGS_SEED, CUSTOM_RULE_SEED]
    found["protobuf"] = [logs.split(RECORD_SEPARATOR)[1] for logs in found["wandb-records"][:4]]
    found["words"] = ["a\u202eb\u200b\x1b[0m\x9b é".encode()]
    found["judge"] = [TABLE_SEED]
    return found


def prepared_records(logs: set[bytes], extract: object) -> list[bytes]:
    """Prepared inputs of records taken from logs."""
    assert callable(extract)
    return [with_cuts(extract(data)) for data in sorted(logs, key=len)[:MAX_SEEDS]]


def together_seeds(names: list[str]) -> list[bytes]:
    """A few seeds of each target, for all in one."""
    found = seeds()
    return [
        bytes([number]) + data
        for number, name in enumerate(names)
        for data in found.get(name, [])[:TOGETHER_SEEDS]
    ]
