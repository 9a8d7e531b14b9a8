"""SpoolDelivery state of messages to an OpenHands conversation."""

from __future__ import annotations

import threading

from ..inbox import Inbox, Message


class MessageTracker:
    """Tracks which messages are in the conversation and which the model has read. Thread-safe."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lock = threading.Lock()
        self._sent: set[str] = set()
        self._unread: dict[str, Message] = {}
        self._placed: set[str] = set()
        self._sending = ""
        # Response of the model whose refusal first contained the message. The next response includes it.
        self._told: dict[str, str] = {}

    def take(self, message: Message) -> bool:
        """Claims a message for the caller. Returns false if it is already claimed."""
        with self._lock:
            if message.id in self._sent:
                return False
            self._sent.add(message.id)
            return True

    def begin(self, message: Message) -> None:
        """Marks a message that is about to be written. One at a time."""
        with self._lock:
            self._unread[message.id] = message
            self._sending = message.id

    def placed(self) -> None:
        """Marks the message as written, under the agent's lock. The next step includes it."""
        with self._lock:
            self._placed.add(self._sending)

    def read(self) -> list[Message]:
        """Called before each request to the model. Returns the messages that are new to it."""
        with self._lock:
            read = [message for message in self._unread.values() if message.id in self._placed]
            for message in read:
                del self._unread[message.id]
            return read

    def waiting(self) -> bool:
        """Reports whether the conversation has a message that the model has not read."""
        with self._lock:
            return any(identity in self._placed for identity in self._unread)

    def unheard(self, answer: str) -> list[Message]:
        """Returns messages that the model did not have for this response, written or not.

        The caller reports the messages to the model, so a later response does not return them again. All calls of the
        same response do.
        """
        pending = self._inbox.pending()
        with self._lock:
            unread = [message for message in pending if message.id in self._unread or message.id not in self._sent]
            return [message for message in unread if self._told.setdefault(message.id, answer) == answer]
