"""Answers that come as text."""

import json
import re
from typing import Any

FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\Z", re.DOTALL)


def json_of_text(text: str) -> Any:
    """Return the JSON value that the whole text is, bare or in one code fence; None when it is something else."""
    text = text.strip()
    fenced = FENCE.match(text)
    try:
        return json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        return None
