"""Results of RLlib and Tune on a console: indented maps, one a training iteration."""

from __future__ import annotations

from pprint import pformat

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, chunks, feed_trainings, parse_every_way


def result(iteration: object, reward: float, head: str = "Result for PPO_env_0:") -> str:
    """A result as Tune prints it; without a head as pretty_print does."""
    lines = [
        "agent_timesteps_total: 4000",
        "counters:",
        "  num_env_steps_sampled: 4000",
        "custom_metrics: {}",
        "date: 2024-01-02_03-04-05",
        "done: false",
        f"episode_reward_mean: {reward}",
        "hist_stats: []",
        "info:",
        "  learner:",
        "    default_policy:",
        "      learner_stats:",
        "        kl: 0.0125",
        "        policy_loss: .nan",
        "node_ip: 127.0.0.1",
        "timestamp: 1700000000",
        f"training_iteration: {iteration}",
        "trial_id: env_0",
        "warmup_time: 2.5",
    ]
    return "\n".join([head, *(f"  {line}" for line in lines)] if head else lines) + "\n\n"


def read(text: str) -> ParserOutput:
    """Read in every way."""
    return parse_every_way(ConsoleParser, text.encode())


def rewards(text: str, size: int = 1 << 20) -> dict[str, list[tuple[int, float]]]:
    """The rewards of each training."""
    found = feed_trainings(ConsoleParser(), chunks(text.encode(), size))
    return {name: each.values_by_step()["episode_reward_mean"] for name, each in found.items()}


@pytest.mark.parametrize("head", ["Result for PPO_env_0:", ""])
def test_a_result_stands_at_its_iteration(head: str) -> None:
    """The iteration is said at the end, and all that was said before belongs to it."""
    got = read(result(1, 10.5, head) + result(2, 20.5, head))
    assert got.values_by_step()["episode_reward_mean"] == [(1, 10.5), (2, 20.5)]
    assert got.steps("info/learner/default_policy/learner_stats/policy_loss") == [1, 2]
    assert got.values_by_step()["counters/num_env_steps_sampled"] == [(1, 4000.0), (2, 4000.0)]
    assert got.times("episode_reward_mean") == [1.7e9, 1.7e9]
    assert "kl" not in got.points


@pytest.mark.parametrize("size", [1 << 20, 7])
def test_each_trial_is_a_training(size: int) -> None:
    """A trial that begins late is at any step, and the first one goes on after it."""
    one, two = "Result for PPO_env_0:", "Result for PPO_env_1:"
    text = result(1, 1.5, one) + result(7, 2.5, two) + result(2, 3.5, one) + result(8, 4.5, two)
    assert rewards(text, size) == {"": [(1, 1.5), (2, 3.5)], "2": [(7, 2.5), (8, 4.5)]}
    found = feed_trainings(ConsoleParser(), [text.encode()])
    assert found["2"].notes == [
        "training 2 in this console, interleaved with others: trial PPO_env_1"
    ]


def test_lines_between_are_read_for_themselves() -> None:
    """A warning in the middle of a result harms neither."""
    whole = result(1, 10.5)
    cut = whole.index("  info:")
    got = read(whole[:cut] + "WARNING: slow\nEpisode 7 | reward: 3.5\n" + whole[cut:])
    assert got.values_by_step()["episode_reward_mean"] == [(1, 10.5)]
    assert got.values("reward") == [3.5]


def test_a_result_without_its_end_is_not_guessed() -> None:
    """Where the iteration never comes, the next result counts; after many strangers, no line."""
    whole = result(1, 10.5)
    half = whole[: whole.index("  training_iteration")]
    assert read(half + result(2, 20.5)).values_by_step()["episode_reward_mean"] == [(2, 20.5)]
    after = "".join(f"line {number} of something else\n" for number in range(30))
    assert read(half + after + "  kl: 0.5\n").values("kl") == [0.5]


def test_an_iteration_that_is_no_number() -> None:
    """Its values stand at the last step that was said."""
    got = read(result(3, 10.5) + result(".inf", 20.5))
    assert got.values_by_step()["episode_reward_mean"] == [(3, 10.5), (3, 20.5)]


def test_too_many_trials_make_no_more_trainings() -> None:
    """A sweep of hundreds on one console stays bounded."""
    assert len(rewards("".join(result(1, 1.5, f"Result for T{n}:") for n in range(100)))) == 64


def test_a_paste_that_begins_inside_a_result() -> None:
    """`pretty_print` sorts its names; people copy from the first one that says something."""
    result = (
        "episode_reward_max: -443.0\nepisode_reward_mean: -{0}.5\nepisodes_this_iter: 7{0}\ninfo:\n"
        "  default:\n    entropy: 2.3\n    kl: 0.01{0}\ntimesteps_total: {0}000\n"
        "training_iteration: {0}\n"
    )
    text = (
        result.format(4)
        + "\n"
        + "".join(f"custom_metrics: {{}}\n{result.format(n)}" for n in (5, 6))
    )
    found = parse_every_way(ConsoleParser, text.encode())
    assert found.values_by_step()["episode_reward_mean"] == [(4, -4.5), (5, -5.5), (6, -6.5)]
    assert found.steps("info/default/kl") == [4, 5, 6]
    assert "kl" not in found.points


def status_table(rows: list[tuple[str, int, float]], *, framed: bool) -> str:
    """Tune's table of trials; in a frame with blanks between the columns since Ray 2.5."""
    names = ["Trial name", "status", "iter", "total time (s)", "ts", "reward"]
    cells = [
        [name, "RUNNING", *((str(n), f"{3.5 * n}", str(4000 * n), f"{reward}") if n else [""] * 4)]
        for name, n, reward in rows
    ]
    if framed:
        lines = ["│ " + "     ".join(each) + " │" for each in [names, *cells]]
        return "\n".join(["╭" + "─" * 90 + "╮", *lines, "╰" + "─" * 90 + "╯", ""])
    rule = "+" + "-" * 20 + "+" + "-" * 9 + "+"
    lines = ["| " + " | ".join(f"{cell:>12}" for cell in each) + " |" for each in [names, *cells]]
    return "\n".join(
        ["== Status ==", rule, lines[0].replace("  Trial", "Trial"), *lines[1:], rule, ""]
    )


@pytest.mark.parametrize("framed", [False, True])
def test_tunes_table_says_each_iteration_once(framed: bool) -> None:
    """It is printed every few seconds, whether a trial has gone on or not."""
    states = [(0, 0.0), (1, 10.5), (1, 10.5), (2, 20.5)]
    text = "".join(
        status_table([("PPO_env_0", n, reward), ("PPO_env_1", n, -reward)], framed=framed)
        for n, reward in states
    )
    for size in (1 << 20, 7):
        got = rewards(text, size)
        assert got == {"": [(1, 10.5), (2, 20.5)], "2": [(1, -10.5), (2, -20.5)]}


def trial_table(title: str, rows: dict[str, str], *, framed: bool) -> str:
    """A trial's settings or results (ray/tune/experimental/output.py: `_print_dict_as_table`)."""
    top, inner, bottom, bar = ("╭─╮", "├─┤", "╰─╯", "│") if framed else ("+-+", "+-+", "+-+", "|")
    lines = [f"{bar} {name:<40}{value:>20} {bar}" for name, value in [(title, ""), *rows.items()]]
    rules = [rule[0] + rule[1] * 62 + rule[2] for rule in (top, inner, bottom)]
    return "\n".join([rules[0], lines[0], rules[1], *lines[1:], rules[2], ""])


@pytest.mark.parametrize("framed", [False, True])
def test_a_trials_own_tables(framed: bool) -> None:
    """Settings as it starts are no values of a step; results stand at the iteration said above."""
    text = ""
    for number, rate in enumerate(("0.0003", "0.001")):
        trial = f"Trial PPO_env_{number}"
        config = {"clip_param": "0.3", "env": "CartPole-v1", "lr": rate, "model/use_lstm": "False"}
        cut = {"policies/default_policy": "...None, None, None)", "model/custom_model": ""}
        text += f"\n{trial} started with configuration:\n"
        text += trial_table(f"{trial} config", config | cut, framed=framed)
        for done in (
            f"finished iteration {number + 3}",
            f"completed after {number + 4} iterations",
        ):
            results = {"env_runners/episode_return_mean": "415.5", "hist_stats": "...]"}
            text += f"\n{trial} {done} at 2026-01-02 15:09:05. Total running time: 31s\n"
            text += trial_table(f"{trial} result", results, framed=framed)
    for size in (1 << 20, 7):
        found = feed_trainings(ConsoleParser(), chunks(text.encode(), size))
        assert [list(each.values_by_step()) for each in found.values()] == [
            ["env_runners/episode_return_mean"]
        ] * 2
        assert [each.steps("env_runners/episode_return_mean") for each in found.values()] == [
            [3, 4], [4, 5]
        ]  # fmt: skip
        assert [each.config for each in found.values()] == [
            {"clip_param": 0.3, "env": "CartPole-v1", "lr": rate, "model/use_lstm": False}
            for rate in (0.0003, 0.001)
        ]


def test_the_tables_of_ray_train_name_no_trial() -> None:
    """There is one training."""
    text = "Training started with configuration:\n"
    text += trial_table("Training config", {"train_loop_config/lr": "0.001"}, framed=True)
    text += "\nTraining finished iteration 7 at 2026-01-02 15:09:05. Total running time: 31s\n"
    text += trial_table("Training result", {"reward_mean": "1.5", "loss": "0.25"}, framed=True)
    got = read(text)
    assert got.values_by_step() == {"reward_mean": [(7, 1.5)], "loss": [(7, 0.25)]}
    assert got.config == {"train_loop_config/lr": 0.001}


def test_results_say_more_than_tunes_table() -> None:
    """Where both are printed, nothing is counted twice."""
    table = status_table([("PPO_env_0", 1, 10.5)], framed=False)
    got = read(result(1, 10.5) + table + result(2, 20.5) + table.replace("| 1", "| 2"))
    assert got.values_by_step()["episode_reward_mean"] == [(1, 10.5), (2, 20.5)]


def test_a_result_pasted_in_part_is_read() -> None:
    """It ends before its iteration; of a console that holds whole ones, only those count."""
    part = result(1, 10.5).partition("  node_ip")[0]
    got = read(f"```\n{part}```\n")
    assert got.values_by_step()["episode_reward_mean"] == [(1, 10.5)]
    assert got.counts_updates
    assert read(result(7, 10.5) + part).steps("episode_reward_mean") == [7]


class UnquotedSetting:
    """A class or a function among the settings, as `repr` names it."""

    def __repr__(self) -> str:
        return "<class 'ray.rllib.algorithms.ppo.ppo.PPOConfig'>"


def train_result(iteration: int) -> dict[str, object]:
    """What `algo.train()` of the new API stack returns: most of it are settings."""
    settings: dict[str, object] = {f"option_of_rllib_{n}": None for n in range(330)}
    return {
        "config": settings | {"class": UnquotedSetting(), "lr": 0.0003, "env_config": {}},
        "done": False,
        "env_runners": {
            "agent_steps": {"default_agent": 2000},
            "episode_return_mean": 20.5 + iteration,
            "episode_duration_sec_mean": float("nan"),
        },
        "learners": {"default_policy": {"entropy": 0.65, "policy_loss": -0.0125}},
        "num_env_steps_sampled_lifetime": 2000.0 * iteration,
        "training_iteration": iteration,
        "trial_id": "default",
    }


def test_results_that_pprint_shows() -> None:
    """RLlib's first steps: `pprint(algo.train())`, hundreds of lines each; also with `print`."""
    results = [train_result(iteration) for iteration in (1, 2, 3)]
    lines = [pformat(each) for each in results]
    assert all(each.count("\n") > 330 for each in lines)
    for console in (lines, [f"{each}" for each in results]):
        read = parse_every_way(ConsoleParser, "".join(f"{each}\n" for each in console).encode())
        assert read.steps("env_runners/episode_return_mean") == [1, 2, 3]
        assert read.values("env_runners/episode_return_mean") == [21.5, 22.5, 23.5]
        assert read.values("learners/default_policy/entropy") == [0.65] * 3


def test_an_indented_dictionary_that_is_never_closed_costs_only_itself() -> None:
    """A killed process leaves one: what a later one prints is read."""
    torn = pformat(train_result(1)).rpartition("\n")[0]
    read = parse_every_way(ConsoleParser, f"{torn}\n{pformat(train_result(2))}\n".encode())
    assert read.values("env_runners/episode_return_mean") == [22.5]
