"""Names of metrics and steps in other languages than English, and full-width punctuation.

What a metric's name means stands in `catalogue/likeness.tsv`, as for English ones.
"""

from __future__ import annotations

import re

STEP_WORDS = {
    "总步数": "timesteps",
    "环境步数": "timesteps",
    "时间步": "timesteps",
    "步数": "step",
    "步": "step",
    "训练步": "step",
    "训练步数": "step",
    "全局步数": "step",
    "迭代": "iteration",
    "迭代次数": "iteration",
    "更新": "iteration",
    "更新次数": "iteration",
    "轮": "epoch",
    "轮次": "epoch",
    "轮数": "epoch",
    "训练轮次": "epoch",
    "回合": "episode",
    "第回合": "episode",
    "局": "episode",
    "エピソード": "episode",
    "ステップ": "step",
    "에피소드": "episode",
    "스텝": "step",
    "épisode": "episode",
    "episodio": "episode",
    "episódio": "episode",
    "iteración": "iteration",
    "itération": "iteration",
    "iteração": "iteration",
    "эпизод": "episode",
    "шаг": "step",
}
"""What a step word counts."""

EPISODE_COUNTS = ("回合数", "完成回合数", "局数")
"""How many episodes were averaged."""

PUNCTUATION = str.maketrans(
    {
        "：": ": ",
        "，": ", ",
        "、": ", ",
        "；": "; ",
        "。": ". ",
        "｜": "|",
        "＝": "=",
        "（": "(",
        "）": ")",
        "【": "[",
        "】": "]",
        "％": "%",
        "－": "-",
        "＋": "+",
        "．": ".",
        "／": "/",
        "\u3000": " ",
        **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
    }
)
"""Full-width characters and what they stand for."""

NUMBERED = (
    r"第\s?(\d{1,12})(?:\s?/\s?\d{1,12})?\s?(?:次|个)?(步|轮次|轮|回合|局|迭代|更新)(?!\w)",
    r"\2: \1",
)
"""`第12轮`: the number stands within the word for the step; and as a pair."""

BARE_COUNTS = frozenset({"步数", "步", "ステップ", "스텝"})
"""Steps of one episode, or of all so far."""

LETTERS = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u03b1-\u03c9\u03f5\u237a\u0400-\u04ff"
    "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
)
"""Character range of a regular expression."""

_METRIC_WORDS = (
    "奖励|回报|得分|分数|损失|熵|散度|裁剪|截断|优势|价值|梯度|学习率|探索率|胜率|成功率|准确率|长度|方差|标准差"
    "|損失|長さ|손실|길이|потер|pérdida|récompense|報酬|보상|наград"
)
_REWARD_WORDS = "(?i)奖励|回报|得分|分数|報酬|보상|récompense|наград"


def is_reward(name: str) -> bool:
    """Whether a name has a word for a reward."""
    return not name.isascii() and re.search(_REWARD_WORDS, name) is not None


def is_metric(name: str) -> bool:
    """Whether a name has a word that names a metric."""
    return not name.isascii() and re.search(_METRIC_WORDS, name) is not None
