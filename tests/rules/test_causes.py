"""What stands behind a finding: likeliest first, root first, and advice without contradictions."""

from __future__ import annotations

import math

import pytest

from benchmarks.cause_counts import TABLE, Symptoms, count_symptoms, table_lines
from corpus.causes import FAULTS_BY_CAUSE, named_causes
from ppo_top.catalogue.causes import ANY_CASE, cause_counts, known_causes
from ppo_top.model import ConfigValue, Finding, Mark, Profile, Row, Severity, SeverityChange
from ppo_top.rules.advice.causes import (
    RULE_PREFIX,
    cause_scores,
    cause_text,
    likely_causes,
    ranked_advice,
    symptoms_of,
)
from ppo_top.rules.advice.contradictions import (
    direction_of,
    keep_consistent,
    purpose_of,
    without_opposites,
    without_repeats,
)
from ppo_top.rules.advice.symptoms import FACTS, facts_seen
from ppo_top.rules.book import BY_ID
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import FAMILY_NAMES
from ppo_top.rules.judge import Judge
from tests.rules.courses import after, at, flat
from tests.support.drawn_runs import (
    CTRL_COLUMNS,
    GRPO_COLUMNS,
    HEALTHY_COLUMNS,
    OFF_POLICY_COLUMNS,
    RLHF_COLUMNS,
    SB3_TAGS,
    VALUE_BASED_COLUMNS,
    DrawnColumns,
    draw_rows,
    findings,
    gauss,
    jitter,
    profile,
)

WARN, CRIT = Severity.WARN, Severity.CRIT


def judged(columns: DrawnColumns, count: int = 60, about: Profile | None = None) -> Judge:
    """A judge at the end of a drawn run."""
    judge = Judge(about or profile())
    for row in draw_rows(columns, count):
        judge.add_row(row)
    return judge


def opened(judge: Judge, rule: str) -> Finding:
    """The newest finding of a rule."""
    return next(finding for finding in reversed(judge.findings) if finding.rule == rule)


def facts_at_end(columns: DrawnColumns, count: int = 30, about: Profile | None = None) -> set[str]:
    """The facts that hold at the end of a drawn run."""
    run = JudgedRun(about or profile())
    for row in draw_rows(columns, count):
        run.add_row(row)
    return {name for name, holds in facts_seen(run).items() if holds}


# --- the tables ------------------------------------------------------------------------------


def test_every_sentence_names_its_cause_and_no_other() -> None:
    """By the words that were fixed beforehand for judging."""
    texts = [text for some in known_causes().texts.values() for text in some]
    assert {text.sentence: set(named_causes(text.sentence)) for text in texts} == {
        text.sentence: {text.cause} for text in texts
    }


def test_the_tables_name_what_there_is() -> None:
    """Causes, facts, rules and families; and every cause has a line for all other cases."""
    causes, counts = known_causes(), cause_counts()
    assert causes.texts.keys() == counts.reports.keys() == FAULTS_BY_CAUSE.keys()
    rules_found = {RULE_PREFIX + rule for rule in BY_ID}
    facts = {*causes.proofs, *(fact for _, fact in causes.vetoes)}
    conditions = [text.when.split(" & ") for text in causes.harmless.values()]
    facts |= {fact.removeprefix("not ") for each in conditions for fact in each}
    facts |= facts.union(*causes.witnesses.values())
    assert {*causes.firsts, *causes.harmless} <= BY_ID.keys()
    assert facts <= FACTS.keys() | rules_found
    named = {*causes.proofs.values(), *(cause for cause, _ in causes.vetoes), *causes.witnesses}
    assert named <= counts.reports.keys()
    cases = {*FACTS, *FAMILY_NAMES, ANY_CASE}
    assert all(text.when in cases for some in causes.texts.values() for text in some)
    assert all(some[-1].when == ANY_CASE for some in causes.texts.values())
    assert all(families <= FAMILY_NAMES.keys() for families in causes.families.values())
    counted = {*counts.control, *counts.text}
    rules = {name.removeprefix(RULE_PREFIX) for name in counted if name not in FACTS}
    assert rules <= BY_ID.keys()


def test_no_symptom_was_seen_more_often_than_it_could_be() -> None:
    """Nor in more reports than there are."""
    counts = cause_counts()
    for name, symptom in (*counts.control.items(), *counts.text.items()):
        for cause, reports in counts.reports.items():
            assert 0 <= symptom.there[cause] <= symptom.could[cause] <= reports, (name, cause)


def test_counting_says_in_how_many_of_the_reports_that_could_show_it() -> None:
    """A fact that a log does not hold is not counted; a rule could fire in every run."""
    uncounted = "learned nothing, and no size of updates is logged"
    reports = [
        Symptoms({"fault": "gamma-0"}, "", {"approx KL 0": True, "rule reward-crash": True}),
        Symptoms({"fault": "gamma-0"}, "", {"approx KL 0": False, "rule reward-crash": True}),
        Symptoms({"fault": "gamma-0"}, "", {}),
        Symptoms({"fault": "lr-x100"}, "", {"approx KL 0": True, "once": True}),
        Symptoms({"fault": "gamma-0"}, "", {uncounted: True}),
        Symptoms({"fault": "gamma-0"}, "", {uncounted: True}),
    ]
    head, totals, *lines = (line.split("\t") for line in table_lines(count_symptoms(reports)))
    of = {line[0]: dict(zip(head, line, strict=True)) for line in (totals, *lines)}
    assert (of["reports"]["horizon"], of["reports"]["step too large"]) == ("5", "1")
    assert (of["approx KL 0"]["horizon"], of["approx KL 0"]["step too large"]) == ("1/2", "1/1")
    assert of["rule reward-crash"]["horizon"] == "2/5"
    assert "once" not in of
    assert uncounted not in of  # it only chooses what is advised
    assert {line[1] for line in lines} == {"", "control"}
    assert TABLE.exists()


# --- the order of causes ---------------------------------------------------------------------


def test_what_a_setting_proves_is_the_only_cause() -> None:
    """A rate far from its default is the root, whatever followed from it."""
    symptoms = {"learning rate far above its default": True, "reward always 0": True}
    assert list(cause_scores(symptoms, "on-policy")) == ["step too large"]


@pytest.mark.parametrize(
    ("cause", "fact"), sorted(known_causes().vetoes), ids=lambda each: str(each)
)
def test_what_a_fact_rules_out_is_not_stated(cause: str, fact: str) -> None:
    """A contrary cause, although its usual symptoms are there."""
    symptoms = {"rule reward-crash": True}
    families = known_causes().families.get(cause, frozenset({"on-policy"}))
    family = sorted(families)[-1]
    assert cause in cause_scores(symptoms, family)
    assert cause not in cause_scores({**symptoms, fact: True}, family)


def test_what_a_setting_proves_may_be_ruled_out_all_the_same() -> None:
    """Answers that are cut off explain no large updates."""
    symptoms = {"completions at the length limit from the start": True}
    assert list(cause_scores(symptoms, "grpo")) == ["length"]
    assert "length" not in cause_scores({**symptoms, "rule clip-high": True}, "grpo")


@pytest.mark.parametrize(
    ("cause", "there", "not_there"),
    [("length", "grpo", "on-policy"), ("critic", "value-based", "grpo")],
)
def test_a_cause_is_stated_where_it_can_be(cause: str, there: str, not_there: str) -> None:
    """There is no length limit in control, and no critic in GRPO."""
    assert cause in cause_scores({}, there)
    assert cause not in cause_scores({}, not_there)


def test_what_stood_beside_a_symptom_more_often_comes_first() -> None:
    """Large steps beside a large KL; a KL of 0 is the opposite."""
    large = list(cause_scores({"approx KL above 0.05": True}, "on-policy"))
    none = list(cause_scores({"approx KL 0": True}, "on-policy"))
    assert large[0] == "step too large"
    assert none[0] == "step too small"


def test_an_unknown_symptom_changes_nothing() -> None:
    """A rule that no labelled run has shown says nothing about causes."""
    assert cause_scores({"rule something-new": True}, "on-policy") == cause_scores({}, "on-policy")


# --- facts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fact", "columns", "changed"),
    [
        ("learning rate far above its default", {"lr": 0.0105}, {"lr": 0.0095}),
        ("learning rate far above its default", {"lr": 0.0105}, {"lr": 0.0085}),
        ("learning rate far below its default", {"lr": 0.9e-6}, {"lr": 1.1e-6}),
        ("critic loss never above 10", {"value_loss": 9.8}, {"value_loss": 10.2}),
        ("critic loss above 100,000", {"value_loss": 1.02e5}, {"value_loss": 0.98e5}),
        ("learning rate jumped", {"lr": lambda i: 1e-4 if i < 20 else 3.1e-4},
         {"lr": lambda i: 1e-4 if i < 20 else 2.9e-4}),
        ("learning rate cut", {"lr": lambda i: 3e-4 if i < 20 else 2.9e-6},
         {"lr": lambda i: 3e-4 if i < 20 else 3.1e-6}),
        ("clip range above 0.5", {"clip_range": 0.52}, {"clip_range": 0.48}),
        ("clip range below 0.05", {"clip_range": 0.048}, {"clip_range": 0.052}),
        ("reward always 0", {"reward_mean": 0.0}, {"reward_mean": -1.0}),
        ("reward constant", {"reward_mean": -1.0}, {"reward_mean": lambda i: -1.0 + 0.01 * i}),
        ("reward grew a hundredfold", {"reward_mean": lambda i: 1.0 if i < 20 else 103.0},
         {"reward_mean": lambda i: 1.0 if i < 20 else 97.0}),
        ("approx KL above 0.05", {"approx_kl": 0.052}, {"approx_kl": 0.048}),
        ("approx KL 0", {"approx_kl": 0.9e-5}, {"approx_kl": 1.1e-5}),
        ("approx KL always 0", {"approx_kl": 0.9e-5}, {"approx_kl": at(5, 1.1e-5, 0.0)}),
        ("explained variance below 0.2", {"explained_variance": 0.19},
         {"explained_variance": 0.21}),
        ("explained variance below -1", {"explained_variance": -1.05},
         {"explained_variance": -0.95}),
        ("explained variance above 0.8", {"explained_variance": 0.82},
         {"explained_variance": 0.78}),
        ("explained variance fell by 0.3", {"explained_variance": lambda i: 0.9 - 0.31 * (i > 19)},
         {"explained_variance": lambda i: 0.9 - 0.29 * (i > 19)}),
        ("explained variance fell by 0.3", {"explained_variance": lambda i: 0.31 - 2.0 * (i > 19)},
         {"explained_variance": lambda i: 0.29 - 2.0 * (i > 19)}),
        ("entropy below a hundredth of its start", {"entropy": after(20, 0.0097, -1.0)},
         {"entropy": after(20, -0.0103, -1.0)}),
        ("entropy below a fifth of its start", {"entropy": lambda i: 1.0 if i < 20 else 0.19},
         {"entropy": lambda i: 1.0 if i < 20 else 0.21}),
        ("entropy lost at once", {"entropy": lambda i: 1.0 if i < 7 else 0.097},
         {"entropy": lambda i: 1.0 if i < 7 else 0.103}),
        ("entropy lost at once", {"entropy": lambda i: 1.0 if i < 7 else 0.05},
         {"entropy": lambda i: 1.0 if i < 8 else 0.05}),
        ("entropy or std above its start", {"entropy": lambda i: 1.0 if i < 20 else 1.11},
         {"entropy": lambda i: 1.0 if i < 20 else 1.09}),
        ("entropy unmoved", {"entropy": lambda i: 1.0 - 0.001 * i},
         {"entropy": lambda i: 1.0 - 0.0011 * i}),
        ("nothing learned yet", {"reward_mean": 1.0, "entropy": lambda i: 1.0 - 0.097 * (i == 20)},
         {"reward_mean": 1.0, "entropy": lambda i: 1.0 - 0.103 * (i == 20)}),
        ("entropy back at its start", {"entropy": lambda i: 1.0 if not 5 < i < 28 else 0.85},
         {"entropy": lambda i: 1.0 if not 5 < i < 28 else 0.92}),
        ("NaN or infinite", {"value_loss": lambda i: math.nan if i == 29 else 1.0},
         {"explained_variance": math.nan}),
    ],
)  # fmt: skip
def test_a_fact_holds_from_its_limit_on(
    fact: str, columns: DrawnColumns, changed: DrawnColumns
) -> None:
    """A few per cent on either side."""
    assert fact in facts_at_end({**CTRL_COLUMNS, **columns})
    assert fact not in facts_at_end({**CTRL_COLUMNS, **changed})


@pytest.mark.parametrize(
    ("fact", "columns", "changed"),
    [
        ("epsilon above 0.5", {"exploration_rate": 0.52}, {"exploration_rate": 0.48}),
        ("entropy coefficient above 5", {"entropy_coef": 5.2}, {"entropy_coef": 4.8}),
        ("completions at the length limit", {"truncated_frac": 0.52}, {"truncated_frac": 0.48}),
        ("completions at the length limit from the start", {"truncated_frac": 0.52},
         {"truncated_frac": lambda i: 0.48 if i < 3 else 0.9}),
        ("completions grew to the length limit as reward rose",
         {"truncated_frac": lambda i: 0.03 * i}, {"truncated_frac": 0.6}),
        ("completions grew to the length limit as reward rose",
         {"truncated_frac": lambda i: 0.03 * i}, {"truncated_frac": 0.4}),
    ],
)  # fmt: skip
def test_a_fact_of_other_families(fact: str, columns: DrawnColumns, changed: DrawnColumns) -> None:
    """Off-policy and language models."""
    family, base = {
        "e": ("value-based", {**VALUE_BASED_COLUMNS, **OFF_POLICY_COLUMNS}),
        "c": ("grpo", GRPO_COLUMNS),
    }[fact[0]]
    about = profile(family)
    assert fact in facts_at_end({**base, **columns}, about=about)
    assert fact not in facts_at_end({**base, **changed}, about=about)


@pytest.mark.parametrize(
    ("fact", "columns", "changed"),
    [
        ("completions at the length limit from the start", {"eos_count": 31.0},
         {"eos_count": lambda i: 33.0 if i < 3 else 0.0}),
        ("completions at the length limit", {"eos_count": lambda i: 64.0 if i < 3 else 31.0},
         {"eos_count": 33.0}),
        ("completions never at the length limit", {"eos_count": 52.0},
         {"eos_count": lambda i: 64.0 if i != 5 else 51.0}),
        ("KL penalty above 5", {"ref_kl": 0.5, "non_score_reward": -2.6},
         {"ref_kl": 0.5, "non_score_reward": -2.4}),
        ("every text earns the same, and not 0", {"reward_mean": 0.5}, {"reward_mean": 0.0}),
        ("every text earns the same, and not 0", {"reward_mean": 0.5},
         {"reward_mean": lambda i: 0.5 + 0.01 * (i == 9)}),
        ("KL penalty above 5", {"ref_kl": -0.5, "non_score_reward": 2.6}, {"ref_kl": 0.0}),
    ],
)  # fmt: skip
def test_a_fact_of_a_language_model_with_a_critic(
    fact: str, columns: DrawnColumns, changed: DrawnColumns
) -> None:
    """End tokens of 64 completions an update; what was paid for the KL."""
    base: DrawnColumns = {**RLHF_COLUMNS, "episode": lambda i: 64.0 * (i + 1)}
    assert fact in facts_at_end({**base, **columns}, about=profile("rlhf"))
    assert fact not in facts_at_end({**base, **changed}, about=profile("rlhf"))


def test_what_is_not_logged_is_not_known() -> None:
    """Neither yes nor no."""
    run = JudgedRun(Profile("monitor", "unknown"))
    for row in draw_rows({"reward_mean": lambda i: float(i)}, 10):
        run.add_row(row)
    assert not {name for name in facts_seen(run) if "KL" in name or "entropy" in name}


@pytest.mark.parametrize(
    ("family", "told"),
    [
        ("value-based", "low_exploration"),
        ("off-policy", "action noise"),
        ("on-policy", "less_entropy"),
        ("unknown", "exploration rate of 0.01 to 0.1, reached within half of the run, or less"),
    ],
)
def test_exploration_is_lowered_where_a_family_has_it(family: str, told: str) -> None:
    """A learner of values has no action noise, SAC no exploration rate."""
    assert told in cause_text("too much exploration", {}, family).remedies[0]


def test_a_frozen_policy_states_what_stood_behind_the_first_thing_that_went_wrong() -> None:
    """Its own traces are gone by then: KL, clipping and entropy are 0."""
    large: DrawnColumns = {
        "approx_kl": after(20, 0.0, 3.0), "entropy": after(20, 0.0, 0.5),
        "clip_fraction": after(20, 0.0, 0.5), "reward_mean": after(20, 10.0, 60.0),
    }  # fmt: skip
    found = {f.rule: f for f in findings(profile(), draw_rows({**CTRL_COLUMNS, **large}))}
    first, frozen = found["kl-high"], found["policy-collapsed"]
    assert "kl-high" in frozen.members
    assert frozen.causes == first.causes
    assert frozen.remedies[: len(first.remedies)] == first.remedies[:6]
    learns_nothing = found.get("nothing-learns")  # the frozen policy says why
    assert learns_nothing is None or learns_nothing.cleared is not None


def test_what_went_wrong_before_a_restart_is_not_the_first_thing_after_it() -> None:
    """The run was resumed with a usual learning rate, and collapsed again."""
    columns: DrawnColumns = {
        **CTRL_COLUMNS, "approx_kl": after(20, 0.0, 3.0), "entropy": after(20, 0.0, 0.5),
        "clip_fraction": after(20, 0.0, 0.5), "reward_mean": after(20, 10.0, 60.0),
    }  # fmt: skip
    judge = Judge(profile())
    for row in draw_rows({**columns, "lr": 0.3}, 20):
        judge.add_row(row)
    judge.restart()
    for row in draw_rows(columns):
        judge.add_row(row._replace(mark=row.mark._replace(row=row.mark.row + 20)))
    before, again = (f for f in judge.findings if f.rule == "kl-high")
    frozen = next(f for f in judge.findings if f.rule == "policy-collapsed")
    assert before.causes[0] == "learning rate far too high"
    assert frozen.causes == again.causes != before.causes


# --- reports ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rise", "logged", "holds"),
    [
        (0.0, {}, True),
        (3.0, {}, False),
        (0.0, {"lr": 3e-4}, False),
        (0.0, {"approx_kl": 0.3}, False),
    ],
)
def test_a_run_that_has_learned_nothing_needs_a_much_lower_rate(
    rise: float, logged: DrawnColumns, holds: bool
) -> None:
    """A rate a few times too high learns for a while; what the log measures says more."""
    reward: DrawnColumns = {"reward_mean": lambda i: 20.0 + jitter(i) + rise * min(i, 20)}
    seen = facts_at_end({**reward, **logged}, count=60)
    fact = "learned nothing, and no size of updates is logged"
    assert (fact in seen) == holds
    text = cause_text("step too large", dict.fromkeys(seen, True), "on-policy")
    factor = "10 to 100" if holds else "3 to 10"
    assert text.remedies[0] == f"lower {{learning_rate:, by {factor} times}}"


def test_a_rate_of_almost_nothing_is_not_lowered() -> None:
    """The log says 1e-8: too low is the cause, and nothing in the report lowers it further."""
    still: DrawnColumns = {"lr": 1e-8, "approx_kl": 1e-9, "clip_fraction": 0.0, "entropy": 0.69}
    flat: DrawnColumns = {
        "reward_mean": lambda i: 20.0 + jitter(i),
        "ep_len": lambda i: 20.0 + jitter(i),
    }
    judge = judged({**CTRL_COLUMNS, **still, **flat})
    loud = [finding for finding in judge.findings if finding.severity >= WARN]
    assert loud
    assert opened(judge, "learning-rate-extreme").causes == ("learning rate far too low",)
    assert not [each for f in judge.findings for each in f.remedies if "lower learning" in each]


def test_a_rate_that_few_runs_survive_is_itself_the_first_cause() -> None:
    """Of what the rule has measured, whatever else the run shows."""
    columns: DrawnColumns = {**GRPO_COLUMNS, "lr": 0.008, "resp_len_mean": lambda i: 50.0 + 9 * i}
    found = opened(judged(columns, about=profile("grpo")), "learning-rate-extreme")
    assert "larger than most runs survive" in found.message
    assert "rate" in found.causes[0]
    assert "too high" in found.causes[0]


@pytest.mark.parametrize("rise", [0.0, 0.05])
def test_prompts_that_were_learned_tie_without_a_fault(rise: float) -> None:
    """All of their completions are right; where nothing was gained, something is wrong."""
    columns: DrawnColumns = {
        **GRPO_COLUMNS, "frac_zero_std": lambda i: min(1.0, 0.04 * i),
        "reward_mean": lambda i: 0.1 + rise * min(i, 17) + jitter(i, 0.02),
    }  # fmt: skip
    found = opened(judged(columns, 50, profile("grpo")), "zero-variance-groups")
    assert ("these prompts are learned" in found.causes[0]) is (rise > 0.0)


def test_what_samples_nothing_explores_neither_too_much_nor_too_little() -> None:
    """Preference training has its answers from a data set."""
    named = cause_scores({"rule reward-never-moves": True}, "preference")
    assert "step too small" in named
    assert not {"too much exploration", "too little exploration"} & named.keys()


def test_a_total_loss_of_a_script_is_no_critics_error() -> None:
    """That of GRPO is about 0; one of DQN has no other."""
    columns: DrawnColumns = {"reward_mean": 1.0, "total_loss": 0.0}
    fact = "critic loss near 0"
    assert fact not in facts_at_end(columns, about=Profile("unknown", "unknown"))
    assert fact in facts_at_end(columns, about=Profile("unknown", "value-based"))


@pytest.mark.parametrize("rise", [0.0, 5.0])
def test_what_was_never_gained_was_not_lost_with_the_weights(rise: float) -> None:
    """No entropy tells whether the policy has learned anything; a finding says that it has not."""
    reward: DrawnColumns = {"reward_mean": lambda i: 20.0 + rise * i + jitter(i, 2)}
    judge = judged({**reward, "ep_len": 20.0}, about=Profile("unknown", "unknown"))
    learned_nothing = facts_seen(judge.run).get("nothing learned yet")
    assert learned_nothing is (True if not rise else None)


def test_a_rate_that_few_runs_survive_is_not_called_too_low() -> None:
    """It is no more than eleven times what A2C begins with, and the policy does not move."""
    still: DrawnColumns = {"lr": 0.01, "approx_kl": 1e-9, "clip_fraction": 0.0}
    about = profile()._replace(algo="A2C")
    judge = judged({**CTRL_COLUMNS, **still, "reward_mean": lambda i: jitter(i, 6)}, about=about)
    assert "larger than most runs survive" in opened(judge, "learning-rate-extreme").message
    assert not [each for f in judge.findings for each in f.causes if "too low" in each]


def test_too_many_random_actions_are_not_too_few_at_the_same_time() -> None:
    """What the rule has measured is its first cause."""
    columns: DrawnColumns = {
        **VALUE_BASED_COLUMNS, "exploration_rate": 0.5, "reward_mean": lambda i: -20.0 - 0.2 * i
    }  # fmt: skip
    about = profile("value-based")._replace(config={"total_timesteps": 60_000})
    found = opened(judged(columns, about=about), "exploration-not-falling")
    assert found.causes[0] == "too much exploration: the exploration rate"
    assert not [each for each in found.causes if "too little" in each]


def test_an_evaluation_that_is_nan_takes_no_weights_with_it() -> None:
    """All losses are numbers: nothing is restarted from a checkpoint."""
    columns: DrawnColumns = {**CTRL_COLUMNS, "eval_reward_mean": after(20, math.nan, 1.0)}
    found = opened(judged(columns), "non-finite")
    assert found.causes[0] == "a reward in evaluation was nan or infinite"
    assert not [each for each in found.remedies if "weights" in each or "clip gradients" in each]


@pytest.mark.parametrize(
    ("setting", "value", "family", "advice"),
    [
        ("vf_coef", -0.5, "on-policy", "raise vf_coef (-0.5 now; SB3's default is 0.5)"),
        ("ent_coef", -2.0, "on-policy", "raise ent_coef (-2 now; SB3's default is 0)"),
        ("ent_coef", 1.0, "on-policy", "lower the entropy bonus: ent_coef (1 now"),
        ("gamma", 0.0, "on-policy", "raise gamma (0 now; SB3's default is 0.99), to 0.99"),
        ("gamma", 0.1, "value-based", "raise gamma (0.1 now; SB3's default is 0.99), to 0.99"),
        ("max_grad_norm", 1e-6, "on-policy", "raise max_grad_norm (1e-6 now"),
        ("beta", 40.0, "grpo", "lower the KL penalty: beta (40 now"),
        ("kl_coef", 40.0, "rlhf", "lower the KL penalty: kl_coef (40 at first"),
        ("gamma", 0.0, "rlhf", "raise gamma (0 now; TRL's default is 1)"),
        ("temperature", 5.0, "grpo", "lower temperature (5 now; TRL's default is 1), to 1.0"),
        ("target_update_interval", 1e6, "value-based", "lower target_update_interval (1,0"),
        ("tau", 0.0, "off-policy", "raise tau (0 now), to 0.005"),
        ("buffer_size", 50.0, "value-based", "raise buffer_size (50 now"),
        ("buffer_size", 50.0, "off-policy", "raise buffer_size (50 now"),
        (
            "exploration_final",
            1.0,
            "value-based",
            "a final exploration rate of 0.01 to 0.1, reached within half of the run: "
            "exploration_final (1 now)",
        ),
    ],
)
def test_a_setting_that_explains_it_stands_first(
    setting: str, value: float, family: str, advice: str
) -> None:
    """In each report on a reward that goes nowhere; no other cause stands beside it."""
    flat: DrawnColumns = {
        each: lambda i: jitter(i, 0.05) for each in ("reward_mean", "rlhf_reward")
    }
    if family == "on-policy":
        flat = {**flat, "explained_variance": 0.0, "ep_len": 20.0}
    config: dict[str, ConfigValue] = {setting: value, "total_timesteps": 60_000}
    about = profile(family)._replace(config=config | {"max_steps": 60_000})
    judge = judged({**HEALTHY_COLUMNS[family], **flat}, about=about)
    for rule in ("reward-never-moves", "setting-extreme"):
        finding = opened(judge, rule)
        assert finding.severity == WARN
        assert finding.remedies[0].startswith(advice)
        assert len(finding.causes) == 1


def test_what_says_less_of_the_same_is_left_out() -> None:
    """A sentence that is the beginning of another one is none of its own."""
    said = ("check the sign of the reward, and of each loss", "lower learning_rate, by 3 times")
    repeated = (*said, "check the sign of the reward", "lower learning_rate")
    assert without_repeats(repeated, "sb3") == said


@pytest.mark.parametrize(
    ("family", "setting"),
    [("grpo", {"gamma": 0.0}), ("off-policy", {"exploration_final": 1.0})],
)
def test_a_setting_that_the_algorithm_does_not_use_is_left_alone(
    family: str, setting: dict[str, ConfigValue]
) -> None:
    """Without a critic a text has no discount, and a continuous action no share of random ones."""
    about = profile(family)._replace(config=setting)
    judge = judged(HEALTHY_COLUMNS[family], about=about)
    assert "setting-extreme" not in {finding.rule for finding in judge.findings}


def test_weights_that_are_back_at_their_start_are_recognised() -> None:
    """Reward, entropy and value loss are where they began, at once."""
    reset: DrawnColumns = {
        **CTRL_COLUMNS,
        "reward_mean": lambda i: 20 + 440 * (1 - 0.95 ** (i % 40)) + jitter(i, 4),
        "ep_len": lambda i: 20 + 440 * (1 - 0.95 ** (i % 40)) + jitter(i, 4),
        "value_loss": lambda i: 60 * 0.9 ** (i % 40) + 1 + jitter(i, 0.1),
        "entropy": lambda i: 0.69 - 0.008 * (i % 40) + jitter(i, 0.003),
    }
    crash = opened(judged(reset, 50), "reward-crash")
    assert frozenset({"weights lost"}) in [named_causes(sentence) for sentence in crash.causes]
    assert any("entropy is back at its start" in sentence for sentence in crash.causes)


def test_a_length_that_pays_is_no_matter_of_the_limit() -> None:
    """Completions grow to the limit as the reward rises: a shortcut, and the limit is not it."""
    hack: DrawnColumns = {
        "truncated_frac": lambda i: min(0.95, 0.03 * i),
        "resp_len_mean": lambda i: min(48.0, 12.0 + i),
        "reward_mean": lambda i: min(0.9, 0.1 + 0.02 * i) + gauss(i, 0.01),
    }
    found = opened(judged({**GRPO_COLUMNS, **hack}, about=profile("grpo")), "completions-truncated")
    assert [named_causes(each) for each in found.causes] == [frozenset({"over-optimisation"})]
    assert not any("raise max_completion_length" in each for each in found.remedies)


def test_a_short_limit_is_raised() -> None:
    """Completions are cut off from the first update on."""
    cut: DrawnColumns = {
        "truncated_frac": lambda i: 0.6 + min(0.35, 0.02 * i),
        "resp_len_mean": 4.0,
    }
    found = opened(judged({**GRPO_COLUMNS, **cut}, about=profile("grpo")), "completions-truncated")
    assert [named_causes(each) for each in found.causes] == [frozenset({"length"})]
    assert "raise max_completion_length" in found.remedies[0]


def test_answers_that_never_end_are_no_matter_of_the_limit_at_a_hopeless_rate() -> None:
    """A policy that was lost at once never says that it has come to its end."""
    lost: DrawnColumns = {
        "truncated_frac": after(5, 1.0, 0.1),
        "eos_count": after(5, 0.0, 8.0),
        "lr": 0.1,
    }
    finding = opened(judged({**GRPO_COLUMNS, **lost}, about=profile("grpo")), "no-eos")
    assert finding.causes[0] == "learning rate far too high"


def test_at_most_three_causes_and_a_look_where_they_are_close() -> None:
    """A reward that falls at once may be one of several things."""
    fallen: DrawnColumns = {
        "reward_mean": lambda i: (460.0 if i < 40 else 20.0) - 440 * 0.8**i + jitter(i, 4)
    }
    found = opened(judged({**CTRL_COLUMNS, **fallen}), "reward-crash")
    assert 2 <= len(found.causes) <= 3
    looks = {text.look for some in known_causes().texts.values() for text in some if text.look}
    assert looks & {*found.remedies}


def test_where_one_cause_is_far_likelier_no_look_is_needed() -> None:
    """A reward that is 0 in every row says so itself."""
    constant: DrawnColumns = {"reward_mean": 0.0, "ep_len": 100.0}
    texts, look = likely_causes(judged({**CTRL_COLUMNS, **constant}).run, "reward-never-moves")
    assert len(texts) > 1
    assert (texts[0].cause, look) == ("constant reward", "")


@pytest.mark.parametrize(("odds", "first"), [(1.08, "step too large"), (1.12, "sign")])
def test_of_equally_likely_causes_a_setting_to_try_comes_first(
    odds: float, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs less than to look for a wrong sign in the code."""
    scores = {"sign": 0.0, "observations or environment": -0.01, "step too large": -math.log(odds)}
    monkeypatch.setattr("ppo_top.rules.advice.causes.cause_scores", lambda *_: scores)
    (found, *_), _ = likely_causes(judged(CTRL_COLUMNS).run, "reward-wrong-way")
    assert found.cause == first


def test_what_a_rule_measures_is_the_first_cause_of_it() -> None:
    """A KL that is too high is that of large steps, whatever else may have led there."""
    rises: DrawnColumns = {"reward_mean": lambda i: 18.0 * i - 1300.0, "clip_fraction": 0.33}
    judge = judged({**CTRL_COLUMNS, **rises, "approx_kl": 0.05})
    scores = cause_scores(symptoms_of(judge.run), judge.run.family)
    assert next(iter(scores)) == "too little exploration"
    (first, *others), _ = likely_causes(judge.run, "kl-high")
    assert first.cause == "step too large"
    assert "too little exploration" in [each.cause for each in others]
    assert opened(judge, "kl-high").causes[0] == first.sentence


@pytest.mark.parametrize(
    ("gamma", "explained", "first"), [(None, 0.5, False), (None, 0.9, True), (0.3, 0.5, True)]
)
def test_a_setting_that_nobody_saw_changed_is_not_named_first(
    gamma: float | None, explained: float, first: bool
) -> None:
    """A discount is hardly ever changed: the log states it, or its critic has an easy task."""
    config = {} if gamma is None else {"gamma": gamma}
    columns: DrawnColumns = {
        **CTRL_COLUMNS, "reward_mean": flat, "ep_len": 20.0, "explained_variance": explained,
    }  # fmt: skip
    judge = judged(columns, 80, Profile("sb3", "on-policy", config, algo="PPO", tags=SB3_TAGS))
    judge.end_run()
    places = ["discount" in cause for cause in opened(judge, "reward-never-moves").causes]
    assert any(places)
    assert places[0] is first


@pytest.mark.parametrize(
    ("steps", "algo", "named"), [(8, "PPO", 1), (8, "A2C", 0), (128, "PPO", 0)]
)
def test_ppo_of_very_few_steps_an_update_is_told_so(steps: int, algo: str, named: int) -> None:
    """Nothing was gained, and a setting is far off its default; A2C's is no more."""
    columns: DrawnColumns = {
        **CTRL_COLUMNS, "reward_mean": flat, "ep_len": 20.0, "n_updates": lambda i: 10.0 * (i + 1),
    }  # fmt: skip
    judge = Judge(Profile("sb3", "on-policy", algo=algo, tags=SB3_TAGS))
    for row in draw_rows(columns, 80):
        mark = Mark(row.mark.row, (row.mark.row + 1) * steps, row.mark.time)
        judge.add_row(Row(mark, row.values))
    judge.end_run()
    causes = opened(judge, "reward-never-moves").causes
    assert (causes == ("too few steps an update",)) is bool(named)


SHORT_VALUES: DrawnColumns = {
    **OFF_POLICY_COLUMNS,
    "reward_mean": lambda i: 60 + jitter(i, 1), "ep_len": 20.0, "actor_loss": -3.0,
}  # fmt: skip
"""Action values of the reward of one step."""


@pytest.mark.parametrize(
    ("gamma", "first"), [(None, "discount (gamma) too small"), (0.99, "target network")]
)
def test_a_discount_that_is_stated_and_usual_is_no_cause(gamma: float | None, first: str) -> None:
    """Nobody is told to raise what stands at its default."""
    config = {} if gamma is None else {"gamma": gamma}
    judge = judged(SHORT_VALUES, 70, Profile("sb3", "off-policy", config, tags=SB3_TAGS))
    causes = opened(judge, "action-values-short").causes
    assert causes[0].startswith(first)
    assert any("discount" in cause for cause in causes) is (gamma is None)


CONVERGED = "converged: the policy is certain of what it has learned"


@pytest.mark.parametrize(
    ("after", "rate", "kept", "converged"),
    [(30.0, 3e-4, 0.9, True), (-30.0, 3e-4, 0.9, False), (30.0, 0.5, 0.9, False),
     (30.0, 3e-4, 0.6, False)],
    ids=["gained", "lost", "a setting proves another cause", "at once"],
)  # fmt: skip
def test_a_policy_that_is_certain_of_a_better_way_has_converged(
    after: float, rate: float, kept: float, converged: bool
) -> None:
    """Entropy that is gone is the price of a gain that was kept.

    Nobody learns as much within eight updates.
    """
    columns: DrawnColumns = {
        **CTRL_COLUMNS,
        "entropy": lambda i: 1.3 * kept**i,
        "reward_mean": lambda i: 20.0 + after * min(1.0, i / 15) + jitter(i, 2.0),
        "lr": rate,
    }
    causes = opened(judged(columns, 60), "entropy-collapsed").causes
    assert (CONVERGED in causes) is converged


@pytest.mark.parametrize(("rows", "converged"), [(79, True), (90, False)])
def test_a_policy_has_not_converged_once_its_gain_is_lost(rows: int, converged: bool) -> None:
    """What is watched while the gain is kept need be no fault; it falls at row 80."""

    def falls(i: int) -> float:
        return (60.0 if i >= 80 else 20.0 + 440.0 * min(1.0, i / 30)) + jitter(i, 4)

    columns: DrawnColumns = {
        **CTRL_COLUMNS, "entropy": lambda i: 0.69 * 0.9**i + 0.002,
        "reward_mean": falls, "ep_len": 50.0,
    }  # fmt: skip
    judge = judged(columns, rows, profile()._replace(goal=600.0))
    found = opened(judge, "entropy-collapsed")
    assert (found.severity < WARN) is converged
    assert (CONVERGED in found.causes) is converged
    assert CONVERGED not in opened(judge, "premature-convergence").causes  # the goal is missed


@pytest.mark.parametrize(("rule", "because", "advice"), [
    ("critic-not-learning", "returns are still too large, or too noisy", "{normalised_rewards}"),
    ("value-loss-rising", "returns have grown with the reward",
     "nothing, as long as the reward holds"),
])  # fmt: skip
@pytest.mark.parametrize("kept", [True, False])
def test_a_critic_that_lags_behind_a_gain_need_not_be_at_fault(
    rule: str, because: str, advice: str, kept: bool
) -> None:
    """Where the policy learns without it, that alone is said; not where the gain is lost again."""
    columns: DrawnColumns = {
        **CTRL_COLUMNS,
        "explained_variance": 0.001,
        "value_loss": lambda i: 50.0 * 1.15**i,
        "reward_mean": lambda i: 20.0 + 30.0 * (i / 30 if kept or i < 30 else 0) + jitter(i, 2.0),
    }
    judge = judged(columns, 60)
    (first, *others), _ = likely_causes(judge.run, rule)
    assert first.sentence.startswith(because) is kept
    assert bool(others) is not kept
    assert (first.remedies == (advice,)) is kept


@pytest.mark.parametrize(("reward", "by_rule"), [("accuracy", True), ("my-reward-model", False)])
def test_drift_that_a_rule_pays_for_is_what_was_learned(reward: str, by_rule: bool) -> None:
    """A model that gives the reward may have been fooled; a rule was not."""
    columns: DrawnColumns = {
        **GRPO_COLUMNS,
        "ref_kl_token": lambda i: 0.4 * min(1.0, i / 30),
        "reward_mean": lambda i: 0.2 + 0.6 * min(1.0, i / 30) + jitter(i, 0.02),
        f"reward_component_mean{{{reward}}}": lambda i: 0.2 + 0.6 * min(1.0, i / 30),
    }
    finding = opened(judged(columns, 80, about=profile("grpo")), "ref-kl-token-high")
    learned = "the policy has learned what the rule pays for, away from the reference"
    assert (finding.causes == (learned,)) is by_rule


def test_a_setting_that_proves_another_cause_stands_before_it() -> None:
    """Nobody lowers a learning rate where exploring is punished by the settings."""
    about = profile(ent_coef=-2.0)
    judge = judged({**CTRL_COLUMNS, "approx_kl": 0.05}, about=about)
    (first, *_), _ = likely_causes(judge.run, "kl-high")
    assert first.cause == "too little exploration"


def test_causes_are_those_of_the_moment() -> None:
    """A replay shows what was said then."""
    judge = judged({**CTRL_COLUMNS, "approx_kl": lambda i: 0.008 if i < 20 else 0.2})
    found = opened(judge, "kl-high")
    assert found.as_of(found.opened.row).causes
    assert found.as_of(found.opened.row).remedies


# --- contradictions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("advice", "direction"),
    [
        ("lower learning_rate (0.03 now; SB3's default is 0.0003)", ("learning_rate", -1)),
        ("raise learning_rate, by 10 times", ("learning_rate", 1)),
        ("raise the entropy bonus: ent_coef (0 now), to 0.01", ("ent_coef", 1)),
        ("fewer passes over the same data: n_epochs (10 now)", ("n_epochs", -1)),
        ("more samples an update: n_steps", ("n_steps", 1)),
        ("larger batches: batch_size", ("batch_size", 1)),
        ("set target_kl to 0.02: it ends an update's epochs early", None),
        ("check the sign of the reward", None),
        ("more varied starts", None),
    ],
)
def test_the_direction_of_advice(advice: str, direction: tuple[str, int] | None) -> None:
    """Which option, and which way."""
    assert direction_of(advice, "sb3") == direction


@pytest.mark.parametrize(
    ("advice", "purpose"),
    [
        ("lower learning_rate (0.03 now), by 3 to 10 times", ("size of updates", -1)),
        ("set target_kl to 0.02: it ends an update's epochs early", ("size of updates", -1)),
        ("raise clip_range to 0.2", ("size of updates", 1)),
        ("fewer passes over the same data: n_epochs (10 now)", ("size of updates", -1)),
        ("raise the entropy bonus: ent_coef, to 0.01", ("exploration", 1)),
        ("lower temperature (1 now)", ("exploration", -1)),
        ("less action noise, or an exploration rate that falls", ("exploration", -1)),
        ("a final exploration rate of 0.01 to 0.1", ("exploration", -1)),
        ("raise gamma to 0.99", ("gamma", 1)),
        ("set learning_starts to 1000, in a long run to 1 % of its steps", None),
        ("check the sign of the reward", None),
    ],
)
def test_the_purpose_of_advice(advice: str, purpose: tuple[str, int] | None) -> None:
    """Several options serve one; a limit on the KL makes updates smaller, whatever its value."""
    assert purpose_of(advice, "sb3") == purpose


def _finding(
    rule: str, severity: Severity, *remedies: str, members: tuple[str, ...] = ()
) -> Finding:
    mark = Mark(5, 500, 0.0)
    changes = [SeverityChange(mark, severity)]
    found = Finding(rule, rule, ("lr",), mark, changes, 1.0, None, "", remedies=remedies)
    found.members = members
    return found


def test_the_finding_that_explains_most_decides() -> None:
    """The more severe one; among equals the diagnosis."""
    up, down = "raise learning_rate", "lower learning_rate"
    mild, severe = _finding("a", WARN, up, "look"), _finding("b", CRIT, down)
    assert keep_consistent([mild, severe], "sb3") == [mild]
    assert (mild.remedies, severe.remedies) == (("look",), (down,))
    single, diagnosis = _finding("a", WARN, up), _finding("b", WARN, down, members=("c",))
    keep_consistent([single, diagnosis], "sb3")
    assert (single.remedies, diagnosis.remedies) == ((), (down,))


def test_advice_of_one_finding_names_an_option_once() -> None:
    """The first piece counts."""
    said = (
        "lower learning_rate",
        "look",
        "raise learning_rate",
        "lower learning_rate, by 3",
        "check that training is on: learning_rate above 0",
        "look",
    )
    assert without_repeats(said, "sb3") == ("lower learning_rate", "look")


@pytest.mark.parametrize("family", ["on-policy", "value-based", "off-policy", "grpo"])
@pytest.mark.parametrize("rate", [1e-8, 3e-4, 0.5])
def test_no_report_raises_and_lowers_the_same_option(family: str, rate: float) -> None:
    """Whatever goes wrong together."""
    columns = {
        "on-policy": CTRL_COLUMNS, "value-based": VALUE_BASED_COLUMNS,
        "off-policy": OFF_POLICY_COLUMNS, "grpo": GRPO_COLUMNS,
    }[family]  # fmt: skip
    broken: DrawnColumns = {
        "lr": rate,
        "reward_mean": lambda i: (400.0 if 10 < i < 40 else 20.0) + jitter(i, 4),
        "entropy": lambda i: 0.69 if i < 20 else 0.01,
        "approx_kl": lambda i: 0.3 if i % 20 > 10 else 0.0,
        "explained_variance": lambda i: 0.8 - 0.05 * i,
        "value_loss": lambda i: 1.5**i,
        "truncated_frac": 0.9 if family == "grpo" else None,
    }
    judge = judged({**columns, **broken}, about=profile(family))
    said: dict[str, set[int]] = {}
    for finding in judge.findings:
        for advice in finding.remedies if finding.cleared is None else ():
            option, way = direction_of(advice, judge.profile.trainer_id) or ("", 0)
            said.setdefault(option, set()).add(way)
    assert not {option for option, ways in said.items() if len(ways) > 1}


def test_opposite_causes_do_not_stand_side_by_side() -> None:
    """The likelier one stays, and the next that contradicts nothing takes the other's place."""
    ranked = ["step too small", "scale", "step too large", "critic"]
    assert without_opposites(ranked) == ["step too small", "scale", "critic"]
    assert without_opposites(ranked, said=["step too large"]) == [
        "scale",
        "step too large",
        "critic",
    ]


def test_the_cause_of_the_finding_that_explains_most_decides() -> None:
    """In another one its opposite is not named; other causes are."""
    by_cause = {cause: texts[-1].sentence for cause, texts in known_causes().texts.items()}
    large, small, scale = (by_cause[each] for each in ("step too large", "step too small", "scale"))
    mild, severe = _finding("a", WARN), _finding("b", CRIT)
    mild.causes, severe.causes = (small, scale), (large,)
    assert keep_consistent([mild, severe], "sb3") == [mild]
    assert [list(mild.causes), list(severe.causes)] == [[scale], [large]]


def test_a_run_that_logs_its_updates_is_trained() -> None:
    """Without losses in the log, its KL and clip fraction are as good a sign."""
    silent: DrawnColumns = {name: CTRL_COLUMNS[name] for name in ("reward_mean", "ep_len")}
    about = Profile("sb3", "on-policy", tags=SB3_TAGS)
    assert "no loss logged" in facts_at_end(silent, about=about)
    for name in ("approx_kl", "clip_fraction", "value_loss"):
        logged = {**silent, name: CTRL_COLUMNS[name]}
        assert "no loss logged" not in facts_at_end(logged, about=about)


def test_updates_that_stop_with_their_rate_are_no_nan() -> None:
    """A tracker that drops NaN drops the loss alone; gradient steps of 0 leave nothing to log."""
    losses = ("critic_loss", "actor_loss", "entropy_coef", "n_updates", "lr")
    stopped: DrawnColumns = {name: lambda i: 3e-4 if i < 30 else None for name in losses}
    judge = Judge(Profile("sb3", "off-policy", algo="SAC", tags=SB3_TAGS))
    for row in draw_rows({**OFF_POLICY_COLUMNS, **stopped}, 60):
        judge.add_row(row)
    (found,) = (each for each in judge.findings if each.rule == "not-training")
    assert found.causes[0].startswith("nothing is trained any more")
    assert "hidden-nan" not in {each.rule for each in judge.findings}


@pytest.mark.parametrize("family", sorted(FAMILY_NAMES))
def test_a_proof_of_a_cause_that_a_family_cannot_have_leaves_the_others(family: str) -> None:
    """Long answers are a language model's; a script on a control task may log their share."""
    for fact in known_causes().proofs:
        assert cause_scores({fact: True}, family)


@pytest.mark.parametrize(("before", "too_large"), [(6.0, True), (0.0, False)])
def test_no_updates_of_a_lost_policy_are_no_sign_of_small_steps(
    before: float, too_large: bool
) -> None:
    """A rate far too high ends in a KL of 0, and remains the cause unless there never was one."""
    run = JudgedRun(profile())
    columns = {**CTRL_COLUMNS, "approx_kl": after(20, 0.0, before), "lr": 0.03}
    for row in draw_rows({**columns, "entropy": after(20, 1e-9, 0.6)}, 30):
        run.add_row(row)
    for rule in ("learning-rate-too-high", "premature-convergence"):
        (first, *_), _ = likely_causes(run, rule)
        assert (first.cause == "step too large") is too_large


@pytest.mark.parametrize(
    ("changed", "close"),
    [({"entropy": lambda i: 0.69 * 0.8**i}, True), ({"reward_mean": 5.0}, False)],
)
def test_all_of_the_likeliest_cause_is_advised_and_the_first_of_others(
    changed: DrawnColumns, close: bool
) -> None:
    """What tells the first two apart comes second, where they are close."""
    run = JudgedRun(profile())
    for row in draw_rows({**CTRL_COLUMNS, **changed}):
        run.add_row(row)
    (first, *others), look = likely_causes(run, "reward-never-moves")
    sentences, remedies = ranked_advice(run, "reward-never-moves")
    assert sentences == (first.sentence, *(each.sentence for each in others))
    assert len(first.remedies) == 2 and bool(look) is close
    assert list(remedies) == [
        first.remedies[0],
        *([look] if close else []),
        first.remedies[1],
        *(each.remedies[0] for each in others),
    ]
