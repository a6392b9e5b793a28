"""Several counters in one console: the axis is the outer one, and no restart is made up."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way


def read(*lines: str) -> ParserOutput:
    return parse_every_way(ConsoleParser, "".join(line + "\n" for line in lines).encode())


def laps(outer: str, inner: str, closing: str = "reward: {n}.5", *, rounds: int, most: int) -> str:
    """An outer counter's line, the inner one's below it, and what closes the lap."""
    blocks = []
    for n in range(1, rounds + 1):
        inside = [inner.format(n=n, k=k, most=most) for k in range(1, most + 1)]
        blocks.append("\n".join([outer.format(n=n), *inside, closing.format(n=n)]))
    return "\n".join(blocks)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("game {n}/100", "epoch {k}/{most} | loss: 0.{k}"),
        ("Iteration {n}/50", "  Epoch {k}/{most} | loss: 0.{k}"),
        (
            "Iteration {n}/50",
            "Epoch {k}/{most}\n  Batch {k}/4: loss: 0.1\n  Batch 2/4: loss: 0.{k}",
        ),
        ("=== Generation {n}/50 ===", "Episode {k}/{most} | loss: 0.{k}"),
        ("Starting iteration {n}...", "Epoch {k} loss: 0.{k}"),
        ("Epoch {n}/20", "Episode {k}: loss: 0.{k}, length: 21"),
    ],
)
def test_a_counter_within_another_is_no_axis(outer: str, inner: str) -> None:
    """What is logged inside has the number of the outer counter, from the first lap on."""
    found = read(laps(outer, inner, rounds=6, most=5))
    assert found.steps("reward") == list(range(1, 7))
    assert set(found.steps("loss")) == set(range(1, 7))
    assert found.steps("loss") == sorted(found.steps("loss"))
    assert not found.counts_updates


def test_the_total_is_that_of_the_outer_counter() -> None:
    """`Iteration 3/30` and `Round 2/7`: the run ends after seven rounds."""
    found = read(laps("Round {n}/7", "Iteration {k}/{most} | reward: {k}.5", "", rounds=6, most=30))
    assert found.steps("reward") == [n for n in range(1, 7) for _ in range(30)]
    assert found.config["total_iterations"] == 7


def test_a_step_that_is_said_at_the_end_of_each_epoch_counts_on() -> None:
    """Only the last line of a progress bar is kept, so the step within an epoch never falls."""
    found = read(*(f"Epoch: {n}/60 - Step: 100/100 - Avg. Reward: {n}.5" for n in range(1, 9)))
    assert found.steps("Avg. Reward") == [100 * n for n in range(1, 9)]
    assert found.values("Avg. Reward") == [n + 0.5 for n in range(1, 9)]


@pytest.mark.parametrize(
    ("form", "axis"),
    [
        ("Epoch {n}/3 | Step {k}/60 | reward: {k}.5", "max_steps"),
        ("Epoch [{n}/3], Batch [{k}/60], reward: {k}.5", "total_iterations"),
        ("Iteration {n}/3, Episode {k}/60, reward: {k}.5", "total_episodes"),
        ("Episode {k}/60 (iteration {n}/3) | reward: {k}.5", "total_episodes"),
    ],
)
def test_two_counters_of_one_line_count_on_to_the_end_of_both(form: str, axis: str) -> None:
    """A row for each line, no restart, and three times sixty rows in all."""
    lines = [form.format(n=n, k=k) for n in (1, 2) for k in range(1, 61)]
    found = read(*lines)
    assert found.steps("reward") == list(range(1, 121))
    assert found.config[axis] == 180
    assert read(*lines[:50]).config[axis] == 180  # further than a third: it ends in each lap


@pytest.mark.parametrize("name", ["batch_num", "batch_idx", "batch index"])
def test_the_number_of_a_batch_counts_within_an_epoch(name: str) -> None:
    """Every tenth of them has a block of values.

    After lvwerra's TRL, `examples/sentiment/scripts/gpt2-sentiment.py` (TRL 0.4) with prints.
    """
    found = read(
        *(
            f"epoch: {epoch}, {name}: {batch}\nobjective/kl: {batch}.5\nppo/loss/value: 0.5"
            for epoch in (0, 1)
            for batch in (0, 10, 20)
        )
    )
    assert found.steps("objective/kl") == [0, 10, 20, 21, 31, 41]
    assert found.steps("ppo/loss/value") == found.steps("objective/kl")


def test_a_step_of_all_epochs_ends_where_it_says() -> None:
    """`Epoch 1/3 | Step 60/180` is as far as the epochs are."""
    lines = (f"Epoch {1 + k // 61}/3 | Step {k}/180 | reward: {k}.5" for k in range(1, 101))
    assert read(*lines).config["max_steps"] == 180


@pytest.mark.parametrize("most", [4, 20])
def test_an_inner_counter_that_came_first_counts_on(most: int) -> None:
    """`Epoch 1/20` to `20/20` and then `Game 1`: the steps that were said stay as they are."""
    found = read(laps("", "Epoch {k} loss: 0.5", "Game {n}: reward: 1.5", rounds=5, most=most))
    assert found.steps("loss") == list(range(1, 5 * most + 1))
    assert found.steps("reward") == [most * n for n in range(1, 6)]


def test_an_inner_counter_too_long_to_wait_for_counts_on() -> None:
    """Two hundred epochs in each game are shown before the second game begins."""
    found = read(laps("Game {n}/3 score: 1.5", "Epoch {k} loss: 0.5", "", rounds=3, most=200))
    assert found.steps("loss") == list(range(1, 601))


def test_episodes_too_many_to_wait_for_count_on_as_well() -> None:
    """Their steps have been given away before the second epoch shows what they are."""
    found = read(laps("Epoch {n}", "Episode {k}: loss: 0.5", "", rounds=3, most=50))
    assert found.steps("loss") == list(range(1, 151))


def test_steps_and_updates_within_epochs_count_on() -> None:
    """They are finer than epochs: all of them so far are the axis."""
    for word in ("Step", "Update"):
        found = read(laps("Epoch {n}/3", word + " {k}/{most} | loss: 0.5", rounds=3, most=100))
        assert found.steps("loss") == list(range(1, 301))
        assert found.steps("reward") == [100, 200, 300]


def test_steps_that_begin_with_nought_count_on() -> None:
    """The first step of the second epoch comes after the last of the first."""
    lines = [
        line
        for epoch in (1, 2)
        for line in (f"Epoch {epoch}", *(f"Step {n} loss: 0.5" for n in (0, 10, 20)))
    ]
    assert read(*lines).steps("loss") == [0, 10, 20, 21, 31, 41]


def test_two_counters_that_both_count_on_stay_as_they_are() -> None:
    """Episodes of all iterations: nothing is nested, and iterations are finer."""
    found = read(*(f"Iteration {n}\nEpisode {5 * n} reward: 1.5" for n in range(1, 9)))
    assert found.steps("reward") == list(range(1, 9))


def test_a_run_that_begins_anew_is_a_restart_all_the_same() -> None:
    """The outer counter itself falls: a crash in iteration 3, and from the first one again."""
    run = laps("Iteration {n}/50", "Epoch {k}/4 | loss: 0.5", rounds=3, most=4)
    assert read(run, run).steps("reward") == [1, 2, 3, 1, 2, 3]


def test_another_name_for_the_same_count_is_no_outer_counter() -> None:
    """`global_iter=10` beside the tenth iteration: the next first iteration is a restart."""
    run = [f"Iter {n} reward: 1.5" for n in range(1, 11)]
    found = read(*run, "[Rolling 10] avg_reward=1.5 (global_iter=10)", *run)
    assert found.steps("reward") == [*range(1, 11), *range(1, 11)]


def test_titles_alone_are_no_training() -> None:
    """`Game 3/10` counts only where something is measured below it."""
    titles = [f"Game {n}/10" for n in range(1, 11)]
    assert read(*titles).points == {}
    measured = read(*(f"{title}\nreward: 1.5" for title in titles))
    assert measured.steps("reward") == list(range(1, 11))


def test_an_epoch_in_brackets_is_the_outer_counter() -> None:
    """What a loop over batches gives to tqdm's set_description: the last state of each epoch."""
    line = "[E{epoch}] step 200/200 | Loss=0.9{epoch} DPO=0.4{epoch}: : 200it [02:08,  1.6it/s]"
    found = read(*(line.format(epoch=epoch) for epoch in range(1, 6)))
    assert found.steps("Loss") == [200, 400, 600, 800, 1000]
    assert found.values("Epoch") == [1.0, 2.0, 3.0, 4.0, 5.0]
