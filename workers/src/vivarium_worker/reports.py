"""Reports of a worker on its task, within the limits of the server.

The server rejects a report with a text that is too long or with an unknown field. This module therefore cuts texts,
which then contain a note.
"""

from __future__ import annotations

from typing import Any

from . import events

# Largest text for people in UTF-8 bytes.
MAX_TEXT_BYTES = 10 * 1024
MAX_STATUS_BYTES = 2000
# The server stores the end of a failure reason, so the beginning must be within this length.
MAX_REASON_BYTES = 8000
# Largest length in UTF-16 code units, as the server counts.
MAX_REVIEW_REASON = 200
MAX_CONTEXT_BYTES = 60 * 1024
# A report is an event in the log, where JSON may double the size of its texts.
MAX_OBJECT_BYTES = 72 * 1024
MAX_FILES_BYTES = 48 * 1024


def record(task: str, to: str, body: dict[str, Any], default: bool = False) -> dict[str, Any]:
    """Creates the spool record of a report. It names its task, because delivery may happen during another one."""
    return {"id": events.new_id(), "to": to, "task": task, "body": body, "default": default}


def status(word: str, message: str) -> dict[str, Any]:
    return {"status": word, "message": events.shortened(message, MAX_STATUS_BYTES)}


def progress(event_type: str, message: str, more: dict[str, Any]) -> dict[str, Any]:
    """Passes other fields on for validation by the server. Drops too many `details`."""
    body = {"event_type": event_type, "message": events.shortened(message, MAX_TEXT_BYTES), **more}
    details = body.get("details")
    if isinstance(details, dict):
        body["details"] = events.fit(details, MAX_OBJECT_BYTES)
    return events.plain(body)


def results(word: str, summary: str, files: list[dict[str, Any]], notes: str) -> dict[str, Any]:
    kept = _that_fit(files)
    if len(kept) < len(files):
        notes = f"{len(files) - len(kept)} more files were changed than are listed here.\n{notes}".strip()
    body = {
        "status": word,
        "summary": events.shortened(summary, MAX_TEXT_BYTES),
        "files_changed": kept,
        "commits": [],
        "notes": events.shortened(notes, MAX_TEXT_BYTES),
    }
    return events.plain(body)


def review(request: dict[str, Any]) -> dict[str, Any]:
    """Request of a decision by a person. The server validates types."""
    body = dict(request)
    if isinstance(body.get("reason"), str) and _units(body["reason"]) > MAX_REVIEW_REASON:
        body["reason"] = events.shortened(body["reason"], MAX_REVIEW_REASON)
    if isinstance(body.get("description"), str):
        body["description"] = events.shortened(body["description"], MAX_TEXT_BYTES)
    if isinstance(body.get("context"), dict):
        body["context"] = events.fit(body["context"], MAX_CONTEXT_BYTES)
    return events.plain(body)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


def _that_fit(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept, room = [], MAX_FILES_BYTES
    for file in files:
        room -= events.size(file) + 1
        if room < 0:
            break
        kept.append(file)
    return kept
