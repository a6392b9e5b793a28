"""The trainings of one console: one after the other, or at once, their lines interleaved."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Batch, ConsoleLines
from ppo_top.parsers.console.steps.training_starts import TrainingStarts
from ppo_top.parsers.console.training import ConsoleTraining

_NEXT_TRAINING = "training {} in this console: {}, and steps begin anew"
_INTERLEAVED = "training {} in this console, interleaved with others: {}"
_MAX_NAMED = 1000
TRIAL = "trial "
"""Before the name of one, as that of a process."""


class Trainings:
    """Knows which training is read now (`current`).

    Those that run at once are told apart by a number with which each record begins (`seed=1 |`,
    `[Run 001]`), or as processes of Ray (`(train pid=7)`) that have printed different settings:
    the processes of one training print the same ones, or none. Each trial of Ray Tune is one.
    """

    def __init__(self, pop_lines: Callable[[], ConsoleLines]) -> None:
        self.current = ConsoleTraining(1, TrainingStarts())
        self._count = 1
        self._pop_lines = pop_lines
        self._touched = [self.current]
        """The trainings of the next batches, the current one last."""
        self._is_interleaved = False
        self._by_number: dict[tuple[str, float], ConsoleTraining] = {}
        self._by_process: dict[str, ConsoleTraining] = {}
        self._openings: dict[str, ConsoleTraining] = {}
        """What each process has printed before its first record."""

    def pop_batches(self) -> list[Batch]:
        """Everything since the last call, a batch for each training that was read."""
        self.current.add_lines(self._pop_lines())
        batches = [training.pop_batch() for training in self._touched]
        for batch in batches:
            batch.interleaved = self._is_interleaved
        self._touched = [self.current]
        return batches

    def begin(self, reason: str) -> ConsoleTraining:
        """Begin another training after the current one."""
        return self._begin(reason, _NEXT_TRAINING, same_processes=True)

    def _begin(self, reason: str, note: str, *, same_processes: bool) -> ConsoleTraining:
        self._count += 1
        training = self.current.next_training(self._count, same_processes=same_processes)
        training.add_note(note.format(self._count, reason))
        self._turn_to(training)
        return training

    def _turn_to(self, training: ConsoleTraining) -> None:
        self.current.add_lines(self._pop_lines())
        self.current = training
        self._touched = [*(each for each in self._touched if each is not training), training]

    def turn_to_number(self, name: str, number: float, step: int) -> None:
        """Turn to the training that a record names first, if the steps of that go on or begin."""
        known = self._by_number.get((name, number))
        if known is None:
            self._name_current(name, number, step)
        elif known is not self.current and (known.step is None or step >= known.step):
            self._is_interleaved = True
            self._turn_to(known)

    def _name_current(self, name: str, number: float, step: int) -> None:
        before = self.current.step
        if self.current in self._by_number.values():
            if before is None or step > before or not self.current.starts.is_first(step, before):
                return  # a number that counts on within a training
            self.begin(f"another {name} is printed")
        if len(self._by_number) < _MAX_NAMED:
            self._by_number[name, number] = self.current

    def of_text(self, process: str) -> ConsoleTraining:
        """The training that a line without a record is about, or what is known of its process."""
        if not is_ray_process(process):
            return self.current
        known = self._by_process.get(process)
        return known or self._openings.setdefault(process, ConsoleTraining(0, TrainingStarts()))

    def turn_to_process(self, process: str) -> str:
        """Turn to the training of a process or trial; the name of its process within that."""
        is_trial = process.startswith(TRIAL)
        if not is_trial and not is_ray_process(process):
            return process
        if process not in self._by_process:
            new = self._training_of_trial if is_trial else self._training_of
            self._by_process[process] = new(process)
        training = self._by_process[process]
        if training is not self.current:
            self._is_interleaved = True
            self._turn_to(training)
        return "" if is_trial else process

    def _training_of_trial(self, trial: str) -> ConsoleTraining:
        """The training of a trial at its first record: the current one is the first trial."""
        if not any(process.startswith(TRIAL) for process in self._by_process):
            return self.current
        self._is_interleaved = True
        return self._begin(trial, _INTERLEAVED, same_processes=False)

    def _training_of(self, process: str) -> ConsoleTraining:
        """The training of a process at its first record: one whose settings do not differ."""
        opening = self._openings.setdefault(process, ConsoleTraining(0, TrainingStarts()))
        reason = ""
        for other, training in self._by_process.items():
            differs = opening.starts.differs_from(self._openings[other].starts)
            if not differs:
                return training
            reason = reason or f"another {differs} is printed"
        training = self.current
        if reason:
            training = self._begin(reason, _INTERLEAVED, same_processes=False)
        training.add_settings(opening.known_settings)
        return training


def is_ray_process(process: str) -> bool:
    """Whether a process may be a training of its own: no rank, and no worker of one."""
    return process.startswith("pid ")
