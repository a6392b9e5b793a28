"""Lines that begin with a number that nothing names, as `print(step, "reward:", reward)` does."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way


def read(lines: list[str]) -> ParserOutput:
    """Read in every way."""
    return parse_every_way(ConsoleParser, "".join(f"{line}\n" for line in lines).encode())


LINES = [
    "{step} reward: {n}.5 loss: 0.25",
    "{step} reward: {n}.5, loss: 0.25",
    "[{step}] reward: {n}.5, loss: 0.25",
    "[{step}] reward={n}.5 loss=0.25",
    "#{step} reward: {n}.5 loss: 0.25",
    "{step} | reward: {n}.5 | loss: 0.25",
    "{step}, reward: {n}.5, loss: 0.25",
    "{step} - reward: {n}.5, loss: 0.25",
    "{step} -> reward: {n}.5, loss: 0.25",
    "{step} steps, reward: {n}.5, loss: 0.25",
    "{step}th reward: {n}.5 loss: 0.25",
]


@pytest.mark.parametrize("line", LINES)
def test_a_number_that_counts_on_is_the_step(line: str) -> None:
    """All values are read, those beside the number too."""
    found = read([line.format(step=100 * n, n=n) for n in range(8)])
    assert found.values("reward") == [n + 0.5 for n in range(8)]
    assert found.steps("reward") == found.steps("loss") == [100 * n for n in range(8)]
    assert not found.counts_updates


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("numbers", [[3] * 8, [0, 2] * 4, [100, 200, 300, 250, 400, 500, 600, 700]])
def test_a_number_that_does_not_is_none(line: str, numbers: list[int]) -> None:
    """A rank, a worker, a length: no value is lost, and rows are counted."""
    found = read([line.format(step=number, n=n) for n, number in enumerate(numbers)])
    assert found.values("reward") == [n + 0.5 for n in range(8)]
    assert found.steps("reward") == found.steps("loss") == list(range(1, 9))
    assert found.counts_updates


COUNTS = [
    "Steps: {step}, Reward: {n}.5, Loss: 0.25",
    "num_steps={step} | Reward={n}.5 | Loss=0.25",
    "Episodes: {step}, Reward: {n}.5, Loss: 0.25",
    "Total games played: {step} | Reward: {n}.5 | Loss: 0.25",
    "[INFO] iterations={step} Reward={n}.5 Loss=0.25",
    "n_updates_done: {step}, Reward: {n}.5, Loss: 0.25",
    "EnvName: CartPole-v1 seed: 0 steps: {step} Reward: {n}.5 Loss: 0.25",
    "Env=Hopper-v4 steps={step} Reward={n}.5 Loss=0.25",
]


@pytest.mark.parametrize("line", COUNTS)
def test_steps_that_count_on_are_the_step(line: str) -> None:
    """Where no other number says one, and enough of them show it."""
    found = read([line.format(step=200 * n, n=n) for n in range(1, 10)])
    assert found.steps("Reward") == found.steps("Loss") == [200 * n for n in range(1, 10)]
    assert not found.counts_updates


@pytest.mark.parametrize(
    "line", [*COUNTS, '{{"steps": {step}, "Reward": {n}.5, "Loss": 0.25, "value": 1.0}}']
)
def test_four_steps_are_enough_if_they_rise_evenly(line: str) -> None:
    """As lengths of episodes do not. After sotetsuk/pgx, `examples` (A2C in PyTorch)."""
    found = read([line.format(step=10_000 * n, n=n) for n in range(4)])
    assert found.steps("Reward") == found.steps("Loss") == [0, 10_000, 20_000, 30_000]
    assert not found.counts_updates


@pytest.mark.parametrize("line", COUNTS)
@pytest.mark.parametrize(
    "steps", [[10, 12, 15, 21], [0, 1, 2, 3], [10, 12, 15, 21, 30, 32, 40, 35, 50], [200] * 9]
)
def test_steps_that_do_not_are_those_of_an_episode(line: str, steps: list[int]) -> None:
    """Or too few to tell: rows are counted, and no value is lost."""
    found = read([line.format(step=each, n=n) for n, each in enumerate(steps)])
    assert found.values("Reward") == [n + 0.5 for n in range(len(steps))]
    assert found.steps("Reward") == list(range(1, len(steps) + 1))
    assert found.counts_updates


@pytest.mark.parametrize(
    "line",
    [
        "{step}/800 reward: {n}.5 loss: 0.25",
        "{step}/800: reward: {n}.5, loss: 0.25",
        "[{step}/800] reward={n}.5 loss=0.25",
        "({step} / 800) reward = {n}.5, loss = 0.25",
    ],
)
def test_with_a_total_it_is_the_step_at_once(line: str) -> None:
    """And the length of the run is known."""
    found = read([line.format(step=100 * n, n=n) for n in range(3)])
    assert found.values("reward") == [0.5, 1.5, 2.5]
    assert found.steps("reward") == [0, 100, 200]
    assert found.config == {"total_iterations": 800}


def test_a_mean_of_r_is_a_reward() -> None:
    """PyTorch-RL's `examples/ppo_gym.py` names nothing else that is one."""
    line = "{n}\tT_sample 0.5{n}\tT_update 0.2{n}\ttrain_R_min -2.5\ttrain_R_avg {n}.5"
    found = read([line.format(n=n) for n in range(8)])
    assert found.values("train_R_avg") == [n + 0.5 for n in range(8)]


def test_lines_that_name_their_step_keep_it() -> None:
    """What stands before them is something else, and nothing waits for more of it."""
    found = read([f"7 step: {10 * n}, reward: {n}.5" for n in range(1, 3)])
    assert found.steps("reward") == [10, 20]
    found = read(["3 workers: 8", "step: 10, reward: 0.5", "step: 20, reward: 1.5"])
    assert found.steps("reward") == [10, 20]


def test_a_list_of_results_is_no_training() -> None:
    """Each line measures something else: its number is not their step."""
    found = read(["1 mean reward: 200.5", "2 loss: 0.25", "3 kl: 0.5", "4 entropy: 1.5"])
    assert found.counts_updates


def test_a_short_log_waits_for_nothing() -> None:
    """What waits is read at the end, with what is known by then."""
    found = read(["100 reward: 0.5", "200 reward: 1.5"])
    assert found.values_by_step() == {"reward": [(100, 0.5), (200, 1.5)]}
    assert read(["100 reward: 0.5"]).counts_updates


@pytest.mark.parametrize(
    "line", ["12:30:05 done: 3", "2024 was good", "3 models saved", "(1): ELU(alpha=1.0)", "10 0.5"]
)
def test_what_is_no_record_stays_none(line: str) -> None:
    """A number before words says nothing by itself."""
    assert read([line] * 5).points.keys() <= {"ELU(alpha)"}


MEAN = "Average Reward after {episode} episodes: {n}.5"
"""`f"Average Reward after {self.episode_count} episodes: {avg_reward}"` of a callback of SB3."""


def test_the_episodes_after_which_a_mean_is_printed_are_its_step() -> None:
    found = read([MEAN.format(episode=4 * n, n=n) for n in range(1, 10)])
    assert found.steps("Average Reward") == found.values("episode") == [4 * n for n in range(1, 10)]
    assert found.values("Average Reward") == [n + 0.5 for n in range(1, 10)]
    assert not found.counts_updates


@pytest.mark.parametrize("episodes", [1, 0])
def test_two_means_after_as_many_episodes_are_of_one_step(episodes: int) -> None:
    """`Average Len after {self.episode_count} episodes: {avg_len}` stands below it."""
    lines = [MEAN, "Average Len after {episode} episodes: 46{n}.0"]
    counts = [(n, 4 + 4 * episodes * n) for n in range(9)]
    found = read([line.format(episode=count, n=n) for n, count in counts for line in lines])
    steps = [count for _, count in counts] if episodes else list(range(1, 10))
    assert found.steps("Average Len") == found.steps("Average Reward") == steps
    assert found.values("Average Len") == [460.0 + n for n in range(9)]


def test_of_how_many_episodes_each_mean_is_says_no_step() -> None:
    """A script that forgets its episodes at each update always prints 4."""
    found = read([MEAN.format(episode=4, n=n) for n in range(1, 10)])
    assert found.steps("Average Reward") == list(range(1, 10))
    assert found.counts_updates
    assert "episode" not in found.values_by_step()


def test_a_value_at_an_episode_has_its_number() -> None:
    """So that its steps are known to count episodes."""
    found = read([f"Running reward: {n}.5 at episode {10 * n}" for n in (1, 2, 3)])
    assert found.values("episode") == found.steps("Running reward") == [10, 20, 30]
