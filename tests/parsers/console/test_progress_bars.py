"""Values after progress bars (OpenRLHF), and steps given as words (ms-swift)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers import detect_format
from ppo_top.parsers.console.parser import ConsoleParser
from ppo_top.parsers.json_lines import JsonLinesParser
from tests.support.parser_harness import assert_same, cut_at, feed_parser, parse_every_way
from tests.support.recordings import (
    DATA_FOLDER,
    assert_truncation_is_harmless,
    comparable_columns,
    recorded_points,
)

ACTOR = (DATA_FOLDER / "openrlhf_0.11.2/actor/console.log").read_bytes()
SINGLE = (DATA_FOLDER / "openrlhf_0.11.2/single/console.log").read_bytes()
SWIFT = DATA_FOLDER / "swift_3.8/grpo"
BARS = {"actor": ACTOR, "single": SINGLE}
LOGGED = [1, 5, 10, 15, 20, 25, 30, 35, 40]


@pytest.mark.parametrize("name", BARS)
def test_values_beside_bars_equal_what_was_drawn(name: str) -> None:
    """Each step's values once, however often the bar is drawn."""
    read = parse_every_way(ConsoleParser, BARS[name])
    assert read.points == comparable_columns(recorded_points(f"openrlhf_0.11.2/{name}"))


@pytest.mark.parametrize("name", BARS)
@given(places=st.lists(st.integers(0, len(ACTOR)), max_size=12))
@settings(deadline=None, max_examples=30)
def test_any_cut_gives_the_same(name: str, places: list[int]) -> None:
    """Where the bytes are cut does not matter."""
    data = BARS[name]
    assert_same(
        feed_parser(ConsoleParser(), cut_at(data, places)), feed_parser(ConsoleParser(), [data])
    )


def test_cut_at_every_byte() -> None:
    """Nothing of a bar that is still being drawn is given."""
    assert_truncation_is_harmless(ConsoleParser, SINGLE)


def test_bars_of_other_things_give_nothing() -> None:
    """Loading weights or evaluating is no training, and words are no numbers."""
    data = (
        b"Loading weights:  50%|###  | 1/2 [00:00<00:00, 9.1it/s, loss=3]\r"
        b"Epoch:  50%|###  | 1/2 [00:00<00:00, 9.1it/s, file=model.bin]\r"
        b"Epoch: 100%|#####| 2/2 [00:00<00:00, 9.1it/s, est. speed=3 toks/s]\n"
    )
    assert parse_every_way(ConsoleParser, data).points == {}


def test_a_bar_of_a_data_set_is_not_the_training() -> None:
    """As `datasets` draws them while TRL's DPO prepares; the trainer's own may be switched off."""
    bars = "".join(
        f"{what}: 100%|##########| 100/100 [00:00<00:00, 1730.05 examples/s]\n"
        for what in ("Extracting prompt in train dataset", "Generating train split")
    )
    records = [f"{{'loss': 0.5663, 'grad_norm': 0.38, 'epoch': {n * 0.16}}}\n" for n in (1, 2, 3)]
    read = parse_every_way(ConsoleParser, (bars + "".join(records)).encode())
    assert (read.steps("loss"), read.config) == ([1, 2, 3], {})


def test_a_bar_of_an_epoch_tells_the_step_and_not_the_length_of_the_training() -> None:
    """Tianshou 2 draws one for each epoch; its test lines stand at the last step of training."""
    bar = "Epoch #{}: {}%|###| {}/2000 [00:01<00:01, 507.0it/s, env_step={}, n_ep=4, rew={}]\r"
    test = "\nEpoch #{}: test_reward: {} ± 0.500000, best_reward: {} ± 0.500000 in #{}\n"
    lines = [
        line
        for epoch in (1, 2, 3)
        for line in (
            bar.format(epoch, 50, 1000, epoch * 2000 - 1000, f"{epoch}1.25"),
            bar.format(epoch, 100, 2000, epoch * 2000, f"{epoch}2.50"),
            test.format(epoch, f"{epoch}5.0", f"{epoch}5.0", epoch),
        )
    ]
    read = parse_every_way(ConsoleParser, "".join(lines).encode())
    assert read.steps("rew") == [1000, 2000, 3000, 4000, 5000, 6000]
    assert read.steps("test/reward") == [2000, 4000, 6000]
    assert "max_steps" not in read.config


@pytest.mark.parametrize("end", ["", "Epoch {}, global step {}: 'avg_ep_reward' was not in top 1"])
def test_a_bar_that_counts_nothing_is_drawn_for_each_epoch(end: str) -> None:
    """Lightning's, of a loader without a length, which first shows what was before.

    pytorch_lightning `callbacks/progress/tqdm_progress.py` (on_train_epoch_start, get_metrics),
    `callbacks/model_checkpoint.py` (_save_topk_checkpoint).
    """
    bar = "\rEpoch {}: : 0it [{:02}:10, ?it/s, loss=1.5, v_num=0, avg_ep_reward={}]"
    rewards = ["-.0399", "0.159", "-.573", "0.555"]
    lines = [
        bar.format(epoch, epoch, shown) + end.format(epoch, 8 * epoch + 8) * at_end
        for epoch, reward in enumerate(rewards)
        for at_end, shown in ((0, rewards[max(epoch - 1, 0)]), (1, reward))
    ]
    read = parse_every_way(ConsoleParser, "\n".join([*lines, ""]).encode())
    assert read.values_by_step()["avg_ep_reward"] == [
        (epoch, float(reward)) for epoch, reward in enumerate(rewards)
    ]
    assert read.steps("loss") == [0, 1, 2, 3]


ROLLOUT_BAR = (
    "Generating rollouts (train):   0%|          | 0/512 [00:00<?, ?it/s]\r"
    "Generating rollouts (train): 100%|#####| 512/512 [01:13<00:00,  6.97it/s]\n"
)


def test_the_bar_of_each_rollout_does_not_say_how_long_the_training_is() -> None:
    """prime-rl's orchestrator draws one, and prints the step when it is full."""
    line = "02:33:{:02} SUCCESS Step {} | Time: 73.77s | Reward: 0.38 | Seq. Length: 345.6\n"
    log = "".join(ROLLOUT_BAR + line.format(step, step) for step in range(28, 32))
    read = parse_every_way(ConsoleParser, log.encode())
    assert (read.steps("Reward"), read.config) == ([28, 29, 30, 31], {})


def test_the_bar_of_each_epoch_does_not_either_if_it_was_not_drawn_full() -> None:
    """MushroomRL (mushroom_rl/core/core.py) has one of the steps of each epoch, and tqdm draws it
    every tenth of a second; mushroom_rl/core/logger/console_logger.py prints the epoch.
    """
    bar = (
        "  0%|          | 0/500 [00:00<?, ?it/s]\r 99%|#####| {}/500 [00:08<00:00, 38.17it/s]\r{}\r"
    )
    line = "29/11/2026 15:23:{:02} [INFO] Epoch {} | J: 12.8 R: 20.5\n"
    log = "".join(
        bar.format(495 + step, " " * 60) + line.format(step, step) for step in range(1, 5)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert (read.steps("J"), read.config) == ([1, 2, 3, 4], {})


def test_the_full_bar_above_what_was_buffered_says_how_long_the_training_was() -> None:
    """tqdm's stderr is there at once, what the loop prints to a file once the buffer is full."""
    bar = "RL eps: {}%|###| {}/2000 [00:36<00:00, 55.2it/s]\n"
    line = "Ep  {}  score=  {}.50  eps=0.6334\n"
    log = "".join(bar.format(5 * at, 100 * at) for at in range(21))
    log += "".join(line.format(step, step // 200) for step in range(200, 2001, 200))
    read = parse_every_way(ConsoleParser, log.encode())
    assert (read.steps("score")[-1], read.config) == (2000, {"max_steps": 2000})


def test_a_record_that_says_how_long_the_training_is_knows_better_than_a_bar() -> None:
    """The bar is that of the samples of a batch."""
    log = "".join(
        f"  0%|          | 0/64 [00:00<?, ?it/s]\n[{step}/1000]  loss: -6.9, entropy: 87.1\n"
        for step in range(5)
    )
    assert parse_every_way(ConsoleParser, log.encode()).config == {"total_iterations": 1000}


def bars(*names_and_values: str) -> bytes:
    """Bars at 10, 20, ... of 1,000 steps, each drawn over the one before; `name|value`."""
    drawn = []
    for number, text in enumerate(names_and_values, 1):
        name, _, value = text.partition("|")
        rate = f"{number}%|#| {10 * number}/1000 [00:01<00:10, 20.7it/s"
        drawn.append(f"{name}{rate}{value}]")
    return "\r".join(drawn).encode() + b"\n"


@pytest.mark.parametrize("name", ["", "Training: ", "PPO: ", "RL SinPE Training:  "])
def test_rewards_beside_a_bar_have_its_step(name: str) -> None:
    """Unnamed, or named after a training or an algorithm."""
    read = parse_every_way(ConsoleParser, bars(f"{name}|, reward=1.5", f"{name}|, reward=2.5"))
    assert (read.steps("reward"), read.values("reward")) == ([10, 20], [1.5, 2.5])


def drawn(*states: str) -> bytes:
    """What tqdm draws, state by state, on one line."""
    return "".join(f"\r{state}" for state in states).encode() + b"\n"


RATE = "[00:10, 6515.70it/s"


def test_a_bar_without_a_total_says_the_step() -> None:
    """`tqdm()` of an endless loop: each value once, though `update` and `set_postfix` both draw."""
    data = drawn(
        f"128it {RATE}]", f"128it {RATE}, reward=1.5]", f"256it {RATE}, reward=1.5]",
        f"256it {RATE}, reward=2.5]", f"Training: 384 steps {RATE}, reward=3.5, loss=0.1]",
    )  # fmt: skip
    read = parse_every_way(ConsoleParser, data)
    assert (read.steps("reward"), read.values("reward")) == ([128, 256, 384], [1.5, 2.5, 3.5])
    assert read.config == {}


def test_what_is_printed_behind_a_bar_without_total_and_values_is_read() -> None:
    """tqdm draws on stderr, and ends no line; the bar may count anything."""
    rows = [f"\r{n}it [02:5{n}, 178.53s/it]objective/kl: {n}.5\nloss: 0.{n}\n" for n in (1, 2, 3)]
    read = parse_every_way(ConsoleParser, "".join(rows).encode())
    assert read.values("objective/kl") == [1.5, 2.5, 3.5]
    assert read.values("loss") == [0.1, 0.2, 0.3]


def test_a_bar_that_goes_beyond_its_total_goes_on() -> None:
    """tqdm forgets a total that was passed: the last rollout ends after it."""
    before = "100%|#########9| 59904/60000 [00:10<00:00, 6515.70it/s, reward=0.5]"
    data = drawn(before, f"60032it {RATE}, reward=0.5]", f"60032it {RATE}, reward=0.625]")
    read = parse_every_way(ConsoleParser, data)
    assert (read.steps("reward"), read.values("reward")) == ([59904, 60032], [0.5, 0.625])
    assert read.config == {"max_steps": 60000}


def test_other_bars_without_a_total_count_something_else() -> None:
    """One that loads data, and one inside the training's that has not passed its total."""
    bar = "  1%|#         | 600/60000 [00:10<00:00, 6515.70it/s, reward=0.5]"
    data = drawn(f"Loading: 12it {RATE}, loss=3]", f"13it {RATE}]", bar, f"7it {RATE}, reward=9]")
    read = parse_every_way(ConsoleParser, data)
    assert (read.steps("reward"), read.values("reward")) == ([600], [0.5])


def test_a_training_may_call_its_values_as_it_likes() -> None:
    """`R=0.93`: drawn without a meaning, which a line of `[tags]` may give."""
    read = parse_every_way(ConsoleParser, bars("RL Training: |, R=0.9, U=19.1%", "RL Training: |"))
    assert read.values("R") == [0.9]
    assert parse_every_way(ConsoleParser, bars("|, R=0.9")).points == {}


def test_values_in_the_name_of_a_bar() -> None:
    """What `set_description` puts there; an evaluation's bar is not the training's."""
    data = bars(
        "Reward: 21.5: ", "Reward: 22.5, Loss: 0.25: ", "Avg reward -5.00: ", "eval reward: 9: "
    )
    read = parse_every_way(ConsoleParser, data)
    assert (read.steps("Reward"), read.values("Reward")) == ([10, 20], [21.5, 22.5])
    assert (read.steps("Loss"), read.values("Avg reward")) == ([20], [-5.0])
    assert "eval reward" not in read.points


def test_values_in_the_name_of_a_bar_between_rules() -> None:
    """What `set_description` joins by ` | `; a size with a slash, or a duration, is no value."""
    drawn = "".join(
        f"\rLoss: {n}.5 | Acc: 0.25 | ETA: 25.2h | GPU: 6.4/8.8GB:  4{n}%|#| {40 - 10 * n}/70 "
        "[00:01<00:10, 7.02s/it]"
        for n in (3, 2, 1)
    )
    read = parse_every_way(ConsoleParser, drawn.encode() + b"\n")
    assert read.values_by_step() == {
        "Loss": [(10, 3.5), (20, 2.5), (30, 1.5)],
        "Acc": [(10, 0.25), (20, 0.25), (30, 0.25)],
    }


@pytest.mark.parametrize("end", ["\r", ""])
def test_bars_drawn_one_behind_the_other(end: str) -> None:
    """A line that follows has the step of the last one, with carriage returns between or none."""
    bars = [
        f"Episodes: {done // 10:3}%|#   | {done}/1000 [{done}:00<207:04, 75.9s/it]{end}"
        for done in range(41)
    ]
    lines = [
        "".join(bars[begin : begin + 11])
        + f"Episode {begin + 10}\tAverage Reward: {begin}.5\nsaved\n"
        for begin in (0, 10, 20, 30)
    ]
    output = parse_every_way(ConsoleParser, "".join(lines).encode())
    assert output.values_by_step() == {
        "Episode": [(10, 10.0), (20, 20.0), (30, 30.0), (40, 40.0)],
        "Average Reward": [(10, 0.5), (20, 10.5), (30, 20.5), (40, 30.5)],
    }


def test_values_beside_bars_drawn_one_behind_the_other() -> None:
    """Each is read, at the step of its own bar."""
    text = "".join(
        f"Training:  {done}%|#  | {done}/100 [00:0{done}<01:40, 1.0it/s, reward={done}.5]"
        for done in range(1, 9)
    )
    output = parse_every_way(ConsoleParser, f"{text}\n".encode())
    assert output.values_by_step() == {"reward": [(done, done + 0.5) for done in range(1, 9)]}


def test_what_a_bar_is_of_is_no_value() -> None:
    """`Critic epoch 3` is the bar of an epoch; `Reward: 21.5` is a value."""
    bars = [f"Critic epoch {n}:  10%|#         | 1/10 [00:01<00:09, 1.0it/s]\r" for n in (3, 4)]
    assert not parse_every_way(ConsoleParser, "".join(bars).encode()).points


def test_lines_that_say_their_step_say_more_than_bars() -> None:
    """OpenRLHF prints all values with their step too: the short ones are not read as well."""
    line = b"Global step 1: {'policy_loss': 0.5, 'kl': 0.01}\n"
    bar = b"Train epoch [1/1]: 100%|##| 2/2 [00:01<00:00, 2.1it/s, act_loss=0.5, kl=0.01]\n"
    assert set(parse_every_way(ConsoleParser, line + bar).points) == {"policy_loss", "kl"}


def test_swift_says_step_and_total_in_one_word() -> None:
    """`12/200` is the step of the dictionary and the number of steps to come."""
    read = parse_every_way(ConsoleParser, (SWIFT / "console.log").read_bytes())
    assert read.steps("reward") == LOGGED
    assert read.config["max_steps"] == 40
    assert "global_step/max_steps" not in read.points


def test_swift_lines_have_the_same_steps() -> None:
    """logging.jsonl holds what the console shows."""
    data = (SWIFT / "logging.jsonl").read_bytes()
    assert detect_format("logging.jsonl", data[:4096]) is not False
    read = parse_every_way(JsonLinesParser, data)
    console = feed_parser(ConsoleParser(), [(SWIFT / "console.log").read_bytes()])
    assert read.values_by_step()["reward"] == console.values_by_step()["reward"]
    assert read.config["max_steps"] == 40


@pytest.mark.parametrize(
    ("logged", "steps"), [("objective/scores", [1, 2, 3]), ("policy/approxkl_avg", [2, 3, 4])]
)
def test_only_trls_ppo_logs_before_it_moves_its_bar(logged: str, steps: list[int]) -> None:
    """Online DPO has a KL to its reference, too, and the loop of transformers' Trainer."""
    text = "  0%|          | 0/60 [00:00<?, ?it/s]"
    for done in (1, 2, 3):
        bar = f"\r  {done}%|#         | {done}/60 [00:0{done}<00:56,  1.04it/s]"
        record = {"loss": f"0.{done}", "objective/kl": "3.636", logged: f"0.5{done}"}
        text += f"{bar}\r{' ' * 46}\r{record}\n{bar}"
    found = parse_every_way(ConsoleParser, text.encode())
    assert found.steps(logged) == steps
