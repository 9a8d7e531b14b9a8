"""Client of the server's worker API."""

from __future__ import annotations

import random
import threading
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from .connection import Answer, Connection, Unreachable
from .settings import Settings

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
CALL_TIMEOUT = 30.0
ATTEMPT_TIMEOUT = 15.0


class Refused(Exception):
    """The server rejected the request. A retry would not help."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(f"{problem} (HTTP {status})")
        self.status = status
        self.problem = problem

    @property
    def final(self) -> bool:
        """Reports whether this worker has lost its sandbox: the token is revoked or the sandbox is deleted."""
        return self.status in (401, 403, 404, 410)


class Stopped(Exception):
    """This worker itself cancelled the request."""


class Pauses:
    """Exponential backoff with jitter. A Retry-After of the server takes precedence."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE

    def after(self, answer: Answer | None) -> float:
        if answer is not None and answer.retry_after is not None:
            # Slightly later than requested, so that the rate limit has certainly recovered.
            return answer.retry_after + random.uniform(0.0, 0.05)
        pause = self._next * random.uniform(0.7, 1.3)
        self._next = min(LONGEST_PAUSE, self._next * 2)
        return pause


class Backend:
    """Client with retries. Thread-safe; each thread has its own connection."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._local = threading.local()
        self._box = f"/api/v1/sandboxes/{quote(settings.sandbox_id, safe='')}"
        self._task = f"/api/v1/sandbox/task/{quote(settings.task_id, safe='')}"

    def task(self, stop: threading.Event) -> dict[str, Any]:
        """Returns the task of this worker. Raises `Refused` with 404 if the worker has no task."""
        return _object(self.insist("GET", "/api/v1/sandbox/task", stop=stop))

    def deliver(self, to: str, identity: str, body: dict[str, Any], stop: threading.Event) -> dict[str, Any]:
        """Delivers one record and retries until the server has it. Idempotent by the record's identity."""
        if to == "events":
            return _object(self.insist("POST", f"{self._box}/events", body, stop=stop))
        if to not in ("status", "progress", "results"):
            raise Refused(422, f"no such place: {to}")
        method = "PATCH" if to == "status" else "POST"
        headers = {"Idempotency-Key": identity}
        return _object(self.insist(method, f"{self._task}/{to}", body, stop=stop, headers=headers))

    def deliver_events(self, bodies: list[dict[str, Any]], stop: threading.Event) -> None:
        """Delivers events in order with one call and retries until the server has them. All or none are stored."""
        self.insist("POST", f"{self._box}/events", bodies, stop=stop)

    def request_review(self, review: dict[str, Any], stop: threading.Event) -> dict[str, Any]:
        """Requests a review. Retries for a limited time with one idempotency key."""
        return self._patient("POST", f"{self._task}/review", review, stop)

    def review(self, review_id: str, wait: int, stop: threading.Event) -> dict[str, Any]:
        """Returns the status of a review. Waits up to `wait` seconds for a decision."""
        path = f"{self._task}/review/{quote(review_id, safe='')}?wait={wait}"
        return _object(self.insist("GET", path, stop=stop, extra_wait=wait))

    def heartbeat(self, status: str, metrics: dict[str, Any], wait: int = 0, **options: Any) -> dict[str, Any]:
        """Sends one heartbeat without retries. Returns `commands`, and the `reason` of an abort.

        The server waits up to `wait` seconds for a command. The call ends when the option `stop` is set.
        """
        body = {
            "sandbox_id": self._settings.sandbox_id,
            "task_id": self._settings.task_id,
            "status": status,
            "metrics": metrics,
        }
        path = f"/api/v1/sandbox/heartbeat?wait={wait}"
        answer = self._checked(self._connection().call("POST", path, body, extra_wait=wait, **options))
        return {} if answer.status == 429 else _object(answer.body)

    def messages(self, wait: int, received: list[str], stop: threading.Event) -> list[dict[str, Any]]:
        """Returns messages in order. `received` acknowledges messages of the last page.

        The parameter is sent even if it is empty. Without it, the server acknowledges a message when it sends it.
        """
        query = {"wait": str(wait), "ack": ",".join(received)}
        path = f"{self._box}/messages?{urlencode(query)}"
        answer = self.insist("GET", path, stop=stop, extra_wait=wait)
        found = answer if isinstance(answer, list) else answer.get("messages", [])
        return [message for message in found if isinstance(message, dict)]

    def insist(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Repeats the call until the server replies or `stop` is set. Respects Retry-After."""
        stop: threading.Event = options["stop"]
        pauses = Pauses()
        while not stop.is_set():
            answer: Answer | None = None
            try:
                answer = self._checked(self._connection().call(method, path, body, **options))
                if answer.ok:
                    return answer.body
            except Unreachable:
                pass
            stop.wait(pauses.after(answer))
        raise Stopped

    def close(self) -> None:
        """Closes the connection of the calling thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()

    def _patient(self, method: str, path: str, body: Any, stop: threading.Event) -> dict[str, Any]:
        headers = {"Idempotency-Key": uuid4().hex}
        deadline = monotonic() + CALL_TIMEOUT
        pauses = Pauses()
        last = "no attempt"
        while True:
            answer: Answer | None = None
            try:
                answer = self._checked(self._connection().call(method, path, body, headers=headers, stop=stop))
                if answer.ok:
                    return _object(answer.body)
                last = answer.problem
            except Unreachable as e:
                last = str(e)
            pause = pauses.after(answer)
            if monotonic() + pause > deadline:
                raise Unreachable(f"{method} {path}: gave up after {CALL_TIMEOUT:.0f} s: {last}")
            if stop.wait(pause):
                raise Stopped

    def _checked(self, answer: Answer) -> Answer:
        """Returns a success or a temporary failure. Raises on a rejection."""
        if 400 <= answer.status < 500 and answer.status not in (408, 425, 429):
            raise Refused(answer.status, answer.problem)
        return answer

    def _connection(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = Connection(self._settings.backend_url, self._settings.token, ATTEMPT_TIMEOUT)
            self._local.connection = connection
        return connection


def _object(body: Any) -> dict[str, Any]:
    return body if isinstance(body, dict) else {}
