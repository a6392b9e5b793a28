"""MLflow's two local stores: the database that is its default, and the files below `mlruns/`.

`expected.points`: what `MlflowClient.get_metric_history` returns, in the order of the steps, with
infinities as they were logged (MLflow's database keeps the largest floats in their place).
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow

HOME = Path(os.environ["OUT"]) / "mlflow_3.17.2"
ODD = {5: math.nan, 6: math.inf, 7: -math.inf, 8: -0.0, 9: 1e-300}
SETTINGS = {"learning_rate": 3e-4, "clip_range": 0.2, "total_timesteps": 81920, "norm": True}


def train(name: str, sick: bool, updates: int = 40) -> str:
    """A run with the names of an own PPO loop; a sick one loses its reward and fails."""
    run = mlflow.start_run(run_name=name)
    mlflow.log_params(SETTINGS)
    for update in range(1, updates + 1):
        falls = sick and update > 20
        reward = 10.0 if falls else 20.0 + 10 * update + 5 * math.sin(update)
        values = {
            "rollout/ep_rew_mean": reward,
            "train/approx_kl": 0.4 if falls else 0.01 + 0.003 * math.sin(update),
            "train/clip_fraction": 0.6 if falls else 0.12,
            "train/entropy_loss": -0.69 + 0.005 * update,
            "train/value_loss": 20.0 / update,
            "train/explained_variance": 1 - 1 / update,
        }
        mlflow.log_metrics(values, step=2048 * update)
        mlflow.log_metric("odd", ODD.get(update, update / 3), step=2048 * update)
        mlflow.log_metric("without_step", update / 7)
    mlflow.end_run("FAILED" if sick else "FINISHED")
    return str(run.info.run_id)


def expected(runs: dict[str, str]) -> str:
    """Every point as MLflow's own client returns it."""
    client, rows = mlflow.MlflowClient(), []
    for name, run in runs.items():
        for tag in sorted(client.get_run(run).data.metrics):
            for each in client.get_metric_history(run, tag):
                value = each.value
                if abs(value) == sys.float_info.max:
                    value = math.copysign(math.inf, value)
                time = each.timestamp / 1000
                row = {"run": name, "tag": tag, "step": each.step, "value": value, "time": time}
                rows.append(row)
    return "".join(json.dumps(row) + "\n" for row in rows)


def record(kind: str, uri: str) -> None:
    """Three runs in one store, of which two have the same name; the last one goes on."""
    here = Path(kind).resolve()
    here.mkdir()
    mlflow.set_tracking_uri(uri.format(here))
    runs = {"healthy": train("ppo", sick=False), "sick": train("ppo", sick=True)}
    mlflow.start_run(run_name="going on")
    for step in range(5):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    active = mlflow.active_run()
    assert active is not None
    runs["going on"] = active.info.run_id
    text = expected(runs)
    (here / "expected.points").write_text(text, encoding="utf-8")
    shutil.rmtree(HOME / kind, ignore_errors=True)
    shutil.copytree(here, HOME / kind)


def main() -> None:
    """One store after the other; the database is kept as it is while a run goes on."""
    kind = sys.argv[1]
    record(kind, "sqlite:///{}/mlflow.db" if kind == "database" else "file://{}/mlruns")
    os._exit(0)  # the run goes on


if __name__ == "__main__":
    main()
