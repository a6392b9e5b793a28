"""Names that scripts use for two things: the first values show which of them is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import WatchedDirectory


def meanings(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str | None]:
    """tag -> concept, as `check --json` has them."""
    main(["check", "--json", "--no-cache", str(folder)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return {metric["tag"]: metric["concept"] for metric in run["metrics"]}


def write_table(path: Path, header: str, rows: list[str]) -> Path:
    """A table of a script of somebody's own."""
    path.write_text("\n".join([header, *rows, ""]))
    return path


@pytest.mark.parametrize(
    ("first", "last", "entropy"),
    [(-1.38, -0.4, 0.4), (1.38, 0.4, 0.4), (-1.42, 0.3, -0.3), (0.012, 0.004, None)],
    ids=["minus", "plain", "a narrow Gaussian at the end", "times a coefficient"],
)
def test_an_entropy_loss_has_the_sign_of_an_untrained_policy(
    first: float,
    last: float,
    entropy: float | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whose entropy is positive; a first value near zero tells nothing."""
    course = [first + (last - first) * i / 39 for i in range(40)]
    rows = [f"{i},{20 + i},{value:.4f}" for i, value in enumerate(course, 1)]
    write_table(tmp_path / "train.csv", "update,reward,entropy_loss", rows)
    expected = None if entropy is None else "entropy"
    assert meanings(tmp_path, capsys)["entropy_loss"] == expected
    if entropy is not None:
        watched = WatchedDirectory(tmp_path)
        watched.finish()
        (run,) = watched.session.runs.values()
        assert run.evaluation.timeline.tracks["entropy"].values[-1] == pytest.approx(entropy)


STEPS: dict[str, tuple[list[float], str]] = {
    "of each episode": ([120, 80, 200, 150, 90, 110, 95, 130], "ep_len"),
    "of episodes that end at the limit": ([200] * 8, "ep_len"),
    "of episodes that grow": ([9, 10, 12, 11, 14, 18, 25, 40], "ep_len"),
    "of several episodes, as a mean": ([12.3, 13.2, 13.3, 14, 14.5, 15, 15.5, 16], "ep_len"),
    "so far": ([120, 200, 400, 550, 640, 750, 845, 975], "step"),
    "so far, one of them logged again": ([120, 200, 200, 550, 640, 750, 845, 975], "step"),
}


@pytest.mark.parametrize("name", ["steps", "step", "Frame"])
@pytest.mark.parametrize("case", STEPS)
def test_steps_beside_episodes(
    case: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A count of all so far only rises; lengths fall or repeat."""
    steps, concept = STEPS[case]
    rows = [f"{i},{20 + i % 3},{count}" for i, count in enumerate(steps, 1)]
    write_table(tmp_path / "train.csv", f"episode,reward,{name}", rows)
    assert meanings(tmp_path, capsys)[name] == concept


@pytest.mark.parametrize(
    ("lengths", "concept"), [([0, 9, 12.5, 14], "ep_len"), ([0, 0.571, 0.8, 0.133], None)]
)
def test_a_length_below_one_step_is_none(
    lengths: list[float], concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`len={length_bonus:+.3f}`, a part of a reward; 0 stands before the first episode is over."""
    rows = [f"{i},{20 + i},{length}" for i, length in enumerate(lengths * 3, 1)]
    write_table(tmp_path / "train.csv", "update,reward,len", rows)
    assert meanings(tmp_path, capsys)["len"] == concept


@pytest.mark.parametrize("length", ["EpisodeAveLength", "MaxKL"])
def test_steps_and_episodes_of_a_batch(
    length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both rise and fall together: neither is an episode's length or number."""
    counts = [(25, 327), (1911, 34317), (1392, 45526), (764, 43427), (439, 36454), (301, 31014)]
    rows = [f"{20 + i},0.01,{episodes},{steps}" for i, (episodes, steps) in enumerate(counts)]
    write_table(tmp_path / "train.csv", f"MeanReward,{length},Episodes,Timesteps", rows)
    found = meanings(tmp_path, capsys)
    assert (found["Episodes"], found["Timesteps"]) == ("n_episodes", None)


def test_episodes_that_end_out_of_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of environments side by side: each has its number and its length."""
    rows = [f"{episode},{20 + episode},{9 * episode % 7}" for episode in (1, 4, 2, 3, 6, 5, 8, 7)]
    write_table(tmp_path / "train.csv", "Episode,Total Reward,Steps", rows)
    found = meanings(tmp_path, capsys)
    assert (found["Episode"], found["Steps"]) == ("episode", "ep_len")


def test_a_name_that_says_length_is_left_the_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then `steps` is something else, whatever its values do."""
    rows = [f"{i},{20 + i % 3},{5 + i % 2},{100 - i}" for i in range(1, 12)]
    write_table(tmp_path / "train.csv", "episode,reward,ep_len,steps", rows)
    found = meanings(tmp_path, capsys)
    assert (found["ep_len"], found["steps"]) == ("ep_len", "step")


def test_a_log_that_grows_ends_as_one_that_is_read_at_once(tmp_path: Path) -> None:
    """The third episode is the first shorter one: what was judged before it is judged again."""
    path = write_table(tmp_path / "train.csv", "episode,reward,steps", ["1,20,80", "2,21,120"])
    watched = WatchedDirectory(tmp_path)
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    assert "ep_len" not in run.evaluation.timeline.tracks
    with path.open("a") as log:
        log.write("3,22,90\n4,20,130\n")
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    assert list(run.evaluation.timeline.tracks["ep_len"].values) == [80.0, 120.0, 90.0, 130.0]


def test_steps_without_an_episode_that_rise_and_fall_are_lengths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script logs the steps and the reward of each episode, and no number of it."""
    lengths = [3562, 1518, 487, 325, 611, 94, 120, 84, 97, 88]
    write_table(tmp_path / "train.csv", "step,rewards", [f"{n},{-n}" for n in lengths])
    assert meanings(tmp_path, capsys) == {"step": "ep_len", "rewards": "reward_mean"}


@pytest.mark.parametrize(
    ("header", "concept"),
    [
        ("update,return,length", "ep_len"),
        ("update,return,Lengths", "ep_len"),
        ("update,loss,length", None),
        ("update,return,ep_len,length", None),
    ],
)
def test_a_length_beside_a_reward_is_that_of_an_episode(
    header: str, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Alone it may be of anything."""
    names = header.split(",")
    rows = [",".join([str(n), *["5.5"] * (len(names) - 1)]) for n in range(1, 9)]
    write_table(tmp_path / "train.csv", header, rows)
    assert meanings(tmp_path, capsys)[names[-1]] == concept


@pytest.mark.parametrize(
    ("course", "concept"), [(("1", "0.95"), "exploration_rate"), (("1", "2"), None)]
)
def test_e_is_epsilon_unless_it_counts(
    course: tuple[str, str],
    concept: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`episode: 3/1000, score: 21, e: 0.95` of keon's deep-q-learning; others number episodes."""
    rows = [f"{n},{20 + n},{value}" for n, value in enumerate(course, 1)]
    write_table(tmp_path / "train.csv", "update,score,e", rows)
    assert meanings(tmp_path, capsys)["e"] == concept


@pytest.mark.parametrize(
    ("more", "concept"),
    [("", "ref_kl_token"), ("entropy", "approx_kl"), ("value_loss", "approx_kl"),
     ("episode_length", "approx_kl")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["kl", "kl_divergence", "avg_kl"])
def test_kl_beside_nothing_of_control_is_to_the_reference(
    more: str, name: str, concept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A GRPO loop of one's own prints `{"loss": 0.1, "reward": 0.4, "kl": 0.02}`."""
    rows = [f"{n},0.1,0.{n},0.02,{20 + n}" for n in range(1, 9)]
    write_table(tmp_path / "train.csv", f"step,loss,reward,{name},{more or 'seconds'}", rows)
    assert meanings(tmp_path, capsys)[name] == concept


def test_a_step_of_several_rows_is_no_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the five episodes of each evaluation: what comes again is the step of the training."""
    rows = [f"{1000 * n},{k},{n}.5" for n in range(8) for k in range(5)]
    write_table(tmp_path / "eval.csv", "step,episode,eval_return", rows)
    assert meanings(tmp_path, capsys)["step"] == "step"


def test_losses_beside_wins_are_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`Wins: 7, Losses: 2` of a game against another player; alone they are a loss."""
    table = write_table(tmp_path / "train.csv", "update,Wins,Losses", ["1,7,2", "2,8,1"])
    assert meanings(tmp_path, capsys)["Losses"] is None
    write_table(table, "update,Losses", ["1,0.5", "2,0.25"])
    assert meanings(tmp_path, capsys)["Losses"] == "total_loss"


def test_a_spread_beside_a_mean_is_not_the_policys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`Mean: 0.25 - Std: 0.36` of the scores of a reward model."""
    rows = [f"{n},0.25,0.3{n}" for n in range(1, 9)]
    write_table(tmp_path / "train.csv", "update,Mean,Std", rows)
    assert meanings(tmp_path, capsys)["Std"] is None


@pytest.mark.parametrize(
    ("beside", "concept"), [("Epsilon", None), ("entropy", "entropy_coef"), ("fps", "entropy_coef")]
)
def test_alpha_beside_an_exploration_rate_is_no_entropy_bonus(
    beside: str, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In Q-learning it is the learning rate, in a prioritised buffer an exponent."""
    rows = [f"{n},0.1,0.9{n},{n}.5" for n in range(1, 9)]
    write_table(tmp_path / "train.csv", f"Episode,Alpha,{beside},TotalReward", rows)
    assert meanings(tmp_path, capsys)["Alpha"] == concept


@pytest.mark.parametrize(("sign", "concept"), [(1, "critic_loss"), (-1, None)])
def test_an_error_of_either_sign_is_no_loss(
    sign: int, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mean TD error of a batch; its square or size is what falls."""
    rows = [f"{n},{n}.5,{0.5 / n * sign**n}" for n in range(1, 9)]
    write_table(tmp_path / "train.csv", "episode,reward,TD Error", rows)
    assert meanings(tmp_path, capsys)["TD Error"] == concept


@pytest.mark.parametrize(("ratio", "concept"), [(1.4, None), (0.4, "clip_fraction")])
def test_a_fraction_above_one_is_a_setting(
    ratio: float, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`clip_ratio` is 1 + the clip range in some scripts, the part of clipped samples in others."""
    rows = [f"{n},{n % 7}.5,{ratio}" for n in range(1, 40)]
    write_table(tmp_path / "train.csv", "episode,reward,clip_ratio", rows)
    assert meanings(tmp_path, capsys)["clip_ratio"] == concept


@pytest.mark.parametrize(
    ("counts", "concept"),
    [
        ([8, 4, 4, 4, 4, 4], "n_episodes"),
        ([4, 5, 6, 4, 5, 6], "episode"),
        ([3, 0, 0, 0], "episode"),
    ],
)
def test_episodes_that_fall_and_stay_are_those_of_a_batch(
    counts: list[int], concept: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A training that begins anew counts on, and may begin with several rows before the first."""
    rows = [f"{n},{episodes},{n}.5" for n, episodes in enumerate(counts)]
    write_table(tmp_path / "train.csv", "iteration,episodes,reward", rows)
    assert meanings(tmp_path, capsys)["episodes"] == concept


@pytest.mark.parametrize(
    ("header", "name", "concept"),
    [
        ("update,R,entropy", "R", "reward_mean"),
        ("step,eps,r,loss", "r", "reward_mean"),
        ("step,eps,r,r_ma", "r_ma", "reward_mean"),
        ("update,reward,R,entropy", "R", None),
        ("epoch,P,R,loss", "R", None),
    ],
)
def test_an_r_beside_what_only_rl_logs_is_the_reward(
    header: str, name: str, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a precision it is the recall, say."""
    count = header.count(",")
    rows = [",".join([str(i), *[f"0.{i}"] * count]) for i in range(1, 9)]
    write_table(tmp_path / "train.csv", header, rows)
    assert meanings(tmp_path, capsys)[name] == concept


@pytest.mark.parametrize(
    ("steps", "name", "concept"),
    [
        (range(500, 530), "REWARD", None),
        (range(500, 530), "Reward_Mean", "reward_mean"),
        (range(500, 30_500, 1000), "REWARD", "reward_mean"),
    ],
    ids=["of each step", "a mean, at each step", "of some steps"],
)
def test_a_reward_at_every_timestep_is_not_an_episode_s(
    steps: range,
    name: str,
    concept: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It would be judged as a course: the DQN that learns Flappy Bird prints 0.1 while it flies.

    After yenchenlin/DeepLearningFlappyBird, `deep_q_network.py` (trainNetwork).
    """
    lines = [
        f"TIMESTEP {step} / STATE observe / EPSILON 0.03 / {name} {-1 if step % 9 == 0 else 0.1}"
        for step in steps
    ]
    (tmp_path / "dqn.log").write_text("\n".join([*lines, ""]))
    found = meanings(tmp_path, capsys)
    assert found[name] == concept
    assert found["EPSILON"] == "exploration_rate"


@pytest.mark.parametrize(
    ("name", "per_step", "concept"),
    [
        ("EpisodeReward", 0.5, None),
        ("Reward", 0.5, None),
        ("mean_reward", 0.5, "reward_mean"),
        ("EpisodeReward", 0.0, "reward_mean"),
    ],
    ids=["summed up", "of each step", "a mean of others", "of the last episode"],
)
def test_a_reward_up_to_each_step_is_not_an_episode_s(
    name: str,
    per_step: float,
    concept: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It would fall with each episode that begins: a collapse that is none.

    After StephenHornish/POEM, whose callback writes a row at each step of an episode.
    """
    rows = [f"{episode},{step},{20 + per_step * step}" for episode in (1, 2) for step in range(30)]
    write_table(tmp_path / "step_rewards.csv", f"Episode,Step,{name}", rows)
    assert meanings(tmp_path, capsys)[name] == concept


@pytest.mark.parametrize("score", [",Score", ""], ids=["beside a score", "alone"])
def test_a_reward_beside_an_action_is_that_of_one_step(
    score: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is always 1 in CartPole: the task is not solved, unless an episode's score says so."""
    rows = [
        f"{n},{n % 2},1.0{',' * bool(score)}{n if score and not n % 20 else ''}" for n in range(400)
    ]
    write_table(tmp_path / "training_log.csv", f"step,action,reward{score}", rows)
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    rewards = {
        each["tag"]: each["row"] for each in run["metrics"] if each["concept"] == "reward_mean"
    }
    assert rewards == ({"Score": None} if score else {"reward": "step"})
    assert "at-ceiling" not in {each["rule"] for each in run["findings"]}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("episode_rewards", "episode"),
        ("rewards_per_episode", "episode"),
        ("mean_episode_rewards", "update"),
        ("rewards", "update"),
    ],
)
def test_a_list_that_is_named_after_episodes_holds_one_a_row(
    name: str, row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever says no step is counted: in episodes where its name says so, in messages, too."""
    (tmp_path / f"{name}.txt").write_text("".join("-21.0\n" for _ in range(300)))
    main(["check", "--json", "--no-cache", "--ended", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["progress"]["axis"], run["progress"]["row"]) == (row, row)
    (message,) = {f["message"] for f in run["findings"] if f["rule"] == "reward-never-moves"}
    assert message.endswith(f"in the first 300 {row}s")
    main(["export", "--format", "jsonl", "--source", "all", str(tmp_path)])
    assert {json.loads(line)["axis"] for line in capsys.readouterr().out.splitlines()} == {row}
