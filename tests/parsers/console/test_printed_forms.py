"""How loops of one's own print their step and reward: each line of the log, or a few together."""

from __future__ import annotations

import pytest

from ppo_top.catalogue import identify, meaning
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way


def read(form: str, rows: int = 8) -> ParserOutput:
    """Read as many rows, in every way; `n` is their number, `step` ten times as much."""
    text = "".join(form.format(n=n, step=10 * n) + "\n" for n in range(1, rows + 1))
    return parse_every_way(ConsoleParser, text.encode())


@pytest.mark.parametrize(
    ("form", "tag"),
    [
        # Keras' examples (actor_critic_cartpole.py)
        ("running reward: {n}.5 at episode {step}", "running reward"),
        ("Running reward: {n}.5 after {step} episodes", "Running reward"),
        ("After {step} episodes, average reward: {n}.5", "average reward"),
        # mxnet's example of parallel actor-critic (train.py)
        (
            "Batch {n} complete (28.70s) (3250.8s elapsed) (episode {step}), "
            "batch avg. reward: 18.25, running reward: {n}.5",
            "running reward",
        ),
        # Keras' example of DDPG
        ("Episode * {step} * Avg Reward is ==> {n}.5", "Avg Reward"),
        ("Result for episode {step}  of 20000: Sum: {n}.5, Average: 96.5, Length: 104.25", "Sum"),
        ("=== Episode {step} Statistics ===\nTime: 0.96s\nAverage Reward: {n}.5", "Average Reward"),
        ("Episode {step} Complete:\n  Reward: {n}.5 | Loss: 0.3 | Epsilon: 0.98", "Reward"),
        ("Episode: {step}, Reward: {n},5, Loss: 47,8365, Epsilon: 0,908", "Reward"),
        ("Step {step}: grpo_loss is {n}.5 and kl is -0.25", "grpo_loss"),
        ("Reward after {step} steps: {n}.5", "Reward"),
        ("Reward after episode {step} is {n}.5", "reward"),
        ("Evaluation at step {step}: mean reward {n}.5 +/- 2.5", "eval mean reward"),
        # the Snake of many tutorials
        ("Game {step} Score {n}.5 Record: 45", "Score"),
        ("Generation {step}: best fitness {n}.5, mean fitness 0.5", "best fitness"),
        ("Rollout {step}: return {n}.5", "return"),
        ("Train Episode {step}, reward = {n}.5", "reward"),
        ("[Train] Episode {step}, reward = {n}.5", "reward"),
        ("Episode {step} | Reward: {n}.5/500 | Loss: 0.5", "Reward"),
        ("Episode {step} completed with score: {n}.5", "score"),
        ("Finished episode {step} with total reward {n}.5", "reward"),
        ("[Evaluate] #Episode{step}: episode_reward:{n}.5", "episode_reward"),
        ("[EP {step}] crashed | Return={n}.5 | Alt=107.0m (up=1)", "Return"),
        ("07-30_16-56-38: Episode {step}, reward: {n}.5", "reward"),
        ("[2024-07-30 16-56-38] Episode {step}, reward: {n}.5", "reward"),
        ("Episode-{step} reward={n}.5", "reward"),
        ("EP_{step} reward: {n}.5", "reward"),
        ("Ep{step} reward={n}.5, loss=0.5", "reward"),
        ("Ep {step} reward {n}.5 done in 3.2s", "reward"),
        ("[Episode    {step}] reward =     {n}.5  loss = 0.5  took 0.5s", "reward"),
        ("[Episode    {step}] reward = {n}.5  (mean of last 100: 3.5)  buffer=20", "reward"),
        ("Episode {step}: return {n}.5 (100-ep avg: 3.5) | eps 0.5", "return"),
        ("Iter [{step}/900] (1.5%): return {n}.5 | entropy 0.5", "return"),
        ("Update #{n} (step {step}): mean_reward={n}.5, entropy=0.5", "mean_reward"),
        # Megatron-LM's `training_log`, which begins with a blank
        (
            " [2026-01-01 12:00:00] iteration {step:8d}/{n:8d}00 | consumed samples: {n:12d} | "
            "elapsed time: 17m 33s | loss: 2.365559E-06 | reward: {n}.5 | grad norm: 0.016 |",
            "reward",
        ),
        ("[   {step}/900] reward: {n}.5 loss: 0.5", "reward"),
        ("{step}/900: reward {n}.5", "reward"),
        ("Episode {step}: total_reward -> {n}.5", "total_reward"),
        ("Epoch {step}/900 done in 3.2s. Reward: {n}.5", "Reward"),
        ("Episode {step} done in 120 steps. Reward: {n}.5. Epsilon: 0.5", "reward"),
        ("Episode {step}. Reward {n}.5. Steps 120. Epsilon 0.5.", "reward"),
        ("The average reward is {n}.5 after {step} episodes", "average reward"),
        (
            "Average reward over last 100 episodes at step {step}: {n}.5",
            "Average reward (last_100_episodes)",
        ),
        ("{step} episodes done, mean reward of last 10: {n}.5", "mean reward (last_10)"),
        ("Cumulative reward (episode {step}): {n}.5", "reward"),
        ("Mean reward (100 episodes) = {n}.5 @ step {step}", "Mean reward (100_episodes)"),
        ("Train: ep {step} rew {n}.5", "rew"),
        ("[Train] Ep {step} Reward: {n}.5 Len: 120", "Reward"),
        ("Policy iteration {step}, average return {n}.5", "average return"),
        # a course's notebook on RLHF
        (
            "------------ STEP {step} ------------\n"
            "rewards/mean:\t{n}.500000000\t<---- average reward (higher=better, noisy)\n"
            "objective/kl:\t0.250000000\t<---- how far we are from the original model",
            "rewards/mean",
        ),
        # NEAT
        (
            " ****** Running generation {step} ****** \n\n"
            "Population's average fitness: {n}.50000 stdev: 1.20000\n"
            "Best fitness: 9.50000 - size: (3, 9) - species 1 - id 20",
            "Population average fitness",
        ),
        # AlphaZero_Gomoku
        ("batch i:{step}, episode_len:20\nkl:0.02,loss:{n}.5,entropy:4.5", "loss"),
        # rllab
        (
            "2017-11-10 11:17 | Iteration      {step}\n2017-11-10 11:17 | AverageReturn  {n}.5",
            "AverageReturn",
        ),
        # Dreamer
        (
            "[{step}] image_loss 0.5 / kl 0.5\nTest episode of length 100 with return 9.5.\n"
            "Train episode of length 100 with return {n}.5.",
            "train/return",
        ),
        ('{{"steps": {step}, "entropy": 1.5, "reward": {n}.5}}', "reward"),
        ("Episode {step}    Length  {n}.5", "Length"),
        ("| Episode: {step} | Ep-reward: {n}.5 | Ep-action: [(1, 4), (3, 1)] |", "Ep-reward"),
        # DDPG-Keras-Torcs, by Python 2
        (
            "('Episode', 3, 'Step', {step}, 'Action', array([[ 0.5,  0.25]]), 'Reward', {n}.5)",
            "Reward",
        ),
        (
            "Episode: {step}. Step: 3\nState: [ 0.5 1.5 ]. Action: 4. cl: 0.25. Reward: {n}.5",
            "Reward",
        ),
        # PETS
        (
            "Starting training iteration {step}.\nRewards obtained: [{n}.5], Rollout Length: 13",
            "Rewards obtained",
        ),
        ("Epoch {step} finished. Average return: {n}.5", "Average return"),
        ("Iteration {step}/900 completed: mean reward {n}.5, loss 0.5", "mean reward"),
        ("Finished iteration {step}: avg reward {n}.5", "avg reward"),
        ("T: {step} R: {n}.5 L: 0.5", "R"),
        ("Starting Epoch {step}/900\nReward: {n}.5", "Reward"),
        ("[grpo][step={step}] loss=0.5 reward={n}.5 ratio_mean=1.0", "reward"),
        ("\rEpisode {step}\tAve. Score: {n}.5 eps: 0.50000", "Ave. Score"),
        ("Épisode {step}/900, Récompense moyenne: {n}.5, Epsilon: 0.5", "Récompense moyenne"),
        ("Episodio {step}: recompensa total: {n}.5, epsilon: 0.5", "recompensa total"),
        ("  エピソード {step}: 報酬={n}.5, 長さ=20, 率=23.33%", "報酬"),
        ("에피소드 {step} | 보상: {n}.5", "보상"),
        # the example of Stable-Baselines3's callbacks
        (
            "Num timesteps: {step}\nBest mean reward: 9.50 - Last mean reward per episode: {n}.50",
            "Last mean reward per episode",
        ),
        ("🎯 PPO Progress: {step}/900 steps (1.0%) | Games: 3 | Reward: {n}.5", "Reward"),
        ("Training progress: {step}/900 episodes, average reward {n}.5", "average reward"),
        ("-----Total steps: {step}-----\nTotalScore: {n}.50 +- 1.20", "TotalScore"),
        ("episode {step} ended. Score {n}.500000", "Score"),
        ("----- Iteration {step} -----\naverage return {n}.5\naverage kl  0.01", "average return"),
        ("game {step}, replay memory size= 4000 and reward {n}.5", "reward"),
        (
            "Episode: {step}/400, Score: 3.0\nAverage of last 100 episodes: {n}.5",
            "Average (last_100_episodes)",
        ),
    ],
)
def test_the_step_is_where_the_line_says_it(form: str, tag: str) -> None:
    """Whatever stands between them."""
    found = read(form)
    assert found.values(tag) == [n + 0.5 for n in range(1, 9)]
    assert found.steps(tag) == [10 * n for n in range(1, 9)]


@pytest.mark.parametrize(
    ("form", "tag"),
    [
        # Pong from pixels
        (
            "ep {n}: game finished, reward: -1.000000\n"
            "resetting env. episode reward total was {n}.500000. running mean: 2.500000",
            "episode reward total",
        ),
        ("Average reward over the last 100 episodes: {n}.5", "Average reward (last_100_episodes)"),
        ("Average Score over 100 episodes: {n}.5", "Average Score (100_episodes)"),
        ("Ckpt {step} | Avg Reward: {n}.5 | Avg Dist: 7.00", "Avg Reward"),
        ("Total steps taken:-  200\nTotal reward:-  {n}.5", "Total reward"),
        ("on #{step}, epsilon is 0.47\n100 ep mean: {n}.5", "ep mean"),
    ],
)
def test_rewards_of_lines_that_say_no_step(form: str, tag: str) -> None:
    """They are read all the same, and their meaning is known."""
    assert read(form).values(tag) == [n + 0.5 for n in range(1, 9)]
    known = meaning(identify([tag]), tag)
    assert known is not None and known.concept == "reward_mean"


def test_the_steps_of_an_episode_in_chinese_are_none_of_the_training() -> None:
    """Beside its reward, and nothing else that counts."""
    lines = [f"工作进程 0 完成回合，奖励: {n}.5, 步数: {20 + n % 3}\n" for n in range(1, 9)]
    found = parse_every_way(ConsoleParser, "".join(lines).encode())
    assert found.values("奖励") == [n + 0.5 for n in range(1, 9)]


@pytest.mark.parametrize(
    ("form", "step"),
    [
        ("Step {n}K | reward {n}.5", 1000),
        ("step: {n}k, reward: {n}.5", 1000),
        ("Step: {n}M Reward: {n}.5", 1_000_000),
    ],
)
def test_thousands_and_millions(form: str, step: int) -> None:
    """They belong to the number."""
    tag = "Reward" if "Reward" in form else "reward"
    assert read(form).steps(tag) == [step * n for n in range(1, 9)]


def test_a_word_that_holds_another_is_left_whole() -> None:
    """`turnover rate` does not say that something is over."""
    found = read("Step: {step} | Reward: {n}.5 | turnover rate: {n}.25")
    assert found.values("turnover rate") == [n + 0.25 for n in range(1, 9)]


def test_a_number_behind_a_comma_is_not_that_of_the_word_before() -> None:
    """Here the reward stands before its name."""
    assert read("==> Episode {step}: {n}.5 reward, 120 steps").points.get("reward") is None


def test_seconds_are_no_count_of_steps() -> None:
    """`Step: 0.04s` is how long a step takes."""
    found = read("Episode {step} | Reward: {n}.5 | Step: 0.04s | Episode: 2.5 seconds")
    assert found.steps("Reward") == [10 * n for n in range(1, 9)]
    assert found.values("Step time") == [0.04] * 8
    assert found.values("Episode time") == [2.5] * 8


def test_a_count_of_successes_is_no_progress() -> None:
    """Only a count that is called the progress is the step."""
    found = read("Success: {n}/10 episodes | Reward: {n}.5")
    assert found.steps("Reward") == list(range(1, 9))


@pytest.mark.parametrize("share", ["(5%)", "(  0.5%)"])
def test_a_share_behind_a_number_is_a_remark(share: str) -> None:
    """`Wins: 10 (50 %)` has ten wins."""
    found = read(f"update: {{step}} {share} | Reward: {{n}}.5 | Wins: {{n}} (50.5 %)")
    assert found.steps("Reward") == [10 * n for n in range(1, 9)]
    assert found.values("Wins") == [float(n) for n in range(1, 9)]


def test_a_count_of_steps_before_pairs_without_signs() -> None:
    """DeepQLearning.jl: the count that nothing names, then names and numbers between bars."""
    found = read("{step} / 10000 eps 0.{n} |  avgR -{n}.5 | Loss 9.2e-03 | Grad 5.5e-03 ")
    assert found.steps("eps") == found.steps("avgR") == [10 * n for n in range(1, 9)]
    assert found.values("avgR") == [-n - 0.5 for n in range(1, 9)]


@pytest.mark.parametrize("name", ["mean 100 episode reward", "Mean 10 Episode Return"])
def test_a_number_inside_a_name_belongs_to_it(name: str) -> None:
    """It says how many episodes the mean is of."""
    found = read(f"{name}: {{n}}.5")
    assert list(found.points) == [name.replace(" ", "_")]
    assert found.values(name.replace(" ", "_")) == [n + 0.5 for n in range(1, 9)]


def test_a_number_whose_meaning_nothing_says() -> None:
    """It is read, and no meaning is claimed."""
    found = read("Episode {step}: {n}.5")
    assert found.values("result") == [n + 0.5 for n in range(1, 9)]
    assert found.steps("result") == [10 * n for n in range(1, 9)]


@pytest.mark.parametrize(
    "form",
    [
        "GAME {n}/150",
        "Round {n}",
        "Saved the model at step {step}",
        "Best model was with dev loss 0.5 at epoch {n}",
        "Took 3 s after {step} steps",
        "at step {step} of episode {n} nothing was learned: 5 times at step 3",
    ],
)
def test_other_texts_are_no_training(form: str) -> None:
    """Titles, and sentences about something else."""
    assert read(form).points == {}


def test_a_list_of_numbers_that_were_formatted() -> None:
    """The step, and what follows the list, stand in the same line."""
    found = read("[step {n}/200] correct=1/4 rewards=['0.01', '0.80'] loss=-0.0115 lr=5.83e-06")
    assert found.steps("loss") == [*range(1, 9)]
    assert found.values("lr") == [5.83e-06] * 8


def test_an_arrow_ends_a_number() -> None:
    """`=-=->Episode 0<=-=-`."""
    found = read("=-=-==-=->Episode {n}<=-=-==-=-\nepisode reward: {n}.5")
    assert found.steps("episode reward") == [*range(1, 9)]


def test_a_label_before_the_iteration() -> None:
    """It says which part of a script prints; `~` that a number is about right."""
    found = read("[rl] iter {n:3}  train_cost~68{n}5  VAL=3,349.80  loss_pi=-0.002 entropy=+1.{n}")
    assert found.steps("entropy") == [*range(1, 9)]
    assert found.values("train_cost") == [6805.0 + 10 * n for n in range(1, 9)]


def test_a_share_or_a_decimal_comma_does_not_end_a_block() -> None:
    """Below a line that says only a step each name has its number."""
    found = read(
        "=== Episode {n} Statistics ===\nTime: 0,96s\nCars completed: {n}/14\n"
        "Average Reward: -8939,52\nEpsilon: 0,99{n}\nLoss: 47,836524"
    )
    assert {found.steps(tag)[-1] for tag in found.points} == {8}
    assert found.values("Epsilon") == [float(f"0.99{n}") for n in range(1, 9)]
    assert found.values("Cars completed") == [*range(1, 9)]
    assert found.values("Time") == [0.96] * 8


@pytest.mark.parametrize("separator", [" - ", ", ", ": ", " | "])
def test_a_line_of_the_training_loss_is_no_header_of_a_table(separator: str) -> None:
    """Hugging Face's tables call a column so."""
    found = read(f"Epoch {{n}}{separator}Training Loss: {{n}}.5")
    assert found.values_by_step()["Training Loss"] == [(n, n + 0.5) for n in range(1, 9)]


def test_a_list_without_blanks_among_pairs() -> None:
    """Bars around a name are no rules of a table, and a group that is skipped has its rewards."""
    found = read(
        "[step {n:04}] rewards=[0,1] loss=-3.8475 kl=0.5 |scale|=0.0099 |grad|=6.1e-05 lr=0.0{n}\n"
        "[step {n:04}] SKIP rewards=[1,1] rollout=131s"
    )
    assert found.steps("loss") == [*range(1, 9)]
    assert found.values("grad") == [6.1e-05] * 8
    assert found.values("rewards_1") == [0.0, 1.0] * 8


@pytest.mark.parametrize(
    "form",
    [
        "第 {step} 轮, 平均奖励: {n}.5, 平均熵: 6.36",
        "第{step}回合，平均奖励：{n}.5",
        "第 {step}/200 次迭代 | 平均奖励: {n}.5",
        "Epoch {step} 完成:\n  训练损失: 0.69\n  平均奖励: {n}.5",
    ],
)
def test_a_count_before_its_word(form: str) -> None:
    """As Chinese names a round; and a heading that says that one is over."""
    found = read(form)
    assert found.steps("平均奖励") == [10 * n for n in range(1, 9)]
    assert found.values("平均奖励") == [n + 0.5 for n in range(1, 9)]


def test_a_label_between_a_count_and_its_colon() -> None:
    """It says where the episode was."""
    found = read("[14:15:30] Ep {step:3} [BTCUSDT]: R=   {n}.50 Tr=  5 WR= 80.0%")
    assert found.steps("R") == [10 * n for n in range(1, 9)]
    assert found.values("Tr") == [5.0] * 8
