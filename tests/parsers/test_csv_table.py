"""CSV and tab-separated logs, against Python's own csv module."""

from __future__ import annotations

import csv
import io
import math
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.model import State
from ppo_top.parsers import detect_format
from ppo_top.parsers.base import Format
from ppo_top.parsers.csv_table import FORMATS, CsvParser
from ppo_top.parsers.shared.tables import plain_rows, table_claims
from tests.support.parser_harness import cut_at, feed_parser, parse_every_way

HERE = Path(__file__).parents[2]
SB3 = sorted((HERE / "demo_logs").rglob("progress.csv")) + sorted(
    (HERE / "tests" / "data").glob("sb3*/*/progress.csv")
)


def oracle(text: str, step: str, delimiter: str = ",") -> dict[str, list[tuple[int, float]]]:
    """Every number of a table by column, as the csv module reads it."""
    table: dict[str, list[tuple[int, float]]] = {}
    for row in csv.DictReader(io.StringIO(text), delimiter=delimiter):
        for tag, cell in row.items():
            try:
                value = float(cell)
            except ValueError:
                continue
            table.setdefault(tag, []).append((int(float(row[step])), value))
    return table


@pytest.mark.parametrize("path", SB3, ids=lambda path: path.parent.name)
def test_sb3_agrees_with_the_csv_module(path: Path) -> None:
    """Number by number, empty cells absent, steps from time/total_timesteps."""
    read = parse_every_way(CsvParser, path.read_bytes())
    assert repr(read.values_by_step()) == repr(
        {tag: oracle(path.read_text(), "time/total_timesteps")[tag] for tag in read.points}
    )
    assert set(read.points) == set(oracle(path.read_text(), "time/total_timesteps"))
    assert read.problems == []


def test_spinning_up_agrees_with_the_csv_module() -> None:
    """Tabs part the columns; the step is TotalEnvInteracts."""
    path = HERE / "tests/data/spinup_038665d/ppo/progress.txt"
    read = parse_every_way(CsvParser, path.read_bytes())
    expected = oracle(path.read_text(), "TotalEnvInteracts", "\t")
    assert repr(read.values_by_step()) == repr({tag: expected[tag] for tag in read.points})
    assert set(read.points) == set(expected)
    assert table_claims.claims("progress.txt", path.read_bytes()[:4096]) is True


def test_rllib_progress() -> None:
    """Step: environment steps; settings are configuration; `done` ends the run; times are unix."""
    path = next((HERE / "tests/data/rllib_2.60.0").rglob("progress.csv"))
    read = parse_every_way(CsvParser, path.read_bytes())
    tag = "env_runners/episode_return_mean"
    expected = oracle(path.read_text(), "num_env_steps_sampled_lifetime")
    assert read.values_by_step()[tag] == expected[tag]
    assert all(time > 1.7e9 for time in read.times(tag))
    assert not any(each.startswith("config/") for each in read.points)
    assert read.ended is not None
    assert read.ended.state is State.FINISHED


def test_rllib_lists_of_episodes_are_no_curve() -> None:
    """`hist_stats/episode_reward` holds the last episodes' rewards: a list of one at first."""
    header = "timesteps_total,episode_reward_mean,hist_stats/episode_reward\n"
    rows = '4000,-20.0,[-20.0]\n8000,-19.0,"[-20.0, -18.0]"\n12000,-18.5,"[-20.0, -18.0, -17.5]"\n'
    read = parse_every_way(CsvParser, (header + rows).encode())
    assert read.values_by_step()["episode_reward_mean"] == [
        (4000, -20.0),
        (8000, -19.0),
        (12000, -18.5),
    ]
    assert "hist_stats/episode_reward" not in read.points


HEADER = b"time/total_timesteps,train/loss,train/kl\n"


def test_missing_and_odd_cells() -> None:
    """An empty cell is no point; nan and inf are points; words and booleans are none."""
    data = HEADER + b"1,,nan\n2,inf,\n3,abc,True\n4,-0.5,1e-3\n"
    read = parse_every_way(CsvParser, data)
    assert read.values_by_step()["train/loss"] == [(2, math.inf), (4, -0.5)]
    assert read.steps("train/kl") == [1, 4]
    assert math.isnan(read.values("train/kl")[0])
    assert read.problems == []


def test_a_row_without_its_end_waits() -> None:
    """The last digits may still come: an unfinished row is not given, not even at the end."""
    read = parse_every_way(CsvParser, HEADER + b"1,0.5,0.1\n2,0.2")
    assert read.steps("train/loss") == [1]


def test_quoted_words_with_anything_inside() -> None:
    """SB3 quotes every string: delimiters, quotes and line ends in them are no structure."""
    data = b'time/total_timesteps,note,train/loss\n1,"a,""b""\nc",0.5\n2,"",0.25\n'
    read = parse_every_way(CsvParser, data)
    assert read.values_by_step()["train/loss"] == [(1, 0.5), (2, 0.25)]


def test_a_quote_that_is_never_closed_costs_no_memory() -> None:
    """What a stray quote swallows is bounded and reported; reading continues after it."""
    data = HEADER + b'1,"' + b"x,\n" * 100 + b"10,0.5,0.25\n"
    read = parse_every_way(lambda: CsvParser(max_line_bytes=64), data)
    assert read.steps("train/kl")[-1:] == [10]
    assert read.problems


def test_rows_longer_than_the_header_are_reported() -> None:
    """A row that does not fit is a problem with its offset, not a guess."""
    data = HEADER + b"1,0.5,0.1\n2,0.5,0.1,7\n3,0.5,0.1\n"
    read = parse_every_way(CsvParser, data)
    assert read.steps("train/loss") == [1, 3]
    assert [problem.offset for problem in read.problems] == [len(HEADER) + 10]


def test_a_rewritten_file_is_read_again() -> None:
    """A key that appears makes the header longer: a new parser reads the old rows as well."""
    before = HEADER + b"1,0.5,0.1\n"
    after = HEADER[:-1] + b",eval/mean_reward\n1,0.5,0.1,\n2,0.4,0.1,300\n"
    assert parse_every_way(CsvParser, after).values_by_step()["train/loss"] == [(1, 0.5), (2, 0.4)]
    assert parse_every_way(CsvParser, before).values_by_step()["train/loss"] == [(1, 0.5)]
    assert FORMATS[0].rewritten


def test_without_a_step_column_rows_are_counted() -> None:
    """A table of metrics only is placed by its rows."""
    assert parse_every_way(CsvParser, b"loss,reward\n0.5,1\n0.4,2\n").steps("reward") == [1, 2]


def test_only_rows_with_numbers_are_counted() -> None:
    """Not the header once more, as a script that is started again writes it, nor another table."""
    again = b"loss,reward\n0.5,1\nloss,reward\n0.4,2\n,word\n0.3,3\n"
    read = parse_every_way(CsvParser, again)
    assert (read.steps("reward"), read.values("reward")) == ([1, 2, 3], [1, 2, 3])
    between = b"loss,reward,kl\n" + b"0.5,1,0.1\nGateMean,GateMin\n[0.2  0.7],[0.1  0.6]\r\r\n" * 3
    read = parse_every_way(CsvParser, between)
    assert (read.steps("reward"), read.values("reward")) == ([1, 2, 3], [1, 1, 1])
    blank = parse_every_way(CsvParser, b"loss,reward\r\n0.5,1\r\n\r\r\n0.3,3\r\n")
    assert blank.steps("reward") == [1, 2]
    empty = parse_every_way(CsvParser, b"loss,reward\n0.5,1\n,\n0.3,3\n")
    assert empty.steps("reward") == [1, 3]


def test_steps_written_as_floats() -> None:
    """pandas writes 2048.0 where a cell of the column was missing once."""
    data = b"global_step,loss\n" + b"".join(b"%d.0,0.5\n" % k for k in range(50))
    assert parse_every_way(CsvParser, data).steps("loss") == list(range(50))


def test_decimal_commas_between_semicolons() -> None:
    """As spreadsheets of many countries write them."""
    table = "Episode;Reward;Note\n1;-0,5;a,b\n2;1,25e-3;1,2,3\n3;12.5;x\n"
    read = parse_every_way(CsvParser, table.encode())
    assert (read.steps("Reward"), read.values("Reward")) == ([1, 2, 3], [-0.5, 0.00125, 12.5])


def test_windows_line_ends() -> None:
    """Carriage returns before the line feeds belong to neither cell nor row."""
    data = (HEADER + b"1,0.5,0.1\n2,0.4,0.2\n").replace(b"\n", b"\r\n")
    assert parse_every_way(CsvParser, data).values_by_step()["train/kl"] == [(1, 0.1), (2, 0.2)]


@pytest.mark.parametrize(
    ("name", "head", "answer"),
    [
        ("progress.csv", b"", None),
        ("progress.csv", b"time/fps,ro", None),
        ("progress.csv", b"time/total_timesteps,train/loss\n", True),
        ("metrics.csv", b"step;loss;reward\n1;2;3\n", True),
        ("iris.csv", b"sepal_length,sepal_width,species\n5.1,3.5,setosa\n", False),
        ("data.csv", b"1,0.5\n2,0.25\n", False),
        ("log.csv", b"global_episode,episode_return\n1,21.5\n", True),
        ("log.csv", b"cycle,model_id,avg_reward\n1,3,21.5\n", True),
        (
            "metrics.csv",
            b"timestamp,global_iter,version,policy_loss\n2026-01-02T03,1,v1,0.5\n",
            True,
        ),
        ("stats.csv", b"Epoch;Status;MaxAlt;Epsilon\n0;[FAILED];7.5;0.88\n", True),
        ("grid.csv", b"size;epsilon\n3;0.88\n", False),
        ("paper.csv", b"episode,rmse,steps,progress\n0,0.03,432,0.99\n", True),
        ("paper.csv", b"episode,rmse,steps,progress\n0,0.03,43", None),
        ("series.csv", b"episode,title,minutes\n1,Pilot,43\n", False),
        ("series.csv", b"episode,steps,title\n1,3,Pilot\n", False),
        ("results.csv", b"reward,length\n", None),
        ("results.csv", b"reward,length\n21.5,200\n", True),
        ("rewards.csv", b"reward\n21.5\n", True),
        ("reviews.csv", b"text,score\ngood,5\n", False),
        ("rewards_log.csv", b"timestamp,plan,reward\n2024-12-15 03:42:33,Wait,0.5\n", True),
        ("rewards_log.csv", b"timestamp,plan,reward\n2024-12-15 03:42:33,Wa", None),
        ("metrics_log.csv", b"Timestamp,State,Reward\n2024-11-23 21:59:09,Up,-5\n", True),
        ("sales.csv", b"Timestamp,State,Reward\n2024-11-23 21:59:09,Up,-5\n", False),
        ("fig-5-reward.csv", b"method,size,reward\nours,5,0.5\n", False),
        ("rewards.csv", b"day,reward\n2024-11-23,a mug\n", False),
        ("rewards.csv", b"name,score\nAnn,4\n", False),
        ("grades.csv", b"loss,size\n0.5,3\n", False),
        ("training_rewards.csv", b"Episode,PER-DDQN,MS-DDQN\n0,-965.5,-6230\n", True),
        ("training_rewards.csv", b"Episode,PER-DDQN,MS-DDQN\n", None),
        ("training_rewards.csv", b"Episode,name\n0,Ann\n", False),
        ("scores.csv", b"MLP_256,KAN_32\n13,7\n", True),
        ("scores.csv", b"MLP_256,KAN_32\n13,x\n", False),
        ("rewards.txt", b"episod,total_reward\n1,-3.5\n", True),
        ("rewards.txt", b"episod,total_rew", None),
        ("rewards.txt", b"Episode\tReward\tTime\n------------\n0\t14.5\t12:56:34\n", True),
        ("rewards.txt", b"Episode\tReward\tTime\nlast\tfew\tnone\n", False),
        ("rewards.txt", b"rewards for the bot, and more reward\nthe more, the better\n", False),
        ("rewards.txt", b"-3.5\n-4.5\n", False),
        ("rewards.txt", b"[-3.5, -4.5]", False),
        ("dqn.log", b"episode,total_reward,loss\n1,-3.5,nan\n", True),
        ("training_log.txt", b"episode,total_reward\n1,-3.5\n", True),
        ("dqn.log", b"episode,total_reward\n1,-3", None),
        ("dqn.log", b"Episode 1, reward 21.5\nEpisode 2, reward 22.5\n", False),
        ("dqn.log", b"Episode: 1, reward: 21.5\n", False),
        ("dqn.log", b"step,size\n1,2\n", False),
        ("dqn.log", b"x" * 70_000, False),
        ("training_times.csv", b"Episode,PER-DDQN,MS-DDQN\n0,0.5,2.0\n", False),
        ("validation_summary.csv", b"eval_step,mean_reward,ok\n5000,11.5,False\n", True),
        ("ppo-1.csv", b",time,steps,scores,wins\n0,02:42:48,4,-10.5,False\n", True),
        ("train_1.csv", b",steps,reward,info\n1,4,-10.5,lost\n", True),
        ("ppo-1.csv", b",time,steps,scores,wins\n0,02:42:48,4,-1", None),
        ("ppo-1.csv", b",time,steps,scores,wins\n7,02:42:48,4,-10.5,False\n", False),
        ("ppo-1.csv", b",steps,scores,wins\n0,4,won,False\n", False),
        ("people.csv", b",time,steps,scores,wins\n0,02:42:48,4,-10.5,False\n", False),
        ("train.csv", b",name,score,passed\n0,Ann,4,False\n", False),
        ("train.csv", b"time,close,returns\n09:30:00,101.5,0.01\n", False),
        ("people.csv", b"name,age,value\nA,3,4\n", False),
        ("0.monitor.csv", b'#{"t_start": 1.0}\nr,l,t\n', False),
        ("export.csv", b"run,source,tag,concept,step,time,value\n", False),
        ("binary.csv", b"step,loss\x00\n", False),
    ],
)
def test_which_tables_are_logs(name: str, head: bytes, answer: bool | None) -> None:
    """A step and a metric in the header, or rewards that its rows count; no other tables."""
    assert table_claims.claims(name, head) is answer


cells = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["", "nan", "-inf", "words", "True"]),
)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(cells, cells, cells), max_size=30),
    places=st.lists(st.integers(0, 2000), max_size=8),
)
def test_any_table_agrees_with_the_csv_module(
    rows: list[tuple[str, str, str]], places: list[int]
) -> None:
    """Whatever stands in the cells, in whatever pieces the file arrives."""
    lines = [",".join([str(k), *row]) for k, row in enumerate(rows)]
    text = "\n".join(["step,loss,kl,entropy", *lines, ""])
    read = feed_parser(CsvParser(), cut_at(text.encode(), places))
    assert {tag: repr(points) for tag, points in read.values_by_step().items()} == {
        tag: repr(points) for tag, points in oracle(text, "step").items()
    }


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(["", "", "-0", "0", "+1", ".5", "5.", "007", "1e400", "-", "9" * 400, "1E-3"]),
)


@pytest.mark.parametrize("reader", ["orjson", "json"])
@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=30))
def test_numbers_read_as_json_are_those_of_the_csv_module(
    reader: str, rows: list[tuple[str, str, str]]
) -> None:
    """Large blocks of numbers go through a JSON parser: which reads each as Python does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_rows, "json_reader", lambda _: import_module(reader).loads)
        lines = [",".join([str(k), *row]) for k, row in enumerate(rows)]
        text = "\n".join(["step,loss,kl,entropy", *lines, ""])
        read = feed_parser(CsvParser(), [text.encode()])
        assert {tag: repr(points) for tag, points in read.values_by_step().items()} == {
            tag: repr(points) for tag, points in oracle(text, "step").items()
        }


def test_a_column_may_be_empty_in_other_rows_than_the_one_before() -> None:
    """In the same rows, in fewer, in more, in others, in all and in none."""
    columns = [[0, 2, 4], [0, 2, 4], [0, 2], [0, 1, 2, 4], [1, 3], [], [], [0, 1, 2, 3, 4], [1, 3]]
    header = ",".join(f"metric_{number}" for number in range(len(columns)))
    rows = [
        ",".join(str(row + 0.5) if row in filled else "" for filled in columns) for row in range(5)
    ]
    table = "\n".join([f"step,{header}", *(f"{at},{row}" for at, row in enumerate(rows)), ""])
    read = feed_parser(CsvParser(), [table.encode()]).values_by_step()
    assert read.pop("step") == [(at, float(at)) for at in range(5)]
    assert read == {
        f"metric_{number}": [(at, at + 0.5) for at in filled]
        for number, filled in enumerate(columns)
        if filled
    }


@pytest.mark.parametrize("odd", ["1,2", "1,2,3,4,5", "1,2,3,4,5\n1,2,3", "1,2,3\n1,2,3,4,5"])
def test_rows_of_another_width_are_read_one_by_one(odd: str) -> None:
    """Cells of a block never slip into the next column or row."""
    rows = ["7,0.5,0.25,1.5"] * 9
    text = "\n".join(["step,loss,kl,entropy", *rows, odd, *rows, ""])
    whole = CsvParser().feed(text.encode())
    by_line = feed_parser(CsvParser(), [line.encode() for line in text.splitlines(keepends=True)])
    assert {each.tag: list(zip(each.steps, each.values, strict=True)) for each in whole.points} == (
        by_line.values_by_step()
    )
    assert whole.problems == by_line.problems


def test_a_first_header_without_a_metric_is_waited_for(tmp_path: Path) -> None:
    """SB3's first dump may hold clocks only; the file is rewritten when the metrics appear."""
    path = tmp_path / "progress.csv"
    path.write_text("time/iterations,time/time_elapsed\n1,3\n")
    file = LogReader(FoundFile(str(path), "progress.csv", str(tmp_path)), detect_format)
    assert file.read_update() is None
    assert not file.rejected
    rows = "1,,3\n2,21.5,4\n3,,5\n4,,6\n"
    path.write_text(f"time/iterations,rollout/ep_rew_mean,time/time_elapsed\n{rows}")
    gain = file.read_update()
    assert gain is not None
    found = {points.tag: list(points.values) for points in gain.batch.points}
    assert found["rollout/ep_rew_mean"] == [21.5]
    assert found["time/iterations"] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("header", "steps"),
    [
        ("Episode,Total_Steps,Reward", [1, 2]),
        ("Episode,Timestep,Reward", [40, 90]),
        ("epoch,total-env-interacts,average-return", [40, 90]),
        ("Epoch,Time Steps,AverageEpRet", [40, 90]),
        ("Reward,Timestep,Loss", [40, 90]),
        ("reward,Env Steps,loss", [40, 90]),
        ("train/reward,train/iter,loss", [40, 90]),
        ("global_episode,best,episode_return", [1, 2]),
        ("cycle,model_id,avg_reward", [1, 2]),
        ("round,transitions,discriminator_loss", [1, 2]),
        ("reward,length,loss", [1, 2]),
    ],
)
def test_a_script_may_spell_its_step_as_it_likes(header: str, steps: list[int]) -> None:
    """A running count of steps is the step, else what numbers the rows.

    `Total_Steps` next to episodes may be the length of one.
    """
    rows = ["1,40,0.5", "2,90,0.25"]
    found = parse_every_way(CsvParser, "\n".join([header, *rows, ""]).encode())
    assert found.steps(header.split(",")[2]) == steps


def test_remarks_before_the_header_are_settings() -> None:
    """`# gamma,0.95` before the names of the columns, as some scripts write it."""
    text = (
        "# run_timestamp,20260101_120000\n# gamma,0.95\n# tuned by hand\n\n"
        'episode,global_step,outcome,reward,continents\n1,152,timeout,-31.5,"N:1,S:2"\n'
        '2,302,won,12.25,"N:2,S:2"\n'
    )
    assert detect_format("train_log.csv", text.encode()).name == "csv"  # type: ignore[union-attr]
    found = parse_every_way(CsvParser, text.encode())
    assert found.values("reward") == [-31.5, 12.25]
    assert found.steps("reward") == [152, 302]
    assert found.config["gamma"] == 0.95
    assert "tuned" not in found.config


def test_a_header_may_begin_with_a_number_sign() -> None:
    """NumPy's savetxt puts `# ` before the names."""
    text = b"# step,reward,kl\n10,1.5,0.01\n20,2.5,0.02\n"
    assert detect_format("train.csv", text).name == "csv"  # type: ignore[union-attr]
    found = parse_every_way(CsvParser, text)
    assert (found.steps("reward"), found.values("reward")) == ([10, 20], [1.5, 2.5])


@pytest.mark.parametrize(
    ("name", "header", "is_log"),
    [
        ("training_log.csv", "reward", True),
        ("episode_returns.csv", "Return", True),
        ("rewards.csv", "reward,total_reward", True),
        ("students.csv", "score", False),
        ("training_log.csv", "name", False),
        ("training_set.csv", "text,score", False),
    ],
)
def test_a_column_of_rewards_needs_no_step(name: str, header: str, is_log: bool) -> None:
    """In a file named after a training: a row is an episode."""
    row = ",".join(["1.5"] * len(header.split(",")))
    text = f"{header}\n{row}\n{row}\n".encode()
    assert bool(detect_format(name, text)) is is_log
    if is_log:
        assert parse_every_way(CsvParser, text).steps(header.split(",")[0]) == [1, 2]


@pytest.mark.parametrize(
    ("header", "row", "step"),
    [
        ("% time spent exploring,episodes,mean 100 episode reward,steps", "98,100,10.3,1219", 1219),
        ("volume,episode,global_episode,total_reward", "200,3,18,1.5", 18),
        ("episode,reward,steps", "12,1.5,640", 12),
        ("update,frames,FPS,rreturn_mean", "2,4096,1993.5,0.5", 4096),  # torch-ac's
        ("eval_step,mean_reward,feasible,key", '5000,11.5,False,"[0, -17.5]"', 5000),
    ],
)
def test_which_of_several_counts_is_the_step(header: str, row: str, step: int) -> None:
    """`steps` beside `episodes` are running counts; beside `episode` they are its length."""
    read = parse_every_way(CsvParser, f"{header}\n{row}\n".encode())
    assert {at for points in read.points.values() for at, _, _ in points} == {step}


def test_rows_that_pandas_numbered_are_episodes() -> None:
    """The number has no name; words, clocks and booleans are no points."""
    rows = ["0,02:42:48,4,-10.5,False", "1,02:42:49,12,-7.5,True", "2,02:42:51,5,3.5,True"]
    text = "\n".join([",time,steps,scores,wins", *rows, ""]).encode()
    read = parse_every_way(CsvParser, text)
    assert read.values_by_step() == {
        "episode": [(0, 0.0), (1, 1.0), (2, 2.0)],
        "steps": [(0, 4.0), (1, 12.0), (2, 5.0)],
        "scores": [(0, -10.5), (1, -7.5), (2, 3.5)],
    }
    assert not read.problems
    other = parse_every_way(CsvParser, b",loss,scores\n0,0.5,4\n1,0.4,5\n")
    assert other.steps("scores") == [1, 2]
    assert "episode" not in other.points


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_timesteps_beside_a_number_of_pandas_are_the_step(name: str) -> None:
    """Where they count on; where they are lengths, the number is that of the episode."""
    counting = "".join(f"{n},{200 * n + 7},{n}.5\n" for n in range(6))
    read = parse_every_way(CsvParser, f"{name},timesteps,reward\n{counting}".encode())
    assert read.steps("reward") == [200 * n + 7 for n in range(6)]
    assert "episode" not in read.points
    lengths = "".join(f"{n},{200 - 9 * n},{n}.5\n" for n in range(6))
    read = parse_every_way(CsvParser, f"{name},timesteps,reward\n{lengths}".encode())
    assert read.steps("reward") == [0, 1, 2, 3, 4, 5]
    assert read.steps("timesteps") == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("header", "row"), [(";", ","), (",", ";"), ("\t", ","), (",", "\t")])
def test_rows_may_have_another_delimiter_than_their_header(header: str, row: str) -> None:
    """What parts the first of them into as many cells."""
    rows = [row.join((f"{n}", f"{n}.5", "0.25")) for n in range(1, 5)]
    text = "\n".join((header.join(("episode", "reward", "loss")), *rows, ""))
    read = parse_every_way(CsvParser, text.encode())
    assert read.values_by_step()["reward"] == [(n, n + 0.5) for n in range(1, 5)]
    assert read.values("loss") == [0.25] * 4


def test_a_ruler_below_the_header_is_no_row() -> None:
    """And a row may lack its last cells."""
    rows = b"0\t14.5\t7\t12:56:34    2.5\n1\t15.5\t8\t12:56:35    3.5\n"
    found = parse_every_way(CsvParser, b"Episode\tReward\tBest\tTime\tTimer\n-------\n" + rows)
    assert found.values_by_step()["Reward"] == [(0, 14.5), (1, 15.5)]
    assert not found.problems


def test_batches_are_steps() -> None:
    """Where nothing else is; beside an epoch they may begin anew."""
    alone = parse_every_way(CsvParser, b"batch,avg_reward\n0,1.5\n1,2.5\n")
    assert alone.steps("avg_reward") == [0, 1]
    beside = parse_every_way(CsvParser, b"batch,epoch,avg_reward\n0,3,1.5\n0,4,2.5\n")
    assert beside.steps("avg_reward") == [3, 4]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("lengths", [(105, 80, 130, 1, 60), (9,) * 60])
def test_the_steps_of_an_episode_are_counted_on(lengths: tuple[int, ...], first: int) -> None:
    """A row for each step of each episode: the next episode is no restart; a restart is."""
    rows = [(e, s) for e, length in enumerate(lengths, 1) for s in range(first, first + length)]
    table = "".join(f"{episode},{step},-0.{step}\n" for episode, step in rows)
    read = parse_every_way(CsvParser, f"Episode,Step,EpisodeReward\n{table}".encode())
    assert read.steps("EpisodeReward") == list(range(first, first + len(rows)))
    again = parse_every_way(CsvParser, f"Episode,Step,EpisodeReward\n{table * 2}".encode())
    assert again.steps("EpisodeReward") == 2 * list(range(first, first + len(rows)))


@pytest.mark.parametrize("first", [0, 1])
def test_lengths_that_happen_to_rise_are_not_counted_on(first: int) -> None:
    """A row an episode: its steps are its length, and the fifth is shorter than the fourth."""
    rows = "".join(f"{n},{length},-1.5\n" for n, length in enumerate([1, 1, 1, 2, 1, 3], first))
    read = parse_every_way(CsvParser, f"episode,step,reward\n{rows}".encode())
    assert read.steps("reward") == [1, 1, 1, 2, 1, 3]


@pytest.mark.parametrize("name", ["dqn_original.log", "training_log.txt"])
def test_a_table_may_be_called_a_log(name: str) -> None:
    """A console of that name is one still, and a table only if its first row is numbers."""
    header = b"episode,total_reward,training_loss\n"
    for head, format_name in (
        (header + b"1,-132.8,nan\n", "csv"),
        (b"Training on cpu, reward scaled\nEpisode: 1, reward: 21.5\n", "console"),
        (header + b"Episode: 1, reward: 21.5\n", "console"),
    ):
        found = detect_format(name, head)
        assert isinstance(found, Format) and found.name == format_name


@pytest.mark.parametrize(
    ("header", "first"),
    [
        ("timestep,reward,cost", "2015-03-15 16:{n:02}:00"),
        ("episode,reward,cost", "36565751496815{n:02}87"),
        ("Epoch,reward,cost", "0.{n:02}"),
        ("step,reward,cost", "warmup"),
    ],
)
def test_a_column_of_dates_ids_or_fractions_is_no_step(header: str, first: str) -> None:
    """Its first row shows it; the rows are counted then."""
    rows = "".join(f"{first.format(n=n)},{n / 4},0.5\n" for n in range(11, 31))
    found = parse_every_way(CsvParser, f"{header}\n{rows}".encode())
    assert found.values_by_step()["reward"] == [(n - 10, n / 4) for n in range(11, 31)]
    assert found.counts_updates


def test_another_column_says_the_step_then() -> None:
    """Blank cells, and a row of units, show nothing yet."""
    rows = "".join(f"run-a,{n},{n / 4}\n" for n in range(1, 9))
    found = parse_every_way(CsvParser, f"step,episode,reward\n-,-,-\n{rows}".encode())
    assert found.values_by_step()["reward"] == [(n, n / 4) for n in range(1, 9)]
    sparse = b"step,reward,loss\n,1.5,\n20,,0.5\n30,2.5,\n"
    assert parse_every_way(CsvParser, sparse).values_by_step()["loss"] == [(20, 0.5)]


@pytest.mark.parametrize(("rows_an_epoch", "step"), [(2, "Epoch"), (100, "Episode #")])
def test_an_epoch_that_stays_is_no_step_beside_a_finer_count(rows_an_epoch: int, step: str) -> None:
    """Coach's `worker_0.csv` counts epochs between evaluations, of which there may be none."""
    rows = "".join(f"{n + 7},{n // rows_an_epoch},{n / 4}\n" for n in range(8))
    text = f"Episode #,Epoch,Training Reward\n{rows}"
    read = parse_every_way(CsvParser, text.encode()).values_by_step()
    assert [at for at, _ in read["Training Reward"]] == [int(value) for _, value in read[step]]


def test_a_row_may_end_in_words_beyond_its_header() -> None:
    """A time that the header does not name, or a last comma; another number is a damaged row."""
    text = (
        b"Episode\tReward\tBest Score\n-----\n0\t178.9\t178.9\t0:00:03.17\n1\t92\t178.9\t0:00:09\n"
    )
    found = parse_every_way(CsvParser, text)
    assert found.values_by_step()["Reward"] == [(0, 178.9), (1, 92.0)]
    found = parse_every_way(CsvParser, b"step,reward\n10,1.5,\n20,2.5,\n30,3.5,7\n")
    assert found.values_by_step()["reward"] == [(10, 1.5), (20, 2.5)]
    assert [each.message for each in found.problems] == ["row of 3 cells under a header of 2"]


@pytest.mark.parametrize("fence", ["```", "```text", "```csv"])
def test_a_table_may_be_pasted_in_a_fence(fence: str) -> None:
    """As people put it into an issue: the fence is neither a header nor a row."""
    rows = "".join(f"{1000 * n}\t{n}\t9.5\t{n}.5\t0.25\n" for n in range(1, 6))
    text = f"{fence}\nsteps\tepisodes\telapsed\tmean\tmedian\n{rows}```\n"
    assert detect_format("pasted.txt", text.encode()) is not None
    read = parse_every_way(CsvParser, text.encode())
    assert read.values_by_step()["mean"] == [(1000 * n, n + 0.5) for n in range(1, 6)]
    assert not read.problems


def test_numbers_in_the_wrappers_of_numpy_and_torch() -> None:
    """As `csv.writer` writes what `env.step` of a vector environment and a loss are."""
    rows = [(n, f"[{n}.5]", f"tensor(0.{n}, device='cuda:0')", f"[ {n}.25]") for n in range(1, 9)]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([("episode", "reward", "loss", "q"), *rows])
    read = parse_every_way(CsvParser, file.getvalue().encode())
    assert read.values_by_step() == {
        "episode": [(n, float(n)) for n in range(1, 9)],
        "reward": [(n, n + 0.5) for n in range(1, 9)],
        "loss": [(n, n / 10) for n in range(1, 9)],
        "q": [(n, n + 0.25) for n in range(1, 9)],
    }


def test_lines_may_end_in_two_carriage_returns() -> None:
    """`csv.writer` on Windows, into a file that was opened without `newline=""`."""
    log = b"epoch,learning_rate,loss\r\r\n" + b"".join(
        b"%d,1e-3,%d.5\r\r\n" % (n, n) for n in range(3)
    )
    found = detect_format("training_log.csv", log)
    assert isinstance(found, Format) and found.name == "csv"
    read = parse_every_way(CsvParser, log)
    assert read.values_by_step()["loss"] == [(0, 0.5), (1, 1.5), (2, 2.5)]
