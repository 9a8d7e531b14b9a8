"""Messages from users and guardians to the agent."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from . import events
from .backend import Backend, Refused, Stopped
from .records import RecordFile, sync_directory, when_there_is_room
from .spool import SpoolClosed

log = logging.getLogger(__name__)

WAIT_SECONDS = 30
# Delay after an unexpected exception.
PAUSE_SECONDS = 1.0
# Number of remembered ids of handled messages, for the detection of duplicates.
REMEMBERED = 1000


@dataclass(frozen=True)
class Message:
    """Message. Immutable."""

    id: str
    content: str
    kind: str
    source: str
    timestamp: str
    # "immediate", or "next_turn" for delivery after the current turn.
    mode: str = "immediate"
    # Milliseconds from sender to worker, if the time of sending is known.
    travelled: int | None = None

    @property
    def interrupts(self) -> bool:
        return self.kind == "interrupt"

    @property
    def waits_for_turn(self) -> bool:
        """Reports whether the message interrupts the current turn."""
        return self.mode == "next_turn" and not self.interrupts

    @property
    def text(self) -> str:
        """Text for the agent. Messages of other sources than users name their source."""
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
    """Receives messages and stores them until the agent has read them. Thread-safe.

    The inbox writes a message to disk before it acknowledges it to the server, and marks it there after the delivery.
    After a crash in between, the next worker delivers it. The inbox drops duplicates by id.
    """

    def __init__(self, backend: Backend, directory: Path, emit: Emit) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._backend = backend
        self._emit = emit
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inbox", daemon=True)
        # Serializes writes to the journal, and holds until the written messages are pending or done.
        self._writing = threading.Lock()
        # Delivery marks that could not be written to a full disk. The next record includes them.
        self._unmarked: list[str] = []
        # Guards all fields below. Never held across disk writes.
        self._changed = threading.Condition()
        self._pending: list[Message] = []
        # Messages for the next turn that are now due.
        self._released: set[str] = set()
        self._known: dict[str, None] = {}
        # Stored messages that are not yet acknowledged to the server.
        self._received: list[str] = []
        self._listener: Callable[[], None] = lambda: None
        self._journal = self._recover(directory / "inbox.log")

    def start(self) -> None:
        self._thread.start()

    def listen(self, listener: Callable[[], None]) -> None:
        """Registers a function that is called for new messages, and now if there are any."""
        with self._changed:
            self._listener = listener
            waiting = bool(self._pending)
        if waiting:
            listener()

    def pending(self) -> list[Message]:
        """Returns the due messages: interrupts first, then in order of sending."""
        with self._changed:
            released = set(self._released)
        return [message for message in self.unread() if not message.waits_for_turn or message.id in released]

    def unread(self) -> list[Message]:
        """Returns all undelivered messages, including those for the next turn."""
        with self._changed:
            return sorted(self._pending, key=lambda message: not message.interrupts)

    def turn_over(self) -> None:
        """Handles the end of a turn: messages for the next turn become due."""
        with self._changed:
            due = {message.id for message in self._pending if message.waits_for_turn} - self._released
            self._released |= due
        if due:
            self._listener()

    def wait(self, timeout: float) -> bool:
        """Waits for a message. Returns whether there is one."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._pending, timeout))

    def delivered(self, messages: list[Message], how: str) -> None:
        """Marks messages as delivered and logs their latency."""
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
            # The event comes first. Its id derives from the message id, so a repetition after a crash has no effect.
            self._emit(events.MESSAGE_DELIVERED, data, f"evt_delivered_{message.id}")
            self._forget(message.id)

    def close(self) -> None:
        """Stores no further messages after this returns. Stored messages stay readable."""
        self._stop.set()
        with self._writing:
            if self._unmarked:
                with contextlib.suppress(OSError):
                    self._write()
            self._journal.close()

    def settle(self, seconds: float) -> None:
        """Acknowledges stored messages, so that the server does not send them again. Retries for a limited time.

        Call it after `close`. The thread may have acknowledged the messages with its pending request; a repetition
        has no effect.
        """
        received = self._received
        if not received:
            return
        stop = threading.Event()
        timer = threading.Timer(seconds, stop.set)
        timer.name, timer.daemon = "last-words", True
        timer.start()
        try:
            self._backend.messages(0, received, stop)
        except (Stopped, Refused) as e:
            log.warning("the receipt of %d messages was not acknowledged: %s", len(received), e or "no time left")
        finally:
            timer.cancel()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._receive()
        except (Stopped, SpoolClosed):
            pass
        except Refused as e:
            log.error("the server refused to send messages: %s", e)
        finally:
            self._backend.close()

    def _receive(self) -> None:
        """Fetches, stores and announces one page. Continues after any failure."""
        try:
            self._keep(self._backend.messages(WAIT_SECONDS, self._received, self._stop))
            if self._received:
                self._listener()
        except (Stopped, SpoolClosed, Refused):
            raise
        except Exception:
            log.exception("messages could not be delivered to the agent; retrying")
            self._stop.wait(PAUSE_SECONDS)

    def _keep(self, page: list[dict[str, Any]]) -> None:
        """Stores new messages. A new page implies that the server has the acknowledgement of the last one."""
        self._received = []
        for fields in page:
            message = Message.of(fields)
            if message.id:
                when_there_is_room(partial(self._take_in, message, fields), self._stop)
            else:
                log.error("a message without an id was ignored")

    def _take_in(self, message: Message, fields: dict[str, Any]) -> None:
        with self._writing:
            if self._stop.is_set():
                raise Stopped
            if message.id not in self._known:
                self._write({"got": fields})
                with self._changed:
                    self._known[message.id] = None
                    self._pending.append(replace(message, travelled=message.age_ms()))
                    self._changed.notify_all()
            self._received.append(message.id)

    def _forget(self, identity: str) -> None:
        """Marks messages as delivered. A full disk does not block; after a crash they are delivered again."""
        with self._writing:
            # A concurrent close has the effect of a crash before the mark.
            if not self._stop.is_set():
                try:
                    self._write({"done": identity})
                except OSError as e:
                    log.warning("a delivered message could not be marked yet: %s", e)
                    self._unmarked.append(identity)
            with self._changed:
                self._pending = [other for other in self._pending if other.id != identity]
                self._released.discard(identity)

    def _write(self, *records: dict[str, Any]) -> None:
        self._journal.append(*({"done": identity} for identity in self._unmarked), *records)
        self._unmarked.clear()

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
        try:
            return self._shortened(path, unread)
        except OSError as e:
            log.warning("the journal could not be shortened: %s", e)
            return RecordFile(path)

    def _shortened(self, path: Path, unread: dict[str, dict[str, Any]]) -> RecordFile:
        """Rewrites the journal with pending messages. The old file stays until the new one is complete."""
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        journal = RecordFile(fresh)
        done = [identity for identity in self._known if identity not in unread][-REMEMBERED:]
        journal.append(*({"done": identity} for identity in done), *({"got": fields} for fields in unread.values()))
        fresh.replace(path)
        journal.path = path
        sync_directory(path.parent)
        return journal
