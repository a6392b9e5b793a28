"""A real Slurm of one node, in a directory of the test's own: nothing of the machine's is used."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.servers import eventually, free_address, program, started

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Runs the commands of Slurm against a cluster."""

    def __init__(self, config: Path) -> None:
        self._environment = {**os.environ, "SLURM_CONF": str(config)}

    def ask(self, *command: str | Path) -> str:
        """What a command prints; empty if it fails."""
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def submit(self, script: Path, folder: Path) -> str:
        """Submit a job that runs, and writes `job.out`, in a folder; returns its number."""
        output = f"--output={folder / 'job.out'}"
        found = self.ask("sbatch", "--parsable", f"--chdir={folder}", output, script)
        assert found, "sbatch took no job"
        return found


@contextmanager
def running_slurm(folder: Path) -> Iterator[Slurm]:
    """munged, slurmctld and slurmd while the block runs; only root can start them so."""
    munged, controller, node = program("munged"), program("slurmctld"), program("slurmd")
    ports = [free_address().rpartition(":")[2] for _ in range(2)]
    words = {"folder": folder, "host": socket.gethostname().partition(".")[0]}
    config, key = folder / "slurm.conf", folder / "munge.key"
    config.write_text(CONFIG.format(controller_port=ports[0], node_port=ports[1], **words))
    key.write_bytes(secrets.token_bytes(64))
    key.chmod(0o600)
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    names = ("key-file", "socket", "pid-file", "log-file", "seed-file")
    places = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in names]
    with ExitStack() as servers:
        servers.enter_context(started([munged, "--foreground", "--force", *places], folder))
        eventually((folder / "munge.socket").exists, "munged")
        servers.enter_context(started([controller, "-D", "-f", config], folder))
        servers.enter_context(started([node, "-D", "-f", config], folder))
        slurm = Slurm(config)
        eventually(lambda: slurm.ask("sinfo", "-h", "-o", "%t") == "idle", "idle node")
        yield slurm
