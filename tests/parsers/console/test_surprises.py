"""What consoles of real trainers do that a reader would not expect, each as they print it."""

from __future__ import annotations

import math

from ppo_top.catalogue import identify
from ppo_top.model import State
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

BAR = "\r  5%|▌         | 1/20 [00:00<00:10,  1.80it/s]"


def read(text: str) -> ParserOutput:
    """Read in every way."""
    return parse_every_way(ConsoleParser, text.encode())


def test_a_nested_bar_moves_the_cursor_up() -> None:
    """The inner bar draws on a line of its own and goes back; the step is the outer bar's."""
    inner = "\n\rSampling:  50%|█████     | 1/2 [00:00<00:00]\x1b[A\r      \r"
    logs = "{'loss': '0.5', 'grad_norm': '0.1'}\n\r 10%|█         | 2/20 [00:01<00:09]\r"
    found = read(BAR + inner + logs)
    assert found.values_by_step() == {"loss": [(2, 0.5)], "grad_norm": [(2, 0.1)]}
    assert found.config == {"max_steps": 20}


def test_tables_of_samples_are_no_metrics() -> None:
    """log_completions and TRL's PPO print rich tables between their logs, with scores in them."""
    table = "┏━━━┳━━━━━┓\n┃ q ┃ score ┃\n┡━━━╇━━━━━┩\n│ w0 │ 0.1676 │\n└────┴─────┘\n"
    assert read(table).points == {}


def test_a_rich_bar_is_no_metric() -> None:
    """SB3's progress_bar=True hides the cursor and erases lines."""
    bar = "10% ━━━━ 2,048/20,000  [ 0:00:01 < 0:00:09 , 2,100 it/s ]"
    assert read(f"\x1b[?25l\r\x1b[2K  {bar}\n\x1b[1A\x1b[2K").points == {}


def test_loss_0_beside_a_nan_is_kept_as_it_is() -> None:
    """transformers hides a NaN loss as 0: the gradient's NaN is next to it."""
    found = read("{'loss': '0', 'grad_norm': 'nan', 'epoch': '0.1'}\n")
    assert found.values("loss") == [0.0]
    assert math.isnan(found.values("grad_norm")[0])


def test_none_is_no_point() -> None:
    """GRPO prints None where only NaN was to be averaged."""
    found = read("{'loss': -0.109, 'grad_norm': 0.5, 'kl': None, 'epoch': 0.47}\r\n")
    assert "kl" not in found.points
    assert found.values("loss") == [-0.109]


def test_bars_of_loading_are_no_training() -> None:
    """transformers loads and writes weights under bars that look like the trainer's."""
    bars = "Loading weights: 100%|████| 27/27 [00:00<00:00, 17313.29it/s]\n"
    bars += "\rWriting model shards: 100%|████| 1/1 [00:00<00:00, 303.96it/s]\n"
    found = read(bars + "{'loss': '0.5', 'grad_norm': '1'}\n")
    assert found.steps("loss") == [1]
    assert found.config == {}


def test_sample_factory_prints_its_configuration_first() -> None:
    """Line by line, as it logs it; `ppo_clip_ratio` is an option, not a measured ratio."""
    clock = "[2024-03-01 10:00:00,000][01234] "
    options = ("reward_scale=1.0", "ppo_clip_ratio=0.1", "kl_loss_coeff=0.0", "gamma=0.99")
    lines = "".join(f"{clock}{line}\n" for line in options)
    reward = f"{clock}Avg episode reward: [(0, '21.950')]\n"
    found = read(lines + reward)
    assert set(found.points) == {"reward/reward"}
    assert found.config["ppo_clip_ratio"] == 0.1
    assert identify(found.points).id == "sample_factory"


def test_sample_factory_has_no_speed_at_first() -> None:
    """Its first line says nan, which is no failure; the last one is a record, too."""
    clock = "[2026-11-21 00:40:41,295][09137] "
    lines = (
        "Fps is (10 sec: nan, 60 sec: nan, 300 sec: nan). Total num frames: 0. Throughput: 0: nan.",
        "Fps is (10 sec: 1810.2, 60 sec: 1810.2, 300 sec: 1810.2). Total num frames: 5120. X: 0.",
        "Avg episode reward: [(0, '21.950')]",
        "Collected {0: 60416}, FPS: 1750.2",
    )
    found = read("".join(f"{clock}{line}\n" for line in lines)).values_by_step()
    assert found["perf/_fps"] == [(5120, 1810.2)]
    assert found["reward/reward"] == [(5120, 21.95)]


def test_rl_games_counts_frames_beside_epochs() -> None:
    """The frames are the step; the last words are its only end."""
    found = read(
        "fps step: 4321 fps step and policy inference: 3210 fps total: 2100 "
        "epoch: 59/60 frames: 60416\n"
        "saving next best rewards:  [21.5]\nMAX EPOCHS NUM!\n"
    )
    assert found.steps("saving next best rewards") == [60416]
    assert found.ended is not None
    assert found.ended.state is State.FINISHED


def test_old_rsl_rl_names_its_noise_otherwise() -> None:
    """2.x and 3.x print `Mean action noise std:` inside the block."""
    block = (
        "                      \x1b[1m Learning iteration 3/80 \x1b[0m                       \n\n"
        "                     Mean value loss: 0.1234\n"
        "              Mean action noise std: 0.98\n"
    )
    assert read(block).values_by_step()["Mean action noise std"] == [(3, 0.98)]


def test_verl_wraps_numbers_and_follows_its_bar() -> None:
    """`np.float64(nan)` is a nan; with both streams in one file the bar has no line of its own."""
    bar = "Training Progress:  95%|█████████▌| 38/40 [00:10<00:00,  3.1it/s]"
    prefix = "\x1b[36m(TaskRunner pid=123)\x1b[0m "
    found = read(
        f"{prefix}step:38 - actor/pg_loss:np.float64(nan) - critic/score/mean:0.08\n"
        f"{bar}step:39 - actor/pg_loss:np.float64(0.5) - actor/kl_loss:inf\n"
    )
    assert found.steps("actor/kl_loss") == [39]
    assert found.values("actor/kl_loss") == [math.inf]


def test_not_a_number_as_old_compilers_print_it() -> None:
    """C prints -nan, old MSVC 1.#QNAN and 1.#IND."""
    found = read("iter 1, loss: 1.#QNAN, reward: -1.#IND\niter 2, loss: -nan, reward: inf\n")
    assert all(math.isnan(value) for value in found.values("loss"))
    assert found.values("reward")[1] == math.inf
