"""Results that Ray prints as indented maps of names and values, one per training iteration."""

from __future__ import annotations

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.documents.yaml_subset import YamlReader
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.names.metric_names import is_metric
from ppo_top.parsers.shared.text.number_text import as_step
from ppo_top.text.lazy_pattern import lazy_pattern

RESULT_STARTS = (
    *("Result for ", "agent_timesteps_total: ", "custom_metrics: {}"),
    *("episode_len_mean: ", "episode_reward_max: "),
)
"""Start of a result: Tune names the trial; RLlib's pretty_print starts with its first name, and a
paste with the first one that is of interest."""

_TRIAL_LINE = lazy_pattern(r"Result for (\S{1,200}):\s*")
_RESULT_ROW = lazy_pattern(r" {0,60}[^\s:]{1,200}:(?: .*)?")
_STEP_KEY = "training_iteration"
_TIME_KEY = "timestamp"
_MAX_VALUES = 4096
_MAX_OTHER_LINES = 20
_MAX_TRIALS = 64


class RayResult:
    """The result that is being printed; its names are those of result.json.

    The names are sorted, so metrics come before the iteration.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._trials: set[str] = set()
        self._trial = self._indent = ""
        self._reset()

    @property
    def has_trials(self) -> bool:
        """Whether a result has been printed, which says more than Tune's table."""
        return bool(self._trials)

    def _begin_trial(self, trial: str) -> bool:
        """Begin the result of a trial; False if there are too many trials."""
        if trial not in self._trials and len(self._trials) >= _MAX_TRIALS:
            return False
        self._trials.add(trial)
        self._trial = trial
        self._indent = "  " if trial else ""
        self._reset()
        return True

    def _reset(self) -> None:
        self._yaml = YamlReader()
        self._values: list[tuple[str, float]] = []
        self._time = UNKNOWN_TIME
        self._other_lines = 0

    def add_line(self, text: str) -> bool:
        """Add a line if it begins a result or belongs to the open one."""
        head = _TRIAL_LINE.fullmatch(text)
        if head is not None:
            self.is_open = self._begin_trial(head[1])
            return self.is_open
        if not self.is_open and text.startswith(RESULT_STARTS[1:]):
            self.is_open = self._begin_trial("")
        return self.is_open and self._add_value(text)

    def _add_value(self, text: str) -> bool:
        if not _RESULT_ROW.fullmatch(text) or not text.startswith(self._indent):
            self._other_lines += 1
            self.is_open = self._other_lines <= _MAX_OTHER_LINES
            return False
        name, value = self._yaml.read_line(text) or ("", "")
        if isinstance(value, int | float) and not isinstance(value, bool):
            if name == _TIME_KEY:
                self._time = parse_unix_time(value)
            if len(self._values) < _MAX_VALUES:
                self._values.append((name, float(value)))
        return True

    def pop_record(self) -> ConsoleRecord | None:
        """The whole result once its iteration has been read; None before."""
        if not self._values or self._values[-1][0] != _STEP_KEY:
            return None
        return self._pop(as_step(self._values[-1][1]), "iteration")

    def pop_rest(self) -> ConsoleRecord | None:
        """What there is of a result that was pasted in part; None without a metric in it."""
        return self._pop(None, "") if any(is_metric(name) for name, _ in self._values) else None

    def _pop(self, step: int | None, axis: str) -> ConsoleRecord:
        self.is_open = False
        values, self._values = self._values, []
        return ConsoleRecord(values, step, axis, time=self._time, trial=self._trial)
