"""One console, several trainings: each is a run, and no resumed training is two."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.model import State
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, assert_same, chunks, feed_trainings

Body = Callable[[int, range], str]

BANNER = "=" * 40 + "\nTraining PPO on CartPole-v1\n" + "=" * 40 + "\n"


def pairs(seed: int, steps: range) -> str:
    """The lines of a custom loop."""
    draw = random.Random(seed)
    return "".join(
        f"Episode {step} | reward: {step + draw.random():.3f} | loss: {draw.random():.3f}\n"
        for step in steps
    )


def tables(seed: int, steps: range) -> str:
    """The tables of Stable-Baselines3."""
    draw = random.Random(seed)
    rule = "-" * 35 + "\n"
    return "".join(
        f"{rule}| rollout/           |            |\n"
        f"|    ep_rew_mean     | {draw.random():<10.3f} |\n"
        f"| time/              |            |\n"
        f"|    total_timesteps | {step * 2048:<10} |\n{rule}"
        for step in steps
    )


def read(text: str) -> list[ParserOutput]:
    """The trainings of a console, the same however it is cut."""
    data = text.encode()
    whole = feed_trainings(ConsoleParser(), [data])
    for size in (1, 7, 64):
        slowly = feed_trainings(ConsoleParser(), chunks(data, size))
        assert slowly.keys() == whole.keys()
        for name, output in whole.items():
            assert_same(slowly[name], output)
    return list(whole.values())


def homework(seed: int, iterations: range) -> str:
    """Berkeley's cs285, homework 4 (run_hw4.py): evaluations without a step of their own."""
    draw = random.Random(seed)
    return "".join(
        f"\n\n********** Iteration {n} ************\nCollecting data...\nTraining agent...\n"
        f"Evaluating 10 rollouts...\nAverage eval return: {-draw.random()}\n"
        for n in iterations
    )


HEADERS = {
    "namespace": "Namespace(seed={n}, lr=0.0003, env='CartPole-v1')\n",
    "setting": BANNER + "seed: {n} | lr: 0.0003\n",
    "title": "Training dqn on task_{n} (seed=42)\n  -> results/dqn\n",
    "words": BANNER + "Running experiment {n} of 3\n",
    "folder": "Using cpu device\nWrapping the env in a DummyVecEnv.\nLogging to ./tb/PPO_{n}\n",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("body", [pairs, tables])
def test_another_setting_and_steps_that_begin_anew(header: str, body: Body) -> None:
    """Three seeds in one console are three trainings."""
    found = read("".join(header.format(n=n) + body(n, range(1, 9)) for n in (1, 2, 3)))
    assert len(found) == 3
    for number, each in enumerate(found, 1):
        (rewards,) = [tag for tag in each.points if tag.endswith(("reward", "ep_rew_mean"))]
        (alone,) = read(header.format(n=number) + body(number, range(1, 9)))
        assert each.points[rewards] == alone.points[rewards]


def test_another_algorithm_is_another_training() -> None:
    """Its lines may have other names."""
    lines = {"DQN": "Episode {} | Reward: 2{}.5", "Simple A2C": "[a2c] Episode {} score 2{}.5"}
    text = "".join(
        f"=== Training {name} agent ===\n" + "".join(f"{line}\n".format(n, n) for n in range(1, 9))
        for name, line in lines.items()
    )
    first, second = read(text + "Training Simple A2C model...\nEpisode 9 | Reward: 2.5\n")
    assert [value for _, _, value in first.points["Reward"]] == [f"2{n}.5" for n in range(1, 9)]
    assert [step for step, _, _ in second.points["score"]] == list(range(1, 9))
    assert [step for step, _, _ in second.points["Reward"]] == [9]


@pytest.mark.parametrize("heading", ["=== {} ===", "----- {} agent -----", "## {} ##"])
def test_a_heading_may_be_the_algorithm_and_nothing_else(heading: str) -> None:
    """Steps that begin anew below another one are another training's."""
    first, second = read(
        "".join(heading.format(name) + "\n" + pairs(1, range(1, 9)) for name in ("DQN", "SARSA"))
    )
    assert first.points == second.points
    (one,) = read(2 * (heading.format("DQN") + "\n" + pairs(1, range(1, 9))))
    assert len(one.points["reward"]) == 16


def test_the_first_iteration_of_another_algorithm_begins_its_training() -> None:
    """Also where it counts steps, of which the first rollout has more than episodes came before."""
    rule = "-" * 35 + "\n"
    tables = "".join(
        f"{rule}| time/              |            |\n|    iterations      | {n:<10} |\n"
        f"|    total_timesteps | {n * 2048:<10} |\n{rule}"
        for n in (1, 2, 3)
    )
    first, second = read(f"Training A2C\n{pairs(1, range(1, 9))}Training PPO\n{tables}")
    assert [step for step, _, _ in first.points["reward"]] == list(range(1, 9))
    assert [step for step, _, _ in second.points["time/iterations"]] == [2048, 4096, 6144]


def test_settings_are_those_of_their_training() -> None:
    """What is printed once holds for all."""
    text = "Namespace(seed=1, lr=0.0003)\n" + pairs(1, range(1, 9))
    text += "seed: 2\n" + pairs(2, range(1, 9))
    first, second = read(text)
    assert first.config == {"seed": 1.0, "lr": 0.0003}
    assert second.config == {"seed": 2.0, "lr": 0.0003}
    (note,) = second.notes
    assert "another seed is printed, and steps begin anew" in note and first.notes == []


def test_a_training_that_was_complete() -> None:
    """Without any header: the end of one and the steps of the next are two kinds of evidence."""
    first, second = read((pairs(1, range(1, 9)) + "Training complete!\n") * 2)
    assert first.steps("reward") == second.steps("reward") == list(range(1, 9))
    assert first.ended is not None and first.ended.state is State.FINISHED


def test_a_number_in_each_record() -> None:
    """`[Run 001] Epoch 001`: each record says to which training it belongs."""
    text = "".join(
        f"[Run {run:03}] Epoch {epoch:03}, reward: {run + epoch}.5\n"
        for run in (1, 2, 3)
        for epoch in range(1, 9)
    )
    assert [each.steps("reward") for each in read(text)] == [list(range(1, 9))] * 3


def test_seeds_side_by_side_below_a_bar() -> None:
    """Processes of `multiprocessing` that share a terminal, each behind its bar."""
    text = "".join(
        f" {n}%|█  | {n}00/900 [00:27<1:19, 39.1it/s]2026-06-09 17:42:2{n}: [INFO]: "
        f"Seed: {seed}, Step: {n}0000, Eval mean: {seed + n}.5\n"
        for n, seeds in ((1, (0, 42, 7)), (2, (42, 0, 7)), (3, (7, 42, 0)))
        for seed in seeds
    )
    found = read(text)
    assert [each.steps("Eval mean") for each in found] == [[10000, 20000, 30000]] * 3
    assert {tuple(each.values("Seed")) for each in found} == {(0, 0, 0), (42, 42, 42), (7, 7, 7)}


def test_the_number_may_say_how_many_there_will_be() -> None:
    """`Experiment 1/100`."""
    text = "".join(
        f"Experiment {run}/100, Episode {episode}/8, Total Avg. Reward: {run + episode}.5\n"
        for run in (1, 2, 3)
        for episode in range(1, 9)
    )
    assert [each.steps("Total Avg. Reward") for each in read(text)] == [list(range(1, 9))] * 3


@pytest.mark.parametrize(
    "between",
    [
        "",
        "Namespace(seed=1, lr=0.0003)\n",
        "Loading checkpoint 5\n",
        "Traceback (most recent call last):\n  File 'x'\nValueError: bad\nNamespace(seed=1)\n",
    ],
)
@pytest.mark.parametrize("again", [1, 5])
def test_a_training_that_goes_on_is_one(between: str, again: int) -> None:
    """Resumed, or started again as it was after a crash: no other setting is printed."""
    text = "Namespace(seed=1, lr=0.0003)\n" + pairs(1, range(1, 9)) + between
    assert len(read(text + pairs(1, range(again, 20)))) == 1


@pytest.mark.parametrize("steps", [range(1, 101), range(100), range(0, 1000, 10)])
def test_a_loop_that_ends_at_a_round_number_was_complete(steps: range) -> None:
    """Appended to one log, with nothing printed between them."""
    found = read("".join(pairs(seed, steps) for seed in range(3)))
    assert [each.steps("reward") for each in found] == [list(steps)] * 3
    assert all("a round" in each.notes[0] for each in found[1:])


@pytest.mark.parametrize(
    ("line", "end", "between"),
    [
        ("Episode {} | reward: {}.5\n", 87, ""),  # crashed
        ("Episode {} | reward: {}.5\n", 100, "Loaded model.pt\n"),
        ("Episode {} | reward: {}.5\n", 100, "--- Level two ---\n"),
        ("step {} | reward: {}.5\n", 200, ""),  # an episode that was cut off
        ("Epoch {} | reward: {}.5\n", 20, ""),  # of an iteration
        ("Episode {}00 | reward: {}.5\n", 5, ""),
    ],
)
def test_other_counters_that_begin_anew_are_one_training(line: str, end: int, between: str) -> None:
    """A round number is evidence only of a loop over whole episodes, epochs or iterations."""
    lap = "".join(line.format(n, n) for n in range(1, end + 1))
    assert len(read(lap + between + lap)) == 1


def test_another_setting_alone_is_no_other_training() -> None:
    """The learning rate of a resumed training may be another one; its steps go on."""
    text = "Namespace(seed=1, lr=0.0003)\n" + pairs(1, range(1, 30))
    text += "Namespace(seed=1, lr=0.0001)\n" + pairs(1, range(25, 50))
    (only,) = read(text)
    assert only.config["lr"] == 0.0001


def test_an_evaluation_at_the_end_is_no_training() -> None:
    """Its records hold less, and their number is another total."""
    text = pairs(1, range(1, 30)) + "Training complete!\nEvaluating seed 100\n"
    text += "".join(f"Episode {n} | reward: 30.0\n" for n in range(1, 6))
    assert len(read(text)) == 1


@given(
    trainings=st.lists(st.integers(3, 30), min_size=1, max_size=4),
    header=st.sampled_from(list(HEADERS.values())),
    body=st.sampled_from([pairs, tables]),
    block=st.integers(1, 64),
)
def test_drawn_consoles(trainings: list[int], header: str, body: Body, block: int) -> None:
    """As many runs as trainings, whatever is printed and however stdout is buffered."""
    text = "".join(
        header.format(n=number) + body(number, range(1, length + 1))
        for number, length in enumerate(trainings, 1)
    )
    found = feed_trainings(ConsoleParser(), chunks(text.encode(), block * 1024))
    lengths = [max(map(len, each.points.values())) for each in found.values()]
    assert lengths == trainings


PREFIXES = {
    "number": "seed={n} | step={step} | reward={value}\n",
    "brackets": "[Run {n:03}] Step: {step}, Reward: {value}\n",
    "heading": "PID 1792{n} - Step {step}/1000\nReward: {value}\n",
    "every tenth episode": "PID 1792{n} - Episode {step}0/1000\nReward: {value}\n",
    "ray": "(train_cartpole pid=71{n}) step: {step} | reward: {value}\n",
}
"""What launchers of several trainings print before each line."""


def interleaved(prefix: str, lengths: list[int], draw: random.Random) -> str:
    """The lines of several trainings, those of each in their order."""
    opening = "(train_cartpole pid=71{n}) seed: {n} | lr: 0.0003\n"
    lines = [
        [opening.format(n=n)] * ("pid=" in prefix)
        + [prefix.format(n=n, step=step, value=n + step / 100) for step in range(1, length + 1)]
        for n, length in enumerate(lengths, 1)
    ]
    text = ""
    while waiting := [each for each in lines if each]:
        text += draw.choice(waiting).pop(0)
    return text


@given(
    prefix=st.sampled_from(list(PREFIXES.values())),
    lengths=st.lists(st.integers(3, 12), min_size=2, max_size=4),
    draw=st.randoms(use_true_random=False),
    size=st.integers(1, 400),
)
def test_trainings_that_run_at_once(
    prefix: str, lengths: list[int], draw: random.Random, size: int
) -> None:
    """Each has all of its own points and no other, in whatever order a launcher prints them."""
    data = interleaved(prefix, lengths, draw).encode()
    found = feed_trainings(ConsoleParser(), chunks(data, size))
    read = []
    for each in found.values():
        (reward,) = [tag for tag in each.points if tag.lower() == "reward"]
        read.append(list(zip(each.steps(reward), each.values(reward), strict=True)))
    every = 10 if "{step}0" in prefix else 1
    assert sorted(read) == [
        [(every * step, n + step / 100) for step in range(1, length + 1)]
        for n, length in enumerate(lengths, 1)
    ]


def test_rows_below_a_heading_that_says_whose_they_are() -> None:
    """Each pair below it is a row, whatever it is called, as below one that says only a step."""
    lines = [
        f"PID {pid} - Episode {n}/9\nReward: {n}.5\nEpsilon: 0.{n}\n"
        for n, pid in ((5, 71), (5, 72), (6, 72), (6, 71))
    ]
    for each in read("".join(lines)):
        assert each.steps("Epsilon") == each.steps("Reward") == [5, 6]


def test_the_settings_of_a_process_are_those_of_its_training() -> None:
    """Two trials of Ray Tune in one output."""
    text = interleaved(PREFIXES["ray"], [4, 4], random.Random(1))
    found = {each.config["seed"]: each for each in read(text)}
    assert found.keys() == {1.0, 2.0}
    (note,) = [*found[1.0].notes, *found[2.0].notes]
    assert note == "training 2 in this console, interleaved with others: another seed is printed"


@pytest.mark.parametrize(
    "line",
    [
        "[rank{n}]: seed: {n}\n[rank{n}]: step: {step} | reward: {value}\n",
        "(EnvWorker pid=7{n}) seed: {n}\n(EnvWorker pid=7{n}) step: {step} reward: {value}\n",
        "(train pid=7{n}) seed: 1\n(train pid=7{n}) step: {step} | reward: {value}\n",
        "step: {step} | trial: {n} | reward: {value}\n",
        "trial: {step} | step: {step} | reward: {value}\n",
    ],
)
def test_processes_and_counts_of_one_training(line: str) -> None:
    """Ranks and workers have seeds of their own, and a number that counts on is none of a run."""
    text = "".join(
        line.format(n=n, step=step, value=step + n) for step in range(1, 9) for n in (1, 2)
    )
    assert len(read(text)) == 1


def test_a_setting_in_each_line_may_be_another_one_in_the_next_training() -> None:
    """A logger that is named after what is tried: `alpha=0.2 | Episode 10 | ...`."""
    log = "".join(
        f"Hyperparameters: {{'alpha': {alpha}, 'epsilon': {epsilon}, 'n_episodes': 80}}\n"
        + "".join(f"{label} | Episode {10 * n} | Reward: {n}.5\n" for n in range(1, 9))
        + f"{label} | Training complete. Total episodes: 80\n"
        for alpha, epsilon, label in (
            (0.1, 0.1, "Baseline"),
            (0.2, 0.1, "alpha=0.2"),
            (0.1, 0.3, "ε=0.3"),
            (0.3, 0.3, "α=0.3"),
            (0.4, 0.2, "Best (α=0.4, ε=0.2)"),
        )
    )
    parser = ConsoleParser()
    batch = parser.feed(log.encode())
    assert [run.config["epsilon"] for run in (batch, *batch.rest)] == [0.1, 0.1, 0.3, 0.3, 0.2]
    assert [run.config["alpha"] for run in (batch, *batch.rest)] == [0.1, 0.2, 0.1, 0.3, 0.4]


def test_each_folder_of_a_homework_is_a_training() -> None:
    """Its evaluations say no step, so that an iteration behind theirs is no part of them.

    What a script announces before each (`2/3: Ensemble size = 1...`) is no iteration.
    """
    text = "".join(
        f"{run}/3: Ensemble size = {run}...\n########################\n"
        f"logging outputs to  /home/me/hw4/cs285/scripts/../../data/reacher_ensemble{run}\n"
        f"########################\n{homework(run, range(7))}"
        for run in (1, 2, 3)
    )
    for run, output in enumerate(read(text), 1):
        draw = random.Random(run)
        expected = [(n, -draw.random()) for n in range(7)]
        assert output.values_by_step()["eval/Average eval return"] == expected
    assert len(read(text)) == 3


def test_each_configuration_of_a_search_is_a_training() -> None:
    """It is evaluated at its end; the next one's title ends the evaluation."""
    text = "".join(
        f"Training Configuration {run}/3: LR_1e{run}_hid_128\n{'=' * 60}\n"
        + "".join(
            f"  Episode   {n}/858 | Recent Avg:   {n}.62 | Last Reward:   68.00 | Steps: 17,500\n"
            for n in range(50, 850, 50)
        )
        + "  Evaluating on 50 episodes...\n"
        + "  \u2713 Evaluation Complete!\n    Mean Reward: 423.12 (\u00b120.62)\n"
        for run in (1, 2, 3)
    )
    trainings = read(text)
    assert len(trainings) == 3
    for output in trainings:
        assert output.steps("Recent Avg") == [*range(50, 850, 50)]
