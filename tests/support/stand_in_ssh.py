"""Takes the place of `ssh`: runs the command of the far side on this machine.

`python stand_in_ssh.py [OPTION ...] SSH-OPTION ... -- HOST COMMAND`; the options delay what goes
through, count it, cut it off, or fail as ssh does. With `--connect` it only passes bytes on to a
port: the ProxyCommand of a real ssh.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO


def pump(
    source: IO[bytes], target: IO[bytes], delay_s: float, count: Path | None, most: int
) -> None:
    """Pass bytes on with a delay, at most so many; their number goes to a file."""
    counter = os.open(count, os.O_WRONLY | os.O_CREAT) if count is not None else None
    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()

    def write() -> None:
        total = 0
        # The other end may be gone; with bytes still unwritten, closing raises for it too.
        with contextlib.suppress(BrokenPipeError), target:
            while (entry := waiting.get())[1]:
                time.sleep(max(0.0, entry[0] - time.monotonic()))
                data = entry[1][: most - total]
                total += len(data)
                target.write(data)
                target.flush()
                if counter is not None:
                    os.pwrite(counter, f"{total:020}".encode(), 0)
                if total >= most:
                    os._exit(255)

    writer = threading.Thread(target=write)
    writer.start()
    while data := os.read(source.fileno(), 1 << 16):
        waiting.put((time.monotonic() + delay_s, data))
    waiting.put((0.0, b""))
    writer.join()


def relay(address: str, delay_s: float, count: Path | None) -> int:
    """Pass on what goes to and comes from HOST:PORT, until one side ends."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as there:
        to_it = open(os.dup(there.fileno()), "wb", 0)  # noqa: SIM115 (until the process ends)
        outgoing = (sys.stdin.buffer, to_it, delay_s / 2, None, 1 << 62)
        threading.Thread(target=pump, args=outgoing, daemon=True).start()
        from_it = open(os.dup(there.fileno()), "rb", 0)  # noqa: SIM115
        pump(from_it, sys.stdout.buffer, delay_s / 2, count, 1 << 62)
    return 0


def main() -> int:
    """Be ssh."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0, help="round trip in seconds")
    parser.add_argument("--count", type=Path, help="write the number of received bytes here")
    parser.add_argument("--connect", metavar="HOST:PORT", help="pass everything on to this port")
    parser.add_argument("--cut", type=int, default=1 << 62, help="end after so many bytes")
    parser.add_argument("--banner", default="", help="what the login shell prints")
    parser.add_argument("--fail", default="", help="what ssh says before it ends with 255")
    parser.add_argument("--fail-while", type=Path, help="fail as long as this file exists")
    parser.add_argument("--only-host", default="", help="every other host cannot be resolved")
    parser.add_argument("--path", default=os.environ["PATH"], help="the PATH there")
    parser.add_argument("--shell", default="/bin/sh", help="the login shell there")
    options, rest = parser.parse_known_args()
    if options.connect:
        return relay(options.connect, options.delay, options.count)
    host, command = rest[rest.index("--") + 1 :] if "--" in rest else rest[-2:]
    fails = options.fail and (options.fail_while is None or options.fail_while.exists())
    unknown = options.only_host and host != options.only_host
    if fails or unknown:
        said = options.fail or f"ssh: Could not resolve hostname {host}: Name or service not known"
        print(said, file=sys.stderr)
        return 255
    sys.stdout.write(options.banner)
    sys.stdout.flush()
    environment = {**os.environ, "PATH": options.path}
    # Left open at the end: a thread may still pass on input that is no longer wanted.
    process = subprocess.Popen(
        [options.shell, "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        bufsize=0,
    )
    assert process.stdin is not None and process.stdout is not None
    there = (sys.stdin.buffer, process.stdin, options.delay / 2, None, 1 << 62)
    threading.Thread(target=pump, args=there, daemon=True).start()
    pump(process.stdout, sys.stdout.buffer, options.delay / 2, options.count, options.cut)
    return process.wait()


if __name__ == "__main__":
    sys.stdout.flush()
    os._exit(main())  # a thread may still wait for input
