"""Completions of a language model: too long, truncated, without EOS, or drifting in length."""

from __future__ import annotations

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_most, start_level
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, GRPO, INFO, LLM_FAMILIES, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct

LENGTH_VALUES = 10
"""Lengths differ from batch to batch: so many values make a level of them."""


def truncated(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Completions are truncated at the length limit."""
    history = run.histories["truncated_frac"]
    value, base = history.last, history.initial_level
    if value <= limits["clear"]:
        return None
    limit = run.config.get("max_completion_length")
    where = f"the limit of {limit} tokens" if isinstance(limit, int) else "the length limit"
    message = f"{pct(value)} of completions are cut off at {where} (healthy <= 10 %)"
    risen = value - base >= limits["risen"]
    if (value > limits["crit"] and risen) or history.newest(5) == [1.0] * 5:
        return Assessment(CRIT, value, limits["clear"], message)
    if value > limits["warn"]:
        enough = LENGTH_VALUES if run.ended else limits["stays"]
        stays = value > limits["crit"] and history.count >= enough and not run.rising
        level, at_once = WARN if risen or stays else WATCH, stays and run.ended
        return Assessment(level, value, limits["clear"], message, immediate=at_once)
    return borderline(value, limits["clear"])


def length_runs(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Completions become much longer or shorter without a gain in reward."""
    history = run.histories["resp_len_mean"]
    base, value = history.baseline(LENGTH_VALUES), history.last
    if base <= 0.0:
        return None
    if value > limits["times"] * base:
        if run.keeps_gain:
            return None  # longer answers pay: a model learns to reason
        message = f"completions grew from {num(base)} to {num(value)} tokens: longer, not better"
        longer = Assessment(WARN, value, limits["times"] * base, message)
        return longer if run.stuck else borderline(value)
    if value < limits["share"] * base:
        if run.rising:
            message = f"short answers pay ({num(base)} -> {num(value)} tokens): a reward shortcut?"
            return Assessment(WATCH, value, limits["share"] * base, message)
        message = f"completions shrank from {num(base)} to {num(value)} tokens"
        return Assessment(WARN if run.stuck else WATCH, value, limits["share"] * base, message)
    return None


def length_spread(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The spread of completion lengths explodes."""
    history = run.histories["resp_len_std"]
    base = history.baseline(LENGTH_VALUES)
    if base <= 0.0 or history.last <= limits["times"] * base:
        return None
    message = f"spread of completion lengths grew from {num(base)} to {num(history.last)}"
    return Assessment(WATCH, history.last, limits["times"] * base, message)


def no_eos(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """No completion ends with EOS."""
    cut, ended = run.value("truncated_frac", 0), run.value("term_len_mean", 0)
    count = run.value("eos_count", 0)
    if not ((cut is not None and cut >= 1.0) or ended == 0.0 or count == 0.0):
        return None
    return Assessment(WARN, 0.0, None, "0 completions end by themselves: no end-of-text token")


def prompts_changed(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Prompt length changed since the start."""
    history = run.histories["query_len_mean"]
    base, now = history.baseline(LENGTH_VALUES), history.recent_median(LENGTH_VALUES)
    if base <= 0.0 or abs(now / base - 1.0) <= limits["share"]:
        return None
    message = f"prompts changed in length from {num(base)} to {num(now)} tokens: other input data?"
    return Assessment(INFO, now, base, message)


def logprobs_shift(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The policy's token log-probs leave the reference's, approach 0, or the reference's move."""
    name = "p50" if "logprobs_p50" in run.histories else "dist"
    own, reference = run.histories[f"logprobs_{name}"], run.histories.get(f"ref_logprobs_{name}")
    if reference is None:
        return None
    began, now, fixed = reference.initial_level, reference.level, own.level
    if abs(now - began) > limits["shift"]:
        message = f"the reference's log-probs moved from {num(began)} to {num(now)}: is it frozen?"
        return Assessment(WATCH, now, began, message, concepts=("ref_logprobs_dist",))
    if own.last > limits["certain"] and own.last - reference.last > limits["apart"]:
        message = f"log-prob {num(own.last)}, the reference's {num(reference.last)}: nearly certain"
        return Assessment(INFO, own.last, limits["certain"], message)
    moved = fixed - now - (own.initial_level - began)
    if abs(moved) <= limits["shift"]:
        return None
    message = f"log-probs moved by {moved:+.3g} nats a token against the reference's"
    return Assessment(WATCH, moved, limits["shift"], message)


def tools_fail(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Most tool calls fail."""
    value = run.values["tool_fail_freq"]
    if value <= limits["share"]:
        return None
    return Assessment(WATCH, value, limits["share"], f"{pct(value)} of tool calls fail")


def _length_stays(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    base = start_level(run, "resp_len_mean", LENGTH_VALUES)
    low, high = block.bounds("resp_len_mean")
    return limits["share"] * base <= low and high <= limits["times"] * base


def _length_spread_stays(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    base = start_level(run, "resp_len_std", LENGTH_VALUES)
    return block.high("resp_len_std") <= limits["times"] * base


RULES = (
    Rule(
        id="completions-truncated",
        title="Completions truncated",
        description="a growing share of completions reaches the length limit, or nearly all do",
        concepts=("truncated_frac",),
        related=("resp_len_mean",),
        assess=truncated,
        stays_calm=at_most("truncated_frac", "clear"),
        families=LLM_FAMILIES,
        limits={"clear": 0.1, "warn": 0.3, "crit": 0.9, "risen": 0.1, "stays": 20},
        persistence={WATCH: (4, 5), WARN: (4, 5), CRIT: (4, 5)},
        at_end=True,
        ranks_causes=True,
        causes=("length limit too short for the task", "the policy does not learn to stop"),
        remedies=(
            "leave them out of the loss: see that {mask_truncated_completions:off} is on",
            "punish overlong answers softly (DAPO), check the end-of-text token and chat template",
        ),
        source="TRL's GRPO guide: a high clipped_ratio means completions are cut off",
        grade="C",
    ),
    Rule(
        id="length-runaway",
        title="Completion length drifting",
        description="completions become much longer or shorter without a gain in reward",
        concepts=("resp_len_mean",),
        related=("truncated_frac",),
        assess=length_runs,
        stays_calm=_length_stays,
        families=LLM_FAMILIES,
        limits={"times": 2.0, "share": 0.3, "warmup": 12},
        persistence=k_of_n(8, 10),
        causes=("length bias in the loss or reward", "a shortcut to the reward"),
        remedies=(
            "read some samples",
            "a penalty on length, or a loss without length bias: {loss_type}",
            "raise the KL penalty: {kl_penalty}",
        ),
        source="TRL practice: monitor response length for drift; Dr. GRPO on length bias",
    ),
    Rule(
        id="length-spread",
        title="Completion length std rising",
        description="the spread of completion lengths grows far beyond its initial value",
        concepts=("resp_len_std",),
        related=("resp_len_mean",),
        assess=length_spread,
        stays_calm=_length_spread_stays,
        families=LLM_FAMILIES,
        limits={"times": 3.0, "warmup": 12},
        causes=("some completions run to the length limit",),
        remedies=("read the longest samples", "punish overlong answers softly"),
        source="TRL practice: responses_len_std 'not exploding'",
    ),
    Rule(
        id="no-eos",
        title="No EOS in any completion",
        description="not one completion ends with an EOS token",
        concepts=("truncated_frac",),
        related=("term_len_mean", "eos_count"),
        assess=no_eos,
        judged_at=("truncated_frac", "term_len_mean", "eos_count"),
        families=LLM_FAMILIES,
        limits={"warmup": 1},
        persistence=k_of_n(3, 3),
        ranks_causes=True,
        causes=("length limit too short", "wrong EOS or padding token"),
        remedies=(
            "raise {max_completion_length}",
            "check eos_token and pad_token, and the chat template",
            "punish what does not end: {missing_eos_penalty}",
        ),
        source="TRL's guide: num_eos_tokens indicates complete responses",
        grade="C",
    ),
    Rule(
        id="prompts-changed",
        title="Prompt length changed",
        description="prompts are much longer or shorter than at the start",
        concepts=("query_len_mean",),
        assess=prompts_changed,
        families=LLM_FAMILIES,
        limits={"share": 0.5, "warmup": 20},
        causes=("the input data changed",),
        remedies=("check the order of the data", "shuffle the prompts"),
        source="TRL practice: monitor prompt length for drift",
    ),
    Rule(
        id="logprobs-shift",
        title="Log-probs shifted",
        description="token log-probabilities leave the reference's, come near 0, or these move",
        concepts=("logprobs_dist",),
        assess=logprobs_shift,
        judged_at=("logprobs_p50", "logprobs_dist"),
        families=LLM_FAMILIES,
        limits={"apart": 0.05, "certain": -0.05, "shift": 1.0, "warmup": 10},
        causes=("entropy has collapsed, or drift", "a reference that is trained or loaded anew"),
        remedies=("raise the KL penalty: {kl_penalty}", "lower {learning_rate}"),
        source="TRL practice: inspect log-probs against the reference for shifts",
    ),
    Rule(
        id="tools-fail",
        title="Tool calls failing",
        description="most tool calls fail",
        concepts=("tool_fail_freq",),
        assess=tools_fail,
        stays_calm=at_most("tool_fail_freq", "share"),
        families=frozenset({GRPO}),
        limits={"share": 0.5, "warmup": 3},
        causes=("a broken tool, or malformed calls",),
        remedies=("call the tool by hand", "show the form of a call in the prompt"),
        source="TRL's GRPO guide: tools/failure_frequency",
    ),
)
