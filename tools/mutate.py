"""How much of the rules the tests pin down: `python -m tools.mutate`.

Changes one thing of `ppo_top/rules` at a time (a constant halved or doubled, a comparison turned, a
condition dropped) and runs those tests of rules in which the changed expression has another value,
in a forked process. A change that no test notices has survived. Code that only decides whether a
block of rows needs to be looked at is left out: when it says no too often, nothing but speed is
lost.

    python -m tools.mutate [--sample N] [--seed N] [--at-least SHARE] [--only PART ...] [--jobs N]
"""

from __future__ import annotations

import argparse
import mmap
import os
import pickle
import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tools.mutate_changes import ROOT, Mutant, mutants_of, put_in_place
from tools.mutate_reach import Reach, watch

RULES = ROOT / "ppo_top" / "rules"

TESTS = ["tests/rules/book"] + [
    f"tests/{name}.py" if "/" in name else f"tests/rules/{name}.py"
    for name in (
        "test_limits", "test_every_rule", "test_reward_points", "test_stats", "test_families",
        "test_traps", "test_odd_but_healthy",
        "test_odd_but_healthy_llm", "test_statements", "test_advice", "test_text_and_ranges",
        "test_judge", "test_causes", "test_critic_symptoms", "test_missing_metrics",
        "test_any_numbers", "test_reward_means", "test_causes_and_last_part", "test_rules_on_rules",
        "test_facts", "test_persistence", "test_configured_bands", "test_judged_run",
        "test_reward_course", "test_false_alarms", "test_self_play", "test_own_logs",
        "test_advice_trials", "test_custom_rules", "test_unlearned", "test_reward_rows",
        "test_reward_windows", "test_messages", "test_evidence", "settings/test_settings",
        "test_untold_facts", "views/test_run_view",
    )
]  # fmt: skip
"""Fast ones; those of whole logs take minutes and are left out."""

TESTS_OF_BLOCKS = "tests/rules/test_blocks.py"
"""Slower ones, where what rows have in common is changed."""

TOO_SLOW = (
    "test_judge.py::test_memory_is_bounded",
    "test_false_alarms.py::test_healthy_courses_are_hardly_ever_warned_of",
    "test_false_alarms.py::test_planted_faults_are_found",
    "test_blocks.py::test_what_stays_open_stays_as_bad",
)
"""They take seconds for each change that nothing else notices: about memory, shares of many runs,
and what is skipped."""

SKIPPED_FILES = ("block.py", "calm.py")
SPARE_CPU_S = 10.0
"""A change that keeps the tests busy for this much longer than usual is noticed."""


class MutationRun:
    """A pytest plugin that runs the collected tests with one change after another."""

    def __init__(self, mutants: Sequence[Mutant], jobs: int) -> None:
        self.mutants, self.jobs = mutants, jobs
        self.survivors: list[Mutant] = []
        self.failing: list[str] = []
        self._seconds: dict[int, float] = {}
        self._killers: dict[Path, Counter[int]] = defaultdict(Counter)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of running each test once."""
        _passes(session.items[0])  # what all tests share is made once
        reach = self._reach(session.items)
        if not self.failing:
            self._run(session.items, reach)
        return True

    def _run(self, items: Sequence[pytest.Item], reach: Sequence[Sequence[int]]) -> None:
        noticed = mmap.mmap(-1, 4 * (len(self.mutants) + 1))
        waiting, running = list(reversed(range(len(self.mutants)))), dict[int, int]()
        while waiting or running:
            while waiting and len(running) < self.jobs:
                number = waiting.pop()
                tests = self._in_order(self.mutants[number].path, reach[number])
                if tests:
                    child = _fork(partial(self._try, number, tests, items, noticed))
                    running[child] = number
                else:
                    self._survived(number)
            if running:
                child, status = os.wait()
                number = running.pop(child)
                (test,) = struct.unpack_from("i", noticed, 4 * number)
                if test:
                    self._killers[self.mutants[number].path][test - 1] += 1
                elif status == 0:
                    self._survived(number)

    def _survived(self, number: int) -> None:
        self.survivors.append(self.mutants[number])
        print(f"survived  {self.mutants[number]}", flush=True)

    def _in_order(self, path: Path, tests: Sequence[int]) -> list[int]:
        """First those that noticed other changes of the file, then the fast ones."""
        killers, seconds = self._killers[path], self._seconds
        return sorted(tests, key=lambda test: (-killers[test], seconds[test]))

    def _try(
        self, number: int, tests: Sequence[int], items: Sequence[pytest.Item], noticed: mmap.mmap
    ) -> int:
        """Run tests with a change; notes the number, from 1, of the one that noticed."""
        limit = int(SPARE_CPU_S + 3.0 * sum(self._seconds[test] for test in tests))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        mutant = self.mutants[number]
        put_in_place(mutant.path, mutant.tree())
        for test in tests:
            if not _passes(items[test]):
                struct.pack_into("i", noticed, 4 * number, test + 1)
                return 1
        return 0

    def _reach(self, items: Sequence[pytest.Item]) -> list[list[int]]:
        """For each change the tests that could notice it."""
        parts = [range(start, len(items), self.jobs) for start in range(self.jobs)]
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / str(part.start) for part in parts]
            children = [
                _fork(partial(self._watch, items, part, file))
                for part, file in zip(parts, files, strict=True)
            ]
            for child in children:
                if os.waitpid(child, 0)[1]:
                    raise RuntimeError("the tests could not be watched")
            found = [pickle.loads(file.read_bytes()) for file in files]
        reach: list[list[int]] = [[] for _ in self.mutants]
        for tests_by_change, seconds, failing in found:
            self._seconds.update(seconds)
            self.failing += [items[test].nodeid for test in failing if not _passes(items[test])]
            for number, tests in tests_by_change.items():
                reach[number] += tests
        return reach

    def _watch(self, items: Sequence[pytest.Item], tests: range, file: Path) -> int:
        """Run tests with the modules instrumented and write down what they reach."""
        reach, found = Reach(), defaultdict[int, list[int]](list)
        by_path = defaultdict[Path, list[tuple[int, Mutant]]](list)
        for number, mutant in enumerate(self.mutants):
            by_path[mutant.path].append((number, mutant))
        everywhere = set(range(len(self.mutants)))
        for path, mutants in by_path.items():
            everywhere -= watch(path, mutants, reach)
        seconds, failing = dict[int, float](), list[int]()
        for test in tests:
            reach.found.clear()
            began = time.process_time()
            passes = _passes(items[test])
            if not passes:  # what it computes twice may be why
                failing.append(test)
            seconds[test] = time.process_time() - began
            noticed = {*reach.found, *everywhere} if passes else range(len(self.mutants))
            for number in noticed:
                found[number].append(test)
        file.write_bytes(pickle.dumps((dict(found), seconds, failing)))
        return 0


def _passes(item: pytest.Item) -> bool:
    """Whether a test passes; fixtures of the session stay for others."""
    reports = runtestprotocol(item, log=False, nextitem=item.session)  # type: ignore[arg-type]
    return not any(report.failed for report in reports)


def _fork(work: Callable[[], int]) -> int:
    """Do work in a forked process; an exception counts as noticed."""
    child = os.fork()
    if child:
        return child
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        code = work()
    except BaseException:  # noqa: BLE001 (whatever it is, the change was noticed)
        code = 1
    os._exit(code)


def _shares(mutants: Sequence[Mutant], survivors: Sequence[Mutant]) -> Iterator[str]:
    """The share noticed, for each file."""
    all_of, left = Counter(m.path for m in mutants), Counter(m.path for m in survivors)
    for path, count in all_of.items():
        yield f"{1 - left[path] / count:6.1%} of {count:4}  {path.relative_to(RULES)}"


def main() -> int:
    """Print the survivors and the share that was noticed; 1 if that is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, help="so many changes, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-least", type=float, default=0.0, help="the share to be noticed")
    parser.add_argument("--only", nargs="*", default=[""], help="files whose path holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.chdir(ROOT)
    paths = [path for path in sorted(RULES.rglob("*.py")) if path.name not in SKIPPED_FILES]
    paths = [path for path in paths if any(part in str(path) for part in options.only)]
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    print(f"{len(mutants)} changes", flush=True)
    if options.sample and options.sample < len(mutants):
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    run = MutationRun(mutants, options.jobs)
    tests = [test for test in TESTS if Path(test).exists()]
    if any("engine" in each.path.parts or each.path.parent == RULES for each in mutants):
        tests.append(TESTS_OF_BLOCKS)
    left_out = [f"--deselect=tests/rules/{test}" for test in TOO_SLOW]
    quiet = ["-q", "-s", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
    status = pytest.main([*quiet, *left_out, *tests], plugins=[run])
    if run.failing or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        print("the tests fail without any change:", *run.failing[:20])
        return 1
    print(*_shares(mutants, run.survivors), sep="\n")
    noticed = 1.0 - len(run.survivors) / max(1, len(mutants))
    print(f"{noticed:.1%} of {len(mutants)} changes noticed")
    return int(noticed < options.at_least)


if __name__ == "__main__":
    sys.exit(main())
