"""What trainers of language models print, from their print statements to the verdict.

Made up after the sources: ROLL `roll/pipeline/rlvr/rlvr_pipeline.py` (run) with
`utils/metrics/metrics_manager.py` and `utils/tracking.py` (StdoutTracker), AReaL
`areal/utils/stats_logger.py` with `trainer/ppo/actor.py`, rLLM
`rllm/trainer/algorithms/visualization.py` (print_metrics_table), torchtune
`training/metric_logging.py` (StdoutLogger) with the recipes of PPO and GRPO, ms-swift
`swift/megatron/callbacks/print.py`, Unsloth `unsloth_zoo/compiler.py` (its banner) above the
dictionaries of transformers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import ppo_top

UPDATES = 80
BREAKS_AT = 50
"""The update at which a sick run loses what it has learned."""


class Answers(NamedTuple):
    """What one update of a made-up run was given, and did; `noise` is drawn for it."""

    number: int
    is_broken: bool
    noise: float

    @property
    def reward(self) -> float:
        """Rises from 0.3 to 0.7; a broken run gets none."""
        return 0.02 if self.is_broken else 0.3 + 0.005 * self.number + 0.02 * self.noise

    @property
    def reference_kl(self) -> float:
        """A token's, by 0.0003 more each update."""
        return 6.0 + self.noise if self.is_broken else 0.001 + 0.0003 * self.number

    @property
    def update_kl(self) -> float:
        """Of one update."""
        return 0.9 if self.is_broken else 3e-4 + 5e-5 * self.noise

    @property
    def clipped(self) -> float:
        """The share of tokens."""
        return 0.45 if self.is_broken else 0.004 + 0.0005 * self.noise

    @property
    def entropy(self) -> float:
        """Falls slowly."""
        return 5.5 if self.is_broken else 0.5 - 0.002 * self.number

    @property
    def length(self) -> float:
        """In tokens."""
        return 1020.0 if self.is_broken else 400 + self.number + 9 * self.noise


def roll_metrics(answers: Answers, reducer: str = "") -> Mapping[str, float]:
    """Those of a run without a critic."""
    return {
        "system/global_step": answers.number,
        "token/response_length/mean": answers.length,
        "critic/score/mean": answers.reward,
        "critic/rewards/mean": 1e-9 * answers.noise,
        "critic/entropy/mean": answers.entropy,
        "group/mixed_groups_ratio": 0.8,
        f"actor/ppo_ratio_clipfrac{reducer}": answers.clipped,
        f"actor/approxkl{reducer}": answers.update_kl,
        f"actor/kl_loss{reducer}": answers.reference_kl,
        "math_rule/critic/score/mean": answers.reward / 2,
    }


def print_roll(answers: Answers) -> str:
    """A JSON object without a name."""
    head = "[2026-08-19 12:00:00] [rlvr_pipeline.py (838)] [INFO] [DRIVER 0 / 1][PID 7] "
    samples = json.dumps([{"prompt": "2 + 2 = ?", "response": "Step 1: score: 4"}])
    metrics = json.dumps(roll_metrics(answers, "@sum"))
    return f"{head}{samples}\n{head}{metrics}\n{head}pipeline step {answers.number} finished\n"


def print_roll_tracker(answers: Answers) -> str:
    """A JSON object beside the step."""
    record = json.dumps({"step": answers.number, "metrics": roll_metrics(answers)})
    head = "[2026-08-19 12:00:00] [tracking.py (156)] [INFO] [DRIVER 0 / 1][PID 7] "
    return f"{head}metrics_tag: {record}\n"


def print_areal(answers: Answers) -> str:
    """A grid of four pairs a row; here of two."""
    stats = {
        "ppo_actor/task_reward/avg": answers.reward,
        "ppo_actor/final_reward/avg": answers.reward / 100,
        "ppo_actor/update/entropy/avg": answers.entropy,
        "ppo_actor/update/approx_kl/avg": answers.update_kl,
        "ppo_actor/update/clip_ratio/avg": answers.clipped,
        "ppo_actor/update/actor_loss/avg": 0.001 * answers.noise,
    }
    head = "(AReaL) \x1b[92m20260521-12:00:00.123 StatsLogger INFO: "
    count = f"{answers.number}/{UPDATES}"
    lines = [f"{head}Epoch 1/1 Step {count} Train step {count} done.\x1b[0m"]
    lines += [f"{head}Stats (1/1):\x1b[0m", head, f"╒{'═' * 34}╤{'═' * 14}╕"]
    pairs = [f"{name:<34} │ {value: .4e}" for name, value in stats.items()]
    rows = [f"│ {one} │ {two} │" for one, two in zip(pairs[::2], pairs[1::2], strict=True)]
    lines += f"\n├{'─' * 34}┼{'─' * 14}┤\n".join(rows).split("\n")
    return "\n".join([*lines, f"╘{'═' * 34}╧{'═' * 14}╛\x1b[0m", ""])


def print_rllm(answers: Answers) -> str:
    """A rich table below its title."""
    row = {
        "batch/solve_none": 0.2,
        "batch/termination_reason/max_response_length_exceeded": 0.9 if answers.is_broken else 0.0,
        "progress/lr": 4e-5,
        "reward/solver/mean": answers.reward,
        "reward/solver/std": 0.4,
        "time/step": 61.5,
        "train/entropy": answers.entropy,
        "train/kl_sample_train_v2": answers.update_kl,
    }
    head = f"┏{'━' * 52}┳{'━' * 12}┓\n┃ {'Metric':<50} ┃ {'Value':>10} ┃\n┡{'━' * 52}╇{'━' * 12}┩\n"
    rows = "".join(f"│ {name:<50} │ {value:>10.6f} │\n" for name, value in row.items())
    return f"{f'Step {answers.number}':^67}\n{head}{rows}└{'─' * 52}┴{'─' * 12}┘\n"


def torchtune_line(answers: Answers, values: Mapping[str, float]) -> str:
    """All values behind the step."""
    pairs = "".join(f"{name}:{value} " for name, value in values.items())
    return f"Step {answers.number} | {pairs}\n"


def print_torchtune_ppo(answers: Answers) -> str:
    """With a reward model, and the KL to the reference summed over a response."""
    values = {
        "scores": 4 * answers.reward,
        "rlhf_reward": 4 * answers.reward - 0.01 * answers.reference_kl,
        "kl": 20 * answers.reference_kl,
        "kl_reward": -0.2 * answers.reference_kl,
        "lr": 3e-6,
        "policy_loss": 0.001 * answers.noise,
        "value_loss": 0.2 + 1 / answers.number,
        "clipfrac": answers.clipped,
        "approx_policy_kl": answers.update_kl,
        "response_lengths": answers.length,
    }
    return torchtune_line(answers, values)


def print_torchtune_grpo(answers: Answers) -> str:
    """With functions that give rewards."""
    values = {
        "rewards": 10 * answers.reward,
        "successes": answers.reward,
        "loss": 0.001 * answers.noise,
        "kl_loss": answers.reference_kl,
        "clipfrac": answers.clipped,
        "approx_policy_kl": answers.update_kl,
        "response_lengths": answers.length,
        "lr": 1e-5,
    }
    return torchtune_line(answers, values)


def trl_metrics(answers: Answers) -> Mapping[str, object]:
    """The names of TRL's GRPO, which others keep."""
    return {
        "loss": round(0.001 * answers.noise, 4),
        "learning_rate": 5e-06,
        "completions/mean_length": answers.length,
        "completions/clipped_ratio": 0.9 if answers.is_broken else 0.0,
        "reward": answers.reward,
        "reward_std": 0.4,
        "frac_reward_zero_std": 0.2,
        "kl": answers.reference_kl,
    }


def print_swift(answers: Answers) -> str:
    """A dictionary that says its step as a text, with Megatron."""
    rest = {"iteration": f"{answers.number}/{UPDATES}", "elapsed_time": "1m 2s"}
    return f"{dict(trl_metrics(answers)) | rest | {'train_speed(s/it)': 61.5}}\n"


def print_unsloth(answers: Answers) -> str:
    """Dictionaries without a step."""
    return f"{dict(trl_metrics(answers)) | {'epoch': answers.number / UPDATES}}\n"


UNSLOTH = r"""==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1
   \\   /|    Num examples = 7,473 | Num Epochs = 1 | Total steps = 80
O^O/ \_/ \    Batch size per device = 2 | Gradient accumulation steps = 4
\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8
 "-____-"     Trainable parameters = 119,734,272 of 3,205,672,960 (3.74% trained)
"""


class LlmPrinter(NamedTuple):
    """How a trainer prints an update, what it does above the first, and what is known of it."""

    write: Callable[[Answers], str]
    producer: str
    reward_tag: str
    above: str = ""


PRINTERS = {
    "roll": LlmPrinter(print_roll, "roll", "critic/score/mean"),
    "roll's tracker": LlmPrinter(print_roll_tracker, "roll", "critic/score/mean"),
    "areal": LlmPrinter(print_areal, "areal", "ppo_actor/task_reward/avg"),
    "rllm": LlmPrinter(print_rllm, "rllm", "reward/solver/mean"),
    "torchtune ppo": LlmPrinter(print_torchtune_ppo, "torchtune", "scores"),
    "torchtune grpo": LlmPrinter(print_torchtune_grpo, "torchtune", "rewards"),
    "ms-swift": LlmPrinter(print_swift, "ms-swift", "reward"),
    "unsloth": LlmPrinter(print_unsloth, "trl-grpo", "reward", UNSLOTH),
}


def made_up_course(*, is_sick: bool) -> Iterator[Answers]:
    """Updates whose reward rises; a sick run collapses at one of them."""
    draw = random.Random(7)
    for number in range(1, UPDATES + 1):
        yield Answers(number, is_sick and number >= BREAKS_AT, draw.gauss(0, 1))


def judged(name: str, folder: Path, *, is_sick: bool) -> dict[str, object]:
    """The one run of a console, as `check --json` gives it."""
    printer = PRINTERS[name]
    text = "".join(map(printer.write, made_up_course(is_sick=is_sick)))
    (folder / "train.log").write_text(printer.above + text, encoding="utf-8")
    (run,) = ppo_top.check(folder)["runs"]
    return dict(run)


@pytest.mark.parametrize("name", PRINTERS)
def test_a_healthy_run_is_named_and_no_problem_is_found(name: str, tmp_path: Path) -> None:
    """Every reward at the update that was printed with it."""
    run = judged(name, tmp_path, is_sick=False)
    assert (run["producer"], run["verdict"]) == (PRINTERS[name].producer, "healthy")
    rewards = [each for each in ppo_top.points(tmp_path) if each.concept == "reward_mean"]
    assert {each.tag for each in rewards} == {PRINTERS[name].reward_tag}
    assert [each.step for each in rewards] == list(range(1, UPDATES + 1))


@pytest.mark.parametrize("name", PRINTERS)
def test_a_run_that_collapses_is_critical(name: str, tmp_path: Path) -> None:
    """The reward is lost, and with it what else the trainer prints of the update."""
    run = judged(name, tmp_path, is_sick=True)
    findings = run["findings"]
    assert isinstance(findings, list)
    assert run["verdict"] == "crit"
    rules = {each["rule"] for each in findings}
    assert "reward-crash" in rules
    assert rules & {"kl-high", "ref-kl-token-high", "sampler-mismatch"}


def test_the_kl_of_torchtunes_ppo_is_to_the_reference(tmp_path: Path) -> None:
    """Summed over a response it is far larger than an update's, which has a name of its own."""
    judged("torchtune ppo", tmp_path, is_sick=False)
    found = {each.tag: each.concept for each in ppo_top.points(tmp_path)}
    assert (found["kl"], found["approx_policy_kl"]) == ("ref_kl", "approx_kl")


def test_unsloths_banner_holds_settings(tmp_path: Path) -> None:
    """How many steps there will be is not the step of what follows."""
    run = judged("unsloth", tmp_path, is_sick=False)
    config = run["config"]
    assert isinstance(config, dict)
    expected = {"max_steps": 80, "num_train_epochs": 1, "gradient_accumulation_steps": 4}
    assert {name: config[name] for name in expected} == expected
    assert run["state"] == "finished"


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("grpo_cap1.jsonl", "ref_kl_token"),
        ("GRPO-seed2.jsonl", "ref_kl_token"),
        ("ppo_cap1.jsonl", "approx_kl"),
        ("grpodiff.jsonl", "approx_kl"),
    ],
)
def test_a_script_s_file_says_what_its_kl_is(tmp_path: Path, name: str, concept: str) -> None:
    """GRPO's objective holds the KL to the reference, and a PPO's log that of the update."""
    row = {"loss": 0.01, "reward_mean": 0.4, "entropy": 1.5, "kl": 0.03}
    rows = [{"step": step, **row} for step in range(1, 9)]
    (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert {p.concept for p in ppo_top.points([tmp_path]) if p.tag == "kl"} == {concept}


def test_the_name_of_a_file_is_no_evidence_against_its_tags(tmp_path: Path) -> None:
    """`train/approx_kl` is SB3's in any file."""
    rows = [{"time/total_timesteps": n, "rollout/ep_rew_mean": 1.5, "kl": 0.5} for n in (1, 2)]
    (tmp_path / "grpo.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = {p.tag: p.concept for p in ppo_top.points([tmp_path])}
    assert found["rollout/ep_rew_mean"] == "reward_mean"
    assert found["kl"] != "ref_kl_token"


def test_max_steps_end_a_training_before_its_epochs_are_over(tmp_path: Path) -> None:
    """`trainer_state.json` of a supervised training of 40 steps, 16 of them an epoch, of three."""
    rows = [{"epoch": n / 16, "loss": 5.0 - n / 100, "step": n} for n in range(2, 41, 2)]
    state = {"global_step": 40, "max_steps": 40, "num_train_epochs": 3, "log_history": rows}
    path = tmp_path / "trainer_state.json"
    for limits, expected in ((state, 40), ({**state, "max_steps": -1}, 48)):
        path.write_text(json.dumps(limits))
        (run,) = ppo_top.check([tmp_path])["runs"]
        assert (run["progress"]["step"], run["progress"]["total"]) == (40, expected)


def test_of_a_training_with_several_logs_the_one_that_tells_more_names_the_trainer(
    tmp_path: Path,
) -> None:
    """ms-swift's `trainer_state.json` is like TRL's; `logging.jsonl` has the speed besides.

    After `swift/trainers/patcher.py` (ProgressCallbackNew.on_log).
    """
    rows = [dict(trl_metrics(answers)) for answers in made_up_course(is_sick=False)]
    numbered = list(enumerate(rows, 1))
    lines = [
        row | {"global_step/max_steps": f"{step}/{UPDATES}", "train_speed(s/it)": 1.5}
        for step, row in numbered
    ]
    (tmp_path / "logging.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    history = [row | {"step": step} for step, row in numbered]
    state = {"global_step": UPDATES, "max_steps": UPDATES, "log_history": history}
    (tmp_path / "checkpoint-80").mkdir()
    (tmp_path / "checkpoint-80" / "trainer_state.json").write_text(json.dumps(state))
    (run,) = ppo_top.check(tmp_path)["runs"]
    assert (run["producer"], run["family"], len(run["sources"])) == ("ms-swift", "grpo", 2)
