"""Lists in a JSON document that hold the episodes of one evaluation, and no course.

{"rewards": [21.5, ...], "evaluation": {"episodes": 20, "rewards": [99.5, ...], "mean_reward": 98}}
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence

from ppo_top.model import Points
from ppo_top.parsers.shared.documents.json_values import flatten

EVALUATION = re.compile(r"(?:^|_)(?:eval(?:uations?|s)?|test|val(?:id(?:ation)?)?)(?:_|$)", re.I)
"""In the name of a list or a group."""
_COUNTS = ("episodes", "n_episodes", "num_episodes")
"""What says beside a list how many episodes it holds."""


def placed_at_the_end(points: Sequence[Points], document: Mapping[str, object]) -> Iterator[Points]:
    """The points of a document, with those of such an evaluation at its last step."""
    said = dict(flatten(document))
    end = max((each.steps[-1] for each in points), default=0)
    for each in points:
        group = each.tag.rpartition("/")[0]
        is_evaluation = any(map(EVALUATION.search, group.split("/")))
        if is_evaluation and len(each) in [said.get(f"{group}/{name}") for name in _COUNTS]:
            yield Points(each.tag, array("q", [end]) * len(each), each.times, each.values)
        else:
            yield each
