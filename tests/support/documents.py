"""Code blocks of the documents, to run them word for word."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENTS = Path(__file__).parents[2] / "docs"


def code_block(document: str, name: str) -> str:
    """The code block below the mark `<!-- name -->` of a document."""
    text = (DOCUMENTS / document).read_text("utf-8")
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"no block {name} in {document}"
    return found[1]
