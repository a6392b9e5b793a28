"""Chinese names of metrics and steps, and the full-width punctuation around them.

What a metric's name means stands in `catalogue/likeness.tsv`, as for other languages.
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

LETTERS = "\u4e00-\u9fff"
"""Character range of a regular expression."""

_METRIC_WORDS = re.compile(
    "奖励|回报|得分|分数|损失|熵|散度|裁剪|截断|优势|价值|梯度|学习率|探索率|胜率|成功率|准确率|长度|方差|标准差"
)
_REWARD_WORDS = re.compile("奖励|回报|得分|分数")


def is_reward(name: str) -> bool:
    """Whether a name has a word for a reward."""
    return _REWARD_WORDS.search(name) is not None


def is_metric(name: str) -> bool:
    """Whether a name has a word that names a metric."""
    return _METRIC_WORDS.search(name) is not None
