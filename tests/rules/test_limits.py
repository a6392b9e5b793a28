"""Thresholds: each stands in a table beside this file, and rules speak on one side of it only."""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ppo_top import rules
from ppo_top.model import ConfigValue, Profile, Sample, Severity, Status
from ppo_top.rules.book import RULES
from ppo_top.rules.engine.ranges import BANDS_BY_FAMILY, colour
from ppo_top.rules.engine.rule import Rule
from tests.rules.cases import after, fallen, flat, rise
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    DrawnColumns,
    draw_rows,
    findings,
    jitter,
)

WATCH, WARN, CRIT = Severity.WATCH, Severity.WARN, Severity.CRIT
NEAR = 0.03
"""How far from a threshold is tried, as a share of it."""


def table(name: str) -> Iterator[list[str]]:
    """The fields of a table's lines."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


def limits_in_code(rule: Rule) -> Iterator[tuple[str, str, str, str]]:
    """A rule's thresholds as the table writes them."""
    for scope, limits in (("all", rule.limits), *rule.limit_overrides.items()):
        yield from ((rule.id, scope, name, repr(value)) for name, value in limits.items())
    steps = {Severity(level).word: f"{k}/{n}" for level, (k, n) in rule.persistence.items()}
    if len(steps) == 4 and len(set(steps.values())) == 1:
        steps = {"all": next(iter(steps.values()))}
    yield from ((rule.id, scope, "k/n", value) for scope, value in steps.items())


def test_every_threshold_stands_in_the_table() -> None:
    """A number that judges is changed in two places, on purpose."""
    written = [tuple(row) for row in table("limits.tsv")]
    assert sorted(written) == sorted(row for rule in RULES for row in limits_in_code(rule))


def numbers_in_code() -> Iterator[tuple[str, str, str]]:
    """The named numbers of all modules of rules, as the table writes them."""
    prefix = f"{rules.__name__}."
    for found in pkgutil.walk_packages(rules.__path__, prefix):
        module = importlib.import_module(found.name)
        for name in assigned_names(Path(str(module.__file__))):
            value = getattr(module, name)
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            for key, part in parts:
                if all(type(each) in (int, float) for each in flattened(part)):
                    full = f"{name}[{key}]" if key else name
                    yield found.name.removeprefix(prefix), full, repr(part)


def flattened(value: object) -> tuple[object, ...]:
    """The elements of a tuple, or the value itself."""
    return value if isinstance(value, tuple) else (value,)


def assigned_names(path: Path) -> Iterator[str]:
    """The public names that a module gives to values of its own."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        names = (each for target in targets for each in ast.walk(target))
        yield from (each.id for each in names if isinstance(each, ast.Name) and each.id[0] != "_")


def test_named_numbers_stand_in_the_table() -> None:
    """Those that several rules rest on, and of facts about causes, are changed on purpose, too."""
    assert sorted(map(tuple, table("constants.tsv"))) == sorted(numbers_in_code())


ALGORITHMS = {"on-policy": "PPO"}
"""Whose ranges are meant, where they depend on it."""

LIMITS = {(rule, scope, name): value for rule, scope, name, value in table("limits.tsv")}
BANDS = [(row[0], row[1], *row[2:6], row[6]) for row in table("bands.tsv")]


def test_every_band_stands_in_the_table() -> None:
    """No metric is coloured by a range that nobody wrote down."""
    assert {(family, metric) for family, metric, *_ in BANDS} == {
        (family, metric) for family, bands in BANDS_BY_FAMILY.items() for metric in bands
    }


@pytest.mark.parametrize("band", BANDS, ids=lambda band: f"{band[0]}-{band[1]}")
def test_a_value_is_coloured_by_its_band(band: tuple[str, ...]) -> None:
    """Green within, amber outside, red far outside: a few per cent on either side."""
    family, metric, *edges, status = band
    profile, red = Profile("", family, algo=ALGORITHMS.get(family, "")), Status(status)
    low, high, red_low, red_high = (float(edge) if edge else None for edge in edges)

    def coloured(edge: float, side: int) -> Status:
        return colour(metric, edge + side * (NEAR * abs(edge) or 0.001), profile)

    for edge, side, end in ((low, -1, red_low), (high, 1, red_high)):
        if edge is not None:
            assert coloured(edge, -side) == Status.OK
            assert coloured(edge, side) == (red if end == edge else Status.WATCH)
        if end is not None and end != edge:
            assert coloured(end, -side) == (Status.OK if edge is None else Status.WATCH)
            assert coloured(end, side) == red


Sign = Callable[[float], DrawnColumns]


@dataclass(frozen=True)
class Boundary:
    """A run in which a metric is at `x`: beyond the threshold the rule reaches `level`.

    `side` is 1 where larger values are worse. `steps` are not shares of the threshold but
    distances, for counts and thresholds near 0.
    """

    rule: str
    limit: str
    columns: Sign
    level: Severity = WARN
    side: int = 1
    family: str = "on-policy"
    scope: str = "all"
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    step: float = 0.0
    trainer: str = ""
    total: Callable[[float], float] | None = None
    """The length of the run in steps, where the metric tried is the share completed."""

    @property
    def value(self) -> float:
        """The threshold, from the table."""
        return float(LIMITS[self.rule, self.scope, self.limit])

    def reached(self, side: int) -> Severity | int:
        """The worst severity of the rule with the metric on one side of the threshold."""
        x = self.value + side * (self.step or NEAR * abs(self.value))
        columns = {**HEALTHY_COLUMNS[self.family], **self.columns(x)}
        sample = {"reward_mean": Sample("update")}
        length = "max_steps" if self.family == "preference" else "total_timesteps"
        config = {**self.config, **({length: self.total(x)} if self.total else {})}
        trainer = self.trainer or TRAINER_BY_FAMILY[self.family]
        about = Profile(trainer, self.family, config, samples=sample)
        found = findings(about, draw_rows(columns, self.count))
        return max((f.severity for f in found if f.rule == self.rule), default=0)


def late(metric: str, before: float, at: int = 30, **others: object) -> Sign:
    """A metric that goes from one value to the tried one."""
    return lambda x: {metric: after(at, x, before), **others}  # type: ignore[dict-item]


FLAT: DrawnColumns = {"reward_mean": flat, "ep_len": flat}
LOSING: DrawnColumns = {"reward_mean": lambda i: -1400 + jitter(i, 20)}


def spike(metric: str, usual: float) -> Sign:
    """One value so many times the usual."""
    return lambda x: {metric: lambda i: x * usual if i == 40 else usual * (1 + jitter(i, 0.01))}


def sinking(accuracy: float) -> DrawnColumns:
    """Rejected answers win more and more clearly, in as many pairs."""
    return {"preference_accuracy": accuracy, "preference_margin": lambda i: -0.01 * i}


BOUNDARIES = (
    Boundary("kl-high", "warn", late("approx_kl", 0.01), WATCH),
    Boundary("kl-high", "warn", late("approx_kl", 0.01, policy_loss=0.05), WARN),
    Boundary("kl-high", "crit", late("approx_kl", 0.01), WARN),
    Boundary("kl-high", "crit", late("approx_kl", 0.01, policy_loss=0.05), CRIT),
    Boundary("kl-high", "once", lambda x: {"approx_kl": lambda i: x if i == 40 else 0.01}, CRIT),
    Boundary("kl-high", "warn", late("approx_kl", 0.01), WATCH, family="rlhf", scope="rlhf"),
    Boundary("kl-high", "warn", late("approx_kl", 0.01), WATCH, family="grpo", scope="grpo"),
    Boundary("kl-high", "crit", late("approx_kl", 0.01), WARN, family="rlhf", scope="rlhf"),
    Boundary("kl-spike", "times", spike("approx_kl", 0.012), WATCH, step=0.3),
    Boundary("clip-high", "watch", late("clip_fraction", 0.1), WATCH),
    Boundary("clip-high", "warn", late("clip_fraction", 0.1, approx_kl=0.025), WARN),
    Boundary("clip-high", "crit", late("clip_fraction", 0.1, approx_kl=0.025), CRIT),
    Boundary("clip-high", "watch", late("clip_fraction", 0.05), WATCH, family="grpo", scope="grpo"),
    Boundary("ratio-off", "warn_high", late("ratio_mean", 1.0), WARN),
    Boundary("ratio-off", "warn_low", late("ratio_mean", 1.0), WARN, -1),
    Boundary("ratio-off", "crit_high", late("ratio_mean", 1.0), CRIT),
    Boundary("ratio-off", "crit_low", late("ratio_mean", 1.0), CRIT, -1),
    Boundary("ratio-off", "tail", late("ratio_dist{max}", 2.0, ratio_mean=None), WARN,
             family="rlhf"),
    Boundary("ratio-off", "tail_crit", late("ratio_dist{max}", 2.0, ratio_mean=None), CRIT,
             family="rlhf"),
    Boundary(
        "no-op-updates", "kl",
        lambda x: {"approx_kl": x, "clip_fraction": 0.0, "entropy": 0.69, **FLAT}, WARN, -1,
    ),
    Boundary("clip-not-binding", "kl", late("approx_kl", 0.01, clip_fraction=0.001), WARN),
    Boundary("clip-not-binding", "clip", late("clip_fraction", 0.1, approx_kl=0.09), WARN, -1),
    Boundary("policy-loss-positive", "warn", late("policy_loss", -0.01), WARN),
    Boundary("policy-loss-positive", "extreme", late("policy_loss", -0.01), CRIT),
    Boundary("grad-spike", "times", spike("grad_norm", 1.0), WATCH),
    Boundary("loss-spike", "times", spike("total_loss", 3.0), WATCH),
    Boundary("loss-spike", "recent_times", lambda x: {
        "total_loss": lambda i: {38: 10.0, 40: 10.0 * x}.get(i, 1 + jitter(i, 0.01))}, WATCH),
    Boundary("loss-spike", "share", lambda x: {
        "total_loss": lambda i: {2: 1000.0, 40: 1000.0 * x}.get(i, 1 + jitter(i, 0.01))}, WATCH),
    Boundary("policy-loss-positive", "small", lambda x: {
        "policy_loss": lambda i: -x if i >= 40 else -0.005 + jitter(i, 0.001)}, WATCH),
    Boundary("policy-loss-positive", "times", lambda x: {
        "policy_loss": lambda i: -0.02 * (x if i >= 40 else 1 + jitter(i, 0.01))}, WATCH),
    Boundary("policy-loss-positive", "unscaled", lambda x: {"policy_loss": x}, WARN, -1),
    Boundary("policy-loss-positive", "small_kl", lambda x: {
        "policy_loss": 0.5, "approx_kl": x}, WARN),
    Boundary("learning-rate-extreme", "high", lambda x: {"lr": x, **FLAT}, WARN),
    Boundary("learning-rate-extreme", "low", lambda x: {"lr": x, **FLAT}, WARN, -1),
    Boundary("learning-rate-jump", "times", late("lr", 1.0), Severity.INFO),
    Boundary("learning-rate-jump", "far", late("lr", 1.0), WARN),
    Boundary("ref-kl-high", "watch", late("ref_kl", 1.0, resp_len_mean=None), WATCH, family="rlhf"),
    Boundary("ref-kl-high", "warn", lambda x: {"ref_kl": x, "resp_len_mean": None}, WARN,
             family="rlhf"),
    Boundary(
        "ref-kl-high", "token", lambda x: {"ref_kl": after(30, 300 * x, 1.0), "resp_len_mean": 300},
        WARN, family="rlhf",
    ),
    Boundary("ref-kl-negative", "crit", late("ref_kl", 1.0), CRIT, -1, "rlhf"),
    Boundary("ref-kl-negative", "noise", late("ref_kl", 1.0), WARN, -1, "rlhf"),
    Boundary("kl-penalty-off", "low", late("kl_coef", 0.05), Severity.INFO, -1, "rlhf"),
    Boundary(
        "entropy-collapsed", "share", lambda x: {"entropy": after(12, x, 1.0), **FLAT}, WARN, -1,
    ),
    Boundary("action-spread", "times", lambda x: {"policy_std": after(30, x, 1.0), **FLAT}, WARN),
    Boundary("critic-same-value", "exact", lambda x: {"explained_variance": x}, WARN, -1),
    Boundary(
        "critic-not-learning", "low",
        lambda x: {"explained_variance": x, "value_loss": 900.0, **FLAT}, WARN, -1,
    ),
    Boundary(
        "critic-not-learning", "crit",
        lambda x: {"explained_variance": x, "value_loss": 900.0, **FLAT}, CRIT, -1,
    ),
    Boundary(
        "reward-scale", "loss",
        lambda x: {"value_loss": x, "explained_variance": 0.0, **FLAT}, WARN,
    ),
    Boundary(
        "reward-scale", "explained",
        lambda x: {"value_loss": 3e5, "explained_variance": x, **FLAT}, WARN, -1,
    ),
    Boundary("reward-scale", "huge", lambda x: {
        "value_loss": x, "explained_variance": 0.0,
        "reward_mean": lambda i: -9e3 + 90.0 * i + jitter(i, 30)}, WARN, count=30),
    Boundary("value-drift", "high", lambda x: {"value_var": x, "return_var": 1.0}, WATCH,
             family="rlhf"),
    Boundary("value-drift", "low", lambda x: {"value_var": x, "return_var": 1.0}, WATCH, -1,
             "rlhf"),
    Boundary("value-loss-spike", "times", lambda x: {
        "value_loss": lambda i: (x if i >= 40 else 1.0) * (5 + 0.001 * (i % 3))}, WARN),
    Boundary("value-clip-high", "watch", late("value_clip_fraction", 0.05), WATCH, family="rlhf"),
    Boundary("episodes-of-one-step", "steps", lambda x: {"ep_len": x, "reward_mean": flat},
             WARN, -1),
    Boundary("reward-spread", "times", late("reward_std", 1.0, reward_mean=1.0), WATCH,
             family="rlhf"),
    Boundary("eval-gap", "share", lambda x: {
        "eval_reward_mean": lambda i: (1 - x) * rise(i) if i % 10 == 9 else None}, WATCH, step=0.1),
    Boundary("eval-gap", "far", lambda x: {
        "eval_reward_mean": lambda i: (1 - x) * rise(i) if i % 10 == 9 else None}, WARN, step=0.1),
    Boundary("advantages-off", "mean", lambda x: {"adv_mean": x}, Severity.INFO, family="rlhf"),
    Boundary("zero-variance-groups", "warn", late("frac_zero_std", 0.2), WARN, family="grpo"),
    Boundary("completions-truncated", "warn", late("truncated_frac", 0.05), WARN, family="grpo"),
    Boundary("preference-inverted", "warn", sinking, WARN, -1, family="preference"),
    Boundary("preference-inverted", "crit", sinking, CRIT, -1, family="preference"),
    Boundary("preference-at-chance", "chance", lambda x: {"preference_accuracy": 0.5 + x}, WATCH,
             -1, family="preference", total=lambda x: 60_000),
    Boundary("preference-at-chance", "errors", lambda x: {
        "preference_accuracy": lambda i: 0.5 + 0.215 * (-1) ** i * 2.0 / x}, WATCH, 1,
             family="preference", total=lambda x: 60_000),
    Boundary("preference-at-chance", "late", lambda x: {"preference_accuracy": 0.5}, WATCH,
             family="preference", total=lambda x: 60_000 / x, step=0.06),
    Boundary("preference-not-learned", "near", lambda x: {
        "total_loss": lambda i: math.log(2) * (1 - x) if i == 20 else 0.693}, WATCH, -1,
             family="preference"),
    Boundary("preference-not-learned", "late", lambda x: {"total_loss": 0.693}, WARN,
             family="preference", total=lambda x: 60_000 / x, step=0.06),
    Boundary("length-spread", "times", lambda x: {"resp_len_std": after(30, 8 * x, 8.0)}, WATCH,
             family="rlhf"),
    Boundary("prompts-changed", "share", lambda x: {"query_len_mean": after(40, 30 * (1 + x), 30)},
             Severity.INFO, family="rlhf"),
    Boundary("tools-fail", "share", late("tool_fail_freq", 0.05), WATCH, family="grpo"),
    Boundary("sampler-mismatch", "gap", late("logp_diff_mean", 0.01), WARN, family="grpo"),
    Boundary("sampler-mismatch", "ess", late("ess", 0.9), WARN, -1, "grpo"),
    Boundary("reward-crash", "warn", lambda x: {
        "reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else 1 - x) + jitter(i, 1)}, WARN,
        count=46),
    Boundary("reward-crash", "crit", lambda x: {
        "reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else 1 - x) + jitter(i, 1)}, CRIT),
    Boundary("reward-crash", "beyond", lambda x: {
        "reward_mean": lambda i: 300 + 100 * min(1, max(0, 0.05 * (i - 9)) if i < 40 else 1 - x)
        + jitter(i, 1)}, CRIT, -1, family="off-policy"),
    Boundary("entropy-not-falling", "endless", lambda x: {
        "entropy": lambda i: 0.692 if i < x else None, "reward_mean": flat, "ep_len": flat},
        WARN, count=300, step=6.0),
    Boundary("entropy-not-falling", "end", lambda x: {
        "entropy": lambda i: 0.692 if i < 60 * x + 1 else 0.3, "reward_mean": flat}, WARN,
        total=lambda x: 60_000, step=0.09),
    Boundary("learning-rate-pinned", "ceiling", lambda x: {"lr": lambda i: min(x, 1e-3 * 1.1**i)},
             Severity.INFO, count=120, trainer="rsl_rl"),
    Boundary("ref-kl-high", "crit", lambda x: {
        "ref_kl": x, "resp_len_mean": None, "reward_mean": flat}, CRIT, family="rlhf"),
    Boundary("ref-kl-token-high", "warn", lambda x: {"ref_kl_token": x, "reward_mean": flat}, WARN,
             family="grpo"),
    Boundary("ref-kl-token-high", "crit", lambda x: {"ref_kl_token": x, "reward_mean": flat}, CRIT,
             family="grpo"),
    Boundary("ref-kl-token-high", "once", lambda x: {
        "ref_kl_token": lambda i: x if i == 40 else 0.01, "reward_mean": flat}, CRIT,
        family="grpo"),
    Boundary("sampler-mismatch", "gap_crit", late("logp_diff_mean", 0.01), CRIT, family="grpo"),
    Boundary("sampler-mismatch", "kl", late("rollout_kl", 0.01), WARN, family="grpo"),
    Boundary("sampler-mismatch", "kl_crit", late("rollout_kl", 0.01), CRIT, family="grpo"),
    Boundary("sampler-mismatch", "ess_crit", late("ess", 0.9), CRIT, -1, "grpo"),
    Boundary("completions-truncated", "crit", late("truncated_frac", 0.05, reward_mean=0.2), CRIT,
             family="grpo"),
    Boundary("entropy-coefficient", "times", lambda x: {
        "entropy_coef": lambda i: min(x, 1.1 ** max(0, i - 40)), **LOSING},
        WARN, family="off-policy"),
    Boundary("entropy-coefficient", "learned_times", lambda x: {
        "entropy_coef": lambda i: min(x, 1.2 ** max(0, i - 20)),
        "reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3)},
        WARN, family="off-policy"),
    Boundary("entropy-coefficient", "crit_times", lambda x: {
        "entropy_coef": lambda i: min(x, 1.5 ** max(0, i - 20)), **LOSING},
        CRIT, family="off-policy"),
    Boundary("action-spread", "crit_times", lambda x: {"policy_std": after(30, x, 1.0), **FLAT},
             CRIT),
    Boundary("action-spread-gone", "share", lambda x: {"policy_std": after(30, x, 1.0), **FLAT},
             WARN, -1),
    Boundary("entropy-collapsed", "crit", lambda x: {"entropy": after(12, x, 1.0), **FLAT}, CRIT,
             -1),
    Boundary("long-tails", "skew", lambda x: {
        "reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 1.0 + x}, Severity.INFO,
             family="rlhf"),
    Boundary("reward-never-moves", "budget", lambda x: dict(FLAT), WATCH, step=0.02,
             total=lambda x: 60_000 / x),
    Boundary("reward-never-moves", "end", lambda x: dict(FLAT), WARN, step=0.05,
             total=lambda x: 60_000 / x),
    Boundary("still-improving", "budget", lambda x: {
        "reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3)}, Severity.INFO,
        total=lambda x: 60_000 / x),
    Boundary("exploration-not-falling", "random", lambda x: {"exploration_rate": x}, WATCH,
             family="value-based"),
    Boundary("learning-rate-zero", "share", lambda x: {
        "lr": lambda i: 1.0 if i < 30 else x, "reward_mean": lambda i: 20 + 5.0 * i},
        Severity.INFO, -1),
    Boundary("explained-variance-dropped", "low", lambda x: {
        "explained_variance": after(40, x, 0.9), "value_loss": after(40, 60.0, 4.0),
        "reward_mean": fallen}, WARN, -1),
    Boundary("explained-variance-dropped", "good", lambda x: {
        "explained_variance": after(40, 0.05, x), "value_loss": after(40, 60.0, 4.0),
        "reward_mean": fallen}, WARN),
    Boundary("reward-spread-gone", "share", late("reward_std", 1.0), WATCH, -1, "grpo"),
    Boundary("clip-one-sided", "times", lambda x: {"clip_low": 0.002, "clip_high": 0.002 * x},
             Severity.INFO, family="grpo"),
    Boundary("returns-constant", "warmup", lambda x: {
        "explained_variance": lambda i: float("nan") if i < x + 4 else 0.5, "reward_mean": flat},
        WARN, step=0.6),
    Boundary("returns-constant", "defined", lambda x: {
        "explained_variance": lambda i: 0.5 if i < 100 * x else float("nan"),
        "reward_mean": rise}, WATCH, -1, count=100, step=0.06),
)  # fmt: skip


@pytest.mark.parametrize(
    "boundary", BOUNDARIES, ids=lambda b: f"{b.rule}-{b.limit}-{b.scope}-{b.level.word}"
)
def test_a_rule_speaks_beyond_its_threshold_only(boundary: Boundary) -> None:
    """A few per cent on one side it reaches the level, as many on the other it does not."""
    assert boundary.reached(boundary.side) >= boundary.level
    assert boundary.reached(-boundary.side) < boundary.level
