"""Lines of names and numbers that training loops print in their own ways."""

from __future__ import annotations

import math
import re

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

RUBBISH = b"Downloading data from https://example.org/a?b=1 (12.5 MB)\n\n"


def read(line: str) -> ParserOutput:
    """Read lines alone and between rubbish; both must give the same points."""
    data = line.encode() + b"\n"
    alone = parse_every_way(ConsoleParser, data)
    among = parse_every_way(ConsoleParser, RUBBISH + data + RUBBISH)
    assert among.points == alone.points
    return alone


def test_iteration_lines_with_bars_between() -> None:
    """The form that a PPO loop of one's own is likely to print."""
    got = read("Iteration 1/20 | Episodes: 98 | Mean Reward: 20.8 | KL: 0.0047 | clip%: 6.2%")
    assert got.values_by_step() == {
        "Iteration": [(1, 1.0)],
        "Episodes": [(1, 98.0)],
        "Mean Reward": [(1, 20.8)],
        "KL": [(1, 0.0047)],
        "clip%": [(1, 6.2)],
    }
    assert got.config == {"total_iterations": 20}


def test_padded_numbers() -> None:
    """Columns that are aligned with blanks read the same."""
    got = read(
        "  Iteration  1/40 | Episodes:  98 | Mean reward:   20.8 | KL: -0.0047 | clip%: 6.2%"
    )
    assert got.values_by_step()["Mean reward"] == [(1, 20.8)]
    assert got.values_by_step()["KL"] == [(1, -0.0047)]


@pytest.mark.parametrize(
    "line",
    [
        'time=2025-01-01T10:00:07Z level=INFO msg="one update" step=12 reward=0.5 kl=0.01',
        'time="2025-01-01 10:00:07" level=info step=12 reward=0.5 kl=0.01 msg="all = well"',
        "ts=2025-01-01T10:00:07.123+02:00 step=12 reward=0.5 kl=0.01",
    ],
)
def test_logfmt_with_times_and_texts(line: str) -> None:
    """What is no number stands in quotes, or is a time; the pairs around it are read."""
    assert read(line).values_by_step() == {
        "step": [(12, 12.0)],
        "reward": [(12, 0.5)],
        "kl": [(12, 0.01)],
    }


@pytest.mark.parametrize("reward", ["0.0", "nan"])
def test_a_mean_over_no_episode_is_no_reward(reward: str) -> None:
    """`Episodes: 0` says that the reward next to it is a placeholder."""
    got = read(f"Iteration 3/20 | Episodes: 0 | Mean Reward: {reward} | KL: 0.0047")
    assert "Mean Reward" not in got.points
    assert got.values("Episodes") == [0.0]
    assert got.values("KL") == [0.0047]


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        ("step: 100, loss: 0.5, reward: 3", 100, {"loss": 0.5, "reward": 3.0}),
        ("step=100 loss=0.5 reward=3", 100, {"loss": 0.5, "reward": 3.0}),
        ("iter 100 loss 0.5 reward 3", 100, {"loss": 0.5, "reward": 3.0}),
        ("update: 7\tvalue loss: 1e-3\tentropy: .69", 7, {"value loss": 1e-3, "entropy": 0.69}),
        ("Epoch 3 | Step 1,200 | loss 0.5", 1200, {"loss": 0.5}),
        ("Epoch [3/10], Loss: 0.5000", 3, {"Loss": 0.5}),
        ("[Epoch 3/10] Loss: 0.5", 3, {"Loss": 0.5}),
        ("[3/10] loss=0.5 kl=0.01", 3, {"loss": 0.5, "kl": 0.01}),
        ("[ 3/10] step=2048 loss=0.5", 2048, {"loss": 0.5}),
        ("Step 500: loss=0.5, reward=-1.5e+02", 500, {"loss": 0.5, "reward": -150.0}),
        ("timesteps: 1,234,567 | mean_reward: 1,024.5", 1234567, {"mean_reward": 1024.5}),
        ("=== Update 12 === reward: 5.0; kl: 0.01", 12, {"reward": 5.0, "kl": 0.01}),
        ("Episode 7 of 100 - reward: 12.5", 7, {"reward": 12.5}),
        ("Episodes 11-20: mean reward 12.5", 20, {"mean reward": 12.5}),
        ("[Episodes 11 - 20] reward: 12.5, loss: 0.5", 20, {"reward": 12.5, "loss": 0.5}),
        ("upd   12 | R 9.5 | pi -0.9 | v 0.5 | H 1.3", 12, {"R": 9.5, "H": 1.3}),
        ("Ep 10 | score 200.0 | eps_len 12", 10, {"score": 200.0}),
        ("global_step=1476, episodic_return=[25.]", 1476, {"episodic_return": 25.0}),
        ("global_step=1476, episode_reward=21.0", 1476, {"episode_reward": 21.0}),
        ("Env: CartPole-v1 step: 5k score: -8", 5000, {"score": -8.0}),
        ("info policy update step=12 reward=9.5 kl=0.01", 12, {"reward": 9.5, "kl": 0.01}),
        ("Global Episode: 12 | Worker 0 | Total Reward: 9.5", 12, {"Total Reward": 9.5}),
        ("epoch is: 12, eval success rate is: 0.5", 12, {"eval success rate": 0.5}),
        ("# of episode :20, avg score : 9.5", 20, {"avg score": 9.5}),
        ("T = 5000 / 50000 | Avg. reward: 9.5 | Avg. Q: 0.5", 5000, {"Avg. reward": 9.5}),
        ("step: 5 | loss: tensor(0.5, device='cuda:0')", 5, {"loss": 0.5}),
        ("step 5 | kl 0.1 | fps: 1174 steps/s", 5, {"kl": 0.1, "fps": 1174.0}),
        ("  [   1000 eps] reward=0.6+/-0.8  steps=12.3", 1000, {"reward": 0.6, "reward +/-": 0.8}),
        ("step 9 | reward: 10.5 +/- 2.5", 9, {"reward": 10.5, "reward +/-": 2.5}),
    ],
)
def test_pairs_in_many_forms(line: str, step: int, values: dict[str, float]) -> None:
    """Colons, equals signs or blanks; bars, commas, tabs or blanks between the pairs."""
    table = read(line).values_by_step()
    for tag, value in values.items():
        assert table[tag] == [(step, value)]


@pytest.mark.parametrize("spelling", ["nan", "NaN", "-nan", "NAN", "1.#QNAN", "1.#IND"])
def test_every_spelling_of_not_a_number(spelling: str) -> None:
    """Python's, C's and old Microsoft runtimes' words."""
    assert math.isnan(read(f"step: 3 | loss: {spelling} | kl: 0.1").values("loss")[0])


@pytest.mark.parametrize(("spelling", "value"), [("inf", math.inf), ("-inf", -math.inf)])
def test_infinities(spelling: str, value: float) -> None:
    """Infinity keeps its sign."""
    assert read(f"step: 3 | loss: {spelling}").values("loss") == [value]


def test_fields_that_are_no_numbers_are_passed_over() -> None:
    """Remaining time and words next to the pairs do not spoil a line."""
    got = read("Update 3/9 | reward: 1.5 | ETA: 0:12:30 | saved | lr: 3e-4")
    assert got.values_by_step()["reward"] == [(3, 1.5)]
    assert got.values_by_step()["lr"] == [(3, 3e-4)]
    assert not any("ETA" in tag for tag in got.points)


def test_a_heading_gives_the_step_of_what_follows() -> None:
    """Blocks: a line with the step, then one line a value."""
    got = read("--- Iteration 4/10 ---\nmean reward: 12.5\nloss: 0.25")
    assert got.values_by_step()["mean reward"] == [(4, 12.5)]
    assert got.values_by_step()["loss"] == [(4, 0.25)]
    assert got.config == {"total_iterations": 10}


@pytest.mark.parametrize("between", [", ", " | ", "; "])
def test_a_heading_may_hold_two_counts(between: str) -> None:
    """The finer one is the step of what follows."""
    got = read(f"Epoch: 2{between}global_step=25600\nSPS: 1088, pg_loss=-0.5\n")
    assert got.values_by_step() == {
        "Epoch": [(25600, 2.0)],
        "global_step": [(25600, 25600.0)],
        "SPS": [(25600, 1088.0)],
        "pg_loss": [(25600, -0.5)],
    }


def test_coarser_headings_do_not_take_the_step_away() -> None:
    """Where steps are known, an epoch's number is no step."""
    got = read("step 100 | loss 0.5\nEpoch 2\nmean reward: 3.0\nstep 200 | loss 0.4")
    assert got.steps("mean reward") == [100]


def test_lines_without_any_step_are_counted() -> None:
    """The records' own number is the last resort."""
    assert read("reward: 1.0\nreward: 2.0\nreward: 3.0").steps("reward") == [1, 2, 3]


def test_lines_of_different_names_are_counted_as_one_record() -> None:
    """A loop that prints a value a line, and says no step: each block of them is an update."""
    block = "Reward:    {}.5\nValue:     2.7\nAdvantage: -1.4\nlearned something"
    got = read("\n".join(block.format(n) for n in range(5)))
    assert got.steps("Reward") == got.steps("Value") == got.steps("Advantage") == [1, 2, 3, 4, 5]


def test_a_line_that_comes_now_and_then_belongs_to_the_record_before_it() -> None:
    """What is not said each time is no update of its own."""
    got = read("loss: 0.5\nloss: 0.4\nmean reward: 21.5\nloss: 0.3\nmean reward: 22.5")
    assert got.steps("loss") == [1, 2, 3]
    assert got.steps("mean reward") == [2, 3]


def test_steps_per_second_stand_at_the_last_step() -> None:
    """CleanRL prints its speed on a line of its own."""
    got = read("global_step=256, episodic_return=[25.]\nSPS: 1174")
    assert got.values_by_step()["SPS"] == [(256, 1174.0)]


def test_verl_lines() -> None:
    """verl joins its pairs by ` - ` and prints numpy's scalars by their repr."""
    got = read(
        "(TaskRunner pid=123) step:1 - actor/entropy:np.float64(4.16) - actor/ppo_kl:-8e-06 - "
        "critic/score/mean:0.08 - actor/pg_loss:np.float64(nan) - val-core/gsm8k/reward/mean@1:0.5"
    )
    assert got.values_by_step()["actor/entropy"] == [(1, 4.16)]
    assert got.values_by_step()["actor/ppo_kl"] == [(1, -8e-6)]
    assert got.values_by_step()["val-core/gsm8k/reward/mean@1"] == [(1, 0.5)]
    assert math.isnan(got.values("actor/pg_loss")[0])


def test_verl_after_its_progress_bar() -> None:
    """With stderr on the same stream the record follows the bar without a line end."""
    line = (
        "Training Progress:  95%|#########5| 38/40 [10:00<00:30, 15.0s/it]step:38 - actor/lr:1e-06"
    )
    got = parse_every_way(ConsoleParser, b"\r" + line.encode() + b" - critic/score/mean:0.5\n")
    assert got.values_by_step()["critic/score/mean"] == [(38, 0.5)]
    assert got.config["max_steps"] == 40


def test_rsl_rl_blocks() -> None:
    """Right-aligned pairs below a heading: all of them count, the heading says the step."""
    got = read(
        "#"
        * 80
        + "\n                  \x1b[1m Learning iteration 3/80 \x1b[0m                  \n\n"
        "                       Computation: 14963 steps/s (collection: 6.4s, learning 0.2s)\n"
        "             Mean action noise std: 1.00\n"
        "                   Mean value loss: 0.0123\n"
        "                       Mean reward: 5.25\n"
        "    Mean episode Episode_Reward/up: -0.5\n"
        + "-"
        * 80
        + "\n                   Total timesteps: 983040\n"
        "                    Iteration time: 0.60s\n"
        "                               ETA: 0:01:20\n"
    )
    assert got.values_by_step()["Mean reward"] == [(3, 5.25)]
    assert got.values_by_step()["Mean action noise std"] == [(3, 1.0)]
    assert got.values_by_step()["Mean episode Episode_Reward/up"] == [(3, -0.5)]
    assert got.values_by_step()["Computation"] == [(3, 14963.0)]
    assert got.values_by_step()["Total timesteps"] == [(3, 983040.0)]
    assert got.config == {"total_iterations": 80}


def test_rl_games_lines() -> None:
    """Words of several parts before each colon, the frames as the step."""
    got = read(
        "fps step: 1234 fps step and policy inference: 1200 fps total: 1100 "
        "epoch: 60/60 frames: 61440"
    )
    assert got.values_by_step()["fps total"] == [(61440, 1100.0)]
    assert got.config == {"total_epochs": 60}


def test_sample_factory_lines() -> None:
    """The first line's speed is nan because there is no value yet: that is no failure."""
    stamp = "[2026-11-21 00:40:41,295][09137] "
    first = (
        stamp + "Fps is (10 sec: nan, 60 sec: nan, 300 sec: nan). Total num frames: 0. Throughput"
    )
    then = stamp + "Fps is (10 sec: 1810.2, 60 sec: 9.0, 300 sec: 1.0). Total num frames: 5120. Thr"
    reward = stamp + "Avg episode reward: [(0, '21.950')]"
    got = read("\n".join([first, then, reward]))
    assert got.values_by_step() == {
        "perf/_fps": [(5120, 1810.2)],
        "reward/reward": [(5120, 21.95)],
    }


def test_sb3_evaluation_lines() -> None:
    """EvalCallback prints mean and spread with its own number of timesteps."""
    got = read(
        "Eval num_timesteps=8000, episode_reward=306.40 +/- 185.95\n"
        "Episode length: 306.40 +/- 185.95\nNew best mean reward!"
    )
    assert got.values_by_step()["eval/episode_reward"] == [(8000, 306.4)]
    assert got.values_by_step()["eval/episode_reward_std"] == [(8000, 185.95)]
    assert got.values_by_step()["eval/episode_length"] == [(8000, 306.4)]


def test_a_farewell_with_its_evaluation() -> None:
    """The last line of a loop of one's own tells the evaluation's mean and spread."""
    got = read("Iteration 20/20 | KL: 0.1\nTraining complete! 20-episode evaluation: 500.0 +/- 0.0")
    assert got.values_by_step()["eval/mean_reward"] == [(20, 500.0)]
    assert got.values_by_step()["eval/std_reward"] == [(20, 0.0)]


def test_clocks_give_times() -> None:
    """A full date before the record is its time; a zone is honoured."""
    got = read("2026-11-21T00:40:41.250Z INFO step=3 loss=0.5")
    assert got.times("loss") == [1795221641.25]
    logged = read("2026-11-21 00:40:41,295 - INFO - trainer - step=3 loss=0.5")
    assert len(logged.times("loss")) == 1
    assert not math.isnan(logged.times("loss")[0])


def test_a_users_own_pattern() -> None:
    """Named groups become tags; `step` and `total` mean what they say."""
    pattern = re.compile(r"^#(?P<step>\d+) of (?P<total>\d+) R(?P<reward>\S+) bad(?P<words>\S+)")
    got = parse_every_way(lambda: ConsoleParser([pattern]), b"hello\n#7 of 9 R12.5 badword x\n")
    assert got.values_by_step() == {"reward": [(7, 12.5)]}
    assert got.config == {"total_iterations": 9.0}


def test_settings_printed_before_the_training() -> None:
    """Pairs that are hyperparameters by name, and printed argument objects, are configuration."""
    got = read("learning_rate: 0.0003, clip_range: 0.2, gamma=0.99\nstep 1 | loss 0.5")
    assert got.config == {"learning_rate": 0.0003, "clip_range": 0.2, "gamma": 0.99}
    assert set(got.points) == {"step", "loss"}
    args = read("Namespace(lr=0.0003, env='CartPole-v1', cuda=False, steps=100)")
    assert args.config == {"lr": 0.0003, "env": "CartPole-v1", "cuda": False, "steps": 100.0}
    assert read("Using cuda device").config == {"device": "cuda"}


@pytest.mark.parametrize(
    "name",
    [
        "Clip ratio",
        "Actor model learning rate",
        "Number of training episodes",
        # `log_params` of baselines/her/experiment/config.py: logger.info("{}: {}".format(...))
        "_Q_lr",
        "_clip_obs",
        "noise_eps",
    ],
)
def test_a_setting_is_no_metric_before_the_first_record(name: str) -> None:
    """A list of settings, as scripts print them; later the same name may be a metric."""
    found = read(f"{name}: 0.2\nEpisode: 1 --> Reward: 35.5\n{name}: 0.25\n")
    assert found.config == {name: 0.2}
    assert found.values("Reward") == [35.5]
    assert found.values(name) == [0.25]


def test_the_trainers_own_announcement() -> None:
    """The Hugging Face trainer says how long it will train before it starts."""
    assert read("  Total optimization steps = 1,200").config == {"max_steps": 1200.0}
    names = {
        "Num Epochs": "num_train_epochs",
        "Instantaneous batch size per device": "per_device_train_batch_size",
        "Gradient Accumulation steps": "gradient_accumulation_steps",
        "Total optimization steps": "max_steps",
    }
    prefix = "[INFO|trainer.py:2526] 2026-01-02 15:39:37,393 >>   "  # transformers/utils/logging.py
    for start in ("", prefix):
        found = read("".join(f"{start}{name} = 4\n" for name in names))
        assert (dict(found.config), found.points) == (dict.fromkeys(names.values(), 4), {})


@pytest.mark.parametrize("sign", ["📊", "🚀", "⏱️", "➜", "└─", "├──", "▶", "👩\u200d💻"])
def test_signs_before_a_name(sign: str) -> None:
    """Scripts decorate their lines; the step after a sign is a step all the same."""
    got = read(f"{sign} Episode 10/500 | {sign} Win rate: 0.5 {sign} Loss: 0.25")
    assert got.values_by_step() == {
        "Episode": [(10, 10.0)],
        "Win rate": [(10, 0.5)],
        "Loss": [(10, 0.25)],
    }
    assert got.config == {"total_episodes": 500}


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("Mean reward (last 100): 195.5", "Mean reward (last_100)"),
        ("Mean reward (last 100 episodes) = 195.5", "Mean reward (last_100_episodes)"),
        ("Mean reward (100): 195.5", "Mean reward (100)"),
        ("Mean reward (n=100): 195.5", "Mean reward (n_100)"),
        ("Mean reward (smoothed): 195.5", "Mean reward (smoothed)"),
    ],
)
def test_what_a_mean_is_over_belongs_to_its_name(line: str, tag: str) -> None:
    """The number in the remark is not the value."""
    assert read(line).values_by_step() == {tag: [(1, 195.5)]}


def test_a_label_in_brackets_belongs_to_the_first_name() -> None:
    """Training and evaluation may differ in nothing else; a remark in front keeps its brackets."""
    got = read("[train] loss=0.5 | kl=0.25\n[eval] loss=0.75\n(debug) accuracy: 0.5")
    assert {tag: values[0][1] for tag, values in got.values_by_step().items()} == {
        "train loss": 0.5,
        "kl": 0.25,
        "eval loss": 0.75,
        "(debug) accuracy": 0.5,
    }


def test_a_number_sign_before_a_step() -> None:
    """`Episode #12` is episode 12."""
    assert read("Episode #12: reward=3.5").values_by_step() == {
        "Episode": [(12, 12.0)],
        "reward": [(12, 3.5)],
    }


@pytest.mark.parametrize("spread", ["± 0.25", "+/- 0.25", "+- 0.25", "(±0.25)", "(+/- 0.25)"])
def test_a_spread_in_many_forms(spread: str) -> None:
    """The value in front of it is kept, and so is the spread."""
    got = read(f"step=100 | reward=0.5 {spread} | kl=0.25")
    assert got.values_by_step()["reward"] == [(100, 0.5)]
    assert got.values_by_step()["reward +/-"] == [(100, 0.25)]
    assert got.values_by_step()["kl"] == [(100, 0.25)]


def test_tabs_between_a_name_and_its_number() -> None:
    """`print("Loss:\\t", loss)` is a pair as well."""
    got = read("Iteration: \t 3\nMean Reward: \t -257.5 +- 63.25\nLoss:\t0.5")
    assert got.values_by_step()["Mean Reward"] == [(3, -257.5)]
    assert got.values_by_step()["Loss"] == [(3, 0.5)]


@pytest.mark.parametrize(
    ("line", "episode", "values"),
    [
        ("Episode 5 finished with reward 21.5 after 200 steps", 5, {"reward": 21.5}),
        ("Episode 5 finished after 200 timesteps with total reward = -21.5", 5, {"reward": -21.5}),
        ("Episode #12 ended, score: 21", 12, {"score": 21.0}),
        ("*** Episode 7 done! Return was 3.5 ***", 7, {"return": 3.5}),
        ("Episode 5 finished after 200 steps with reward -21.5", 5, {"reward": -21.5}),
        ("Episode 5 ended, score (-3.5)", 5, {"score": -3.5}),
        ("Episode 5: total return - 21.5", 5, {"return": 21.5}),
        ("Episode # 12 \tfinished with reward -90.5 \tnoise 0.02", 12, {"reward": -90.5}),
    ],
)
def test_a_sentence_about_an_episode(line: str, episode: int, values: dict[str, float]) -> None:
    """As tutorials print it."""
    got = read(line).values_by_step()
    assert {tag: got[tag] for tag in values} == {tag: [(episode, n)] for tag, n in values.items()}
    assert got.get("episode_length", [(episode, 200.0)]) == [(episode, 200.0)]


def test_a_sentence_with_a_length_of_thousands() -> None:
    """`1,200 steps` are as many as `1200 steps`."""
    got = read("Episode 5 finished after 1,200 steps with reward 21.5").values_by_step()
    assert got["episode_length"] == [(5, 1200.0)]


@pytest.mark.parametrize(
    "line",
    [
        "Episode 3 took 2.5 seconds",
        "In this episode 3 rewards were given",
        "Episode rewards are written to rewards.csv",
    ],
)
def test_another_sentence_is_prose(line: str) -> None:
    """A number is not enough."""
    assert read(line).points == {}


def test_a_heading_of_one_letter_names() -> None:
    """`update 3:` heads the pairs behind it."""
    got = read("update 3: R=21.5 L=0.25 H=0.69 KL=0.01")
    assert got.values_by_step()["R"] == [(3, 21.5)]
    assert got.values_by_step()["KL"] == [(3, 0.01)]


def test_keras_rl_lines() -> None:
    """The step and the total stand at the start, without a name."""
    got = read(
        " 39160/50000: episode: 569, duration: 0.073s, episode steps: 13, episode reward: 13.000, "
        "mean reward: 1.000 [1.000, 1.000], loss: 78.5, mean_q: 46.25"
    )
    assert got.values_by_step()["episode reward"] == [(39160, 13.0)]
    assert got.values_by_step()["loss"] == [(39160, 78.5)]
    assert got.config == {"max_steps": 50000}


def test_lists_of_numbers_are_left_out() -> None:
    """Several numbers under one name are no metric, and hide none."""
    got = read("EP:3 | TD Error [12.5, 9.1] | ep_r -164 | L_data 0.64 | N_D 8 | FX [  0. 138.]")
    assert got.values_by_step() == {
        "EP": [(3, 3.0)],
        "ep_r": [(3, -164.0)],
        "L_data": [(3, 0.64)],
        "N_D": [(3, 8.0)],
    }


def test_a_list_of_rewards_is_that_of_several_agents() -> None:
    """Each agent's is a metric of its own, whatever stands around it; a long list is no agents."""
    got = read("Episode 3 | Rewards: [-31.5 -11.25] | Loss: 0.5\nEpisode 4, Reward: [1.5, 2.5]")
    assert got.values_by_step() == {
        "Episode": [(3, 3.0), (4, 4.0)],
        "Rewards_1": [(3, -31.5)],
        "Rewards_2": [(3, -11.25)],
        "Loss": [(3, 0.5)],
        "Reward_1": [(4, 1.5)],
        "Reward_2": [(4, 2.5)],
    }
    assert "Rewards_1" not in read(f"Episode 3 | Loss: 1 | Rewards: {list(range(20))}").points


def test_a_list_that_goes_on_on_the_next_line_has_no_first_number() -> None:
    """numpy breaks its arrays at 75 columns."""
    rows = "".join(f"Episode: {n} | rewards: [ -79.7    1.5  -6{n}\n 2.1 4.5]\n" for n in (1, 2))
    got = read(f"{rows}Episode: 3 | return: 5.5\n")
    assert "rewards" not in got.points
    assert got.values("return") == [5.5]


@pytest.mark.parametrize(
    "window", ["last 100 episodes", "Previous 100 Episodes", "over the last 100 episodes"]
)
def test_a_window_behind_a_reward_is_a_remark(window: str) -> None:
    """With a preposition or without."""
    found = read(f"Epoch 3 | Avg reward {window}: 21.5").values_by_step()
    (tag,) = found.keys() - {"Epoch"}
    assert tag.startswith("Avg reward (")
    assert found[tag] == [(3, 21.5)]


def test_a_spread_behind_a_mean_is_that_of_the_mean() -> None:
    """Alone, `std` would be the policy's."""
    got = read("Iter 2 | reward mean=0.848 std=0.216 min=-1.0 | std=0.5")
    assert list(got.values_by_step()) == ["Iter", "reward mean", "reward std", "reward min", "std"]


@pytest.mark.parametrize(
    ("line", "spread"),
    [
        ("Average return: -0.47, std: 0.14", "return std"),
        ("Reward: -0.47, std: 0.14, max: 3.18", "Reward std"),
        ("[Update 1/4] ValuePred(mean=-0.47, std=0.14) KL=0.02 PolicyLoss=0.3", "ValuePred(std)"),
        ("Rewards: mean=-0.47, std=0.14, min=-1.0", "Rewards std"),
        ("Iter 2 | mean: -0.47, std: 0.14", "mean +/-"),
        ("Iter 2 | KL: 0.02, std: 0.14", "std"),
    ],
)
def test_a_spread_behind_a_comma_is_that_of_the_mean_before_it(line: str, spread: str) -> None:
    """Whatever the mean is called; behind anything else it stays the policy's."""
    points = read(line).values_by_step()
    assert [value for _, value in points[spread]] == [0.14]
    assert ("std" in points) == (spread == "std")


def test_a_spread_of_something_unread_is_left_out() -> None:
    """Alone, it would be the policy's."""
    points = read("Iter 2 | over 100 tests, std=0.14 | loss: 0.3").values_by_step()
    assert list(points) == ["Iter", "loss"]


@pytest.mark.parametrize(
    ("line", "rewards"),
    [
        (
            "episode: 3; final reward (best): -15 (-12)",
            {"final reward": -15, "final reward best": -12},
        ),
        ("Ep 3 Score (avg):  21.5 (  30.25)", {"Score": 21.5, "Score avg": 30.25}),
        ("Ep 3 | Loss 0.5 (0.61) | Reward 3.2 (3.1)", {"Loss": 0.5, "Reward": 3.2}),
        ("Ep   3 | loss=0.5 | reward=  3.2 [-2.1 … 16.3]", {"loss": 0.5, "reward": 3.2}),
        ("Ep 3 | loss=0.5 [0.1, 0.9] | reward=3.2 [-2..16]", {"loss": 0.5, "reward": 3.2}),
    ],
)
def test_a_second_number_in_brackets_is_that_of_the_name_in_brackets(
    line: str, rewards: dict[str, float]
) -> None:
    """Without one it is a mean so far, as PyTorch's examples print it."""
    points = read(line).values_by_step()
    found = {tag: value for tag, [(_, value)] in points.items() if tag not in ("episode", "Ep")}
    assert found == rewards


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  Batch: mean_reward=0.25", {"mean_reward": 0.25}),
        ("Update: loss=0.5, kl=0.1", {"loss": 0.5, "kl": 0.1}),
        ("PPO: reward=1.5 kl=0.01", {"reward": 1.5, "kl": 0.01}),
        ("Train: reward=1.5 | loss=0.5", {"reward": 1.5, "loss": 0.5}),
    ],
)
def test_a_label_of_the_training_before_assignments(line: str, expected: dict[str, float]) -> None:
    """The first value is read as the others are; what is best is no value of this update."""
    got = read(f"{line}\n{line}\n")
    assert {tag: values[0] for tag in got.points if (values := got.values(tag))} == expected
    assert not read("Best: reward=1.5").points


def test_a_window_before_the_name_of_its_mean() -> None:
    """It is no number of its own, and the name does not begin with it."""
    line = "Episode 30/90, Total Avg. Reward: 0.5, 100 Eps Avg. Reward: 0.25, 100-ep loss: 0.1"
    assert read(line).values_by_step() == {
        "Episode": [(30, 30.0)],
        "Total Avg. Reward": [(30, 0.5)],
        "Avg. Reward (100_Eps)": [(30, 0.25)],
        "loss (100_ep)": [(30, 0.1)],
    }


@pytest.mark.parametrize("percent", ["%", " %"])
def test_a_number_in_percent_says_so_in_its_name(percent: str) -> None:
    """The value stays as it was printed."""
    rates = f"Win Rate: 0.55{percent} | clip%: 6.2{percent}"
    got = read(f"Episode 30 | Avg Reward: 7.32 | {rates} | KL: 0.01")
    points = got.values_by_step()
    assert (points["Win Rate%"], points["clip%"]) == ([(30, 0.55)], [(30, 6.2)])


def test_a_step_and_abbreviations_of_ones_own() -> None:
    """Nothing but names and numbers after a step is a record, whatever they are called."""
    got = read("Iter 34: SR 46.0%, Q 286.5115, Pi -32.6352, CE 5.5667, Buffer 146878")
    assert {tag: points for tag, points in got.values_by_step().items() if tag != "Iter"} == {
        "SR%": [(34, 46.0)],
        "Q": [(34, 286.5115)],
        "Pi": [(34, -32.6352)],
        "CE": [(34, 5.5667)],
        "Buffer": [(34, 146878.0)],
    }


def test_phases_are_no_steps() -> None:
    """`[1/3] Self-play` says which part of an iteration comes, not how many there are."""
    got = read("Iteration 4/20 | loss: 0.5\n[1/3] Self-play\n[2/3] Training on 10 games")
    assert got.steps("loss") == [4]
    assert got.config == {"total_iterations": 20}


@pytest.mark.parametrize("words", ["Total rewards in episode 73 is", "Reward for episode 73:"])
def test_sentences_with_the_episode_inside(words: str) -> None:
    """What a tutorial says after each episode."""
    for value in ("3.75", "-3.75"):
        got = read(f"{words} {value} total number of steps are 3626").values_by_step()
        assert got.pop("episode") == [(73, 73.0)]
        assert [*got.values()] == [[(73, float(value))]]


def test_a_line_may_be_an_identifier_and_its_number() -> None:
    """Words without a sign between are prose."""
    block = "training_iteration {n}\ntimesteps_total {n}60\nepisode_reward_mean -2{n}.0\n"
    found = read("".join(block.format(n=n) for n in (1, 2, 3)))
    assert found.values("episode_reward_mean") == [-21.0, -22.0, -23.0]
    assert found.steps("episode_reward_mean") == found.steps("timesteps_total")
    assert read("loss/total 5.5\nloss/total 4.5").values("loss/total") == [5.5, 4.5]
    assert "reward" not in read("It got the reward 3\nreward 4").points
