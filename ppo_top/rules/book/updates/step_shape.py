"""Updates that change nothing, pass the clip range, or have a ratio far from 1."""

from __future__ import annotations

from ppo_top.rules.advice.rate_symptoms import is_cut
from ppo_top.rules.book.exploration.entropy_facts import has_settled, is_discrete
from ppo_top.rules.book.updates.step_size import clipped_share, update_kl
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import MAX_FIRST_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import (
    CRIT,
    GRPO,
    INFO,
    LLM_FAMILIES,
    ON_POLICY,
    POLICY_GRADIENT,
    RLHF,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct


def ratio_off(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The mean probability ratio between new and old policy is not 1."""
    mean, plain = run.value("ratio_mean", 0), run.value("ratio_dist", 0)
    value = plain if mean is None else mean
    if value is None:
        return _ratio_tail(run, limits)
    if limits["low"] <= value <= limits["high"]:
        return _ratio_varies(run, limits)
    message = f"mean new/old probability ratio {num(value)} (should be 1.0): updates too drastic"
    if value >= limits["crit_high"] or value <= limits["crit_low"]:
        return Assessment(CRIT, value, 1.0, message, immediate=True)
    if value > limits["warn_high"] or value < limits["warn_low"]:
        return Assessment(WARN, value, 1.0, message)
    return borderline(value, 1.0)


def _ratio_varies(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The mean is 1, but minibatches differ."""
    value = run.value("ratio_var", 0)
    if value is None or value <= limits["variance"]:
        return None
    message = f"the probability ratio varies between minibatches: variance {num(value)}"
    return Assessment(WARN, value, limits["variance"], message, concepts=("ratio_var",))


def _ratio_tail(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The largest ratio of a histogram, as TRL's legacy PPO logs it."""
    value = run.histories["ratio_dist{max}"].last
    if value <= limits["tail"]:
        return None
    message = f"largest new/old probability ratio {num(value)} (healthy <= {num(limits['tail'])})"
    crit = value > limits["tail_crit"]
    level, concepts = CRIT if crit else WARN, ("ratio_dist",)
    return Assessment(level, value, limits["tail"], message, crit, concepts=concepts)


def no_op_updates(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Updates change nothing."""
    value = update_kl(run)
    if value is None or abs(value) > limits["clear_kl"]:
        return None
    clip = clipped_share(run) or 0.0
    if not clip and _rounded_to_zero(run, limits):
        return borderline(value, limits["kl"])
    if abs(value) >= limits["kl"] or 0.0 < clip < limits["held"]:
        return borderline(value, limits["kl"])
    stopped = (
        value == clip == 0.0
        and _moved_before(run, limits)
        and not _rate_gone(run, limits["rate_over"])
    )
    if (
        run.at_max
        or _never_moved_by_design(run)
        or (_rate_gone(run, limits["rate_low"]) and not stopped)
    ):
        return None
    good = run.keeps_gain
    if "lr" not in run.histories and good:
        return borderline(value, limits["kl"])  # perhaps the end of a schedule that is not logged
    if run.family in LLM_FAMILIES and good and not stopped:
        return borderline(value, limits["kl"])  # small updates may suffice for a large model
    if has_settled(run) or _moves_all_the_same(run, limits):
        return borderline(value, limits["kl"])
    message = f"updates change nothing: KL {num(value)}"
    if clipped_share(run) is not None:
        message += ", nothing clipped"
    if clip:
        held = run.setting("clip_range")
        width = f"clip range {num(held)}" if held is not None else "clip range"
        message = f"the {width} holds the policy: {pct(clip)} clipped at a KL of {num(value)}"
    return Assessment(WARN, value, limits["kl"], message)


def _kl_stays_visible(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No KL of the block is near zero."""
    return "approx_kl" in block.columns and block.low("approx_kl") > limits["clear_kl"]


def _rounded_to_zero(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether a KL of 0 may be a small one: a script that prints 0.0000 hides all below 5e-5."""
    if "rounded" not in run.facts:
        return False
    history = run.histories.get("approx_kl") or run.histories["approx_kl_k1"]
    decimals = int(limits["decimals"])
    return all(round(each, decimals) == each for each in (*history.first, *history.recent))


def _moved_before(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the KL was above 0 for long: the smallest update leaves some of it."""
    history = run.histories.get("approx_kl") or run.histories["approx_kl_k1"]
    return history.baseline(MAX_FIRST_VALUES) > limits["kl"]


def _rate_gone(run: JudgedRun, share: float) -> bool:
    """KL falls with the square of the learning rate: a schedule near its end explains it."""
    rate = run.histories.get("lr")
    if rate is None or rate.high <= 0.0:  # zero from the start is not a schedule
        return False
    return rate.last <= share * rate.high and not is_cut(run, rate)


def _never_moved_by_design(run: JudgedRun) -> bool:
    """One on-policy step per batch has KL and clipping of 0, or of what its sampler lags behind."""
    passes = [run.config_number(name) for name in ("n_epochs", "num_minibatches")]
    if "one-step" in run.facts or passes == [1.0, 1.0]:
        return True
    if run.family != GRPO:
        return False
    kl, clip = run.histories.get("approx_kl"), run.histories.get("clip_fraction")
    return all(history is None or history.high <= 0.0 for history in (kl, clip))


def _moves_all_the_same(run: JudgedRun, limits: RuleLimits) -> bool:
    """A single step per rollout is measured before it is made: KL and clipping 0, yet it learns."""
    seen = [run.histories.get(name) for name in ("approx_kl", "approx_kl_k1", "clip_fraction")]
    if any(history is not None and history.high > limits["kl"] for history in seen):
        return False
    entropy = run.histories.get("entropy")
    fell = entropy is not None and entropy.level < limits["fell"] * entropy.start
    return (fell and is_discrete(run)) or run.keeps_gain


def clip_not_binding(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The policy moves far, and the clip range is too wide to limit it."""
    kl, clip = update_kl(run), run.value("clip_fraction")
    if kl is None or clip is None:
        return None
    range_, wide = run.setting("clip_range"), _is_wide(run, limits)
    if kl <= limits["clear_kl"]:
        return _never_clips(run, limits) if wide else None
    if not wide and (kl <= limits["kl"] or clip >= limits["clip"]):
        return borderline(kl, limits["kl"])
    setting = f": the clip range {num(range_)} is wide" if wide and range_ else ""
    binds = clip > limits["binds"]
    how_much = "although" if binds else "but only"
    message = f"KL is high ({num(kl)}) {how_much} {pct(clip)} is clipped{setting}"
    about = ("approx_kl", "clip_range") if setting else ("approx_kl",)
    level = WATCH if binds and not run.falling else WARN
    return Assessment(level, kl, limits["kl"], message, concepts=about)


def _is_wide(run: JudgedRun, limits: RuleLimits) -> bool:
    width = run.setting("clip_range")
    return width is not None and width >= limits["wide"]


def _never_clips(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Small steps that a wide clip range never limits: nothing holds them if they grow."""
    recent = run.histories["clip_fraction"].newest(int(limits["points"]))
    if len(recent) < limits["points"] or max(recent) > 0.0:
        return None
    width = num(run.setting("clip_range") or 0.0)
    message = f"nothing clipped in {len(recent)} updates: the clip range {width} is wide"
    return Assessment(INFO, 0.0, None, message, concepts=("clip_fraction",))


def _clip_range_binds(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No KL of the block is so high that clipping should show."""
    if _is_wide(run, limits) or block.high("clip_range") >= limits["wide"]:
        return False
    return "approx_kl" in block.columns and block.size("approx_kl") <= limits["clear_kl"]


def _ratio_stays(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """All mean ratios of the block are close to 1."""
    mean = "ratio_mean" if "ratio_mean" in block.columns else "ratio_dist"
    if mean not in block.columns:
        return block.high("ratio_dist{max}") <= limits["tail"]
    low, high = block.bounds(mean)
    varies = block.high("ratio_var") > limits["variance"]
    return limits["low"] <= low and high <= limits["high"] and not varies


RULES = (
    Rule(
        id="ratio-off",
        title="Probability ratio far from 1",
        description="the new policy's action probabilities differ strongly from the old policy's",
        concepts=("ratio_mean",),
        related=("clip_fraction", "approx_kl"),
        assess=ratio_off,
        stays_calm=_ratio_stays,
        families=POLICY_GRADIENT,
        judged_at=("ratio_mean", "ratio_dist", "ratio_dist{max}"),
        limits={
            "low": 0.9,
            "high": 1.1,
            "warn_low": 0.5,
            "warn_high": 1.5,
            "crit_low": 0.1,
            "crit_high": 2.0,
            "tail": 10.0,
            "tail_crit": 200.0,
            "variance": 0.1,
        },
        persistence=k_of_n(2, 3),
        causes=(
            "updates too large",
            "old log-probs computed with a different dtype, temperature or dropout",
        ),
        remedies=(
            "lower {learning_rate}",
            "fewer passes over the same data: {n_epochs:above 1}",
            "check that old log-probs come from the same dtype, temperature and eval mode",
        ),
        source="TRL's guide: the ratio 'should float around 1.0'; 2.0, 0.1 or 200 is too drastic",
        grade="A",
    ),
    Rule(
        id="no-op-updates",
        title="No-op updates (KL zero)",
        description="the KL is zero although training continues",
        concepts=("approx_kl",),
        related=("clip_fraction",),
        assess=no_op_updates,
        asks_about=("entropy-collapsed",),
        stays_calm=_kl_stays_visible,
        families=POLICY_GRADIENT,
        judged_at=("approx_kl", "approx_kl_k1"),
        limits={
            "fell": 0.97,
            "rate_over": 0.02,
            "rate_low": 0.2,
            "kl": 1e-5,
            "clear_kl": 1e-4,
            "held": 0.3,
            "decimals": 5,
            "warmup": 4,
        },
        limit_overrides={RLHF: {"warmup": 10}, GRPO: {"warmup": 10}},
        persistence=k_of_n(8, 10),
        ranks_causes=True,
        causes=(
            "learning rate far too low",
            "frozen weights, or gradients clipped to almost zero",
            "clip range far too narrow",
            "all advantages are zero",
        ),
        remedies=(
            "raise {clip_range:known below 0.05}",
            "raise {max_grad_norm:known below 0.01}",
            "raise {learning_rate}",
            "check that neither {clip_range} nor {max_grad_norm} is far too small",
            "check which parameters are trained, and that the optimiser has them",
            "check the spread of rewards and advantages",
        ),
        source="TRL logging guide: tune when these values 'collapse to 0'",
        grade="C",
    ),
    Rule(
        id="clip-not-binding",
        title="Clipping ineffective (clip range too wide)",
        description="the KL is high while hardly anything is clipped",
        concepts=("approx_kl",),
        related=("clip_fraction",),
        assess=clip_not_binding,
        stays_calm=_clip_range_binds,
        judged_at=("approx_kl", "approx_kl_k1"),
        families=frozenset({ON_POLICY}),
        limits={
            "binds": 0.05,
            "kl": 0.05,
            "clip": 0.02,
            "wide": 0.4,
            "clear_kl": 0.03,
            "points": 20,
            "warmup": 3,
        },
        causes=("clip range too wide to bind",),
        remedies=("lower {clip_range:above 0.2} to 0.1-0.2", "{kl_limit}", "lower {learning_rate}"),
        source="clip range 0.5: clip fraction falls while the KL rises (a known experiment)",
        grade="C",
    ),
)
