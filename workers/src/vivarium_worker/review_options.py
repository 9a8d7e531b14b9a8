"""Options and deadline of a review that an agent requests from a person."""

from __future__ import annotations

import re
from typing import Any

MAX_OPTIONS = 50
MAX_ID = 40

TIMEOUT = "Minutes until the deadline, if the usual time does not fit."
ON_TIMEOUT = ("reject", "approve", "fail", "escalate")
ON_TIMEOUT_TEXT = (
    "What happens if nobody answers in time. reject: you continue without an approval. approve: you may go on. "
    "fail: the run stops. escalate: the review stays open."
)


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


def deadline(minutes: float | None, on_timeout: str | None) -> dict[str, Any]:
    """Fields of a review request about its deadline. Without a value, the server uses its default."""
    fields: dict[str, Any] = {}
    if minutes is not None:
        fields["timeout_minutes"] = minutes
    if on_timeout:
        fields["on_timeout"] = on_timeout
    return fields
