"""Scripts with names of their own: judged by what they log, and the verdict says by how much."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.views.run_view import make_run_view
from tests.support.drawn_runs import jitter
from tests.support.growing_logs import WatchedDirectory

RAISED = Path(__file__).parents[1] / "data" / "wandb_0.16.6" / "raised"

Columns = Mapping[str, Callable[[int], float]]

ROWS = 60


def climbs(i: int) -> float:
    """A reward that rises and settles."""
    return 20 + 440 * (1 - 0.95**i) + jitter(i, 4)


def falls(i: int) -> float:
    """A reward that is lost from row 30 on."""
    return climbs(i) if i < 30 else max(10.0, climbs(30) - 40 * (i - 29))


PPO: Columns = {
    "ret": climbs,
    "len": climbs,
    "pi_loss": lambda i: -0.012 + jitter(i, 0.004),
    "vf": lambda i: 60 * 0.96**i + 4 + jitter(i),
    "ent": lambda i: 0.69 - 0.004 * i + jitter(i, 0.005),
    "kl_div": lambda i: 0.008 + jitter(i, 0.003),
    "clipped": lambda i: 0.08 + jitter(i, 0.03),
}
SAC: Columns = {
    "score": lambda i: -1400 + 1200 * (1 - 0.95**i) + jitter(i, 20),
    "q_loss": lambda i: 0.5 + 0.3 * min(i, 20) + jitter(i, 0.2),
    "actor_loss": lambda i: 20 + 3.0 * min(i, 25) + jitter(i, 2),
    "alpha": lambda i: max(0.02, 0.95**i) + jitter(i, 0.002),
}
DQN: Columns = {
    "avg_return": climbs,
    "td_loss": lambda i: 0.05 + 0.02 * min(i, 20) + jitter(i, 0.02),
    "epsilon": lambda i: max(0.05, 1.0 - 0.05 * i),
}


def write_csv(path: Path, columns: Columns) -> None:
    """A table with the script's own names."""
    rows = [",".join(("step", *columns))]
    for i in range(ROWS):
        rows.append(",".join(map(repr, (2048 * (i + 1), *(each(i) for each in columns.values())))))
    path.with_suffix(".csv").write_text("\n".join(rows) + "\n")


def write_json_lines(path: Path, columns: Columns) -> None:
    """An object a row."""
    rows = [
        json.dumps({"step": 2048 * (i + 1), **{name: each(i) for name, each in columns.items()}})
        for i in range(ROWS)
    ]
    path.with_suffix(".jsonl").write_text("\n".join(rows) + "\n")


def write_console(path: Path, columns: Columns) -> None:
    """Lines of names and numbers rounded to four digits."""
    rows = [
        f"step: {2048 * (i + 1)} | "
        + " | ".join(f"{name}: {each(i):.4f}" for name, each in columns.items())
        for i in range(ROWS)
    ]
    path.with_suffix(".log").write_text("\n".join(rows) + "\n")


WRITERS = (write_csv, write_json_lines, write_console)


def checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one run of a folder, as `check --json` prints it."""
    main(["check", "--json", str(folder)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return dict(run)


def alarms(run: Mapping[str, Any]) -> set[str]:
    """The rules that warn or worse."""
    return {each["rule"] for each in run["findings"] if each["severity"] in ("warn", "crit")}


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize(
    ("family", "columns"),
    [("on-policy", PPO), ("off-policy", SAC), ("value-based", DQN)],
    ids=("ppo", "sac", "dqn"),
)
def test_a_healthy_script_is_healthy(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    write: Callable[[Path, Columns], None],
    family: str,
    columns: Columns,
) -> None:
    """Whatever the format and the names; the family follows from what is logged."""
    write(tmp_path / "train", columns)
    run = checked(tmp_path, capsys)
    assert (run["producer"], run["family"]) == ("unknown", family)
    assert alarms(run) == set()
    assert run["verdict"] in ("healthy", "info", "watch")
    assert run["judged_by"]["rules"] <= run["judged_by"]["of"]


SICK = {
    "updates-too-large": {**PPO, "ret": falls, "kl_div": lambda i: 0.4 if i > 25 else 0.01},
    "clip-high": {**PPO, "clipped": lambda i: 0.6 if i > 25 else 0.1},
    "critic-loss-growing": {
        **SAC,
        "score": lambda i: -1400 + jitter(i, 20),
        "q_loss": lambda i: 10.0 ** (i / 6),
    },
    "exploration-not-falling": {**DQN, "epsilon": lambda i: 1.0},
    "learning-rate-extreme": {**PPO, "ret": lambda i: 20 + jitter(i, 4), "lr": lambda i: 0.1},
}


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
@pytest.mark.parametrize("fault", SICK)
def test_a_sick_script_is_told_of(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    write: Callable[[Path, Columns], None],
    fault: str,
) -> None:
    """The plain limits of its family apply."""
    write(tmp_path / "train", SICK[fault])
    assert fault in alarms(checked(tmp_path, capsys))


def test_a_kl_of_zero_in_four_digits_is_no_still_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printed as 0.0000 it may be 4e-5; in full precision 0 is 0."""
    still: Columns = {**PPO, "kl_div": lambda i: 3e-6, "clipped": lambda i: 0.0}
    exact = {
        **still,
        "ret": lambda i: 20 + jitter(i, 2),
        "ent": lambda i: 0.6925 + jitter(i, 0.0003),
        "kl_div": lambda i: 3e-6 + 1e-9 * i,
    }
    for name, write in (("console", write_console), ("table", write_csv)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "train", exact)
    rules = {
        name: {each["rule"] for each in checked(tmp_path / name, capsys)["findings"]}
        for name in ("console", "table")
    }
    assert "no-op-updates" not in rules["console"]
    assert "no-op-updates" in rules["table"]


def test_a_handful_of_metrics_is_healthy_as_far_as_they_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The headline names what is not logged, and JSON lists it."""
    write_csv(tmp_path / "train", {name: PPO[name] for name in ("ret", "pi_loss", "vf")})
    run = checked(tmp_path, capsys)
    assert run["verdict"] == "healthy"
    assert {"approx_kl", "entropy", "clip_fraction"} <= set(run["judged_by"]["not_logged"])
    watched = WatchedDirectory(tmp_path)
    watched.finish()
    (seen,) = watched.session.runs.values()
    headline = make_run_view(seen).headline
    assert headline.startswith("Healthy as far as reward, value loss tell; entropy, approx KL")


def test_one_clip_fraction_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """verl logs no fraction for each side: its runs have no reservation for life."""
    lines = [
        f"step:{i} - actor/entropy:{0.4 - 0.002 * i:.4f} - actor/kl_loss:0.001 - "
        f"actor/pg_loss:{jitter(i, 0.01):.5f} - actor/pg_clipfrac:0.002 - actor/ppo_kl:0.0004 - "
        f"actor/grad_norm:{0.3 + jitter(i, 0.05):.4f} - actor/lr:1e-06 - "
        f"critic/score/mean:{0.3 + 0.005 * i + jitter(i, 0.01):.4f} - "
        f"response_length/mean:{240 + jitter(i, 5):.1f} - response_length/clip_ratio:0.01"
        for i in range(1, 61)
    ]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    assert main(["check", str(tmp_path), "--no-cache"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0].endswith(": healthy")
    assert "clip ratio " in told and "clip ratio low" not in told


def test_a_loss_alone_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a reward, and with too little else, silence of the rules says nothing."""
    write_csv(tmp_path / "train", {"loss": lambda i: 2.0 * 0.98**i, "lr": lambda i: 1e-4})
    assert checked(tmp_path, capsys)["verdict"] == "unjudged"


def test_preference_training_is_not_sick_for_want_of_a_reward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DPO has a loss and margins; no reward rises, no policy explores."""
    columns: Columns = {
        "loss": lambda i: 0.69 * 0.99**i,
        "rewards/margins": lambda i: 0.02 * i + jitter(i, 0.01),
        "rewards/accuracies": lambda i: min(0.9, 0.5 + 0.01 * i),
        "grad_norm": lambda i: 2.0 + jitter(i, 0.5),
        "learning_rate": lambda i: 5e-7,
    }
    write_json_lines(tmp_path / "train", columns)
    run = checked(tmp_path, capsys)
    assert (run["family"], run["verdict"], alarms(run)) == ("preference", "healthy", set())


def test_an_unsure_name_is_suggested_as_a_line_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report says what to paste; with it in the settings, the metric is judged."""
    columns = {**{name: PPO[name] for name in ("ret", "pi_loss", "ent")}}
    write_csv(tmp_path / "train", {**columns, "critic": lambda i: 5.0 * 0.98**i})
    assert checked(tmp_path, capsys)["judged_by"]["suggested_tags"] == {"critic": "value_loss"}
    main(["check", str(tmp_path)])
    assert '[tags] "critic" = "value_loss"' in capsys.readouterr().out
    (tmp_path / "ppo-top.toml").write_text('[tags]\n"critic" = "value_loss"\n')
    judged = checked(tmp_path, capsys)["judged_by"]
    assert judged["suggested_tags"] == {} and "value_loss" not in judged["not_logged"]


def test_nan_names_its_metrics_and_their_tags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The finding says which metric of the log it is about."""
    broken = {**PPO, "vf": lambda i: float("nan") if i >= 40 else 5.0}
    write_csv(tmp_path / "train", broken)
    found = {each["rule"]: each for each in checked(tmp_path, capsys)["findings"]}
    assert found["non-finite"]["concepts"] == ["value_loss"]
    assert found["non-finite"]["tags"] == ["vf"]


def test_a_crash_before_the_first_metric_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no step to date it by; the report has the exception's own line."""
    (tmp_path / "train.log").write_text(
        "starting\nTraceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\nValueError: no such environment\n'
    )
    run = checked(tmp_path, capsys)
    (finding,) = run["findings"]
    assert run["verdict"] == "crit"
    assert (finding["rule"], finding["since_step"], finding["opened_step"]) == (
        "crashed",
        None,
        None,
    )
    main(["check", str(tmp_path)])
    assert "ValueError: no such environment" in capsys.readouterr().out


def test_a_process_that_died_is_never_unjudged(capsys: pytest.CaptureFixture[str]) -> None:
    """W&B's console has no steps: the traceback of a run that failed stands at its end."""
    run = checked(RAISED, capsys)
    assert (run["state"], run["verdict"]) == ("died", "crit")
    crashed = next(each for each in run["findings"] if each["rule"] == "crashed")
    assert crashed["since_step"] == run["progress"]["step"]
    assert "CUDA out of memory" in crashed["message"]


def test_the_reward_so_far_is_charted_only_where_no_other_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sum over all episodes rises in every training."""
    total = [sum(map(climbs, range(i + 1))) for i in range(ROWS)]
    columns: Columns = {"cumulative_reward": total.__getitem__, "reward": climbs}
    write_csv(tmp_path / "log.csv", columns)
    main(["check", "--no-cache", str(tmp_path)])
    assert f"best reward: {max(map(climbs, range(ROWS))):.4g} at" in capsys.readouterr().out
