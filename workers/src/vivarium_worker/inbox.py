"""Messages from people and guardians to the agent."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import events
from .backend import Backend, Refused, Stopped
from .records import RecordFile
from .spool import SpoolClosed

log = logging.getLogger(__name__)

WAIT_SECONDS = 30
# Ids of messages that were dealt with, remembered so that one that comes twice is known.
REMEMBERED = 1000


@dataclass(frozen=True)
class Message:
    """One message as it was sent. Immutable."""

    id: str
    content: str
    kind: str
    source: str
    timestamp: str
    # When the agent is to read it: "immediate", or "next_turn", which leaves the turn that it is in alone.
    mode: str = "immediate"
    # How long it took to get here, in milliseconds, when the sender's clock is known.
    travelled: int | None = None

    @property
    def interrupts(self) -> bool:
        return self.kind == "interrupt"

    @property
    def waits_for_turn(self) -> bool:
        """An interrupt ends the turn itself."""
        return self.mode == "next_turn" and not self.interrupts

    @property
    def text(self) -> str:
        """What the agent reads: a person's own words as they are, others with who is speaking."""
        if self.kind in ("user_message", "interrupt"):
            return self.content
        return f"[{self.kind.replace('_', ' ')} from {self.source}] {self.content}"

    def age_ms(self) -> int | None:
        try:
            sent = datetime.fromisoformat(self.timestamp)
        except ValueError:
            return None
        if sent.tzinfo is None:
            sent = sent.replace(tzinfo=UTC)
        return max(0, round((datetime.now(UTC) - sent).total_seconds() * 1000))

    @staticmethod
    def of(fields: dict[str, Any]) -> Message:
        return Message(
            id=str(fields.get("message_id", "")),
            content=str(fields.get("content", "")),
            kind=str(fields.get("message_type", "user_message")),
            source=str(fields.get("source", "user")),
            timestamp=str(fields.get("timestamp", "")),
            mode=str(fields.get("inject_mode", "immediate")),
        )


Emit = Callable[[str, dict[str, Any], str], None]


class Inbox:
    """Waits for messages and keeps them until the agent has them. Safe for any thread.

    A message is written to disk before the server is told that it came, and marked there once delivered: a
    worker that dies in between delivers it when it starts again, and one that comes twice is dropped by its id.
    """

    def __init__(self, backend: Backend, directory: Path, emit: Emit) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._backend = backend
        self._emit = emit
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inbox", daemon=True)
        self._changed = threading.Condition()
        self._pending: list[Message] = []
        # Those for the next turn whose turn has come.
        self._released: set[str] = set()
        self._known: dict[str, None] = {}
        self._listener: Callable[[], None] = lambda: None
        self._journal = self._recover(directory / "inbox.log")

    def start(self) -> None:
        self._thread.start()

    def listen(self, listener: Callable[[], None]) -> None:
        """Has a function called whenever there is something to read; at once if there already is."""
        with self._changed:
            self._listener = listener
            waiting = bool(self._pending)
        if waiting:
            listener()

    def pending(self) -> list[Message]:
        """What the agent is to have now: interrupts first, else in the order it was sent."""
        with self._changed:
            released = set(self._released)
        return [message for message in self.unread() if not message.waits_for_turn or message.id in released]

    def unread(self) -> list[Message]:
        """All that it has not had, also what is for its next turn."""
        with self._changed:
            return sorted(self._pending, key=lambda message: not message.interrupts)

    def turn_over(self) -> None:
        """The agent has ended its turn: what was kept for the next one is due."""
        with self._changed:
            due = {message.id for message in self._pending if message.waits_for_turn} - self._released
            self._released |= due
        if due:
            self._listener()

    def wait(self, timeout: float) -> bool:
        """Waits for a message; whether there is one."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._pending, timeout))

    def delivered(self, messages: list[Message], how: str) -> None:
        """The agent has these; said in the log with how long they took from the sender to the agent."""
        for message in messages:
            data: dict[str, Any] = {
                "message_id": message.id,
                "message_type": message.kind,
                "source": message.source,
                "content": message.content,
                "how": how,
            }
            latency = message.age_ms()
            if latency is not None:
                data["latency_ms"] = latency
            if message.travelled is not None:
                data["fetched_ms"] = message.travelled
            # First the event, under an id made of the message's: dying in between repeats it and adds none.
            self._emit(events.MESSAGE_DELIVERED, data, f"evt_delivered_{message.id}")
            with self._changed:
                # Closed meanwhile is like dying in between.
                if not self._stop.is_set():
                    self._journal.append({"done": message.id})
                self._pending = [other for other in self._pending if other.id != message.id]
                self._released.discard(message.id)

    def close(self) -> None:
        with self._changed:
            self._stop.set()
            self._journal.close()

    def _run(self) -> None:
        received: list[str] = []
        try:
            while not self._stop.is_set():
                page = self._backend.messages(WAIT_SECONDS, received, self._stop)
                received = self._keep(page)
        except (Stopped, SpoolClosed):
            pass
        except Refused as e:
            log.error("no more messages: %s", e)
        finally:
            self._backend.close()

    def _keep(self, page: list[dict[str, Any]]) -> list[str]:
        """Writes the new ones down; the ids of all that are now safe."""
        safe: list[str] = []
        for fields in page:
            message = Message.of(fields)
            if not message.id:
                log.error("a message without an id was ignored")
                continue
            with self._changed:
                if self._stop.is_set():
                    return safe
                if message.id not in self._known:
                    self._journal.append({"got": fields})
                    self._known[message.id] = None
                    self._pending.append(replace(message, travelled=message.age_ms()))
                    self._changed.notify_all()
            safe.append(message.id)
        if safe:
            self._listener()
        return safe

    def _recover(self, path: Path) -> RecordFile:
        journal = RecordFile(path)
        unread: dict[str, dict[str, Any]] = {}
        for _, record in journal.read(0, journal.end):
            if "got" in record:
                unread[str(record["got"]["message_id"])] = record["got"]
                self._known[str(record["got"]["message_id"])] = None
            elif "done" in record:
                unread.pop(str(record["done"]), None)
                self._known[str(record["done"])] = None
        journal.close()
        self._pending = [Message.of(fields) for fields in unread.values()]
        return self._shortened(path, unread)

    def _shortened(self, path: Path, unread: dict[str, dict[str, Any]]) -> RecordFile:
        """The journal anew, with what still matters; the old one stays until the new one is whole."""
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        journal = RecordFile(fresh)
        for identity in [known for known in self._known if known not in unread][-REMEMBERED:]:
            journal.append({"done": identity})
        for fields in unread.values():
            journal.append({"got": fields})
        fresh.replace(path)
        journal.path = path
        return journal
