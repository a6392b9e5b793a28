"""One spelling for what lines of names and numbers spell in many ways, before they are searched."""

from __future__ import annotations

import re
from collections.abc import Callable

from ppo_top.parsers.console.records import slashed_names
from ppo_top.parsers.shared.names import languages, metric_names
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, unwrap_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_BRACKETED_COUNT = lazy_pattern(r"\[\s{0,9}(\d{1,15})\s?/\s?(\d{1,15})\s?\]")
_LEADING_COUNT = lazy_pattern(
    r"^\s{0,16}+[\[(]?\s{0,9}(\d{1,15})\s?/\s?(\d{1,15})\s?[\])]?[:,]?\s{1,16}+"
    r"(?!.*\.\.\.$)(?=[A-Za-z].*[=:]\s?[-+.\d]|(?i:reward|return|score|loss)s?\s[-+.\d]"
    r"|[A-Za-z]\w{0,20} [-+.\d][\d.e+-]{0,20} \|)"
)
"""A loop's own count, without a name: `[12/400] steps=2048 return=21.5`; not `[1/3] Self-play` and
not `2/10: ensemble size = 1...`, which announces something.

Pairs without a sign between have bars: `51000 / 1000000 eps 0.9 | avgR -0.9`."""
_BRACKETED_EPISODES = lazy_pattern(r"\[\s{0,16}+(\d{1,15}) ep(?:isode)?s\]")
"""How many episodes are done, with the unit behind the number: `[   1000 eps] reward=0.6`."""
_BRACKETED_WORDS = lazy_pattern(r"\[([A-Za-z][^\[\]=]{0,60})\]")
_LABEL = lazy_pattern(
    r"^\[[A-Za-z][\w .-]{0,30}\](?:(?=\[)| (?=(?:[Cc]ompleted |[Ff]inished )?[Ee]pisode:? #?\d))"
    r"|^\[(?!(?i:eval|test|val))[A-Za-z]\w{0,20}\] (?=(?:iter|iteration|epoch|update) {1,8}\d)"
    r"|^\[[A-Z]{1,20}\] (?=(?:Global|Training) step \d)"
)
"""`[grpo][step=12] reward=0.5`, `[Simple DQN] Episode 3, Reward: 21.5`, `[rl] iter   1  cost=5`,
`[ACTOR] Global step 120: Episode reward: 1.0` (LeRobot)."""
_ABOUT = lazy_pattern(r"(?<=[a-z])~(?=[-+]?\d)")
"""`train_cost~6825`."""
_TRAINING_LABEL = lazy_pattern(
    r"^(?:[Tt]rain(?:ing)?|TRAIN): "
    r"(?=(?i:episode|ep|step|iteration|iter|epoch|update) #?\d|total steps: \d)"
)
"""`Train: ep 120 rew 21.5`, `Training: total steps: 2048, episode rewards: 21.5` (PARL)."""
_LABEL_OF_PAIRS = lazy_pattern(
    r"(?i)^\W{0,8}(?:train(?:ing)?|batch|rollout|update|step|iteration|epoch|metrics|stats|progress"
    r"|a2c|ddpg|dqn|grpo|ppo|reinforce|sac|td3): (?=[a-z_]\w{0,40}=[-+.\d])"
)
"""`Batch: mean_reward=0.2`, `PPO: reward=1.5 kl=0.01`."""
_WINDOW_BEFORE = lazy_pattern(
    r"(?i)(?<=[|,;] )(\d{1,6})[ -](eps?|episodes?|games?)[ .-]{1,2}((?:[a-z][\w.]{0,20} ){0,3}"
    r"[a-z][\w.]{0,20})(?=\s?[:=])"
)
"""`Reward: 20.5, 100 Eps Avg. Reward: 19.2`."""
_ACME_LINE = lazy_pattern(
    rf"\[([A-Z][\w ]{{1,30}})\] (?:[A-Z][\w ]{{0,40}} = {NUMBER_PATTERN}(?: \| |$)){{2,40}}"
)
"""Acme's terminal: several loops print pairs of the same names, `[Learner] Loss = 0.06 | ...`."""
_ACME_STEPS = ("Train Steps = ", "Actor Steps = ")
"""The steps in the environment, which the other loops print as well."""
_FIELD_OF_TEXT = lazy_pattern(
    r"(?<!\S)[A-Za-z_]\w{0,30}=(?:\"(?![-+.\d])[^\"]{0,400}\""
    r"|\"?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,16}(?:Z|[-+]\d\d:?\d\d)?\"?)(?:\s|$)"
)
"""A text or a time in a line of logfmt: `time=2025-01-01T10:00:00Z msg="one update" step=12`."""
_ABSOLUTE = lazy_pattern(r"\|([A-Za-z]\w{0,20})\|(?=[=:])")
"""`|grad|=6.1e-05`, whose signs are no rules between the pairs."""
_STATE = lazy_pattern(r"(?<=\] )(?:SKIP(?:PED)?|OK|DONE) (?=[a-z]\w{0,30}=)")
"""`[step 12] SKIP rewards=[1, 1]`: a group that teaches nothing has its rewards as well."""
_TABBED_SEPARATOR = lazy_pattern(r"([:=])[ \t]{1,16}+(?=[-+.\w])")
_LEADING_STEP = lazy_pattern(r"^\s{0,16}+(\d{1,15}/\d{1,15}): (?=[A-Za-z])")
"""keras-rl starts its lines with the step: `1024/50000: episode: 12, ...`."""
_PROGRESS = lazy_pattern(
    r"(?i)(?:\b[a-z]{1,20} )?\bprogress ?: ?\[?(\d{1,15}) ?/ ?(\d{1,15}) "
    r"((?:time)?step|episode|iteration|epoch|update|game|generation)s\b\]?"
    r"(?: ?\(\s?\d{1,3}(?:\.\d{1,4})?\s?%\))?"
)
"""The count before its unit: `PPO Progress: 2048/200000 steps (1.0%) | Reward: 21.5`."""
_PADDED_COUNT = lazy_pattern(
    r"(?i)\b(iteration|iter|step|epoch|episode|update)[:=]?\s{1,16}(\d{1,15}) ?/ {1,16}(\d{1,15})\b"
)
"""Megatron-LM pads its counts: `iteration        7/    2174 | loss: 0.5 |`."""
_RANGE = lazy_pattern(
    r"^\W{0,8}(Episode|Iteration|Step|Game)s \d{1,15} ?[-–] ?(\d{1,15})(?=[ :|,)\]])"
)
"""`Episodes 11-20: mean reward 21.5`, at the last of them."""
_RULED_COUNT = lazy_pattern(
    r"^([-=*#~])\1{2,}\s{0,9}([A-Za-z]{1,20}(?: [A-Za-z]{1,20}){0,2}) ?: ?(\d{1,15})\s{0,9}\1{3,}$"
)
"""A heading, no setting: `-----Total steps: 2500-----`."""
_ORDINAL = lazy_pattern(r"#\s?(?=\d|[Ee]p)")
_MEAN_REMARK = lazy_pattern(
    r"\((?!(?i:ep|episode|epoch|iter|iteration|step|timestep|update)[ =])"
    r"(?:[A-Za-z]{1,12}[ =])?\d{1,7}(?: [A-Za-z]{1,12}){0,2}\)(?=\s?[:=])"
)
"""What is averaged: `Mean reward (last 100 episodes): 195.2`."""
_NUMBER_LIST = lazy_pattern(
    rf"[A-Za-z]\w{{0,30}}(?: \w{{1,30}}){{0,3}}[ :=]{{1,3}}"
    rf"\[\s{{0,8}}{NUMBER_PATTERN}(?:(?:,?\s{{1,8}}|,){NUMBER_PATTERN}){{1,40}}"
    r",?\s{0,8}(?:\]|$)"
)
"""`actions [0.1, 0.9]`: several numbers under one name, whose end numpy may print on another line;
`[1,000]` is one."""
_QUOTED_NUMBER = lazy_pattern(rf"(?<=[\[ ])(['\"])({NUMBER_PATTERN})\1(?=,|\])")
"""`rewards=['0.01', '0.80']`: of a list whose numbers were formatted."""
_LIST_START = lazy_pattern(rf"\[\s{{0,8}}{NUMBER_PATTERN}")
"""In each of them, and found sooner."""
_TUPLE = r"\([^()\[\]]{1,60}\)"
_TUPLE_LIST = lazy_pattern(
    rf"[A-Za-z][\w-]{{0,60}}[ :=]{{1,3}}\[{_TUPLE}(?:,\s?{_TUPLE}){{0,200}}\]"
)
"""`actions: [(1, 4), (3, 1)]`, which is no number."""
_MOST_AGENTS = 8
_EPOCH_AND_STEP = lazy_pattern(
    r"\bEpoch\s?:?\s?\[\s?(\d{1,9})(?:/(\d{1,9}))?\s?\]\s?[(\[]\s{0,9}(\d{1,15})/(\d{1,15})[)\]]"
)
"""minimind prints `Epoch:[2/3](47/9751)`, with epochs from 1; torchvision's examples
`Epoch: [1][ 47/9751]`, with epochs from 0."""
_EPOCH_LABEL = lazy_pattern(
    r"^\[E(?:poch ?)?(\d{1,9}(?:/\d{1,9})?)\] [Ss]tep (\d{1,15}/\d{1,15})\b"
)
"""`[E2] step 400/1562 | Loss=0.95`: the steps begin anew in each epoch."""
_SHARE_DONE = lazy_pattern(r"(?<=[\d\]]) ?\(\s{0,3}\d{1,3}(?:\.\d{1,4})?\s?%\)")
"""`Steps: 1000 (5%)`, `[10/200] (5%)`."""
_WINDOW_BEHIND = lazy_pattern(
    r"(?i)\((?:(mean|avg|average)(?: of| over)? (?:the )?(?:last|past|previous) \d{1,7}"
    r"(?: \w{1,12})?"
    r"|(?:last |past |previous )?\d{1,7}(?:[ -]\w{1,12})? (mean|avg|average))(?=:? )"
)
"""`reward = 20.5 (mean of last 100: 19.2)`, `(100-ep avg: 19.2)`."""
_GLUED_STEP = lazy_pattern(
    r"\b((?i:episode|epoch|iteration|iter|ep|step))[-_]?(?=\d{1,12}(?:[:,|\s]|$))"
)
"""`Episode7: reward 21.5`, `EP_7 reward 21.5`."""
_GLUED_DIGIT = lazy_pattern(r"[ehnprEHNPR][-_]?\d")
"""In each of them, and found sooner."""
_WINDOW_WORDS = tuple(
    spell(word)
    for word in ("over", "of", "in", "for", "last", "past", "previous")
    for spell in (str, str.capitalize, str.upper)
)
_WINDOW = lazy_pattern(
    r"(?i)(?:(?<=reward|return|length)|(?<=rewards|returns|average)|(?<=score)|(?<=scores))"
    r" (?:(?:over|of|in|for) (?:the )?"
    r"((?:last |past |previous )?\d{1,7} \w{1,12}|(?:last|past|previous) \d{1,7})"
    r"|((?:last|past|previous) \d{1,7} \w{1,12}))(?=\s?[:=]| (?:at|after) )"
)
"""`Average reward over last 100 episodes: 21.5`, `Avg reward last 100 episodes: 21.5`."""
_COUNT_INSIDE = lazy_pattern(
    r"(?i)\b(mean|avg|average) (\d{1,4}) (episodes?) (reward|return|score|length)"
)
"""`mean 100 episode reward: 21.5`, as the old baselines call it."""
_ARROW = lazy_pattern(r"(?<=[A-Za-z]) ?(?:is )?(?:-{1,3}>|={1,3}>|→) ?(?=[-+.]?\d|nan\b|-?inf\b)")
"""`total_reward -> 21.5`, `Avg Reward is ==> 21.5`."""
_STARS = lazy_pattern(r"(?i)\b(episode|epoch|iteration|step) \* (\d{1,15}) \* ")
"""Keras' example of DDPG: `Episode * 12 * Avg Reward is ==> -198.5`."""
_HEADING = lazy_pattern(
    r"(?i)^(\W{2,20}(?:episode|epoch|iteration|update|step) #?\d{1,15}"
    r"|(?:episode|epoch|iteration|update|step) #?\d{1,15}(?=[^:]{1,20}:\s*$))"
    r" (?:statistics|stats|summary|completed?|finished|done|results?|report|metrics"
    r"|完成|结束|总结|结果)(?=\W{0,20}$)"
)
"""`=== Episode 12 Statistics ===` and `Episode 12 Complete:` stand over lines of the episode."""
_FINISHED_START = lazy_pattern(
    r"(?i)^((?:epoch|iteration|update|step) #?\d{1,15}(?:\s?/\s?\d{1,15})?)"
    r" (?:completed?|finished|done|ended)(?: in \d[\d.:]{0,9}\s?\w{0,7})?[:.!] "
)
"""`Iteration 7 completed: mean reward 21.5`; what is said of an episode is a sentence."""
_FINISHED_WORDS = (" complete", " finished", " done", " ended")
_HEADING_ENDS = ("=", "-", "*", "#", "~", ":")
_DECIMAL_COMMA = lazy_pattern(
    r"([:=] -?\d{1,15}),(\d{1,2}|\d{4,15}|(?<=\b0,)\d{3})(?=$|[^\d,.\w]|,\s)"
)
"""`Reward: -8939,52`, as locales of most of Europe write it; `1,234` may be a thousand."""
_BEFORE_PAIRS = lazy_pattern(r"[^:|]{1,40}[:|] ")
_ARE_PAIRS = lazy_pattern(
    rf"([A-Za-z]\w{{0,30}}(?: \w{{1,20}}){{0,2}}) is ({NUMBER_PATTERN})(?: and |, | \| |$)"
)
_GREEK = lazy_pattern(r"(?:(?<=:)\s{1,4}|(?<![^\s,(]))([μσ])(?==)")
"""`Total Rewards:  μ=0.656, σ=0.379`, as mlx-lm-lora prints it."""
_LABEL_OF_STATISTICS = lazy_pattern(
    r"(?i)(?<=[a-z)]): (?=(?:mean|avg|average|min)\s?[=:]\s?[-+.\d])"
)
"""`Rewards: mean=0.45, std=0.2`."""
_TWO_NUMBERS = lazy_pattern(
    rf"([A-Za-z]\w{{0,30}}(?: [A-Za-z]\w{{0,20}}){{0,3}}) \(([A-Za-z]\w{{0,20}})\)\s?[:=]\s{{0,16}}"
    rf"({NUMBER_PATTERN})\s?\(\s{{0,16}}({NUMBER_PATTERN})\s?\)"
)
"""`final reward (best): -15 (-12)`."""
_SECOND_NUMBER = lazy_pattern(
    rf"(?<=\d) (?:\(\s{{0,16}}{NUMBER_PATTERN}\s?\)"
    rf"|\[\s?{NUMBER_PATTERN}\s?(?:…|\.{{2,3}}|,|~)\s?{NUMBER_PATTERN}\s?\])(?=\s|$|[,;|])"
)
"""A mean so far, as PyTorch's examples print it, `Loss 0.5 (0.61)`; a range, `reward=6.1 [-2, 16]`.
"""
_POINTER = lazy_pattern(r"\s<-{2,8}\s[A-Za-z].*$")
"""`rewards/mean: -0.27 <---- average reward over this batch (higher=better, noisy)`."""
_LABEL_BEHIND_COUNT = lazy_pattern(
    r"(?i)^(\W{0,8}(?:episode|ep|epoch|iteration|iter|step|update)\s{0,8}\d{1,9}(?:/\d{1,9})?)"
    r" \[[A-Za-z][\w.-]{0,30}\](?=:)"
)
"""`Ep  70 [BTCUSDT]: R=  69.31 Tr=  8`: where it was."""
_TIME_TAKEN = lazy_pattern(
    r" \(\s?\d{1,9}(?:\.\d{1,9})? ?(?:s|sec|secs|seconds|ms|min|mins|h)(?: elapsed| total)?\)"
)
"""`Batch 12 complete (28.7s) (3250.8s elapsed), reward: 2.5`."""
_STEP_IN_BRACKETS = lazy_pattern(
    r"(?i) \(((?:episode|step|timestep|iteration|epoch|update) \d{1,15})\)(?=,|$)"
)
_WIDE_BLANKS = lazy_pattern(r"[^\S\t]{4,}+")
"""Long blanks would take quadratic time in later searches."""


def normalise_line(text: str) -> str:
    """Unwrap numbers, and `[3/10]` and `[Epoch 3]` from their brackets.

    `Epoch #3` becomes `Epoch 3`; a remark with a number becomes one word of its name.
    """
    if not text.isascii():
        text = re.sub(*languages.NUMBERED, text.translate(languages.PUNCTUATION))
    for sign, rewrite in _REWRITES:
        if sign in text:
            text = rewrite(text)
    text = text.strip()
    return _WIDE_BLANKS.sub("   ", text) if "  " in text or not text.isascii() else text


def _unwrap_brackets(text: str) -> str:
    text = _LABEL.sub("", text, count=1)
    if text.startswith("[") and " = " in text and (label := _ACME_LINE.fullmatch(text)):
        pairs = text[label.end(1) + 2 :].split(" | ")
        text = " | ".join(p if p.startswith(_ACME_STEPS) else f"{label[1]}/{p}" for p in pairs)
    if _LIST_START.search(text):
        text = _NUMBER_LIST.sub(_rewards_of_agents, text)
    if "[(" in text:
        text = _TUPLE_LIST.sub("", text)
    text = _BRACKETED_EPISODES.sub(r" episode \1, ", text)
    return _BRACKETED_WORDS.sub(r" \1 ", _BRACKETED_COUNT.sub(r" \1/\2 ", text))


def _rewards_of_agents(match: re.Match[str]) -> str:
    """A list of rewards as one pair for each agent; other lists are left out."""
    name, _, numbers = match[0].partition("[")
    rewards = numbers.strip("] ").replace(",", " ").split()
    name = name.strip(" :=")
    is_whole = match[0].endswith("]")
    if not is_whole or not metric_names.is_reward(name) or len(rewards) > _MOST_AGENTS:
        return ""
    return ", ".join(f"{name}_{at}: {reward}" for at, reward in enumerate(rewards, 1))


def _steps_of_all_epochs(match: re.Match[str]) -> str:
    """The step in an epoch as one of all epochs."""
    epoch, epochs, step, steps = (int(group or 0) for group in match.groups())
    done = (epoch - (epochs > 0)) * steps + step
    return f"step {done}/{epochs * steps}," if epochs else f"step {done},"


def _as_heading(match: re.Match[str]) -> str:
    axis = metric_names.step_axis(match[2])
    return match[0] if axis is None else f"{axis.removesuffix('s')} {match[3]}"


def _spelt_in_latin(match: re.Match[str]) -> str:
    blank = " " if match[0][0].isspace() else ""
    return blank + ("mean" if match[1] == "μ" else "std")


def _strip_heading(text: str) -> str:
    return _HEADING.sub(r"\1", text) if text.rstrip()[-1:] in _HEADING_ENDS else text


def _spell_pairs(text: str) -> str:
    """`loss is 0.5 and kl is 0.1` as `loss: 0.5, kl: 0.1`; a lone one may be a sentence."""
    before = _BEFORE_PAIRS.match(text)
    start = position = before.end() if before else 0
    pairs = []
    while found := _ARE_PAIRS.match(text, position):
        pairs.append(f"{found[1]}: {found[2]}")
        position = found.end()
    is_whole = len(pairs) > 1 and position == len(text)
    return text[:start] + ", ".join(pairs) if is_whole else text


def _part_glued_steps(text: str) -> str:
    return _GLUED_STEP.sub(r"\1 ", text) if _GLUED_DIGIT.search(text) else text


def _window_as_word(match: re.Match[str]) -> str:
    return f" ({(match[1] or match[2]).replace(' ', '_')})"


def _remark_as_word(match: re.Match[str]) -> str:
    return re.sub("[ =]", "_", match[0])


def _replacing(
    pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str]
) -> Callable[[str], str]:
    return lambda text: pattern.sub(replacement, text)


_REWRITES: tuple[tuple[str, Callable[[str], str]], ...] = (
    *((f"{letter}=", _replacing(_GREEK, _spelt_in_latin)) for letter in "μσ"),
    *((sign, _replacing(_FIELD_OF_TEXT, "")) for sign in ('="', "=2")),
    ("tep ", _replacing(_EPOCH_LABEL, r"Epoch \1, step \2")),
    ("Epoch", _replacing(_EPOCH_AND_STEP, _steps_of_all_epochs)),
    ("", lambda text: slashed_names.spell_out(unwrap_numbers(text))),
    *((word, _replacing(_TRAINING_LABEL, "")) for word in ("rain", "TRAIN")),
    ("=", _replacing(_LABEL_OF_PAIRS, "")),
    *((f"0{word}", _replacing(_WINDOW_BEFORE, r"\3 (\1_\2)")) for word in (" E", " e", "-e")),
    (": episode: ", _replacing(_LEADING_STEP, r"step \1, ")),
    *((f"rogress{end} ", _replacing(_PROGRESS, r"\3 \1/\2")) for end in (":", " :")),
    *(
        (f"{word}s ", _replacing(_RANGE, r"\1 \2"))
        for word in ("Episode", "Iteration", "Step", "Game")
    ),
    *((3 * sign, _replacing(_RULED_COUNT, _as_heading)) for sign in "-=*#~"),
    ("<--", _replacing(_POINTER, "")),
    ("~", _replacing(_ABOUT, "=")),
    *((sign, _replacing(_ABSOLUTE, r"\1")) for sign in ("|=", "|:")),
    ("] ", _replacing(_STATE, "")),
    ("]:", _replacing(_LABEL_BEHIND_COUNT, r"\1")),
    ("/ ", _replacing(_PADDED_COUNT, r"\1 \2/\3")),
    ("/", _replacing(_LEADING_COUNT, r"iteration \1/\2, ")),
    ("\t", _replacing(_TABBED_SEPARATOR, r"\1 ")),
    ("%)", _replacing(_SHARE_DONE, "")),
    (" ", _strip_heading),
    *((word, _replacing(_FINISHED_START, r"\1: ")) for word in _FINISHED_WORDS),
    *((f": {word}", _replacing(_LABEL_OF_STATISTICS, " ")) for word in ("mean", "avg", "min")),
    (",", _replacing(_DECIMAL_COMMA, r"\1.\2")),
    (" is ", _spell_pairs),
    ("#", _replacing(_ORDINAL, "")),
    (") ", _replacing(_TIME_TAKEN, "")),
    ("),", _replacing(_TIME_TAKEN, "")),
    ("),", _replacing(_STEP_IN_BRACKETS, r", \1")),
    (":- ", lambda text: text.replace(":- ", ": ")),
    ("'s ", lambda text: text.replace("'s ", " ")),
    ("", _part_glued_steps),
    (" * ", _replacing(_STARS, r"\1 \2, ")),
    (">", _replacing(_ARROW, ": ")),
    ("→", _replacing(_ARROW, ": ")),
    (" episode", _replacing(_COUNT_INSIDE, r"\1_\2_\3_\4")),
    (" Episode", _replacing(_COUNT_INSIDE, r"\1_\2_\3_\4")),
    *((f" {word} ", _replacing(_WINDOW, _window_as_word)) for word in _WINDOW_WORDS),
    ("(", _replacing(_WINDOW_BEHIND, r"(\1\2")),
    ("):", _replacing(_TWO_NUMBERS, r"\1: \3, \1 \2: \4")),
    *((sign, _replacing(_SECOND_NUMBER, "")) for sign in (" (", " [")),
    ("(", _replacing(_MEAN_REMARK, _remark_as_word)),
    ("['", _replacing(_QUOTED_NUMBER, r"\2")),
    ('["', _replacing(_QUOTED_NUMBER, r"\2")),
    ("[", _unwrap_brackets),
)
"""What is rewritten in lines that hold a sign of it, in this order."""
