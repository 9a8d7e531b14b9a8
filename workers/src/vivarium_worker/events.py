"""Event names, and limits of event data."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

STARTED = "agent.started"
THINKING = "agent.thinking"
MESSAGE = "agent.message"
TOOL_USE = "agent.tool_use"
TOOL_RESULT = "agent.tool_result"
OUTPUT = "agent.output"
ERROR = "agent.error"
MESSAGE_DELIVERED = "agent.message_delivered"
MESSAGE_UNDELIVERED = "agent.message_undelivered"
INTERRUPTED = "agent.interrupted"
USAGE = "agent.usage"
TRANSCRIPT = "agent.transcript"
COMPLETED = "agent.completed"
FAILED = "agent.failed"
PAUSED = "agent.paused"
RESUMED = "agent.resumed"
REVIEW_REQUESTED = "agent.review_requested"
REVIEW_ANSWERED = "agent.review_answered"
EVENT_REJECTED = "worker.event_rejected"
REPORT_UNDELIVERED = "worker.report_undelivered"
SPOOL_DAMAGED = "worker.spool_damaged"

# The log accepts 100 KB of data in an event. The rest is for the field names.
MAX_DATA_BYTES = 96 * 1024
MAX_DEPTH = 24
MAX_NAME = 200
# Space for the marker between the two parts of a truncated text.
MARK_BYTES = 64
_TYPE = re.compile(r"[a-zA-Z0-9_.]{1,100}")


def is_type(name: str) -> bool:
    return _TYPE.fullmatch(name) is not None


def new_id() -> str:
    return f"evt_{uuid4().hex}"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fit(data: dict[str, Any], most: int = MAX_DATA_BYTES) -> dict[str, Any]:
    """Truncates the longest texts until the log accepts the data, and sets `truncated`.

    The transcript has the whole texts.
    """
    whole = plain(data)
    original = size(whole)
    if original <= most:
        return whole
    room = most
    while room > 64:
        room //= 2
        cut = _cut(whole, room)
        if size(cut) <= most:
            return {**cut, "truncated": True, "original_bytes": original}
    return {"truncated": True, "original_bytes": original}


def shortened(text: str, most: int) -> str:
    """Truncates a text to a number of UTF-8 bytes. Keeps the beginning and the end."""
    content = text.encode("utf-8", "replace")
    if len(content) <= most:
        return content.decode()
    half = (most - MARK_BYTES) // 2
    mark = f"\n… {len(content) - 2 * half} bytes left out …\n"
    # Drops a partial character at the cut.
    return content[:half].decode("utf-8", "ignore") + mark + content[-half:].decode("utf-8", "ignore")


def plain(data: dict[str, Any]) -> dict[str, Any]:
    """Converts data to JSON that every reader accepts: bounded depth, no NaN, no lone surrogates."""
    return dict(_plain(data, MAX_DEPTH))


def size(value: Any) -> int:
    """Size as compact JSON in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _cut(value: Any, room: int) -> Any:
    if isinstance(value, str) and len(value) > room:
        return f"{value[: room // 2]}\n… {len(value) - room} characters left out …\n{value[-(room // 2) :]}"
    if isinstance(value, dict):
        return {key: _cut(item, room) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, room) for item in value[:room]]
    return value


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth == 0:
        return str(value)
    if isinstance(value, dict):
        return {_plain(str(key)[:MAX_NAME], depth): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    return str(value)


def record(event_type: str, data: dict[str, Any], source: str, event_id: str | None = None) -> dict[str, Any]:
    """Creates the spool record of an event. The id is created here and never changes."""
    identity = event_id or new_id()
    body = {
        "event_id": identity,
        "event_type": event_type,
        "event_data": {**fit(data), "occurred_at": now()},
        "source": source,
    }
    return {"id": identity, "to": "events", "body": body}
