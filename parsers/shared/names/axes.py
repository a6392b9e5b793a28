"""Columns and keys that hold the step and the time of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.shared.names import metric_names
from ppo_top.text.lazy_pattern import lazy_pattern

_STEP_COUNTS = (
    "time/total_timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "TotalEnvInteracts",
    "TimestepsSoFar",
    "total timesteps",
    "total/steps",
    "timesteps_total",
    "num_env_steps_sampled_lifetime",
    "training_iteration",
    "global_step",
    "train/global_step",
    "step",
    "Step",
    "_step",
    "current_steps",
    "timesteps",
    "system/step",
)
_ROW_COUNTERS = ("iteration", "Iteration", "update", "epoch", "Epoch", "episode")

STEP_KEYS = (*_STEP_COUNTS, *_ROW_COUNTERS)
"""Keys of the step, best first. RLlib's event files count `timesteps_total`, too, and training
iterations where the new stack does not log it. ROLL groups its step, `system/step`."""

_OTHER_STEP_COUNTS = (
    "totaltimesteps",
    "numtimesteps",
    "totalenvsteps",
    "totalenvinteracts",
    "globalstep",
    "globalepisode",
    "globaliteration",
    "globaliter",
    "envsteps",
    "envstep",
    "totalframes",
    "totalnumframes",
    "timesteps",
    "timestep",
    "cumulativetimesteps",
    "trainenvstepssofar",
)
"""Running counts in custom tables, in any spelling."""

_OTHER_STEP_KEYS = (
    "iteration",
    "iter",
    "itr",
    "update",
    "updates",
    "updateid",
    "epoch",
    "episode",
    "episodeid",
    "numframes",
    "envframes",
    "frames",
    "frame",
    "totalsteps",
    "totalstep",
    "evalstep",
    "generation",
    "cycle",
    "round",
    "batch",
)
"""Other keys, in any spelling. Counters of rows come first: next to `Episode`, `Total_Steps` may be
the length of an episode."""

TIME_KEYS = ("timestamp", "_timestamp", "wall_time", "Wall time", "time")

_MIN_UNIX_TIME = 1e9
_MAX_UNIX_MILLISECONDS = 1e14


def find_step_key(names: Sequence[str]) -> str | None:
    """The name that holds the step, or None."""
    if {"steps", "episodes"} <= set(names):  # running counts of the old baselines and of PFRL
        return "steps"
    if {"update", "frames"} <= set(names):  # of torch-ac: those of one episode have its number
        return "frames"
    ends = {metric_names.normalise(name.rpartition("/")[2]): name for name in reversed(names)}
    exact = {name: name for name in names}
    for name in names:  # Tonic's, as well
        if name.endswith("/steps") and name.removesuffix("steps") + "episodes" in exact:
            return name
    for found, keys in (
        (exact, _STEP_COUNTS),
        (ends, _OTHER_STEP_COUNTS),
        (exact, _ROW_COUNTERS),
        (ends, _OTHER_STEP_KEYS),
    ):
        for key in keys:
            if key in found:
                return found[key]
    return None


def parse_unix_time(value: float | str | None) -> float:
    """Unix seconds of a number or an ISO 8601 text; NaN when it is no time of day."""
    if isinstance(value, str):
        from datetime import datetime  # most logs state numbers

        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return UNKNOWN_TIME
    if value is None or not _MIN_UNIX_TIME <= value < _MAX_UNIX_MILLISECONDS:
        return UNKNOWN_TIME
    return value / 1000 if value > 1000 * _MIN_UNIX_TIME else value


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value == value // 1 >= 0 else None


_PROGRESS_KEYS = ("global_step/max_steps", "iteration")
_STEP_OF_TOTAL = lazy_pattern(r"(\d{1,15})/(\d{1,15})")


def step_and_total(values: Mapping[str, object]) -> tuple[int, int] | None:
    """The step and how many there will be.

    ms-swift writes both as one string, `12/200`, with Megatron under another name; LLaMA-Factory as
    two numbers in each record.
    """
    done, total = _whole(values.get("current_steps")), _whole(values.get("total_steps"))
    if done is not None and total:
        return done, total
    said = next((said for key in _PROGRESS_KEYS if isinstance(said := values.get(key), str)), "")
    match = _STEP_OF_TOTAL.fullmatch(said)
    return (int(match[1]), int(match[2])) if match else None
