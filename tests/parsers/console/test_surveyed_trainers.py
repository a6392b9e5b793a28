"""What trainers print in the course of a training: several records, and what stands between them.

Made up after the sources: EasyR1 `verl/utils/logger/logger.py` and `verl/trainer/ray_trainer.py`,
open-instruct `open_instruct/model_utils.py`, ROLL
`roll/pipeline/base_pipeline.py`, TinyZero `verl/utils/logger/aggregate_logger.py`, prime-rl
`src/prime_rl/orchestrator/orchestrator.py`, garage's dowel `dowel/simple_outputs.py`, Keras-RL
`rl/callbacks.py`, Dopamine `dopamine/discrete_domains/run_experiment.py`, the old Baselines
`baselines/run.py`, FinRL `finrl/agents/stablebaselines3/models.py` and
`finrl/meta/env_stock_trading/env_stocktrading.py`, Spinning Up `spinup/utils/logx.py`, Acme
`acme/utils/loggers/terminal.py` with `acme/jax/experiments/run_experiment.py`, RLinf
`rlinf/utils/metric_utils.py`, habitat-baselines `habitat_baselines/rl/ppo/ppo_trainer.py`,
ml-logger `ml_logger/helpers/print_utils.py`, nano-aha-moment `nano_r1_script.py`, AReaL 0.3
`realhf/system/master_worker.py` and `realhf/system/model_function_call.py`, PipelineRL
`pipelinerl/finetune/logging_.py`, ChatLearn `chatlearn/schedule/metric_manager.py`, torchtitan
`torchtitan/experiments/rl/observability/metrics/console.py`, XTuner
`xtuner/v1/train/rl_trainer.py`, and what Ray's course
on RLlib prints of `trainer.train()`.
"""

from __future__ import annotations

import io

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from ppo_top import catalogue
from ppo_top.catalogue.tags import meaning
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

ABSL = "I0102 10:03:04.123456 140123 run_experiment.py:587] "


def read(text: str) -> ParserOutput:
    """Read lines in every way."""
    return parse_every_way(ConsoleParser, text.encode() + b"\n")


def concepts(got: ParserOutput) -> dict[str, str]:
    """What the tags mean, to the trainer that has them."""
    trainer = catalogue.identify(got.points)
    known = {tag: meaning(trainer, tag) for tag in got.points}
    return {tag: each.concept for tag, each in known.items() if each is not None}


def test_easyr1_prints_groups_of_names() -> None:
    """A name is the path to it: the time of the rewards is no reward, that of a step no step."""
    update = """Step {n}
actor:
  lr: 1.0e-06
  pg_clipfrac_higher: 0.003
  pg_loss: 0.01
  ppo_kl: -0.0
critic:
  rewards:
    mean: 0.1
  score:
    max: 1.0
    mean: 0.{n}
response_length:
  clip_ratio: 0.01
timing_s:
  reward: 2.0
  step: 61.2
val:
  reward_score: 0.4

"""
    bar = "Running step:  2%|▏         | {n}/40 [01:00<39:00, 61.2s/it]"
    got = read("".join(f"{bar}\r{update}".format(n=number) for number in (1, 2, 3)))
    assert got.values_by_step()["critic/score/mean"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert got.values_by_step()["timing_s/step"] == [(1, 61.2), (2, 61.2), (3, 61.2)]
    assert not got.points.keys() & {"reward", "step", "mean", "lr"}
    assert catalogue.identify(got.points).id == "verl"
    expected = {"actor/lr": "lr", "critic/score/mean": "reward_mean"}
    expected |= {"actor/pg_clipfrac_higher": "clip_fraction"}
    expected |= {"val/reward_score": "eval_reward_mean"}
    assert expected.items() <= concepts(got).items()


def test_groups_end_where_other_text_follows() -> None:
    """A line of its own below them is read as ever."""
    got = read("Step 1\ncritic:\n  score: 0.5\nSaved.\n  loss: 0.25\nStep 2\nloss: 0.125\n")
    assert got.values_by_step()["critic/score"] == [(1, 0.5)]
    assert got.values_by_step()["loss"] == [(1, 0.25), (2, 0.125)]


def open_instruct_panel(step: int, width: int) -> str:
    """The panel of a step, as rich breaks it into lines."""
    rows = {
        "loss": f"policy_avg: 0.01 | kl_avg: 0.00e+00 | total_avg: 0.{step}",
        "other": f"episode: {512 * step} | global_step: {512 * step} | training_step: {step} | "
        f"scores: {step}.50 | packed_ratio: 0.40",
        "policy": "clipfrac_avg: 0.02",
        "val": "sequence_lengths: 800.00 | stop_rate: 0.95 | ratio: 1.00",
    }
    table = Table(show_header=False, box=None)
    table.add_column("Category", style="cyan")
    table.add_column("Values", style="magenta")
    for name, text in rows.items():
        table.add_row(name, text)
    printed = io.StringIO()
    Console(file=printed, width=width).print(Panel(table, title="Metrics", expand=False))
    return printed.getvalue()


def test_open_instruct_prints_a_panel_with_a_row_for_each_group() -> None:
    """Rows are as long as it takes; the step is that of the training, not of its episodes."""
    for width in (60, 80, 160):
        got = read("".join(open_instruct_panel(step, width) for step in (1, 2, 3)))
        assert got.values_by_step()["scores"] == [(1, 1.5), (2, 2.5), (3, 3.5)]
        assert got.values_by_step()["loss/total_avg"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
        assert got.steps("loss/policy_avg") == got.steps("policy/clipfrac_avg") == [1, 2, 3]
        assert concepts(got)["val/sequence_lengths"] == "resp_len_mean"


def test_roll_says_its_step_in_the_group_of_the_system() -> None:
    """`do_checkpoint` adds it to the metrics of agentic training."""
    record = '{{"critic/score/mean": 0.{n}, "actor/lr": 1e-06, "system/step": {n}}}\n'
    got = read("".join(record.format(n=number) for number in (1, 2, 3)))
    assert got.values_by_step()["critic/score/mean"] == [(1, 0.1), (2, 0.2), (3, 0.3)]


def test_verl_says_how_many_steps_there_will_be() -> None:
    """And, in TinyZero's version, the scores of its tests by data set."""
    got = read(
        "Total training steps: 19200\n"
        "step:0 - val/test_score/openai/gsm8k:0.012\n"
        "step:1 - critic/score/mean:0.100 - actor/ppo_kl:0.000 - critic/kl:0.001"
    )
    assert got.config == {"Total training steps": 19200.0}
    expected = {"val/test_score/openai/gsm8k": "eval_reward_mean", "critic/kl": "ref_kl_token"}
    assert expected.items() <= concepts(got).items()


def test_evaluations_of_prime_rl_say_their_environment_and_step() -> None:
    """They stand between the lines of the steps, whose names they have."""
    line = (
        "12:00:01 SUCCESS Step {n} |   8.15s | Reward 0.{n}000 | Trainable 120/128 (93.8%) | "
        "Turns 1.0 | Branches 1.0 | Max Off-Policy 1 | Error 0.0% | Truncation 2.1%\n"
        "12:00:02 SUCCESS Evaluated aime (Step {n}) | Policy v3 |  22.10s | Reward 0.0{n}00 | "
        "Turns 1.0 | Branches 1.0 | Error 0.0% | Truncation 3.1%\n"
    )
    got = read("".join(line.format(n=number) for number in (1, 2, 3)))
    assert got.values_by_step()["Reward"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert got.values_by_step()["eval/aime/Reward"] == [(1, 0.01), (2, 0.02), (3, 0.03)]
    assert concepts(got)["eval/aime/Reward"] == "eval_reward_mean"
    got = read(
        "12:00:01 SUCCESS Step 9 | Time: 8.15s | Reward: 0.5 | Val. Reward: 0.25 | Throughput: 9.0 "
        "tokens/s | Max. Off-Policy Level: 1\n"
        "12:00:02 SUCCESS Evaluated aime in 22.10s (Avg@4=0.1250, Pass@4: 0.5, Truncated: 1.0%)"
    )
    assert got.values_by_step()["eval/aime/Reward"] == [(9, 0.125)]
    assert got.values_by_step()["Val. Reward"] == [(9, 0.25)]


def test_evaluations_of_openrlhf_on_the_console() -> None:
    """Their names have no prefix there."""
    got = read(
        "Global step 10: {'policy_loss': 0.01, 'ppo_kl': 0.001, 'reward': 0.5}\n"
        "Evaluation completed in 0:01:02, global_step 10, "
        "eval_metrics: {'eval_aime_pass4': 0.5, 'eval_aime_pass1': 0.25}"
    )
    assert got.values_by_step()["eval_aime_pass1"] == [(10, 0.25)]
    assert concepts(got)["eval_aime_pass1"] == "eval_reward_mean"


def test_epochs_between_tables_of_steps_are_no_steps() -> None:
    """garage's lines begin with the epoch, also when that is far behind the tables' steps."""
    text = ""
    for epoch in range(20):
        head = f"2026-01-02 10:03:{epoch:02} | [trpo_cartpole] epoch #{epoch} | "
        text += f"{head}Obtaining samples...\n{head}Saved\n{head}EpochTime 2.10 s\n"
        text += f"---------------  ------\nAverageReturn    {20 + epoch}\nEntropy          1.4\n"
        text += f"TotalEnvSteps    {4000 * (epoch + 1)}\n---------------  ------\n"
    got = read(text)
    assert got.steps("AverageReturn") == [4000 * epoch for epoch in range(1, 21)]
    assert got.steps("epoch") == sorted(got.steps("epoch"))


def test_counts_of_episodes_are_no_line_numbers() -> None:
    """Keras-RL begins its lines with them, and they may rise by one."""
    interval = (
        "Interval {n} ({n}0000 steps performed)\n{n} episodes - episode_reward: -1{n}.000 "
        "[-21.000, -9.000] - loss: 0.010 - mae: 0.012 - mean_q: 0.100 - mean_eps: 0.900\n\n"
    )
    got = read(
        "Training for 1750000 steps ...\n"
        + "".join(interval.format(n=number) for number in (7, 8, 9))
    )
    assert got.values_by_step()["episode_reward"] == [(70000, -17), (80000, -18), (90000, -19)]
    assert got.config == {"total_timesteps": 1750000}


def test_the_bar_of_an_interval_tells_no_updates() -> None:
    """Keras-RL's TrainIntervalLogger draws it with the mean reward of the steps so far."""
    text = "Training for 15000 steps ...\n"
    for number in (1, 2, 3):
        text += f"Interval {number} ({number - 1}000 steps performed)\n"
        for step in (1, 400, 999):
            text += f"\r{step:4d}/1000 [==>...........] - ETA: 8s - reward: 1.0000" + "\b" * 60
        text += "\r1000/1000 [==============] - 11s 11ms/step - reward: 1.0000\n"
        text += f"{number} episodes - episode_reward: 2{number}.500 [9.000, 64.000] - loss: 0.200\n"
    got = read(text)
    assert got.steps("episode_reward") == [0, 1000, 2000]
    assert set(got.points) == {"episode_reward", "loss"}


def test_episodes_within_an_iteration_are_not_counted_as_iterations() -> None:
    """Dopamine draws a line of each over the one before."""
    text = ""
    for number in range(3):
        text += f"{ABSL}Starting iteration {number}\n"
        for steps in (5000, 10000, 15000):
            text += f"Steps executed: {steps} Episode length: 1200 Return: -{steps}.0\r"
        text += f"{ABSL}Average undiscounted return per training episode: -1{number}.50\n"
    got = read(text)
    tag = "Average undiscounted return per training episode"
    assert got.values_by_step()[tag] == [(0, -10.5), (1, -11.5), (2, -12.5)]


def test_printed_arguments_are_settings() -> None:
    """Baselines prints those of its algorithm, Spinning Up all of its own."""
    arguments = (
        "{'network': 'conv_only', 'lr': 0.0001, 'buffer_size': 10000, 'gamma': 0.99, "
        "'exploration_fraction': 0.1, 'train_freq': 4, 'learning_starts': 10000, 'dueling': True}"
    )
    got = read(f"Training deepq on atari:PongNoFrameskip-v4 with arguments \n{arguments}")
    assert not got.points
    assert got.config["learning_starts"] == 10000.0
    saved = '{\n    "clip_ratio":\t0.2,\n    "env_fn":\t"<function>",\n    "gamma":\t0.99,\n'
    saved += '    "max_ep_len":\t1000,\n    "steps_per_epoch":\t4000,\n    "target_kl":\t0.01\n}'
    got = read(f"Saving config:\n\n{saved}")
    assert not got.points
    assert got.config["clip_ratio"] == 0.2


def test_loops_of_acme_print_the_steps_of_the_training() -> None:
    """Those of its experiments print all counts; an evaluation's return is not the training's."""
    counts = "Evaluator Episodes = 1 | Evaluator Steps = 20 | Learner Steps = {n}5"
    loop = "[{loop}] Episode Length = 20 | Episode Return = {n}.000 | {counts} | "
    loop += "Steps Per Second = 410.123 | Train Episodes = {n} | Train Steps = {n}00\n"
    text = "".join(
        loop.format(loop=name, n=number, counts=counts.format(n=number))
        for number in (1, 2, 3)
        for name in ("Train", "Evaluator")
    )
    got = read(text)
    assert got.values_by_step()["Train/Episode Return"] == [(100, 1), (200, 2), (300, 3)]
    assert got.steps("Evaluator/Episode Return") == [100, 200, 300]
    assert catalogue.identify(got.points).id == "acme"
    assert concepts(got)["Train/Episode Return"] == "reward_mean"
    assert concepts(got)["Evaluator/Episode Return"] == "eval_reward_mean"


def test_lines_of_rllibs_course() -> None:
    """Lowest, mean and highest; the number before them is no line's."""
    line = "  {n} reward   9.00/ {n}0.50/ 60.00 len  {n}1.25 saved tmp/ppo/cart/checkpoint_{n}\n"
    got = read("".join(line.format(n=number) for number in (1, 2, 3)))
    assert got.values_by_step()["episode_reward_mean"] == [(1, 10.5), (2, 20.5), (3, 30.5)]
    assert got.values("episode_reward_min") == [9.0] * 3


def test_finrl_prints_episodes_between_the_tables_of_its_trainer() -> None:
    """Those are few beside the steps of the tables; the arguments of the model stand above."""
    arguments = (
        "{'n_steps': 2048, 'ent_coef': 0.01, 'learning_rate': 0.00025, 'batch_size': 128}\n"
        "Using cpu device\n"
    )
    text = ""
    for number in (1, 2, 3):
        rows = {"time/": "", "   total_timesteps": f"{2048 * number}", "train/": ""}
        rows["   value_loss"] = f"{number}2.1"
        cells = "".join(f"| {name:<18} | {value:<6} |\n" for name, value in rows.items())
        text += f"{'-' * 31}\n{cells}{'-' * 31}\n"
        text += f"day: 2892, episode: {number}\nbegin_total_asset: 1000000.00\n"
        text += f"total_reward: {number}000.25\nSharpe: 0.5\n=================================\n"
    got = read(arguments + text)
    assert got.values_by_step()["total_reward"] == [
        (2048, 1000.25),
        (4096, 2000.25),
        (6144, 3000.25),
    ]
    assert got.steps("train/value_loss") == [2048, 4096, 6144]
    assert (got.config["n_steps"], got.config["batch_size"]) == (2048.0, 128.0)
    assert "n_steps" not in got.points


def test_rlinf_prints_a_table_of_sections() -> None:
    """Its names are those of the trackers: the time of a step is no step."""
    width = 118

    def section(title: str, *cells: str) -> str:
        rows = (cells[at : at + 3] for at in range(0, len(cells), 3))
        lines = ("│".join(f"{cell:<38}" for cell in (*row, "", "")[:3]) for row in rows)
        return f"├{f' {title} ':─^{width}}┤\n" + "".join(f"│{line}│\n" for line in lines)

    def table(step: int) -> str:
        line = f"│ Global Step: {step:4d}/1000 │ Progress: {'░' * 40} │ {step / 10:5.1f}%"
        text = f"╭{'─' * width}╮\n{section('Metric Table')}{line:<{width}} │\n"
        text += section("Time", "step=61.200", "sync_weights=2.100")
        text += section("Environment", f"return=0.{step}00", "reward=0.0010", "success_once=0.250")
        text += section("Training/Actor", "actor/approx_kl=0.0010", "actor/policy_loss=-1.20e-04")
        return f"{text}│{' ' * width}│\n╰{'─' * width}╯\n\n"

    got = read("".join(map(table, (1, 2, 3))))
    assert got.values_by_step()["env/return"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert got.values_by_step()["time/step"] == [(1, 61.2), (2, 61.2), (3, 61.2)]
    assert got.values("train/actor/policy_loss") == [-1.2e-4] * 3
    assert got.config == {"max_steps": 1000}
    assert catalogue.identify(got.points).id == "rlinf"
    assert concepts(got)["env/return"] == "reward_mean"


def test_a_record_may_hold_the_training_and_its_evaluation() -> None:
    """nano-aha-moment prints both below the line that its evaluation begins."""
    text = ""
    for number in (1, 2, 3):
        text += f"2026-01-02 10:03:04 - INFO - Iteration {number}/1000\n"
        text += "2026-01-02 10:03:04 - INFO - Evaluating on eval set...\n"
        values = {"train/rewards": number / 4, "eval/rewards": number / 8}
        text += f"2026-01-02 10:03:09 - INFO - KEY METRICS: {values}\n"
    got = read(text).values_by_step()
    assert got["train/rewards"] == [(1, 0.25), (2, 0.5), (3, 0.75)]
    assert got["eval/rewards"] == [(1, 0.125), (2, 0.25), (3, 0.375)]
    assert "eval/train/rewards" not in got


def test_micro_steps_are_parts_of_a_step() -> None:
    """prime-rl prints them where it is asked for more than it says otherwise."""
    text = ""
    for step in range(3):
        for part in range(32):
            text += f"12:00:01   DEBUG Micro Step {part}/32 | Loss: 0.25 | Entropy: 0.5\n" * (
                step > 0
            )
        text += f"12:00:02 SUCCESS Step {step} | Time: 8.15s | Loss: 0.{step}5 | Entropy: 0.5\n"
    got = read(text)
    assert got.config == {}
    assert got.steps("Time") == [0, 1, 2]
    assert got.steps("Loss") == sorted(got.steps("Loss"))


def test_areal_up_to_0_3_says_the_step_before_what_its_workers_return() -> None:
    """Each minibatch of a step has a grid."""
    head = "20250624-12:00:00.123 "
    text = ""
    for step in (1, 2, 3):
        text += f"{head}master worker INFO: The next step is epoch 1/10 step {step}/30 "
        text += f"(global step {step}). Should checkpoint? False. Should save? False.\n"
        for part in (1, 2):
            text += f"{head}system INFO: RPC name actor_train returns ({part}/2)\n"
            cells = f"ppo_actor/task_reward/avg │ {step}.0000e-01 │ ppo_actor/actor_clip_ratio/avg"
            grid = f"│ {cells} │ 1.0000e-02 │"
            text += f"╒{'═' * (len(grid) - 2)}╕\n{grid}\n╘{'═' * (len(grid) - 2)}╛\n"
    got = read(text)
    assert got.steps("ppo_actor/task_reward/avg") == [1, 1, 2, 2, 3, 3]
    assert concepts(got)["ppo_actor/actor_clip_ratio/avg"] == "clip_fraction"


def test_updates_whose_frames_are_told_are_no_steps() -> None:
    """habitat-baselines prints the speed at an update before the frames that it stands at."""
    text = ""
    for number in (10, 20, 30):
        text += f"update: {number}\tfps: 312.125\t\n"
        text += f"update: {number}\tenv-time: 5.000s\tpth-time: 3.000s\tframes: {1024 * number}\n"
        text += f"Average window size: 50  reward: {number}.125  spl: 0.001  success: 0.250\n"
    got = read(text)
    assert got.values_by_step()["reward"] == [(10240, 10.125), (20480, 20.125), (30720, 30.125)]
    assert got.steps("fps") == [10, 10240, 20480]


def test_rules_between_the_rows_of_a_box_end_no_table() -> None:
    """ml-logger draws them (walk-these-ways)."""
    text = ""
    for number in (1, 2, 3):
        rows = {"mean value loss/mean": f"0.{number}5", "timesteps": f"{number}000"}
        lines = [f"│{name:^24}│{value:^20}│\n" for name, value in rows.items()]
        inner = f"├{'─' * 24}┼{'─' * 20}┤\n"
        text += f"╒{'═' * 24}╤{'═' * 20}╕\n{inner.join(lines)}╘{'═' * 24}╧{'═' * 20}╛\n"
    got = read(text)
    assert got.values_by_step()["mean value loss/mean"] == [
        (1000, 0.15),
        (2000, 0.25),
        (3000, 0.35),
    ]


def test_pipelinerl_counts_completed_steps_before_its_dictionary() -> None:
    """Its `kl` is that to the reference."""
    head = "[finetune]: 2026-08-20 12:00:00.123 - INFO - pipelinerl.finetune.logging_ - "
    got = read(
        "".join(
            f"{head}Completed steps {step}: {{'stats/lr': '1.000e-06', 'rl/reward': '0.{step}', "
            "'rl/kl': '0.001', 'rl/kl_new_old': '0.002'}\n"
            for step in (4, 5, 6)
        )
    )
    assert got.values_by_step()["rl/reward"] == [(4, 0.4), (5, 0.5), (6, 0.6)]
    assert concepts(got)["rl/kl"] == "ref_kl_token"
    assert concepts(got)["rl/kl_new_old"] == "approx_kl"


def test_chatlearn_names_the_group_of_its_metrics_behind_the_step() -> None:
    """They have the names of its event files."""
    text = ""
    for step in (1, 2, 3):
        head = "[2026-08-20 12:00:00,123 ChatLearn] (metric_manager.py 90): INFO "
        for group, metrics in (
            ("rollout", f"{{'response_token_length': 40{step}.5, 'response_clip_ratio': 0.01}}"),
            ("rule_reward", f"{{'train_reward_score': 0.{step}}}"),
            ("policy_trainer", "{'pg_loss': 0.01, 'kl_loss': 0.002, 'grad_norm': 0.3}"),
            ("replay", "{}"),
            ("eval", f"{{'eval_math_response_clip_ratio': 0.1, 'eval_math': 0.{step}5}}"),
        ):
            text += f"{head}step {step} prefix {group}: logging metric {metrics}\n"
    got = read(text)
    assert got.values_by_step()["rule_reward/train_reward_score"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert got.values_by_step()["eval/eval_math"] == [(1, 0.15), (2, 0.25), (3, 0.35)]
    assert concepts(got)["rollout/response_clip_ratio"] == "truncated_frac"
    assert concepts(got)["eval/eval_math"] == "eval_reward_mean"


def test_names_that_say_they_are_of_a_validation_stay_as_they_are() -> None:
    """torchtitan's lines say it, too, and the first of them stands before the training."""
    text = ""
    for step in range(5):
        if step:
            text += (
                f"Train | Step: {step:2}  loss/mean: 0.{step}1  rollout_reward/_mean: 0.{step}\n"
            )
        if step % 2 == 0:
            text += f"Validation | Step: {step:2}  validation_reward/_mean: 0.{step}5  "
            text += "validation_reward/_max: 1.0\n"
    got = read(text)
    assert got.values_by_step()["validation_reward/_mean"] == [(0, 0.05), (2, 0.25), (4, 0.45)]
    assert got.steps("rollout_reward/_mean") == [1, 2, 3, 4]
    assert "eval/validation_reward/_mean" not in got.values_by_step()


def test_xtuner_lists_what_a_step_has_trained_on() -> None:
    """Its times stand in a list above, whose `step` is none."""
    text = ""
    for step in (1, 2, 3):
        head = "[XTuner][2026-08-20 12:00:00][INFO] "
        text += f"{head}Train step {step}/300 start\n{head}Train step {step}/300\n"
        text += f"Train step {step} finished and timing listed:\n - {'step':<25}: 52.10s \n"
        text += f"Train step {step} data statistics:\n"
        for name in ("rewards/mean", "advantages/mean", "prompt_len/mean", "response_len/mean"):
            text += f"- {name:<25}: {step}.5000\n"
        text += f"{head}Eval: accuracy: 0.{step}000\n"
    got = read(text)
    for name in ("rewards/mean", "prompt_len/mean", "response_len/mean"):
        assert got.values_by_step()[name] == [(1, 1.5), (2, 2.5), (3, 3.5)]
    assert got.values_by_step()["eval/accuracy"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert got.config == {"max_steps": 300}
    assert "step" not in got.values_by_step()
