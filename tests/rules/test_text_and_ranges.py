"""Console lines that are evidence, colours of values, and the lines of the checklist."""

from __future__ import annotations

import math

import pytest

from ppo_top.catalogue import Trainer, is_concept, known_trainers
from ppo_top.model import Profile, Status
from ppo_top.rules.console_text import find_text_evidence, message_in
from ppo_top.rules.crucial_values import crucial_values, essential_values, not_logged_text
from ppo_top.rules.engine.ranges import colour, healthy_range, is_below_usual
from tests.support.drawn_runs import profile

EVIDENCE_LINES = {
    "KL divergence is starting to become negative: -1.34 - this might be": "ref-kl-negative:crit",
    "The average ratio of batch (12.26) exceeds threshold 10.00. Skipping batch.": "ratio-off:warn",
    "Early stopping at step 3 due to reaching max kl: 0.05": "kl-early-stop:info",
    "ValueError: Expected parameter logits (Tensor of shape (64, 2)) of distribution "
    "Categorical(logits: torch.Size([64, 2])) to satisfy the constraint IndependentConstraint(), "
    "but found invalid values: tensor([[nan, nan]])": "non-finite:crit",
    "RuntimeError: normal expects all elements of std >= 0.0": "non-finite:crit",
    "probability tensor contains either `inf`, `nan` or element < 0": "non-finite:crit",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate": "out-of-memory:crit",
    "OSError: [Errno 28] No space left on device": "disk-full:crit",
    "OSError: [Errno 122] Disk quota exceeded: 'checkpoint-400'": "disk-full:crit",
    "RuntimeError: [enforce fail at inline_container.cc:815] . PytorchStreamWriter failed writing "
    "file data/721: file write failed": "disk-full:crit",
    "Traceback (most recent call last):": "crashed:crit",
    "(TaskRunner pid=57714) Traceback (most recent call last):": "crashed:crit",
    "env.py:12: RuntimeWarning: invalid value encountered in divide": "numpy-warning:watch",
    "NameError: name 'wandb' is not defined": "last-error",
}


@pytest.mark.parametrize("line", EVIDENCE_LINES)
def test_known_lines_are_evidence(line: str) -> None:
    """Each sentence that trainers print leads to its rule and severity."""
    found = find_text_evidence(line)
    assert found is not None and found.kind == EVIDENCE_LINES[line]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "loss: 0.3 nan_count: 0",
        "| train/ | |",
        "KL: 0.0047",
        "ERROR: retrying",
        "x" * 100_000,
        "(Worker pid=577) ERROR:2026-03-26 21:59:41,526:Traceback (most recent call last):",
        "2026-03-26 21:59:41 WARNING retry 2: Traceback (most recent call last):",
    ],
)
def test_other_lines_are_not(line: str) -> None:
    """Ordinary lines, however long, are no evidence, nor are exceptions that were caught."""
    assert find_text_evidence(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "KeyboardInterrupt",
        "Exception: boom",
        "ValueError: boom",
        "torch.cuda.OutOfMemoryError",
        "ray.exceptions.RayTaskError(ValueError): boom",
    ],
)
def test_the_last_line_of_a_traceback_names_the_error(line: str) -> None:
    """Python prints the class of the exception, with its module, and perhaps what it says."""
    found = find_text_evidence(line)
    assert found is not None
    assert found.text == line


@pytest.mark.parametrize(
    "line",
    [
        "env.py:12: RuntimeWarning: overflow encountered in exp",
        "(Worker pid=577) env.py:12: RuntimeWarning: overflow encountered in exp",
        "Epoch 3: : 0it [12:57, ?it/s, loss=1.64]env.py:12: RuntimeWarning: overflow encountered in"
        " exp",
        " 45%|####   | 9/20 [00:07<00:08, 1.3it/s] env.py:12: RuntimeWarning: overflow encountered"
        " in exp",
    ],
)
def test_what_is_said_of_a_warning_is_the_warning(line: str) -> None:
    """Not the process that a launcher names before it, nor the bar that it follows."""
    assert message_in(line) == "env.py:12: RuntimeWarning: overflow encountered in exp"


def test_hostile_text_is_made_harmless() -> None:
    """What is kept of a line is short and printable."""
    found = find_text_evidence("\x1b[31mTraceback (most recent call last)\x1b]0;x\x07" + "y" * 5000)
    assert found is not None and found.text.isprintable() and len(found.text) <= 300


@pytest.mark.parametrize(
    ("concept", "value", "status"),
    [
        ("approx_kl", 0.01, Status.OK),
        ("approx_kl", 0.025, Status.WATCH),
        ("approx_kl", 0.031, Status.CRIT),
        ("clip_fraction", 0.1, Status.OK),
        ("clip_fraction", 0.31, Status.CRIT),
        ("explained_variance", 0.9, Status.OK),
        ("value_loss", 1e9, Status.OK),
        ("value_loss", float("nan"), Status.CRIT),
        ("explained_variance", float("nan"), Status.OK),
        ("explained_variance", -math.inf, Status.OK),
        ("explained_variance", math.inf, Status.CRIT),
        ("reward_std", math.nan, Status.OK),
        ("reward_std", math.inf, Status.CRIT),
    ],
)
def test_colours_are_instant(concept: str, value: float, status: Status) -> None:
    """A value is coloured by its range alone, NaN by whether it is allowed."""
    assert colour(concept, value, profile()) is status


def test_a_zero_that_was_rounded_is_no_departure() -> None:
    """KL of a policy that is still its reference comes out at -4e-9 as often as at 4e-9."""
    assert colour("ref_kl", -3.7e-9, profile("rlhf")) is Status.OK
    assert colour("ref_kl_token", -1e-7, profile("grpo")) is Status.OK
    assert colour("ref_kl_token", -1e-5, profile("grpo")) is Status.WATCH


def test_the_two_kls_have_their_own_ranges() -> None:
    """A KL of 5 to the reference is healthy where a KL of 5 between updates is a disaster."""
    rlhf = profile("rlhf")
    assert colour("ref_kl", 5.0, rlhf) is Status.OK
    assert colour("approx_kl", 5.0, rlhf) is Status.CRIT


def test_the_runs_own_target_sets_the_range() -> None:
    """SB3 stops at 1.5 times target_kl, RLlib steers by kl_target: these are their limits."""
    sb3 = healthy_range("approx_kl", profile(target_kl=0.1))
    rllib = healthy_range("approx_kl", profile("on-policy", "rllib", target_kl=0.05))
    assert sb3 is not None and sb3.high == 0.1 and "target_kl" in sb3.origin
    assert rllib is not None and rllib.high == 0.1


@pytest.mark.parametrize(
    ("target", "own"), [(0.0199, False), (0.0201, True), (0.0, False), (-1.0, False), (True, False)]
)
def test_a_target_that_widens_no_limit_changes_none(target: float, own: bool) -> None:
    """Updates are stopped at 1.5 times the target: above 0.03 that is the run's own limit."""
    found = healthy_range("approx_kl", profile(target_kl=target))
    assert found is not None
    assert ("target_kl" in found.origin) is own


def test_a_metric_without_a_range_of_its_own_gets_none_by_a_setting() -> None:
    """A KL target of a family whose KL is one per token; clipped sides that PPO does not log."""
    assert healthy_range("ref_kl", profile("grpo", ref_kl_target=6.0)) is None
    sequences = profile(importance_sampling_level="sequence")
    assert healthy_range("clip_low", sequences) is None


def test_only_completions_have_a_tiny_clip_range_that_clips_many() -> None:
    """A control task's clip range of 0.001 is just narrow."""
    assert colour("clip_fraction", 0.4, profile("grpo", clip_range=0.001)) is Status.OK
    assert colour("clip_fraction", 0.4, profile(clip_range=0.001)) is Status.CRIT


@pytest.mark.parametrize(
    ("metric", "value", "below"),
    [("approx_kl", 0.00097, True), ("approx_kl", 0.00103, False), ("clip_fraction", 0.0, False)],
)
def test_small_updates_are_below_what_is_usual(metric: str, value: float, below: bool) -> None:
    """Which is named, but no fault; other metrics have no such value."""
    assert is_below_usual(metric, value, profile()) is below


@pytest.mark.parametrize("trainer", known_trainers(), ids=lambda trainer: trainer.id)
def test_checklists_hold_known_concepts(trainer: Trainer) -> None:
    """Every crucial line is a concept of the catalogue, and can say why it is missing."""
    about = Profile(trainer.id, trainer.family)
    for concept, label in crucial_values(about):
        assert is_concept(concept) and label
        assert not_logged_text(concept, trainer).startswith("not logged")


def test_a_verdict_rests_on_values_that_no_run_may_lack() -> None:
    """Not on context, nor on what some logs hold; an unknown trainer's are those of its family."""
    about = Profile("unknown", "on-policy", tags={"entropy": "ent", "lr": "lr"})
    logged, missing = ({name for name, _ in part} for part in essential_values(about))
    assert logged == {"entropy"}
    assert "approx_kl" in missing
    assert missing.isdisjoint({"lr", "ep_len", "elo"})


@pytest.mark.parametrize(
    ("trainer", "algorithm", "family", "own"),
    [
        ("trl-legacy", "PPO", "rlhf", {"ratio_dist", "clip_fraction"}),
        ("sb3", "PPO", "on-policy", {"clip_fraction"}), ("sb3", "TRPO", "on-policy", set()),
        ("unknown", "", "value-based", {"exploration_rate"}), ("unknown", "", "unknown", set()),
    ],
)  # fmt: skip
def test_the_checklist_is_that_of_trainer_algorithm_or_family(
    trainer: str, algorithm: str, family: str, own: set[str]
) -> None:
    """The first of them that has one: some metrics stand in a few lists only."""
    names = {name for name, _ in crucial_values(Profile(trainer, family, algo=algorithm))}
    assert names & {"ratio_dist", "clip_fraction", "exploration_rate"} == own


def test_what_few_runs_log_has_no_line_unless_it_is_logged() -> None:
    """A rating is that of self-play."""
    without = {name for name, _ in crucial_values(Profile("sb3", "on-policy"))}
    rated = {name for name, _ in crucial_values(Profile("sb3", "on-policy", tags={"elo": "elo"}))}
    assert rated - without == {"elo"}
    assert "lr" in without
