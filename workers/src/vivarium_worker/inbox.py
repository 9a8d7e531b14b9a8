"""Messages from people and guardians to the agent."""

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
# After something that nobody has thought of, so that it is not met again at once.
PAUSE_SECONDS = 1.0
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
        # One at a time writes to the journal, and what it keeps is pending or done when this is let go.
        self._writing = threading.Lock()
        # Marks of messages that were delivered while the disk took none; they go with the next record.
        self._unmarked: list[str] = []
        # Guards all below; never held across the disk.
        self._changed = threading.Condition()
        self._pending: list[Message] = []
        # Those for the next turn whose turn has come.
        self._released: set[str] = set()
        self._known: dict[str, None] = {}
        # Those that are safe here, which the server may not know yet.
        self._received: list[str] = []
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
            self._forget(message.id)

    def close(self) -> None:
        """Keeps no message any more from when this returns; those that it has stay to be read."""
        self._stop.set()
        with self._writing:
            if self._unmarked:
                with contextlib.suppress(OSError):
                    self._write()
            self._journal.close()

    def settle(self, seconds: float) -> None:
        """Tells the server of those that it may not know to be safe here, or it hands them out again; tries so long.

        After `close`. The thread may have said it with the question that it waits for; once more does no harm.
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
            log.warning("the server was not told that %d messages have come: %s", len(received), e or "no time left")
        finally:
            timer.cancel()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._receive()
        except (Stopped, SpoolClosed):
            pass
        except Refused as e:
            log.error("no more messages: %s", e)
        finally:
            self._backend.close()

    def _receive(self) -> None:
        """One page: asked for, kept, and passed on. Whatever goes wrong with it, the next one is asked for."""
        try:
            self._keep(self._backend.messages(WAIT_SECONDS, self._received, self._stop))
            if self._received:
                self._listener()
        except (Stopped, SpoolClosed, Refused):
            raise
        except Exception:
            log.exception("messages could not be passed on; trying again")
            self._stop.wait(PAUSE_SECONDS)

    def _keep(self, page: list[dict[str, Any]]) -> None:
        """Writes the new ones down. The server knows of the last page, since it has sent this one."""
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
        """The disk does not hold up what has been delivered; only dying before it is marked delivers it again."""
        with self._writing:
            # Closed meanwhile is like dying in between.
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
            log.warning("the journal stays as long as it is: %s", e)
            return RecordFile(path)

    def _shortened(self, path: Path, unread: dict[str, dict[str, Any]]) -> RecordFile:
        """The journal anew, with what still matters; the old one stays until the new one is whole."""
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        journal = RecordFile(fresh)
        done = [identity for identity in self._known if identity not in unread][-REMEMBERED:]
        journal.append(*({"done": identity} for identity in done), *({"got": fields} for fields in unread.values()))
        fresh.replace(path)
        journal.path = path
        sync_directory(path.parent)
        return journal
