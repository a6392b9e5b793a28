"""Lines that state their step in ways of their own, and lines whose step is another's."""

from __future__ import annotations

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import parse_every_way


def test_a_debug_line_now_and_then_is_no_step() -> None:
    """`step=50` every 50 records is not the step of the 50 that follow."""
    log = "".join(
        f"[DEBUG] step={number}, sample[0]\n" * (number % 50 == 0)
        + f"reward: {number}.5 | kl: 0.1\n"
        for number in range(1, 401)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == list(range(1, 401))
    assert read.counts_updates


def test_a_step_far_above_the_number_of_records_is_no_count_of_them() -> None:
    """keras-rl's cousins: rewards all along, and `Step 50000` now and then."""
    log = "".join(
        f"Avg learning reward last 100 episodes: {n}.5\n" + f"Step {n * 17_000}\n" * (n % 3 == 0)
        for n in range(1, 31)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    steps = read.steps("Avg learning reward (last_100_episodes)")
    assert steps == [1, 2, 3, *(n // 3 * 51_000 for n in range(3, 30))]


@pytest.mark.parametrize("label", ["", "[Simple DQN] "])
def test_the_step_at_which_an_episode_ends_is_its_length(label: str) -> None:
    """`Truncated at step 1000`: the number of the episode counts on."""
    log = "".join(
        f"{label}Episode {n} - Truncated at step 1000. Reward: {n}.50\n"
        if n % 3
        else f"{label}Completed Episode {n}/20, Reward: {n}.50, Length: 64\n"
        for n in range(1, 21)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    points = read.values_by_step()
    rewards = {*points["reward"], *points["Reward"]}
    assert rewards == {(n, n + 0.5) for n in range(1, 21)}


def test_a_heading_is_the_step_of_what_stands_below_it() -> None:
    """One record of each kind a heading: it is theirs."""
    log = "".join(f"Iteration {n}\nreward: {n}.5\nkl: 0.{n}\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == read.steps("kl") == list(range(1, 9))
    assert not read.counts_updates


def test_place_in_an_epoch_is_one_in_all_epochs() -> None:
    """minimind: `Epoch:[2/3](47/9751)`; the second epoch goes on where the first ended."""
    log = "".join(
        f"Epoch:[{epoch}/3]({step}/100), Actor Loss: 0.5, Reward: {step}.5, KL: 0.01, "
        "Avg Response Len: 120.50\n"
        for epoch in (1, 2, 3)
        for step in range(10, 101, 10)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Reward") == list(range(10, 301, 10))
    assert read.values("Avg Response Len") == [120.5] * 30
    assert read.config["max_steps"] == 300


def test_place_in_an_epoch_counted_from_zero() -> None:
    """torchvision's examples: `Epoch: [1][ 50/391]`."""
    log = "".join(
        f"Epoch: [{epoch}][{step:3}/391]\tloss: 0.5\n" for epoch in (0, 1) for step in (0, 50)
    )
    assert parse_every_way(ConsoleParser, log.encode()).steps("loss") == [0, 50, 391, 441]


def test_episodes_of_an_evaluation_are_no_updates() -> None:
    """A loop that counts iterations and plays five episodes at its end."""
    log = "".join(f"Iteration {n}/40 | Mean Reward: {n}.5\n" for n in range(1, 41))
    log += "".join(f"Episode {n} score: 500.0\n" for n in range(1, 6))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Mean Reward") == list(range(1, 41))
    assert read.steps("score") == [40] * 5


def test_steps_of_a_game_played_after_the_training_are_no_updates() -> None:
    """They are fewer than the episodes before it."""
    log = "".join(f"Episode {n}, Total Reward: {n}.5\n" for n in range(0, 400, 10))
    log += "".join(f"Steps: {n}, Current Reward: 0.5\n" for n in range(10, 60, 10))
    read = parse_every_way(ConsoleParser, (log + "Total Steps: 57\n").encode())
    assert read.steps("Total Reward") == list(range(0, 400, 10))
    assert read.steps("Current Reward") == [390] * 5
    assert read.steps("Total Steps") == [390]


@pytest.mark.parametrize("planned", ["Training epochs: 90", "  - Training games: 1000"])
def test_how_many_there_will_be_is_no_step(planned: str) -> None:
    updates = "".join(f"Iteration {n}, Policy Loss: 0.{n}\n" for n in range(1, 4))
    read = parse_every_way(ConsoleParser, f"{planned}\n{updates}".encode())
    assert read.steps("Policy Loss") == [1, 2, 3]
    assert not read.steps("epoch") and not read.steps("game")


@pytest.mark.parametrize("heading", ["Starting epoch {n}/2\n", ""])
def test_a_total_at_the_end_is_no_step(heading: str) -> None:
    """How many steps all epochs had: the last epoch, or record, stays the newest step."""
    epochs = [f"{heading.format(n=n)}  Avg Reward: {n}.5\n  Avg Loss: 0.5\n" for n in (1, 2)]
    log = "".join([*epochs, "Saved the model\nTotal steps: 12\n"])
    found = parse_every_way(ConsoleParser, log.encode())
    assert found.steps("Avg Reward") == [1, 2]
    assert found.steps("Total steps") == [2]


def test_a_total_below_each_heading_is_the_step() -> None:
    """It counts on, and finer than the heading."""
    block = "Iteration {}\nTotal timesteps: {}\nMean reward: 21.5\n"
    found = parse_every_way(
        ConsoleParser, "".join(block.format(n, 2048 * n) for n in (1, 2, 3)).encode()
    )
    assert found.steps("Mean reward") == [2048, 4096, 6144]


def test_episodes_are_steps_where_nothing_finer_is_counted() -> None:
    """A loop of episodes only."""
    log = "".join(f"Episode # {n} | reward {n}.5\n" for n in range(1, 6))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == read.values("Episode") == [1, 2, 3, 4, 5]


def test_a_bar_in_each_iteration_states_the_episode() -> None:
    """tqdm's postfix says `episode=20`; ten bars of fifty episodes are no ten times fifty steps."""
    bars = []
    for iteration in range(10):
        for done in range(1, 51):
            last = 50 * iteration + done // 10 * 10
            postfix = f", episode={last}, return={last}.000" if done >= 10 else ""
            bar = f"{2 * done:3}%|####  | {done}/50 [00:01<00:01, 9.1it/s{postfix}]"
            bars.append(f"\rIteration {iteration}: {bar}")
        bars.append("\n")
    read = parse_every_way(ConsoleParser, "".join(bars).encode())
    assert read.steps("return") == list(range(10, 501, 10))
    assert read.values("return") == [float(step) for step in range(10, 501, 10)]


@pytest.mark.parametrize(
    "line",
    [
        "step=100 reward=1.5 kl=0.01  (10437 steps/s)",
        "step=100 reward=1.5 kl=0.01 [1234 it/s]",
        "step=100 reward=1.5 kl=0.01 saved checkpoint",
        "step: 100, reward: 1.5, kl: 0.01 -> saved to model_100.pt",
        "2026-11-21 00:40:41,295 - ppo.train - INFO - step=100 reward=1.5 kl=0.01",
        "2026-11-21 00:40:41,295 - train - INFO - step 100 reward 1.5 kl 0.01",
        "2026-11-21 00:40:41,295 — algo.vpg — INFO — step: 100 reward: 1.5",
        "2026-11-21 00:40:41,295 run.py     INFO    : step: 100, reward: 1.5, kl: 0.01",
        "2026-11-21 00:40:41,295 Actor_0 INFO step: 100, reward: 1.5, kl: 0.01",
        "I1122 15:00:00.123456 140123456789 train.py:33] step=100 reward=1.5 kl=0.01",
        "步数：100，奖励：1.5，熵：1.2",
        "步数 100 ｜ 奖励 １.５",
    ],
)
def test_words_and_prefixes_around_the_pairs(line: str) -> None:
    """Speed, a remark, a logger's name: the pairs are read all the same."""
    read = parse_every_way(ConsoleParser, f"{line}\n".encode())
    reward = read.points.get("reward") or read.points["奖励"]
    assert [(step, value) for step, _, value in reward] == [(100, "1.5")]


@pytest.mark.parametrize("line", ["the loss was 0.5 at step 3", "found 3 rewards in 2 files"])
def test_prose_stays_prose(line: str) -> None:
    """Words before the first pair are a sentence."""
    assert parse_every_way(ConsoleParser, f"{line}\n".encode()).points == {}


def test_a_chinese_loop() -> None:
    """Chinese names, as written, with what is averaged."""
    line = "迭代 {0}/20 | 回合数: 98 | 平均奖励: {0}.8 | KL: 0.0047 | clip%: 6.2%\n"
    read = parse_every_way(ConsoleParser, "".join(map(line.format, (1, 2, 3))).encode())
    assert read.steps("平均奖励") == [1, 2, 3]
    assert read.config["total_iterations"] == 20
    empty = "迭代 4/20 | 回合数: 0 | 平均奖励: 0.0 | KL: 0.0047\n"
    assert "平均奖励" not in parse_every_way(ConsoleParser, empty.encode()).points


@pytest.mark.parametrize("line", ["第{0}回合", "第 {0} 轮"])
def test_a_number_within_the_word_for_the_step(line: str) -> None:
    """As it is said in Chinese; the step is the number."""
    line = f"{line} | 平均奖励: {{0}}.5 | 损失: 0.25\n"
    read = parse_every_way(ConsoleParser, "".join(map(line.format, (10, 20, 30))).encode())
    assert read.values_by_step()["平均奖励"] == [(10, 10.5), (20, 20.5), (30, 30.5)]


def test_evaluations_of_mava_and_stoix() -> None:
    """Their `ConsoleLogger` puts who measured before each line (stoix/utils/logger.py)."""
    lines = "".join(
        f"{who} - Timestep: {n}000 | Episode return mean: {n}.{decimal}\n"
        for n in range(1, 4)
        for who, decimal in (("ACTOR", 5), ("EVALUATOR", 25))
    )
    last = "ABSOLUTE - Timestep: 3000 | Episode return mean: 3.75\n"
    read = parse_every_way(ConsoleParser, (lines + last).encode())
    assert read.values("Episode return mean") == [1.5, 2.5, 3.5]
    assert read.values("eval/Episode return mean") == [1.25, 2.25, 3.25, 3.75]


def episodes(count: int, reward: float) -> str:
    """Lines as a loop prints them, for training and evaluation alike."""
    return "".join(
        f"Episode: {n}/{count} --> Episodic Reward: {reward}\n" for n in range(1, count + 1)
    )


@pytest.mark.parametrize(
    "heading",
    [
        "-------- EVALUATION --------",
        "#### DQN Evaluation",
        "=== Testing ===",
        "Evaluating the agent...",
        "开始测试阶段...",
    ],
)
def test_an_evaluation_after_the_training_is_no_restart(heading: str) -> None:
    """Its episodes begin at 1 again: they are evaluations at the training's last step."""
    text = f"--- TRAINING ---\n{episodes(40, 20.5)}{heading}\n{episodes(3, 30.5)}"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("Episodic Reward") == list(range(1, 41))
    assert read.steps("eval/Episodic Reward") == [40, 40, 40]
    assert read.values("eval/Episodic Reward") == [30.5] * 3
    assert read.config == {"total_episodes": 40}


def test_a_training_goes_on_after_an_evaluation() -> None:
    """Further episodes, or the word for it, end the evaluation; the same step is the training's."""
    more = "".join(f"Episode: {n}/40 --> Episodic Reward: 25.5\n" for n in range(21, 41))
    first = episodes(40, 20.5).splitlines(keepends=True)[:20]
    text = "".join(first) + f"Evaluation:\n{episodes(3, 30.5)}{more}"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("Episodic Reward") == list(range(1, 41))
    losses = "Episode: 5/5 --> Loss: 0.5\nEpisode: 6/6 --> Loss: 0.25\n"
    twice = f"{episodes(5, 1.5)}Evaluating...\n{losses}"
    assert parse_every_way(ConsoleParser, twice.encode()).steps("Loss") == [5, 6]
    for heading in ("Training", "Running experiment: lambda_0.05_size"):
        again = f"{episodes(5, 1.5)}Testing\n{episodes(2, 2.5)}{heading}\n{episodes(5, 3.5)}"
        values = parse_every_way(ConsoleParser, again.encode()).values("Episodic Reward")
        assert values == [1.5] * 5 + [3.5] * 5


@pytest.mark.parametrize(
    ("heading", "row", "tag"),
    [
        ("Evaluating...", "episode {n} reward: {n}.5", "eval/reward"),
        (
            "EVALUATION RESULTS (100 episodes)",
            "  Average Reward: {n}.5 ± 0.5",
            "eval/Average Reward",
        ),
        ("Evaluation over 10 games:", "mean score: {n}.5", "eval/mean score"),
    ],
)
def test_rewards_below_the_heading_of_an_evaluation(heading: str, row: str, tag: str) -> None:
    """They say no step of the training, and no line of the training holds the like."""
    line = "[{n}00/9000] episode: {n} episode reward: 2.5 loss: 0.5\n"
    first, more = (line.format(n=n) + line.format(n=n + 1) for n in (1, 3))
    rows = "".join(f"{row.format(n=n)}\n" for n in (7, 8))
    text = f"{first}{heading}\n{rows}{'=' * 40}\n{more}"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()[tag] == [(200, 7.5), (200, 8.5)]
    assert read.steps("episode reward") == [100, 200, 300, 400]
    assert not {"reward", "Average Reward", "mean score"} & read.points.keys()


def test_lines_of_the_training_below_a_heading_stay_its_own() -> None:
    """Rewards that are printed like this before an evaluation, and losses below one."""
    epochs = "".join(
        f"Epoch {n}\nReward: {n}.5\nTesting the connection\nLoss: 0.5\n" for n in (1, 2)
    )
    read = parse_every_way(ConsoleParser, epochs.encode())
    assert read.values_by_step()["Reward"] == [(1, 1.5), (2, 2.5)]
    assert read.steps("Loss") == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        "Evaluating...  Score: {reward}, Average Score: {reward}, Length: 544\n",
        "[TEST] Episode {test} - Score: {reward} | Average Score: {reward}\n",
        "Eval step={test} Score={reward} Average Score={reward}\n",
        "Evaluation | Episode {test} | Score: {reward}, Average Score: {reward}\n",
    ],
)
def test_a_line_that_says_so_is_an_evaluation(line: str) -> None:
    """All of its values are, at the training's step; they are called like those of training."""
    text = "".join(
        f"Episode: {n:4d}, Score: {n}.5, Average Score: {n}.25\n"
        + "".join(line.format(test=test, reward=-(n * 100)) for test in range(2))
        for n in range(1, 31)
    )
    read = parse_every_way(ConsoleParser, text.encode())
    steps = list(range(1, 31))
    assert read.steps("Score") == read.steps("Average Score") == steps
    assert read.values("Average Score") == [n + 0.25 for n in steps]
    assert read.steps("eval/Average Score") == [n for n in steps for _ in range(2)]
    assert read.values("eval/Score") == [-100.0 * n for n in steps for _ in range(2)]


@pytest.mark.parametrize(
    "form", ["Episode {n} | env {k} | reward: {n}.5", "Worker {k}, Episode {n}, reward: {n}.5"]
)
def test_workers_that_count_each_their_own_episodes_begin_none_anew(form: str) -> None:
    """The one that is furthest tells the step; another first episode is of another worker."""
    episodes = [(2, 1), (1, 1), (2, 2), (1, 2), (0, 1), (0, 2), (2, 3), (1, 3), (2, 4), (0, 3)]
    text = "".join(form.format(k=k, n=n) + "\n" for k, n in episodes)
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("reward") == [1, 1, 2, 2, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(
    "line",
    ["[VAL] Score {reward}", "Test 20/100  Score: {reward}", "Test Episodes: 10, Score: {reward}"],
)
def test_a_lone_score_of_an_evaluation_is_no_reward(line: str) -> None:
    """Behind a label, or with how many of its episodes are done."""
    text = "".join(f"Episode: {n}, Score: {n}.5\n{line.format(reward=-n)}\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values("Score") == [n + 0.5 for n in range(1, 9)]
    assert read.values_by_step()["eval/Score"] == [(n, -float(n)) for n in range(1, 9)]
    alone = parse_every_way(ConsoleParser, b"[VAL] image 7\nTest 2/7 passed: yes 3\n")
    assert not alone.points


def test_the_evaluation_after_a_training_of_cleanrl_is_none_of_its_episodes() -> None:
    """As its `cleanrl_utils/evals` print it: `eval_episode=0, episodic_return=...`."""
    text = "".join(f"global_step={n}00, episodic_return={n}.5\n" for n in range(1, 9))
    text += "".join(f"eval_episode={n}, episodic_return=[-{n}.]\n" for n in range(10))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("episodic_return") == [n * 100 for n in range(1, 9)]
    assert read.values("eval/episodic_return") == [-float(n) for n in range(10)]


def test_a_console_of_evaluations_says_their_steps() -> None:
    """Where no other line says a step."""
    text = "".join(f"[Eval] step={n}000 reward={n}.5 length=7\n" for n in range(1, 11))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("reward") == [n * 1000 for n in range(1, 11)]


@pytest.mark.parametrize(
    ("line", "steps", "reward"),
    [
        ("Total T: {step} Episode Num: {n} Episode T: 201 Reward: {n}.500", 1000, "Reward"),  # TD3
        ("TIMESTEP {step} / STATE train / ACTION 1 / EPSILON 0.1 / REWARD {n}.5", 1000, "REWARD"),
        (
            "Game number: {n:06d}  Frame number: {step:08d}  Average reward: {n}.5",
            1000,
            "Average reward",
        ),
        ("Finished episode {n}, total return: {n}.5, total time: 0.1 sec", 1, "total return"),
        ("t={n:05d} | eps=0.200 | r={n}.5 | H=0.48", 1, "r"),
        ("i: {n}, r: {n}.5, loss: 0.25", 1, "r"),
        ("Episode {n} finished, reward: {n}.5, length: 20", 1, "reward"),
        ("GRPO step {step}/500 | loss: 0.0 | mean_reward: {n}.5 | KL: 0.1", 10, "mean_reward"),
        ("Epoch {n} 完成 | 奖励: {n}.5 | 损失: 0.25", 1, "奖励"),
    ],
)
def test_loops_that_spell_their_step_in_their_own_way(line: str, steps: int, reward: str) -> None:
    """The running count of steps where there is one, else the number of the episode."""
    text = "".join(line.format(step=n * steps, n=n) + "\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps(reward) == [n * steps for n in range(1, 9)]
    assert read.values(reward) == [n + 0.5 for n in range(1, 9)]


def test_td3_evaluates_between_its_episodes() -> None:
    """The authors' TD3 prints the mean of ten episodes between two rules."""
    rule = "-" * 39
    text = (
        "Total T: 201 Episode Num: 1 Episode T: 201 Reward: -1523.112\n"
        f"{rule}\nEvaluation over 10 episodes: -1023.112\n{rule}\n"
    )
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()["eval/mean_reward"] == [(201, -1023.112)]


def test_a_paste_that_begins_inside_a_block() -> None:
    """Of rsl_rl: what is left of the first iteration has no step and is no update of its own."""
    rest = f"{'Mean value loss:':>40} 19.7410\n{'Mean reward:':>40} 1.00\n"
    block = (
        f"{'#' * 80}\n                      Learning iteration {{n}}/10                      \n\n"
        f"{'Mean value loss:':>40} {{n}}.5\n{'Mean reward:':>40} {{n}}.25\n"
        f"{'-' * 80}\n"
    )
    text = rest + "-" * 80 + "\n" + "".join(block.format(n=n) for n in (1, 2, 3))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values_by_step()["Mean reward"] == [(1, 1.25), (2, 2.25), (3, 3.25)]
    assert not read.counts_updates


def updates(iterations: int, length: int, heading: str = "") -> bytes:
    """What a loop prints that says how far it is in each iteration only."""
    return "".join(
        heading.format(n) + f"[Update {k}/{length}] PolicyLoss=-0.{n}{k} KL=0.01 RewardMean={n}.5\n"
        for n in range(1, iterations + 1)
        for k in range(1, length + 1)
    ).encode()


@pytest.mark.parametrize("heading", ["", "#### epoch: {} ####\n", "evaluated: fine\n"])
def test_a_short_counter_that_begins_anew_counts_on(heading: str) -> None:
    """`[Update 4/4]` and then `[Update 1/4]`: the fifth update, and no restart."""
    read = parse_every_way(ConsoleParser, updates(30, 4, heading))
    assert read.steps("RewardMean") == list(range(1, 121))


def test_a_long_counter_that_begins_anew_is_another_start() -> None:
    """Nobody looks at seventeen minibatches of an update; it went back."""
    read = parse_every_way(ConsoleParser, updates(2, 17))
    assert read.steps("RewardMean") == [*range(1, 18), *range(1, 18)]


def test_a_short_counter_that_stops_early_went_back() -> None:
    """It did not come to its end: what follows begins again."""
    read = parse_every_way(ConsoleParser, updates(1, 4)[:-50] + b"\n" + updates(1, 4))
    assert read.steps("RewardMean")[:5] == [1, 2, 3, 1, 2]


def test_a_counter_that_is_always_at_its_end_counts_updates() -> None:
    """`Update 1/1` before the losses of every iteration; other lines of it are no further one."""
    log = "".join(
        f"Update 1/1, Policy Loss: -0.1{n % 10}, Value Loss: 0.5\nUpdate 1/1, KL: 0.00{n % 9 + 1}\n"
        for n in range(1, 31)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Policy Loss") == read.steps("KL") == list(range(1, 31))


def test_a_short_counter_between_tables_is_no_step() -> None:
    """`Update 1/1` many times below each table of baselines, which says the steps."""
    rule = "-" * 24 + "\n"
    log = "".join(
        "".join(f"Update 1/1, Policy Loss: -0.{n}{k}\n" for k in range(12))
        + f"{rule}| Reward | {n}.5 |\n| Step | {100 * n} |\n{rule}"
        for n in range(1, 5)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Reward") == [100, 200, 300, 400]
    expected = [*range(1, 13), *(step for step in (100, 200, 300) for _ in range(12))]
    assert read.steps("Policy Loss") == expected


def test_a_short_training_for_each_seed_is_one_each() -> None:
    """Another seed is printed before each: these are trainings, not laps."""
    log = b"".join(b"seed: %d\n" % seed + updates(1, 4) for seed in (1, 2, 3))
    parser = ConsoleParser()
    batches = [parser.feed(log), parser.finish()]
    found = [each for batch in batches for each in (batch, *batch.rest) if each.points]
    steps = [{tuple(each.steps) for each in batch.points} for batch in found]
    assert steps == [{(1, 2, 3, 4)}] * 3


LENGTHS = [21, 24, 30, 38, 17, 52, 52, 19]
SOFAR = [21, 45, 75, 113, 130, 182, 234, 253]


@pytest.mark.parametrize("name", ["Step", "Steps", "Frame", "timesteps"])
@pytest.mark.parametrize(
    "line", ["Episode: {e}, {n}: {s}, Reward: {s}.5", "Episode {e} | {n} {s} | Reward {s}.5"]
)
def test_the_steps_of_one_episode_are_no_step(line: str, name: str) -> None:
    """Lengths of episodes that happen to rise at first: the number of the episode counts on."""
    log = "".join(line.format(e=e, n=name, s=s) + "\n" for e, s in enumerate(LENGTHS, 1))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Reward") == list(range(1, 9))
    assert read.values("Reward") == [steps + 0.5 for steps in LENGTHS]


@pytest.mark.parametrize("first", [1, 40])
def test_the_steps_of_all_episodes_so_far_are_the_step(first: int) -> None:
    """The same names where they count on, from the first episode or midway."""
    log = "".join(
        f"Episode: {e}, Timestep: {30 * (first - 1) + s}, Reward: 0.5\n"
        for e, s in enumerate(SOFAR, first)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Reward") == [30 * (first - 1) + steps for steps in SOFAR]


@pytest.mark.parametrize(
    "line", ["i_ep {}: step:{} reward: 0.5", "Episode {} | Step {} | Reward 0.5"]
)
@pytest.mark.parametrize("first", [0, 100])
def test_steps_within_episodes_of_several_lines_count_on(line: str, first: int) -> None:
    """As in tables: no training begins anew with an episode, unless that does, too."""
    episodes = [(e, s) for e in range(3) for s in range(first, 600, 100)]
    log = "".join(line.format(*each) + "\n" for each in [*episodes, *episodes[:3]])
    read = parse_every_way(ConsoleParser, log.encode())
    ends = [e * (501 if first == 0 else 500) for e in range(3)]
    expected = [ends[e] + s for e, s in episodes]
    assert read.steps("reward" if "i_ep" in line else "Reward") == [*expected, *expected[:3]]
    assert not read.counts_updates


def test_steps_within_episodes_count_on_for_lines_that_do_not_say_theirs() -> None:
    """A count of all steps stays what it is; many lines are read as a whole."""
    log = "".join(
        f"Episode {e} | Step {s} | Reward {e}.5\nStep {s} | Loss: 0.5\n"
        f"total_timesteps: {300 * e + s}, kl: 0.1\n"
        for e in range(6)
        for s in range(30, 301, 30)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    expected = list(range(30, 1801, 30))
    assert [read.steps(tag) for tag in ("Reward", "Loss", "kl")] == [expected] * 3
    log = "".join(f"i_ep {e}: step:{s} reward: 0.5\n" for e in range(4) for s in range(200))
    assert parse_every_way(ConsoleParser, log.encode()).steps("reward") == list(range(800))


@pytest.mark.parametrize(("first", "opening"), [(0, 0), (5, 1)])
def test_lines_before_the_first_step_begin_no_training(first: int, opening: int) -> None:
    """Counted from 1, they would stand behind step 0."""
    log = "".join(
        f"grad_norm = 3.{n}\nrewards: [1.0, 2.{n}]\n[step {n:04}] step={n} loss=0.{n}\n"
        for n in range(first, first + 4)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("loss") == list(range(first, first + 4))
    assert read.steps("grad_norm") == [opening, *range(first, first + 3)]


def test_fewer_steps_than_episodes_are_those_of_one() -> None:
    """A single line tells: all episodes so far took at least a step each."""
    read = parse_every_way(ConsoleParser, b"- Episode 00057075 Frame 00000199 Reward: 30\n")
    assert read.steps("Reward") == [57075]


def test_steps_beside_a_count_of_episodes_are_the_step_if_both_rise() -> None:
    """MADDPG's line; beside the episodes of an evaluation they are no step."""
    line = "steps: {}, episodes: {}, mean episode reward: -664.5, time: 54.8\n"
    log = "".join(line.format(1000 * n - 1, 40 * n) for n in range(1, 9))
    assert parse_every_way(ConsoleParser, log.encode()).steps("mean episode reward") == [
        1000 * n - 1 for n in range(1, 9)
    ]
    log = "".join(line.format(1000 + (7 * n) % 5, 10) for n in range(1, 9))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.counts_updates
    assert read.steps("mean episode reward") == list(range(1, 9))


def test_steps_that_fall_after_all_are_counted_from_there() -> None:
    """Ever longer episodes look like a count; no restart is made of the first shorter one."""
    lengths = [20, 50, 90, 150, 230, 210, 190, 240]
    log = "".join(f"Episode: {e}, Step: {s}, Reward: 0.5\n" for e, s in enumerate(lengths, 1))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Reward") == [20, 50, 90, 150, 230, 231, 232, 233]
    assert read.counts_updates


def test_a_short_log_of_both_waits_for_nothing() -> None:
    """What waits is read at the end."""
    read = parse_every_way(ConsoleParser, b"Episode: 1, Step: 200, Reward: 0.5\nKL: 0.25\n")
    assert (read.steps("Reward"), read.steps("KL")) == ([200], [200])


def test_every_pair_below_a_heading_is_a_record() -> None:
    """Whatever it is called, with a tab for a colon; a number of steps there is the block's."""
    log = "".join(
        f"Iteration: \t {n}\nNumTimesteps: \t {32000 + n}\nMeanRew: \t -257.5 +- 63.25\n"
        f"MeanSlowdown: \t 8.{n}\nMeanEntropy \t 2.39\nElapsed time\t 106.5 seconds\n"
        "-----------------\n"
        for n in range(4)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    for tag in ("MeanRew", "MeanRew +/-", "MeanSlowdown", "MeanEntropy", "Elapsed time"):
        assert read.steps(tag) == [0, 1, 2, 3]
    assert read.values("NumTimesteps") == [32000.0, 32001.0, 32002.0, 32003.0]


def test_words_end_the_block_below_a_heading() -> None:
    """What follows them is read only under a known name."""
    log = "Epoch: 3\nWarmth: 0.5\nsaved the model\nColour: 0.25\nLoss: 0.125\n"
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.values_by_step() == {
        "Epoch": [(3, 3.0)],
        "Warmth": [(3, 0.5)],
        "Loss": [(3, 0.125)],
    }


def test_episodes_that_end_out_of_order_are_counted_on() -> None:
    """As parallel environments end them, from the first that comes late; a restart is none."""
    numbers = [*range(1, 60), 67, 60, 61, 63, 62, 64, 65, 66, 68, *range(69, 90)]
    line = "Episode {number} | reward {at}.5 | loss 0.25\n"
    text = "".join(line.format(number=number, at=at) for at, number in enumerate(numbers))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("reward") == [*range(1, 60), *range(67, 97)]
    again = text + "".join(line.format(number=number, at=7) for number in range(80, 86))
    assert parse_every_way(ConsoleParser, again.encode()).steps("reward")[-6:] == list(
        range(80, 86)
    )


@pytest.mark.parametrize(
    ("own", "baseline"),
    [
        ("[DQN Agent]\t:\t", "[Random Agent]\t:\t"),
        ("", "Random policy: "),
        ("", "[RANDOM] "),
        ("trained | ", "random baseline | "),
    ],
)
def test_random_actions_beside_the_training_are_not_its_own(own: str, baseline: str) -> None:
    """A script that prints their rewards compares the agent with them."""
    lines = [
        f"Episode: {100 * n}, epsilon: 0.{9 - n}\n"
        f"{own}mean_reward: {n}.5, mean_length: {n}0\n"
        f"{baseline}mean_reward: -7.5, mean_length: 90\n"
        for n in range(1, 5)
    ]
    read = parse_every_way(ConsoleParser, "".join(lines).encode())
    assert read.values("mean_reward") == [1.5, 2.5, 3.5, 4.5]
    assert read.steps("mean_reward") == [100, 200, 300, 400]
    assert read.values("random/mean_reward") == [-7.5] * 4
    assert read.steps("random/mean_reward") == [100, 200, 300, 400]


def test_a_random_seed_is_no_baseline() -> None:
    """Nor is a word in the midst of a line."""
    text = "Random seed: 7\nEpisode 1, reward: 2.5, random actions: 30\nRandom: yes\n"
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.values("reward") == [2.5]
    assert not [tag for tag in read.points if tag.startswith("random/")]


@pytest.mark.parametrize(
    "name", ["In current timestep", "Current timestep", "Total timesteps so far", "Current update"]
)
def test_a_step_is_called_the_current_one(name: str) -> None:
    """Or the number of all so far; other numbers may stand alone in lines between them."""
    log = "".join(f"{name}: {2048 * n}, average reward: {n}.5\n{2048 * n}\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("average reward") == [2048 * n for n in range(1, 9)]
    assert not read.counts_updates


def test_episodes_done_are_the_step() -> None:
    """And what is explored at a rate that is called by its Greek letter."""
    log = "".join(f"Episodes done: {5 * n}, reward: {n}.5, ε: 0.{n}\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == [5 * n for n in range(1, 9)]
    assert read.values("ε") == [n / 10 for n in range(1, 9)]


def test_greek_names_are_read_between_others() -> None:
    """Also the sign that APL has for alpha."""
    log = "".join(
        f"Episode {n}00\tAvg: -{n}.5\tε: 0.{n}  ⍺: 0.5000  σ: 0.25  Buffer: {n}000\n"
        for n in range(1, 9)
    )
    read = parse_every_way(ConsoleParser, log.encode()).values_by_step()
    assert read["ε"] == [(100 * n, n / 10) for n in range(1, 9)]
    assert read["⍺"] == [(100 * n, 0.5) for n in range(1, 9)]
    assert read["Buffer"] == [(100 * n, 1000.0 * n) for n in range(1, 9)]


def test_few_episodes_of_each_session_are_no_parts_of_one() -> None:
    """A log that each session goes on; within iterations, episodes count on."""
    session = "".join(f"Episode {n}/10 | Loss: {n}.5 | ε: 0.1\n" for n in range(1, 11))
    read = parse_every_way(ConsoleParser, (session * 3).encode())
    assert read.steps("Loss") == [*range(1, 11)] * 3
    parts = "".join(f"Iteration {i}\n{session}" for i in range(1, 6))
    read = parse_every_way(ConsoleParser, parts.encode())
    assert set(read.steps("Loss")[-10:]) == {5}


WORDED_HEADINGS = [
    "Epoch {n}/1000 Running...",
    "Episode {n}/1000 finished",
    "Episode {n} completed!",
    "EPISODE {n} STARTED",
    "Starting episode {n}...",
    "Start of episode {n}",
    "--- Iteration {n} begins ---",
    "[Episode {n}] training...",
    "Now at episode {n}",
    "Generation {n} results:",
    "Summary of game {n}",
    "Episode {n} done in 3.2s",
    "After {n} steps:",
    "Results after {n} episodes:",
    "{n} steps completed",
    "Collected {n}/1000 timesteps",
    "  Iteration {n}/1000  (global 7)",
    "Epoch {n} (12.5 s each)",
    "🧪 Sanity Check @ step {n}",
    "Bad batch at step {n}:",
]


@pytest.mark.parametrize("heading", WORDED_HEADINGS)
@pytest.mark.parametrize("record", ["reward: {n}.5\nloss: 0.25\n", "reward: {n}.5, loss: 0.25\n"])
def test_a_heading_may_say_its_step_in_words(heading: str, record: str) -> None:
    """All records below it are those of the step."""
    log = "".join(f"{heading}\nsome words\n{record}\n".format(n=10 * n) for n in range(1, 12))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == read.steps("loss") == [10 * n for n in range(1, 12)]
    assert not read.counts_updates


CLOSING_LINES = ["Episode: {n}", "Step {n}", "--- Iteration {n} ---", *WORDED_HEADINGS]
BLOCKS = [
    "reward: {r}.5\nloss: 0.25\n{line}\n",
    "reward: {r}.5, loss: 0.25\n{line}\n\n",
    "======\nreward: {r}.5\n{line}\nloss: 0.25\n======\n",
]


@pytest.mark.parametrize("line", CLOSING_LINES)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_step_may_stand_below_what_it_is_the_step_of(line: str, block: str) -> None:
    """The records before the first one come again before the second."""
    log = "".join(block.format(line=line, r=n).format(n=10 * n) for n in range(1, 12))
    read = parse_every_way(ConsoleParser, log.encode())
    steps = [10 * n for n in range(1, 12)]
    assert read.values_by_step()["reward"] == [(step, step / 10 + 0.5) for step in steps]
    assert read.steps("loss") == steps
    assert not read.counts_updates


@pytest.mark.parametrize("first", ["eval reward: 3.5", "test score: 3.5", "grad_norm = 3.5"])
def test_what_is_measured_before_the_training_closes_nothing(first: str) -> None:
    """Though it comes again, below the step that it is of."""
    blocks = [f"Episode: {10 * n}\nreward: {n}.5\nloss: 0.25\n" for n in range(1, 12)]
    log = first + "\n" + f"{first if 'grad' not in first else ''}\n".join([*blocks, ""])
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.values_by_step()["reward"] == [(10 * n, n + 0.5) for n in range(1, 12)]


@pytest.mark.parametrize("line", WORDED_HEADINGS)
def test_a_line_of_words_now_and_then_is_no_step(line: str) -> None:
    """Where several records stand above the first of them, records are counted."""
    log = "".join(
        f"reward: {n}.5, loss: 0.25\n" + f"{line}\n".format(n=n) * (n % 5 == 0)
        for n in range(1, 21)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == list(range(1, 21))
    assert read.counts_updates


@pytest.mark.parametrize(
    "line",
    [
        "Evaluating at step {n}",
        "Saved model of episode {n}",
        "Last checkpoint at step {n}",
        "Loading episode {n} of the demonstrations",
        "Playing games for {n} minutes",
        "Best reward in episode {n} so far",
        "Done with {n} of the files",
    ],
)
def test_other_lines_of_words_are_no_headings(line: str) -> None:
    """Whatever number they hold."""
    log = "".join(f"{line}\nreward: {n}.5, loss: 0.25\n".format(n=10 * n) for n in range(1, 12))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("reward") == list(range(1, 12))


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_samples_shown_before_the_first_step_have_that_step(rows: int) -> None:
    """A reward function shows its scores before verl's `step:0 - val/...`: no updates of it."""
    shown = "[prompt] 2+2\n[response] 4\nExtracted answer: 4 | score: 1.0\n" * rows
    steps = "".join(f"step:{n} - critic/score/mean:0.5 - actor/kl_loss:0.001\n" for n in range(5))
    found = parse_every_way(ConsoleParser, (shown + steps).encode())
    assert found.steps("score") == [0] * rows
    assert found.steps("actor/kl_loss") == [0, 1, 2, 3, 4]
    assert not found.counts_updates


def test_any_number_of_samples_may_be_shown_where_a_step_will_be_said() -> None:
    """verl says so at its start (`LocalLogger`), and first validates a whole data set."""
    shown = "Format score: -1\n  [Error] no answer\nAnswer score: -2\n" * 300
    steps = "".join(f"step:{n} - critic/score/mean:0.5 - actor/kl_loss:0.001\n" for n in range(5))
    said = "Using LocalLogger is deprecated. The constructor API will change \n"
    found = parse_every_way(ConsoleParser, (said + shown + steps).encode())
    assert found.steps("Format score") == [0] * 300
    assert found.steps("actor/kl_loss") == [0, 1, 2, 3, 4]
    unsaid = parse_every_way(ConsoleParser, (said + shown).encode())
    assert unsaid.steps("Format score") == list(range(1, 301))


@pytest.mark.parametrize("said", ["Wrapping the env with a `Monitor` wrapper", "Logging to ./tb/1"])
def test_episodes_that_a_callback_prints_before_the_first_table_are_those_of_it(said: str) -> None:
    """SB3 says at its start what it wraps or where it logs, and then each rollout's table."""
    start = f"Using cpu device\n{said}\n"
    table = "-" * 30 + "\n| time/              |      |\n|    total_timesteps | {} |\n" + "-" * 30
    episodes = "Episode Reward: -19.5 | Episode Length: 21 | Cause: ('fall', 0.8, 2)\n" * 37
    text = start + "".join(f"{episodes}{table.format(n)}\n" for n in (1024, 2048))
    found = parse_every_way(ConsoleParser, text.encode())
    assert found.steps("Episode Reward") == [1024] * 74
    assert found.steps("time/total_timesteps") == [1024, 2048]


def test_records_before_a_small_first_step_are_no_steps_after_it() -> None:
    """Five records, and then the first episode: it comes after them, and nothing began anew."""
    rows = "warm-up reward: 0.5\n" * 5
    found = parse_every_way(
        ConsoleParser, f"{rows}Episode 1 reward: 1.5\nEpisode 2 reward: 2.5\n".encode()
    )
    assert found.steps("warm-up reward") == [1] * 5
    assert found.steps("reward") == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        "{'current_steps': %s, 'total_steps': 5100, 'loss': 0.5}",
        "Eval num_timesteps=%s, episode_reward=0.50 +/- 0.10",
        "Episode %s | loss: 0.5",
    ],
)
def test_a_number_that_no_counter_reaches_is_no_step(line: str) -> None:
    """Two lines that ran into each other make such numbers; the value stays."""
    log = "".join(line % step + "\n" for step in (5, 6, "9" * 20))
    read = parse_every_way(ConsoleParser, log.encode())
    (steps,) = {tuple(read.steps(tag)) for tag in read.points if "oss" in tag or "reward" in tag}
    assert steps == (5, 6, 6)


@pytest.mark.parametrize(("heading", "each"), [("", 4000), ("Epoch: {0}\n", 1)])
def test_interactions_with_the_environment_are_its_steps(heading: str, each: int) -> None:
    """As rl-replicas logs them; among other lines of an epoch that is numbered they are a value."""
    block = heading + "Average Episode Reward: {0}.5\nTotal env interactions: {1}\n"
    log = "".join(block.format(n, 4000 * n) for n in range(1, 6))
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("Average Episode Reward") == [each * n for n in range(1, 6)]


def test_a_numbered_heading_above_a_table_takes_its_step() -> None:
    """OpenAI baselines count the iterations in a heading, and the steps in the table below."""
    log = "".join(
        f"********** Iteration {n} ************\nOptimizing...\n"
        f"----------------------------\n| EpRewMean       | {n}.5     |\n"
        f"| TimestepsSoFar  | {1024 * (n + 1)}    |\n----------------------------\n"
        for n in range(9)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("EpRewMean") == [1024 * (n + 1) for n in range(9)]
    steps = {step for tag in read.points for step in read.steps(tag)}
    assert steps - {0} == {*read.steps("EpRewMean")}


def test_a_line_about_a_checkpoint_is_no_record() -> None:
    """It counts in words of its own, now and then; one that says a reward is a record."""
    log = "".join(
        f"[step {n}/200] correct=1/4 loss=-0.{n:04}\n"
        + f"  Checkpoint saved at useful_step={n} (total_step={n + n // 4})\n" * (n % 20 == 0)
        for n in range(1, 101)
    )
    read = parse_every_way(ConsoleParser, log.encode())
    assert read.steps("loss") == [*range(1, 101)]
    assert not {"useful_step", "total_step"} & read.points.keys()
    saved = "".join(f"Saved model at step {n}, reward: {n}.5\n" for n in range(1, 9))
    read = parse_every_way(ConsoleParser, saved.encode())
    assert read.values("reward") == [n + 0.5 for n in range(1, 9)]
