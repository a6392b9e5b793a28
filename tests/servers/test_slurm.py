"""With a real Slurm: the documented hook ends a job whose training goes wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.documents import code_block
from tests.support.scrapes import SICK_CONSOLE
from tests.support.servers import eventually
from tests.support.slurm import running_slurm

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(os.geteuid() != 0, reason="starts Slurm as root"),
]

TRAINING = """#!/bin/sh
# A training that goes wrong once it is watched, and goes on until it is told to stop.
trap 'echo saved > end; exit 0' TERM
mkdir -p runs/lr
cp begin.log runs/lr/stdout.log
until grep -q started job.out; do sleep 0.1; done
cat rest.log >> runs/lr/stdout.log
while :; do sleep 0.1; done
"""


def test_the_documented_hook_stops_a_job(tmp_path: Path) -> None:
    """The training gets the signal, and may save before the job ends."""
    job, bin_folder, servers = (tmp_path / name for name in ("job", "bin", "servers"))
    for folder in (job, bin_folder, servers):
        folder.mkdir()
    lines = SICK_CONSOLE.splitlines(keepends=True)
    (job / "begin.log").write_bytes(b"".join(lines[:3]))
    (job / "rest.log").write_bytes(b"".join(lines[3:20]))
    programs = {"python": TRAINING, "ppo-top": f'#!/bin/sh\nexec {sys.executable} -m ppo_top "$@"'}
    for name, text in programs.items():
        (bin_folder / name).write_text(text + "\n")
        (bin_folder / name).chmod(0o755)
    script = job / "job.sh"
    path = f"export PATH={bin_folder}:$PATH"
    script.write_text(f"#!/bin/bash\n{path}\n{code_block('hooks.md', 'slurm')}")
    with running_slurm(servers) as slurm:
        number = slurm.submit(script, job)
        state = ("squeue", "-h", "-t", "all", "-j", number, "-o", "%T")
        running = ("", "PENDING", "RUNNING", "COMPLETING")
        eventually(lambda: slurm.ask(*state) not in running, "end of the job")
    assert (job / "end").read_text() == "saved\n"
