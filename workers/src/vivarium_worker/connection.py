"""Persistent HTTP connection for JSON."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import ssl
import threading
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

# Largest response in bytes. Tasks, pages of messages and acknowledgements are smaller.
MAX_ANSWER_BYTES = 8 * 1024 * 1024
# Interval at which a waiting caller checks for cancellation.
LOOK_SECONDS = 0.1


class Unreachable(Exception):
    """No valid response arrived. The server may have processed the request."""


@dataclass(frozen=True)
class Answer:
    """Response of the server. Immutable."""

    status: int
    body: Any
    retry_after: float | None

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def problem(self) -> str:
        """Error message of the server, or the status without one."""
        if isinstance(self.body, dict):
            for name in ("error", "detail", "title"):
                if isinstance(self.body.get(name), str):
                    return str(self.body[name])
        return f"HTTP {self.status}"


class Connection:
    """Connection to one server with one token. Confined to the thread that created it."""

    def __init__(self, base_url: str, token: str, timeout: float) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"BACKEND_URL is {base_url!r}; it must begin with http:// or https:// and a host")
        # http.client ignores HTTP_PROXY. Those variables are for the programs of the agent.
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._http = kind(parts.hostname, parts.port, timeout=timeout)
        self._timeout = timeout
        self._prefix = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Sends one request and returns its response. `extra_wait` is added to the timeout, `headers` to the headers.

        When `stop` is set, the call ends as if no response had arrived.
        """
        headers = {**self._headers, **options.get("headers", {})}
        payload: bytes | None = None
        if body is not None:
            payload = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
            headers["Content-Type"] = "application/json"
        seconds = self._timeout + options.get("extra_wait", 0.0)
        try:
            self._limit(seconds)
            self._http.request(method, self._prefix + path, payload, headers)
            if "stop" in options:
                self._await_answer(seconds, options["stop"])
            return _answer(self._http.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as e:
            # The connection may be in an undefined state, so it is not reused.
            self.close()
            raise Unreachable(f"{method} {path}: {type(e).__name__}: {e}") from e

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._http.close()

    def _await_answer(self, seconds: float, stop: threading.Event) -> None:
        """Returns when the first byte of the response is available."""
        sock, deadline = self._http.sock, monotonic() + seconds
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            return
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        while not poll.poll(LOOK_SECONDS * 1000):
            if stop.is_set() or monotonic() > deadline:
                raise TimeoutError("the caller no longer waits for the response")

    def _limit(self, seconds: float) -> None:
        self._http.timeout = seconds
        if self._http.sock is not None:
            self._http.sock.settimeout(seconds)


def _answer(response: http.client.HTTPResponse) -> Answer:
    content = response.read(MAX_ANSWER_BYTES + 1)
    if len(content) > MAX_ANSWER_BYTES:
        raise ValueError("the response exceeds the maximum size")
    if response.length:
        # A bounded read does not detect a connection that ended early.
        raise http.client.IncompleteRead(content, response.length)
    body: Any = None
    try:
        body = json.loads(content)
    except ValueError:
        # An error page of a proxy has a valid status. A success without JSON does not come from this API.
        if 200 <= response.status < 300:
            raise
    return Answer(response.status, body, _retry_after(response.getheader("Retry-After")))


def _retry_after(text: str | None) -> float | None:
    """Parses seconds or a date (RFC 9110)."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (TypeError, ValueError):
        return None
