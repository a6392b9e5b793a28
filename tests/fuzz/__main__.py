"""Coverage-guided fuzzing: `python -m tests.fuzz --seconds 60`, or name targets.

Needs atheris (`pip install -e '.[fuzz,test]'`). Named targets (`all` for every one) have a
process and an equal share of the time each; without a name one process takes them in turn. What
breaks a promise is made smaller and kept in `--keep`, once for each place in the code; it becomes a
regression test by being moved to `tests/fuzz/findings/<target>/`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAX_INPUT_BYTES = 16_384
INPUT_TIMEOUT_S = 25
MAX_MEMORY_MIB = 1_500
TOGETHER = "together"
PARSER_PACKAGES = ["ppo_top.parsers"]
INSTRUMENTED_PACKAGES = {
    "judge": ["ppo_top.rules"],
    "words": ["ppo_top.text.format"],
    "settings": ["ppo_top.settings"],
}
"""The code whose ways are counted, where it is not the parsers'."""
WORDS_FILE = Path(__file__).with_name("words.dict")
MAX_PRINTED_BYTES = 200
"""A finding as short as this is printed: the log of a CI job is often all that is left of it."""


def fuzz_target(name: str, seconds: int, keep: Path, corpus: Path) -> None:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    atheris.enabled_hooks.add("str")  # how near a comparison came counts, too
    with atheris.instrument_imports(include=INSTRUMENTED_PACKAGES.get(name, PARSER_PACKAGES)):
        from tests.fuzz.seeds import seeds, together_seeds
        from tests.fuzz.smaller import failure_place, minimise
        from tests.fuzz.targets import fuzz_together, targets

        every = targets()
    target = fuzz_together(every) if name == TOGETHER else every[name]
    begin = together_seeds(sorted(every)) if name == TOGETHER else seeds().get(name, [])
    for data in begin:
        (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
    known: set[str] = set()

    def one(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 (kept, and looked for again elsewhere)
            place = failure_place(error)
            if place not in known:
                known.add(place)
                keep_finding(keep, name, minimise(target, data, place), place)

    options = [
        f"-max_total_time={seconds}", f"-max_len={MAX_INPUT_BYTES}", f"-timeout={INPUT_TIMEOUT_S}",
        f"-rss_limit_mb={MAX_MEMORY_MIB}", f"-artifact_prefix={keep / name}-",
        f"-dict={WORDS_FILE}",        "-print_final_stats=1",
    ]  # fmt: skip
    if os.environ.get("CI"):
        options.append("-seed=1")
    options.append(str(corpus))
    atheris.Setup([name, *options], one)
    atheris.Fuzz()


def keep_finding(folder: Path, name: str, data: bytes, place: str) -> None:
    """Write a finding down and say so."""
    path = folder / name / hashlib.sha1(data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"FOUND {name}: {place}: {len(data)} bytes in {path}", flush=True)
    if len(data) <= MAX_PRINTED_BYTES:
        print(f"FOUND bytes.fromhex({data.hex()!r})", flush=True)


def fuzz_in_subprocess(name: str, seconds: int, keep: Path, corpus: Path) -> tuple[str, bool]:
    """Fuzz one target in a process of its own: what came of it, and whether all is well."""
    folder = corpus / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzz", "--only", name]
    command += ["--seconds", str(seconds), "--keep", str(keep), "--corpus", str(folder)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    text = done.stdout + done.stderr
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    memory = re.search(r"peak_rss_mb: +(\d+)", text)
    covered = re.findall(r"cov: (\d+) ft: (\d+)", text)
    words = [f"{name}: {time.monotonic() - start:.0f} s, {int(runs[1]) if runs else 0:,} inputs"]
    words += [f"{covered[-1][0]} places, {covered[-1][1]} features"] if covered else []
    words += [f"{memory[1]} MiB at most"] if memory else []
    found = re.findall(r"^FOUND .*", text, re.MULTILINE)
    failed = [f"exit code {done.returncode}", text[-3000:]] if done.returncode else []
    return "\n  ".join([", ".join(words), *found, *failed]), not (found or failed)


def main() -> int:
    """Fuzz the targets that are asked for; 1 where something was found, 2 without atheris."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[TOGETHER])
    parser.add_argument("--seconds", type=int, default=60, help="of all targets together")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "ppo-top-found")
    parser.add_argument("--corpus", type=Path, help="kept between campaigns where it is given")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: nothing is fuzzed", file=sys.stderr)
        return 2
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.only:
        fuzz_target(options.only, options.seconds, options.keep, options.corpus)
        return 0
    from tests.fuzz.targets import targets

    names = sorted(targets()) if options.names == ["all"] else options.names
    well = True
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            seconds = max(1, options.seconds // len(names))
            corpus = options.corpus or Path(folder)
            words, good = fuzz_in_subprocess(name, seconds, options.keep, corpus)
            print(words, flush=True)
            well = well and good
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
