"""JSON documents that scripts write anew with `json.dump`: rows, or lists of numbers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.cli import main
from ppo_top.model import Batch
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.json_document import (
    FORMAT,
    TRAININGS,
    JsonDocumentStore,
    JsonTrainingsStore,
    claims,
)
from ppo_top.parsers.shared.documents.json_curves import read_document
from tests.support.parser_harness import ParserOutput

ROWS = [{"step": 2048 * n, "train": {"reward": n / 3, "kl": 0.01 * n}} for n in range(1, 31)]


def read(document: object) -> ParserOutput:
    """All that a document holds."""
    found = ParserOutput()
    found.add_batch(read_document(json.loads(json.dumps(document))))
    return found


def poll(store: JsonDocumentStore) -> ParserOutput:
    """All that one call gives."""
    found = ParserOutput()
    found.add_batch(store.poll(10))
    return found


def every_batch(store: JsonTrainingsStore) -> Iterator[Batch]:
    """All that is new, a batch for each training."""
    while batch := store.poll(10):
        yield batch


def write(path: Path, document: object, moment: int) -> None:
    """Write the document as a script does, at a moment of its own."""
    path.write_text(json.dumps(document))
    os.utime(path, ns=(moment * 10**9, moment * 10**9))


@pytest.mark.parametrize(
    "document",
    [ROWS, {"history": ROWS}, {"config": {"lr": 3e-4}, "history": ROWS, "seeds": [1, 2]}],
    ids=["list", "object", "with settings"],
)
def test_rows_have_their_own_steps(document: object) -> None:
    """A list of rows, alone or in an object; inner names follow the outer ones."""
    found = read(document)
    assert found.steps("train/reward") == [row["step"] for row in ROWS]
    assert found.values("train/reward") == [n / 3 for n in range(1, 31)]
    assert found.values("train/kl") == [0.01 * n for n in range(1, 31)]


def test_rows_may_stand_under_their_steps() -> None:
    """`{"0": {"reward": 21.5}, "10": {...}}`, in order; a row may say its own."""
    numbered = {str(n): {"reward": n / 3, "loss": 0.5} for n in (0, 10, 20, 100)}
    for document in (numbered, {"history": numbered}):
        assert read(document).steps("reward") == [0, 10, 20, 100]
    stated = {str(n): {"episode": 5 * n, "reward": n / 3} for n in range(1, 5)}
    assert read(stated).steps("reward") == [5, 10, 15, 20]


def test_rows_may_lie_deeper_in_an_object() -> None:
    """Their names do not say where, as those of a list at the top do not."""
    found = read({"config": {"lr": 3e-4}, "metrics": {"train": ROWS}})
    assert found.steps("train/reward") == [row["step"] for row in ROWS]
    assert found.config == {"lr": 3e-4}


def test_settings_stand_beside_the_rows() -> None:
    """What is no list is a setting."""
    assert read({"config": {"lr": 3e-4}, "env": "CartPole-v1", "history": ROWS}).config == {
        "lr": 3e-4,
        "env": "CartPole-v1",
    }


@pytest.mark.parametrize("own_steps", [True, False])
def test_lists_beside_rows_have_a_number_for_each_of_them(own_steps: bool) -> None:
    """At the same steps, which the rows say or a list does; other lists and settings are none."""
    rows = [{"fps": 60.0 + n, **({"epoch": 5 * n} if own_steps else {})} for n in range(1, 4)]
    steps = [5, 10, 15] if own_steps else [100, 200, 300]
    found = read(
        {
            "rewards": [7.5, 8.5, 9.5],
            "by_episode": rows,
            "train": {"losses": [3, 2, 1], "timesteps": [100, 200, 300]},
            "seeds": [1, 2],
            "config": {"layers": [64, 64, 64]},
        }
    )
    assert found.values_by_step()["fps"] == list(zip(steps, [61.0, 62.0, 63.0], strict=True))
    assert found.values_by_step()["rewards"] == list(zip(steps, [7.5, 8.5, 9.5], strict=True))
    assert found.values_by_step()["train/losses"] == list(zip(steps, [3, 2, 1], strict=True))
    assert not {"seeds", "config/layers", "layers"} & set(found.points)


def test_lists_are_counted_with_the_rows_beside_them() -> None:
    """Where neither says a step."""
    found = read({"rewards": [7.5, 8.5], "rows": [{"fps": 60.0}, {"fps": 61.0}], "losses": [2, 1]})
    assert found.steps("rewards") == found.steps("fps") == found.steps("losses") == [1, 2]
    assert found.counts_updates


def test_a_list_of_another_length_is_read_beside_rows() -> None:
    """Rewards of every episode, rows of every update: over the same run, at steps of their own."""
    rows = [{"step": 100 * n, "policy_loss": 1 / n} for n in range(1, 6)]
    found = read({"ep_rewards": list(range(20)), "losses": rows, "size": [64, 64]})
    assert found.steps("policy_loss") == [100, 200, 300, 400, 500]
    assert found.steps("ep_rewards") == list(range(25, 501, 25))
    assert found.values("ep_rewards") == [float(n) for n in range(20)]
    assert "size" not in found.points
    ends = [490 * n // 20 for n in range(1, 21)]
    own = read({"ep_rewards": list(range(20)), "ep_timesteps": ends, "losses": rows})
    assert own.steps("ep_rewards") == ends
    assert "ep_timesteps" not in own.points


@pytest.mark.parametrize("count", [1, 4])
def test_what_happened_now_and_then_tells_no_steps_of_the_rewards(count: int) -> None:
    """Rows of an event, without a metric: the rewards are not spread over their steps.

    After the results of a course's project, `train_dqn.py` (`collapse_events`).
    """
    events = [{"timestep": 2048 * n * n, "action": 5, "fraction": 0.5} for n in (7, 8, 11, 19)]
    found = read({"reward_curve": [1.0, 2.0, 3.0], "collapse_events": events[:count]})
    assert found.steps("reward_curve") == [1, 2, 3]
    assert found.counts_updates
    paced = [{"timestep": 300 * n, "action": 5} for n in range(1, 4)]
    found = read({"reward_curve": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "samples": paced})
    assert found.steps("reward_curve") == [150, 300, 450, 600, 750, 900]


def test_rows_that_say_no_step_are_spread_over_longer_rewards() -> None:
    """As lists are."""
    found = read({"rewards": [1.0] * 30, "updates": [{"loss": 3}, {"loss": 2}, {"loss": 1}]})
    assert found.steps("loss") == [10, 20, 30]
    assert found.steps("rewards") == list(range(1, 31))
    assert found.counts_updates


def test_lists_of_rows_that_measure_other_things_are_read() -> None:
    """Evaluations say what they are by the name of their list, pairs by theirs."""
    evaluations = [{"step": 50 * n, "mean_return": 2.0 * n} for n in range(1, 3)]
    document = {
        "updates": [{"step": 10 * n, "mean_return": n, "kl": 0.01} for n in range(1, 11)],
        "eval_history": evaluations,
        "losses": [[20, 0.5], [60, 0.4], [100, 0.3]],
        "agents": [{"step": 10, "mean_return": 7.0}],
        "boxes_return": [[3, 4], [1, 2]],
    }
    found = read(document).values_by_step()
    assert found["mean_return"] == [(10 * n, float(n)) for n in range(1, 11)]
    assert found["eval/mean_return"] == [(50, 2.0), (100, 4.0)]
    assert found["losses"] == [(20, 0.5), (60, 0.4), (100, 0.3)]
    assert not {"boxes_return", "eval/step"} & set(found)
    assert len(found["step"]) == 10


def test_rows_may_be_numbered_by_their_identity() -> None:
    """And hold their numbers in objects, beside texts that both lists have."""
    document = {
        "name": "ppo",
        "episodes": [
            {"episode_id": n, "end_time": "10:30", "metrics": {"total_return": 1.5 * n}}
            for n in range(9)
        ],
        "updates": [
            {"update_id": n, "end_time": "10:31", "summary": {"avg_kl": 0.01}} for n in range(9)
        ],
    }
    found = read(document).values_by_step()
    assert found["metrics/total_return"] == [(n, 1.5 * n) for n in range(9)]
    assert found["summary/avg_kl"] == [(n, 0.01) for n in range(9)]
    assert claims("ppo_log.json", json.dumps(document).encode())


def test_a_list_may_have_its_steps_in_the_one_beside_it() -> None:
    """As PyMARL gives its metrics to Sacred, which pickles scalars of NumPy into objects."""

    def scalar(value: float) -> dict[str, object]:
        return {"dtype": "float64", "py/object": "numpy.float64", "value": value}

    document = {
        "return_mean": [scalar(0.5 * n) for n in range(1, 6)],
        "return_mean_T": [10_000 * n + 10 for n in range(1, 6)],
        "loss": [0.25, 0.125, 0.0625],
        "loss_T": [20_320, 40_320, 60_320],
        "grad_norm": [{"py/reduce": [{"py/function": "torch._utils._rebuild_tensor_v2"}]}] * 3,
        "grad_norm_T": [20_320, 40_320, 60_320],
    }
    found = read(document)
    assert found.values_by_step() == {
        "return_mean": [(10_000 * n + 10, 0.5 * n) for n in range(1, 6)],
        "loss": [(20_320, 0.25), (40_320, 0.125), (60_320, 0.0625)],
    }
    assert not found.counts_updates


def test_metrics_of_sacred_have_lists_of_steps_times_and_values() -> None:
    """As its FileStorageObserver writes metrics.json (sacred 0.8.7); others do without times."""
    document = {
        "loss": {
            "steps": [20_320, 40_320],
            "timestamps": ["2026-06-09T12:00:10", "2026-06-09T12:00:20"],
            "values": [0.25, {"py/object": "numpy.float64", "value": 0.125}],
        },
        "return_mean": {"step": [10, 20, 30], "value": [0.5, 1, 1.5]},
        "names": {"steps": [1, 2], "values": ["a", "b"]},
        "torn": {"steps": [1, 2], "values": [0.5]},
    }
    found = read(document)
    assert found.values_by_step()["loss"] == [(20_320, 0.25), (40_320, 0.125)]
    assert found.values_by_step()["return_mean"] == [(10, 0.5), (20, 1.0), (30, 1.5)]
    assert found.times("loss")[1] - found.times("loss")[0] == 10
    assert not [tag for tag in found.points if "names" in tag]
    assert not found.counts_updates


def test_rows_without_a_step_and_a_metric_are_no_log() -> None:
    """Those of a game's levels, in a file called rewards.json."""
    levels = [{"level": n, "rewards": [{"name": "Coins", "amount": 40 * n}]} for n in range(1, 9)]
    assert not read(levels).points
    assert read([{"level": n, "reward": n / 4} for n in range(1, 9)]).points


@pytest.mark.parametrize("within", ["", "metrics"])
def test_a_list_of_values_at_steps_is_called_as_its_list(within: str) -> None:
    """Each metric has one; they may lie within another object, and need not be equally long."""
    lists = {
        "train/kl": [{"step": 10 * n, "value": 0.01 * n, "epoch": 0.5} for n in range(1, 9)],
        "train/reward": [{"step": 20 * n, "value": float(n)} for n in range(1, 5)],
        "samples": [{"step": 20, "value": "a text"}, {"step": 40, "value": "another"}],
    }
    found = read({"metadata": {"gpus": 1}, **({within: lists} if within else lists)})
    prefix = f"{within}/" * bool(within)
    values = found.values_by_step()
    assert values[f"{prefix}train/kl"] == [(10 * n, 0.01 * n) for n in range(1, 9)]
    assert values[f"{prefix}train/reward"] == [(20 * n, float(n)) for n in range(1, 5)]
    assert not [tag for tag in values if "value" in tag or "samples" in tag]
    assert not found.counts_updates


def test_a_run_just_begun_has_one_number_in_each_list() -> None:
    """If a list says the step and another one is a metric."""
    document = {"steps": [1000], "episodes": [10], "metrics": {"critic_loss": [6.5], "q": [1]}}
    found = read(document)
    assert found.values_by_step()["metrics/critic_loss"] == [(1000, 6.5)]
    assert found.values_by_step()["metrics/q"] == [(1000, 1.0)]
    assert not found.counts_updates
    for name in ("training_log.json", "train_metrics.json"):
        assert detect_format(name, json.dumps(document).encode()) is FORMAT
    sacred = {"return_mean": [-4.5], "return_mean_T": [50]}
    assert read(sacred).values_by_step() == {"return_mean": [(50, -4.5)]}
    for other in ({"step": [3], "size": [64]}, {"loss": [0.5]}, {"loss": 0.5, "step": [3]}):
        assert not read(other).points


def test_running_counts_of_the_old_baselines_say_the_steps() -> None:
    """`steps` beside `episodes`, as in a table."""
    found = read({"steps": [1000, 2000], "episodes": [10, 21], "critic_loss": [6.5, 5.5]})
    assert found.values_by_step()["critic_loss"] == [(1000, 6.5), (2000, 5.5)]


def test_the_homework_of_a_course_counts_environment_steps() -> None:
    """Berkeley's cs285: what its console prints, as lists (`Train_EnvstepsSoFar`)."""
    document = {
        "Eval_AverageReturn": [20.5, 25.5, 30.5, 28.5],
        "Train_EnvstepsSoFar": [1019.0, 2026.0, 3037.0, 4046.0],
    }
    assert read(document).values_by_step()["Eval_AverageReturn"] == [
        (1019, 20.5),
        (2026, 25.5),
        (3037, 30.5),
        (4046, 28.5),
    ]


def test_lists_of_numbers_are_counted() -> None:
    """Where no list says the steps, an entry's place is its step."""
    found = read({"rewards": [5, 7.5, math.nan], "losses": [3, 2, 1]})
    assert found.steps("rewards") == found.steps("losses") == [1, 2, 3]
    assert found.values("rewards")[:2] == [5.0, 7.5]
    assert math.isnan(found.values("rewards")[2])


def test_a_list_may_say_the_steps_of_the_others() -> None:
    """It is no curve itself."""
    found = read({"timesteps": [100, 200, 300], "train": {"return": [1, 2, 3]}})
    assert found.steps("train/return") == [100, 200, 300]
    assert set(found.points) == {"train/return"}


@pytest.mark.parametrize(("counter", "kept"), [("episode", True), ("epoch", True), ("step", False)])
def test_a_list_of_episodes_is_kept_and_says_what_the_steps_are(counter: str, kept: bool) -> None:
    """As the column of a table is."""
    output = read({counter: [10, 20, 30], "avg_reward": [1.5, 2.5, 3.5]})
    assert output.values_by_step()["avg_reward"] == [(10, 1.5), (20, 2.5), (30, 3.5)]
    assert output.values(counter) == ([10.0, 20.0, 30.0] if kept else [])


def test_a_list_may_say_after_which_episodes_was_evaluated() -> None:
    """Its name says whose episodes they are; one that does not rise is a metric."""
    found = read({"eval_rewards": [-47.0, 12.5, 168.0], "eval_episodes": [5, 10, 15]})
    assert found.steps("eval_rewards") == [5, 10, 15]
    assert set(found.points) == {"eval_rewards"}
    found = read({"eval_rewards": [-47.0, 12.5, 168.0], "eval_episodes": [5, 5, 5]})
    assert found.steps("eval_rewards") == [1, 2, 3]


def test_the_episodes_of_one_evaluation_are_no_course() -> None:
    """Its group says how many they are; those of an evaluation now and then are spread."""
    last = {"episodes": 4, "rewards": [9.5, 8.5, 9.0, 9.5], "mean_reward": 9.125}
    found = read({"rewards": [1.0] * 20, "evaluation": last})
    assert found.steps("evaluation/rewards") == [20, 20, 20, 20]
    found = read({"rewards": [1.0] * 20, "evaluation": {"rewards": [9.5, 8.5, 9.0, 9.5]}})
    assert found.steps("evaluation/rewards") == [5, 10, 15, 20]


def test_a_group_of_lists_may_say_its_episodes_and_its_updates() -> None:
    """Those that count as the rewards do are its steps."""
    metrics = {"update": [1, 2, 3, 4], "episode": [5, 9, 13, 20], "approx_kl": [0.1, 0.2, 0.3, 0.4]}
    found = read({"rewards": [1.0] * 20, "metrics": metrics})
    assert found.steps("metrics/approx_kl") == [5, 9, 13, 20]
    assert found.steps("rewards") == [*range(1, 21)]


@given(episodes=st.integers(2, 40), others=st.integers(2, 400))
def test_lists_of_other_lengths_are_spread_over_the_run(episodes: int, others: int) -> None:
    """Losses of every gradient step beside rewards of every episode: both reach the run's end."""
    found = read({"episode_rewards": [1.0] * episodes, "losses": list(range(others))})
    steps = found.steps("losses")
    assert found.values("losses") == [float(n) for n in range(others)]
    assert steps == sorted(steps)
    assert steps[-1] == episodes
    assert steps[0] >= 1


def test_a_document_without_curves_says_so() -> None:
    """It is a log by its first bytes only."""
    assert [each.message for each in read({"losses": [1]}).problems] == [
        "no rows and no lists of numbers"
    ]


def test_only_what_is_new_comes_out(tmp_path: Path) -> None:
    """The file is written anew with each row; nothing comes twice."""
    path = tmp_path / "history.json"
    write(path, ROWS[:10], 1)
    store = JsonDocumentStore(path)
    assert poll(store).steps("train/kl") == [row["step"] for row in ROWS[:10]]
    assert not poll(store).points
    write(path, ROWS, 2)
    assert poll(store).steps("train/kl") == [row["step"] for row in ROWS[10:]]


def test_half_a_file_is_a_problem_until_the_whole_one_is_there(tmp_path: Path) -> None:
    """Nothing is read from half a file; the whole one is a new beginning, without the problem."""
    path = tmp_path / "history.json"
    write(path, ROWS[:10], 1)
    store = JsonDocumentStore(path)
    poll(store)
    path.write_text(json.dumps(ROWS)[:-40])
    os.utime(path, ns=(2 * 10**9, 2 * 10**9))
    broken = poll(store)
    assert not broken.points
    assert [each.message.partition(":")[0] for each in broken.problems] == ["not complete JSON"]
    assert not poll(store).problems
    write(path, ROWS, 3)
    whole = store.poll(1 << 20)
    assert whole.restarted
    assert not whole.problems
    assert [list(each.steps) for each in whole.points if each.tag == "train/kl"] == [
        [row["step"] for row in ROWS]
    ]


def test_a_document_that_lost_its_rows_is_a_problem_too(tmp_path: Path) -> None:
    """It is complete JSON, but no new reading: nothing that was read is taken back."""
    path = tmp_path / "history.json"
    write(path, ROWS, 1)
    store = JsonDocumentStore(path)
    poll(store)
    write(path, {"rows": 30}, 2)
    emptied = store.poll(10)
    assert not emptied.restarted
    assert [each.message for each in emptied.problems] == ["no rows and no lists of numbers"]


def test_another_run_in_the_same_file_starts_over(tmp_path: Path) -> None:
    """The script was started again."""
    path = tmp_path / "history.json"
    write(path, ROWS, 1)
    store = JsonDocumentStore(path)
    poll(store)
    write(path, [{"step": 2048, "train": {"reward": -1.0, "kl": 0.5}}], 2)
    batch = store.poll(10)
    assert batch.restarted
    rewards = [list(each.values) for each in batch.points if each.tag == "train/reward"]
    assert rewards == [[-1.0]]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", None),
        (b'[{"step": 1, "reward": 2.5}', True),
        (b'{"history": [\n  {"epoch": 1, "loss": 2.5}', True),
        (b'{"seed": 1, "episode_rewards": [\n 12.0,', True),
        (b'{"seed": 1, "costs": [1.5, 2.5, -3e-1, 4, 5, 6, 7', True),
        (b"[1.5, 2.5]", False),
        (b'{"1": 2.5, "2": 3.5}', None),
        (b'{"1": {"reward": 2.5}, "2": {"reward": 3.5', True),
        (b'{"1": {"prompt": "reward", "id": 2}, "2": {"prompt": ""', None),
        (b'{"seed": 1,', None),
        (b'{"seed": 1,' + b'"layer": [64, 64],' * 300, False),
        (b'[{"prompt": "Say a reward", "completion": "2"}' + b" " * 5000, False),
        (b"<html>", False),
        (b"Episode 1 reward: 2.5", False),
    ],
)
def test_a_log_is_told_by_its_first_bytes(head: bytes, answer: bool | None) -> None:
    """A metric with a step in a row, or a metric's name on a list of numbers."""
    assert claims("history.json", head) is answer


def test_a_list_of_numbers_is_what_its_files_name_says(tmp_path: Path) -> None:
    """`json.dump(rewards)`; of two files each is a reward of its own, others are left alone."""
    path = tmp_path / "rewards_CartPole-v1.json"
    assert claims(path.name, b"[12.5, 13.0") and claims(path.name, b'["a", 2]') is not True
    assert claims("lengths.json", b"[12.5, 13.0]" + b" " * 5000) is False
    write(path, [12.5, 13.0, math.nan], 1)
    found = poll(JsonDocumentStore(path))
    assert found.values("rewards (CartPole-v1)")[:2] == [12.5, 13.0]
    write(path, {"1": 21.5, "0": 22.5, "10": -3.0}, 2)
    assert poll(JsonDocumentStore(path)).values("rewards (CartPole-v1)") == [22.5, 21.5, -3.0]
    write(path, [12.5, {}], 3)
    assert "no lists of numbers" in poll(JsonDocumentStore(path)).problems[0].message


def test_a_list_may_be_that_of_a_loss(tmp_path: Path) -> None:
    """As in any other list that is named after one."""
    path = tmp_path / "critic_losses.json"
    write(path, [0.5, 0.25, 0.125], 1)
    assert detect_format(path.name, path.read_bytes()) is FORMAT
    assert poll(JsonDocumentStore(path)).values("critic_losses") == [0.5, 0.25, 0.125]


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("run-PPO_1-tag-rollout_ep_rew_mean.json", "rollout/ep_rew_mean"),
        ("critic_losses.json", "critic_losses"),
    ],
)
def test_a_download_of_tensorboard(name: str, tag: str, tmp_path: Path) -> None:
    """A list of times, steps and values of the tag that the file's name says."""
    path = tmp_path / name
    write(path, [[1.7e9 + n, 2048 * n, n / 4] for n in (1, 2, 3)], 1)
    assert detect_format(path.name, path.read_bytes()) is FORMAT
    found = poll(JsonDocumentStore(path))
    assert found.values_by_step()[tag] == [(2048, 0.25), (4096, 0.5), (6144, 0.75)]
    assert found.times(tag) == [1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 3]
    assert not found.counts_updates
    write(path, [[1.7e9, 2048, 0.5], [1.7e9, 4096]], 2)
    assert poll(JsonDocumentStore(path)).problems


def test_rows_of_rewards_need_no_step() -> None:
    """In a file of rewards; elsewhere they may be a dataset's."""
    head = json.dumps([{"task": "easy", "reward": 0.5 * n, "timestamp": 0.0} for n in range(9)])
    assert claims("episode_rewards.json", head.encode())
    assert claims("answers.json", head.encode()) is None
    found = read(json.loads(head))
    assert found.steps("reward") == list(range(1, 10))
    assert found.counts_updates


def test_a_console_that_begins_with_a_bracket_is_no_document() -> None:
    """`[12/400] reward: 21.5` is a step."""
    found = detect_format("rewards.txt", b"[1/100] reward: 3.5\n[2/100] reward: 4.5\n" * 5)
    assert isinstance(found, Format) and found.console


@pytest.mark.parametrize("name", ["history.json", "training_log.json", "episode_rewards.json"])
def test_such_files_are_found_in_directories(name: str) -> None:
    """Their names say that they may be logs; settings of models are not even opened."""
    found = detect_format(name, json.dumps(ROWS).encode())
    assert not isinstance(found, bool | None)
    assert found.name == "json-document"
    assert detect_format("generation_config.json", json.dumps(ROWS).encode()) is False


def test_a_short_document_may_have_the_name_of_json_lines() -> None:
    """Settings that stand alone in a line may have records below them; one with rows has not."""
    document = json.dumps({"config": {"lr": 3e-4}, "history": ROWS[:3]}).encode()
    found = detect_format("metrics.json", document)
    assert isinstance(found, Format) and found.name == "json-document"
    assert detect_format("metrics.json", b'{"config": {"lr": 3e-4}}\n') is None


ALGORITHMS = [
    {"algorithm": "Simple DQN", "episodes": 3, "episode_rewards": [1.5, 2.5, 3.5], "wins": 0},
    {"algorithm": "A2C", "episode_rewards": [5, 6], "episode_lengths": [90, 80], "wins": 0},
]


def test_named_lists_of_rewards_are_a_run_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several trainings in one file, which is passed over no more than they are."""
    (tmp_path / "raw_results.json").write_text(json.dumps(ALGORITHMS, indent=2))
    main(["check", "-v", "--json", "--no-cache", str(tmp_path)])
    out, err = capsys.readouterr()
    found = {run["name"]: run for run in json.loads(out)["runs"]}
    assert {name: run["progress"]["step"] for name, run in found.items()} == {
        "Simple_DQN": 3,
        "A2C": 2,
    }
    lasts = [(each["concept"], each["last"]) for each in found["A2C"]["metrics"]]
    assert sorted(lasts) == [("ep_len", 80.0), ("reward_mean", 6.0)]
    assert "passed over" not in err


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"DQN": {"rewards": [1, 2]}, "PPO": {"rewards": [3, 4]}}, ["DQN", "PPO"]),
        ({"Pong-v5": {"rewards": [1, 2]}, "seed 2": {"log": {"rewards": [3, 4]}}, "x": {"a": 1}},
         ["Pong-v5", "seed_2"]),
        ({"A* {1}": {"rewards": [1, 2]}, "PPO": {"rewards": [3, 4]}}, ["A_1_", "PPO"]),
        ({"env": "Pong", "runs": [{"about": {"run_name": "a"}, "rewards": [1, 2]},
          {"seed": 7, "rewards": [1, 2]}, {"rewards": [3, 4]}]}, ["a", "seed_7", "run-3"]),
        ({"rewards_per_run": [[1, 2], [3, 4]], "lr": 0.1}, ["run-1", "run-2"]),
        ([{"exp": 1, "reward_curve": [1, 2]}, {"exp": 2, "reward_curve": [3, 4]}],
         ["exp_1", "exp_2"]),
    ],
)  # fmt: skip
def test_trainings_may_stand_under_their_names_or_in_a_list(
    document: object, names: list[str], tmp_path: Path
) -> None:
    """Of algorithms, environments or seeds: each has rewards of its own."""
    path = tmp_path / "results.json"
    write(path, document, 1)
    read = {batch.stored_run: batch for batch in every_batch(JsonTrainingsStore(path))}
    assert list(read) == names
    assert [[*batch.points[0].values] for batch in read.values()][:2] == [
        [1.0, 2.0],
        [1.0, 2.0] if names[0] == "a" else [3.0, 4.0],
    ]


@pytest.mark.parametrize("in_turns", [False, True])
@pytest.mark.parametrize(("key", "name"), [("seed", "{}"), ("agent", "bot{}")])
def test_rows_say_whose_training_they_are_of(
    key: str, name: str, in_turns: bool, tmp_path: Path
) -> None:
    """As in a table: steps begin anew with another name, and may take turns."""
    rows = [
        {key: name.format(run), "step": 10 * step, "reward": step + 0.5 * run}
        for run in range(3)
        for step in range(1, 9)
    ]
    rows.sort(key=lambda row: (row["step"] if in_turns else 0, row[key]))
    path = tmp_path / "training_log.json"
    path.write_text(json.dumps(rows))
    assert TRAININGS.claims(path.name, path.read_bytes())
    read = {batch.stored_run: batch for batch in every_batch(JsonTrainingsStore(path))}
    assert list(read) == ["", *(f"{key}-{name.format(run)}" for run in (1, 2))]
    for run, batch in enumerate(read.values()):
        (found,) = (each for each in batch.points if each.tag == "reward")
        assert list(found.steps) == [10 * step for step in range(1, 9)]
        assert list(found.values) == [step + 0.5 * run for step in range(1, 9)]


def test_one_seed_is_the_training_of_its_file(tmp_path: Path) -> None:
    """Until rows of another one follow, and where steps go on with the next."""
    path = tmp_path / "training_log.json"
    for seed in (1, 2):
        rows = [{"seed": 1 if at < 5 else seed, "step": at, "reward": at / 2} for at in range(1, 9)]
        path.write_text(json.dumps(rows))
        (batch,) = every_batch(JsonTrainingsStore(path))
        assert batch.stored_run == ""
        assert list(batch.points[-1].steps) == list(range(1, 9))


def test_trainings_of_a_file_come_and_go(tmp_path: Path) -> None:
    """The file is written anew; half of it says so and takes nothing back."""
    path = tmp_path / "results.json"
    write(path, [*ALGORITHMS, ALGORITHMS[1]], 1)
    store = JsonTrainingsStore(path)
    read = {batch.stored_run: batch for batch in every_batch(store)}
    assert list(read) == ["Simple_DQN", "A2C", "A2C-3"]
    assert not any(batch.restarted for batch in read.values())
    path.write_text(json.dumps(ALGORITHMS)[:-9])
    os.utime(path, ns=(2 * 10**9, 2 * 10**9))
    assert "not complete JSON" in store.poll(10).problems[0].message
    write(path, ALGORITHMS[:1], 3)
    read = {batch.stored_run: batch for batch in every_batch(store)}
    assert {run: len(batch.points) for run, batch in read.items()} == {
        "Simple_DQN": 1,
        "A2C": 0,
        "A2C-3": 0,
    }
    assert all(batch.restarted for batch in read.values())


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (ALGORITHMS, True),
        ([{"algorithm": "DQN", "returns": list(range(3000))}], True),
        ([{"name": "Ann", "scores": [5, 4]}], False),
        ([{"algorithm": "DQN", "accuracy": [0.5, 0.6]}], False),
        ([{"algorithm": "DQN", "mean_reward": 21.5}], False),
        ([{"episode": 1, "agent": "DQN", "rewards": [1, 1, 1]}], False),
        ([{"episode": 1, "agent": "DQN", "rewards": list(range(3000))}], False),
        ([1, 2], False),
        ({"algorithm": "DQN", "rewards": [1, 2]}, False),
        ({"DQN": {"rewards": [1, 2]}, "PPO": {"rewards": [3, 4]}}, True),
        ({"seed_1": {"train": {"returns": list(range(3000))}}}, True),
        ({"CartPole-v1": {"losses": list(range(3000)), "rewards": [1, 2]}}, False),
        ({"train": {"rewards": [1, 2]}, "eval": {"rewards": [3, 4]}}, False),
        ({"agent_1": {"rewards": [1, 2]}, "agent_2": {"rewards": [3, 4]}}, False),
        ({"DQN_rewards": {"rewards": [1, 2]}}, False),
        ({"A* search": {"rewards": [1, 2]}, "PPO": {"rewards": [3, 4]}}, True),
        ({"about": {"ppo": {"kl": 1}}, "rewards": list(range(3000))}, False),
        ({"ppo": {"lr": 0.1}, "train": {"rewards": list(range(3000))}}, False),
        ({"about": {"PPO": {"rewards": list(range(3000))}}}, False),
        ({"env": "Pong", "runs": [{"seed": 3, "rewards": [1, 2]}]}, True),
        ({"env": "Pong", "runs": [{"seed": 3, "kl": [1, 2]}]}, False),
        ({"steps_per_run": [list(range(3000))], "rewards_per_run": [[1, 2]]}, True),
        ([{"exp": 1, "lr": 0.1, "reward_curve": [1, 2]}], True),
        ([{"exp": 1, "lr": 0.1, "accuracy": [1, 2]}], False),
        ([{"seed": 1, "step": 10, "reward": 0.5}], True),
        ([{"seed": 1, "step": 10, "accepted": 5}], False),
    ],
)
def test_a_row_or_a_pupil_is_no_training(document: object, answer: bool) -> None:
    """A row says its step, and a pupil has no algorithm."""
    head = json.dumps(document).encode()[:4096]
    assert TRAININGS.claims("results.json", head) is answer
    found = detect_format("results.json", head)
    assert (found is TRAININGS) is answer


def test_a_collapse_is_found_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in any other log."""
    draw = Random(1)
    for name, lost in (("well", 0.0), ("sick", 380.0)):
        rewards = [
            min(400.0, 20.0 + 2 * n) - lost * (n > 250) + draw.gauss(0, 15) for n in range(400)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps({"rewards": rewards}))
    paths = [str(tmp_path / f"{name}.json") for name in ("well", "sick")]
    main(["check", "--json", "--no-cache", *paths])
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert {Path(run["path"]).stem: run["verdict"] for run in runs} == {
        "well": "healthy",
        "sick": "crit",
    }


def test_steps_of_parts_of_the_training_are_no_steps_of_it() -> None:
    """Three rounds in each episode: the episode counts on. Where it begins anew each time a
    session is tried, rows are counted.
    """

    def rounds(episodes: list[int]) -> ParserOutput:
        rows = [(episode, step) for episode in episodes for step in (1, 2, 3)]
        return read([{"episode": at, "step": step, "reward": at + 0.5} for at, step in rows])

    assert rounds([1, 2, 3, 4, 5]).steps("reward") == [n for n in range(1, 6) for _ in range(3)]
    found = rounds([1] * 12)
    assert found.steps("reward") == [*range(1, 37)]
    assert found.counts_updates


def test_rows_of_episodes_and_their_lengths_are_at_their_episode() -> None:
    """As in a table; steps of all so far are the step."""
    lengths = [88, 31, 140, 140, 200, 17]
    rows = [{"episode": n, "step": steps, "reward": 0.5} for n, steps in enumerate(lengths, 1)]
    assert read(rows).steps("reward") == [1, 2, 3, 4, 5, 6]
    so_far = [{**row, "step": 100 * row["episode"]} for row in rows]
    assert read(so_far).steps("reward") == [100, 200, 300, 400, 500, 600]


def test_a_file_of_rewards_holds_a_list_for_each_agent(tmp_path: Path) -> None:
    """Or pairs of a step and a reward; few short lists, or many, are something else."""
    path = tmp_path / "rewards.json"
    curves = [[n / 2 for n in range(40)], [-n / 4 for n in range(40)]]
    write(path, curves, 1)
    assert claims(path.name, path.read_bytes()[:4096])
    found = poll(JsonDocumentStore(path))
    assert [found.values(f"rewards {agent}") for agent in (1, 2)] == curves
    write(path, [[2048 * n, n + 0.5] for n in range(1, 30)], 2)
    found = poll(JsonDocumentStore(path))
    assert found.steps("rewards") == [2048 * n for n in range(1, 30)]
    for other in ([[1.5, 2.5, 3.5, 4.5]] * 8, [[0.5] * 200] * 50, [[0.5] * 20, [0.5] * 30]):
        write(path, other, 3)
        assert poll(JsonDocumentStore(path)).problems


def test_a_long_list_may_be_called_metrics_of_a_training(tmp_path: Path) -> None:
    """What the numbers are nobody says; a few may be anything."""
    path, numbers = tmp_path / "training_metrics_mlp.json", [-93.5 + n for n in range(40)]
    write(path, numbers, 1)
    assert detect_format(path.name, path.read_bytes()[:4096]) is FORMAT
    assert poll(JsonDocumentStore(path)).values("training_metrics_mlp") == numbers
    assert not claims(path.name, b"[1, 2, 3]")


def test_gym_wrote_the_lists_of_its_episodes_behind_their_times(tmp_path: Path) -> None:
    """As `StatsRecorder` of gym until 0.22 does: the head of a long one holds nothing but times."""
    path = tmp_path / "openaigym.episode_batch.0.27152.stats.json"
    statistics = {
        "initial_reset_timestamp": 1633158148.5,
        "timestamps": [1633158149.5 + n for n in range(600)],
        "episode_lengths": [500 + n for n in range(600)],
        "episode_rewards": [n / 2 for n in range(600)],
        "episode_types": ["t"] * 601,
    }
    write(path, statistics, moment=1)
    assert detect_format(path.name, path.read_bytes()[:4096]) == FORMAT
    assert poll(JsonDocumentStore(path)).values("episode_rewards") == statistics["episode_rewards"]
