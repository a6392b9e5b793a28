"""Facts about causes that a log cannot tell: neither a yes nor a no is counted then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from ppo_top.model import ConfigValue, Profile, Sample
from ppo_top.rules.advice.symptoms import facts_seen
from ppo_top.rules.engine.judged_run import JudgedRun
from tests.rules.courses import after, at
from tests.rules.specification import UPDATE_MEANS
from tests.rules.test_critic_symptoms import COSTS
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    DrawnColumns,
    draw_rows,
    jitter,
)


@dataclass(frozen=True)
class DrawnLog:
    """What is changed in a healthy log of a family, and what is known of it."""

    columns: DrawnColumns = field(default_factory=dict)
    family: str = "on-policy"
    count: int = 30
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    trainer: str = ""
    algo: str = ""
    sample: Sample = UPDATE_MEANS

    def answer(self, fact: str) -> bool | None:
        """Whether a fact holds at the end; None if the log does not tell."""
        base = COSTS if self.family == "off-policy" else HEALTHY_COLUMNS[self.family]
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        samples = {"reward_mean": self.sample}
        run = JudgedRun(Profile(trainer, self.family, self.config, algo=self.algo, samples=samples))
        for row in draw_rows({**base, **self.columns}, self.count):
            run.add_row(row)
        return facts_seen(run).get(fact)


OFF, VALUE, GRPO = "off-policy", "value-based", "grpo"
HIGH, LOW = "learning rate far above its default", "learning rate far below its default"
UNMEASURED = "learned nothing, and no size of updates is logged"
GREW = "completions grew to the length limit as reward rose"
UNTRAINED = "action values near 0 at a usual learning rate"
WRONG = "action values of the other sign than the returns"
NO_RATE: DrawnColumns = {"lr": None}
CUT_OFF: DrawnColumns = {"truncated_frac": after(10, 0.6, 0.1)}
STILL: DrawnColumns = {"reward_mean": lambda i: 0.5 + jitter(i, 0.02)}
NO_REWARD: DrawnColumns = {"reward_mean": None}
FALLEN: DrawnColumns = {"reward_mean": lambda i: 10.0 * i if i <= 17 else 20.0}
OPPOSITE: DrawnColumns = {
    "reward_mean": lambda i: -600.0 - i % 2, "ep_len": 60.0, "actor_loss": -60.0,
    "entropy_coef": 0.01,
}  # fmt: skip
"""Action values of 60 where returns are -600."""

# fmt: off
UNTOLD = (
    ("a negative rate is none", LOW, DrawnLog(NO_RATE, config={"learning_rate": -1.0}),
     DrawnLog(NO_RATE, config={"learning_rate": 1e-8})),
    ("the rate is that of the critic", HIGH, DrawnLog({"lr": 0.5}, algo="TRPO"), DrawnLog({"lr":
     0.5})),
    ("there is one rate", "learning rate jumped", DrawnLog(count=1), DrawnLog(count=2)),
    ("there is one rate", "learning rate cut", DrawnLog(count=1), DrawnLog(count=2)),
    ("nobody knows what the counter counts", "more than 30 epochs an update",
     DrawnLog(trainer="custom"), DrawnLog()),
    ("a learner from a buffer has no rollout", "fewer than 64 steps an update",
     DrawnLog({"iteration": lambda i: 100.0 * i}, OFF), DrawnLog({"iteration": lambda i: 100.0 *
     i})),
    ("nothing was gained that could fall", "reward fell within a few rows",
     DrawnLog({"reward_mean": 5.0}), DrawnLog(FALLEN)),
    ("nothing tells how long text is", GREW, DrawnLog({**CUT_OFF, "truncated_frac": None}, GRPO),
     DrawnLog(CUT_OFF, GRPO)),
    ("no reward is logged", GREW, DrawnLog({**CUT_OFF, **NO_REWARD}, GRPO), DrawnLog(CUT_OFF,
     GRPO)),
    ("no learning rate is known", UNTRAINED, DrawnLog(NO_RATE, OFF), DrawnLog({"lr": 3e-4}, OFF)),
    ("no action values are logged", UNTRAINED, DrawnLog({"lr": 3e-4, "actor_loss": None}, OFF),
     DrawnLog({"lr": 3e-4}, OFF)),
    ("two rewards are few", "action values near 0 beside the rewards", DrawnLog({}, OFF, 2),
     DrawnLog({}, OFF, 3)),
    ("rewards of others may be normalised", "rewards of hundreds a step", DrawnLog(), DrawnLog({},
     OFF)),
    ("losses of others have another unit", "critic loss beyond the squared returns", DrawnLog(),
     DrawnLog({}, OFF)),
    ("returns are of both signs", WRONG, DrawnLog({**OPPOSITE, "reward_mean": lambda i: 1.0 if i ==
     2
     else -600.0 - i % 2}, OFF), DrawnLog(OPPOSITE, OFF)),
    ("the first lengths are none", "episodes longer than at the start",
     DrawnLog({"ep_len": after(10, 50.0, 0.0)}, OFF), DrawnLog({"ep_len": after(10, 50.0, 20.0)},
     OFF)),
    ("rewards are means over many rows", "reward varies less than at the start",
     DrawnLog(count=50, sample=Sample("window", 100)), DrawnLog(count=50)),
    ("five rewards are few", "reward at its lowest", DrawnLog({}, OFF, 5), DrawnLog({}, OFF, 20)),
    ("rewards never differ", "reward at its lowest", DrawnLog({"reward_mean": 5.0}, OFF),
     DrawnLog({"reward_mean": at(3, 6.0, 5.0)}, OFF)),
    ("entropy was 0 at first", "entropy below a hundredth of its start",
     DrawnLog({"entropy": after(1, 0.5, 0.0)}), DrawnLog()),
    ("five entropies are few", "entropy below nine tenths of its start", DrawnLog(count=5),
     DrawnLog(count=6)),
    ("a control task has no tokens", "entropy above 1.5 nats a token from the start", DrawnLog(),
     DrawnLog(family=GRPO)),
    ("a control task has no tokens", "samples without entropy from the start", DrawnLog(),
     DrawnLog(family=GRPO)),
    ("a control task has no reference", "KL to the reference above 0.1 a token within 20 updates",
     DrawnLog({"ref_kl_token": 0.2}), DrawnLog({"ref_kl_token": 0.2}, GRPO)),
    ("a control task has no reference", "KL to the reference 0", DrawnLog({"ref_kl_token": 0.0}),
     DrawnLog({"ref_kl_token": 0.0}, GRPO)),
    ("a control task is clipped otherwise", "samples clipped, more than 15 %", DrawnLog(),
     DrawnLog(family=GRPO)),
    ("no clipping is logged", "samples clipped, more than 15 %", DrawnLog({"clip_fraction": None,
     "clip_low": None, "clip_high": None}, GRPO), DrawnLog(family=GRPO)),
    ("no KL to the reference is logged", "never clipped, though batches are used again",
     DrawnLog({"ref_kl_token": None}, GRPO), DrawnLog(family=GRPO)),
    ("the upper side of clipping is not logged", "never clipped, though batches are used again",
     DrawnLog({"clip_high": None}, GRPO), DrawnLog(family=GRPO)),
    ("gradients of control tasks have another size", "gradient 0", DrawnLog({"grad_norm": 0.5}),
     DrawnLog(family=GRPO)),
    ("a control task has no groups", "rewards average nothing beside their spread",
     DrawnLog({"reward_std": 1.0}), DrawnLog(family=GRPO)),
    ("a control task has no completions", "more than 8 updates a batch of completions",
     DrawnLog({"grad_norm": 0.5}), DrawnLog(family=GRPO)),
    ("a control task has no completions", "completions never at the length limit",
     DrawnLog({"truncated_frac": 0.0}), DrawnLog(family=GRPO)),
    ("a learner from a buffer weighs its critic otherwise", "value coefficient 0 or below",
     DrawnLog({"explained_variance": 0.1}, OFF, config={"vf_coef": 0.0}),
     DrawnLog({"explained_variance": 0.1}, config={"vf_coef": 0.0})),
    ("a critic that explains the returns is trained elsewhere", "value coefficient 0 or below",
     DrawnLog({"explained_variance": 0.5}, config={"vf_coef": 0.0}),
     DrawnLog({"explained_variance": None, "value_loss": 1.0}, config={"vf_coef": 0.0})),
    ("there is no critic", "value coefficient 0 or below", DrawnLog({"explained_variance": None,
     "value_loss": None}, config={"vf_coef": 0.0}), DrawnLog({"explained_variance": 0.1,
     "value_loss":
     None}, config={"vf_coef": 0.0})),
    ("a temperature may be tuned", "entropy coefficient below 0", DrawnLog({}, OFF,
     config={"ent_coef":
     -0.1}), DrawnLog(config={"ent_coef": -0.1})),
    ("a replay learner's is in units of the rewards", "entropy coefficient above 0.3",
     DrawnLog({}, OFF, config={"ent_coef": 1.0}), DrawnLog(config={"ent_coef": 1.0})),
    ("a token's discount is another thing", "discount below 0.5", DrawnLog({"ep_len": 20.0}, GRPO,
     config={"gamma": 0.1}), DrawnLog(config={"gamma": 0.1})),
)

DIFFERENT = (
    ("it is 30 times the default of the algorithm", HIGH, DrawnLog({"lr": 0.02}), DrawnLog({"lr":
     0.02},
     algo="A2C")),
    ("it is a hundredth", HIGH, DrawnLog({"lr": 0.02}, trainer="unknown"), DrawnLog({"lr": 0.009},
     trainer="unknown")),
    ("it is a hundredth in single precision", HIGH, DrawnLog({"lr": 0.0099999925}), DrawnLog({"lr":
     0.009999985})),
    ("it is logged, whatever is set", HIGH, DrawnLog({"lr": 0.02}, config={"learning_rate": 1e-3}),
     DrawnLog({"lr": 1e-3}, config={"learning_rate": 0.02})),
    ("it is tiny, where no default is known", LOW, DrawnLog({"lr": 1e-8}, trainer="unknown"),
     DrawnLog({"lr": 1e-5}, trainer="unknown")),
    ("it is a hundredth of a small default", LOW, DrawnLog({"lr": 1e-9}, GRPO),
     DrawnLog({"lr": 5e-7}, GRPO)),
    ("the reward is flat", UNMEASURED, DrawnLog({**NO_RATE, "approx_kl": None, "reward_mean":
     lambda i:
     22.0 + jitter(i, 2)}), DrawnLog({**NO_RATE, "approx_kl": None, "reward_mean": lambda i: 22.0 +
     jitter(i, 2)}, count=8)),
    ("more was gained below the start", "reward below its start", DrawnLog({"reward_mean": lambda i:
     10.0 * i if i <= 17 else -200.0}), DrawnLog({"reward_mean": lambda i: 10.0 * i if i <= 17 else
     5.0})),
    ("the reward rose", GREW, DrawnLog(CUT_OFF, GRPO), DrawnLog({**CUT_OFF, **STILL}, GRPO)),
    ("text was shorter at first", GREW, DrawnLog(CUT_OFF, GRPO), DrawnLog({"truncated_frac": 0.6},
     GRPO)),
    ("minus the policy's loss is a value as well", "action values beyond all returns",
     DrawnLog({"actor_loss": None, "policy_loss": 900.0}, OFF), DrawnLog({"actor_loss": None,
     "policy_loss":
     1.0}, OFF)),
    ("an episode has a step at least", "rewards of hundreds a step", DrawnLog({"ep_len": 1.0,
     "reward_mean": 310.0}, OFF), DrawnLog({"ep_len": 0.5, "reward_mean": 200.0}, OFF)),
)
# fmt: on


def reason(value: object) -> str:
    """What a test is named by: its reason and its fact."""
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("why", "fact", "log", "telling"), UNTOLD, ids=reason)
def test_a_log_does_not_tell(why: str, fact: str, log: DrawnLog, telling: DrawnLog) -> None:
    """For this reason a log has no answer, where another one has."""
    assert log.answer(fact) is None, why
    assert telling.answer(fact) is not None


@pytest.mark.parametrize(("why", "fact", "log", "other"), DIFFERENT, ids=reason)
def test_a_fact_depends_on_this(why: str, fact: str, log: DrawnLog, other: DrawnLog) -> None:
    """It holds where this is so, and does not in another log."""
    assert log.answer(fact), why
    assert other.answer(fact) is False


@pytest.mark.parametrize("trainer", ["own-grpo", "slime", "trl-grpo"])
def test_a_usual_rate_of_a_language_model_is_not_low(trainer: str) -> None:
    """Most train with 1e-6, whether or not the trainer's default is known."""
    assert DrawnLog({"lr": 1e-6}, GRPO, trainer=trainer).answer(LOW) is False
    assert DrawnLog({"lr": 1e-9}, GRPO, trainer=trainer).answer(LOW) is True
