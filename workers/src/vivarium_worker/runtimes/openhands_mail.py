"""Messages on their way into an OpenHands conversation."""

from __future__ import annotations

import threading

from ..inbox import Inbox, Message


class Mail:
    """Which messages were put into the conversation, and which of them the model knows. Safe for any thread."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._lock = threading.Lock()
        self._sent: set[str] = set()
        self._unread: dict[str, Message] = {}
        self._placed: set[str] = set()
        self._sending = ""
        # With which of its answers the model first met a refusal that had the words: the next answer knows them.
        self._told: dict[str, str] = {}

    def take(self, message: Message) -> bool:
        """Whether nobody has taken it yet; it is the caller's then."""
        with self._lock:
            if message.id in self._sent:
                return False
            self._sent.add(message.id)
            return True

    def begin(self, message: Message) -> None:
        """It is about to be put in. One at a time."""
        with self._lock:
            self._unread[message.id] = message
            self._sending = message.id

    def placed(self) -> None:
        """It is in, under the agent's lock: from here on the next step has it."""
        with self._lock:
            self._placed.add(self._sending)

    def read(self) -> list[Message]:
        """The model is about to be asked with all that is in; what is new to it."""
        with self._lock:
            read = [message for message in self._unread.values() if message.id in self._placed]
            for message in read:
                del self._unread[message.id]
            return read

    def waiting(self) -> bool:
        """Whether one is in that the model has not read."""
        with self._lock:
            return any(identity in self._placed for identity in self._unread)

    def unheard(self, answer: str) -> list[Message]:
        """What has come and the model knew nothing of when it gave this answer, whether it has been put in yet or not.

        Who asks tells the model, so that a later answer is not asked about the same; every call of this one is.
        """
        pending = self._inbox.pending()
        with self._lock:
            unread = [message for message in pending if message.id in self._unread or message.id not in self._sent]
            return [message for message in unread if self._told.setdefault(message.id, answer) == answer]
