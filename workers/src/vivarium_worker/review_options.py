"""Options of a review that an agent offers to a person."""

from __future__ import annotations

import re
from typing import Any

MAX_OPTIONS = 50
MAX_ID = 40


def context(options: Any) -> dict[str, Any]:
    """Context of a review with these labels as options. Each gets an id, by which the answer names it."""
    if not isinstance(options, list) or not options:
        return {}
    labels = [str(option).strip() for option in options]
    found: dict[str, str] = {}
    for label in labels[:MAX_OPTIONS]:
        identity = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:MAX_ID] or "option"
        while identity in found:
            identity += "-2"
        found[identity] = label
    return {"options": [{"id": identity, "label": label} for identity, label in found.items()]}
