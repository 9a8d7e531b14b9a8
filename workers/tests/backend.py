"""Strict test server of the worker API, with a log and fault injection."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "worker-token"
SANDBOX = "sbx0123456789abcdefghij"
TASK = "task-1"
# Long enough for a machine that does much else; nothing here is a claim about time.
PATIENCE = 300.0


@dataclass
class Fault:
    """Fault for requests with a matching path, for a number of times."""

    path: str
    what: str  # "503", "429", "reset before", "reset after", "cut", "empty", "garbage"
    times: int = 1
    retry_after: str | None = None


@dataclass
class State:
    """State of the server. One lock guards it."""

    task: dict[str, Any] | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    batches: int = 0
    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    repeats: int = 0
    statuses: list[dict[str, Any]] = field(default_factory=list)
    progress: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    reviews: dict[str, dict[str, Any]] = field(default_factory=dict)
    heartbeats: list[dict[str, Any]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    queued: list[dict[str, Any]] = field(default_factory=list)
    in_flight: list[dict[str, Any]] = field(default_factory=list)
    keys: dict[str, tuple[int, Any]] = field(default_factory=dict)
    faults: deque[Fault] = field(default_factory=deque)
    token: str = TOKEN
    requests: int = 0


class TestBackend:
    """Server on a free port that can stop and restart with its state."""

    __test__ = False

    def __init__(self) -> None:
        self.state = State(task={"task_id": TASK, "title": "Say hello", "description": "Write hello.txt"})
        self.changed = threading.Condition()
        self.events_limit: int | None = None
        # What a person says to a review before whoever asked has its id.
        self.prompt_answer: dict[str, str] = {}
        self.closing = threading.Event()
        self._window: deque[float] = deque()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def up(self) -> None:
        self.closing.clear()
        backend = self

        class Bound(Handler):
            owner = backend

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Ignores disconnects of killed workers, which the tests cause."""

        self._server = Server(("127.0.0.1", self.port), Bound)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), name="backend", daemon=True).start()

    def down(self) -> None:
        """Simulates a crash: no request gets a response, and open requests end."""
        self.closing.set()
        with self.changed:
            self.changed.notify_all()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def fault(self, path: str, what: str, times: int = 1, retry_after: str | None = None) -> None:
        with self.changed:
            self.state.faults.append(Fault(path, what, times, retry_after))

    def send(self, content: str, kind: str = "user_message", source: str = "user", mode: str = "immediate") -> str:
        """Queues a message as `POST …/messages` does."""
        with self.changed:
            number = len(self.state.queued) + len(self.state.keys) + self.state.requests
            message = {
                "message_id": f"msg-{number}-{time.monotonic_ns()}",
                "content": content,
                "message_type": kind,
                "source": source,
                "inject_mode": mode,
                "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            }
            self.state.queued.append(message)
            self.changed.notify_all()
            return str(message["message_id"])

    def answer(self, review_id: str, status: str, option: str | None = None) -> None:
        with self.changed:
            self.state.reviews[review_id].update(status=status, option=option)
            self.changed.notify_all()

    def of(self, event_type: str) -> list[dict[str, Any]]:
        """The data of every event of a type, in the order of the log."""
        with self.changed:
            return [event["event_data"] for event in self.state.events if event["event_type"] == event_type]

    def types(self) -> list[str]:
        with self.changed:
            return [event["event_type"] for event in self.state.events]

    def await_that(self, condition: Callable[[State], Any], what: str, seconds: float = PATIENCE) -> None:
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self.state), seconds):
                raise AssertionError(
                    f"never happened: {what}; the log has {[e['event_type'] for e in self.state.events]}"
                )

    def await_received(self) -> None:
        """Waits until the worker has acknowledged every message."""
        self.await_that(lambda state: not state.queued and not state.in_flight, "all messages are received")

    def await_count(self, events: int) -> None:
        self.await_that(lambda state: len(state.events) >= events, f"{events} events")

    def await_event(self, event_type: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """Waits for the first event of a type, or for the end of the run. Returns its data."""
        last = (event_type, "agent.completed", "agent.failed")
        self.await_that(lambda state: any(event["event_type"] in last for event in state.events), event_type, seconds)
        found = self.of(event_type)
        assert found, f"never happened: {event_type}; the log has {[*self.state.events]}"
        return found[0]

    def over_limit(self) -> bool:
        """Reports whether the events of the last second exceed the limit. The caller holds the lock."""
        if self.events_limit is None:
            return False
        now = time.monotonic()
        while self._window and now - self._window[0] > 1.0:
            self._window.popleft()
        if len(self._window) >= self.events_limit:
            return True
        self._window.append(now)
        return False


class Hangup(Exception):
    pass


class Handler(BaseHTTPRequestHandler):
    owner: TestBackend
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        owner = self.owner
        with owner.changed:
            owner.state.requests += 1
            fault = self._fault()
        try:
            if fault is not None and fault.what == "reset before":
                raise Hangup
            if fault is not None and fault.what.isdigit():
                self._send(int(fault.what), {"error": "as ordered"}, fault.retry_after)
                return
            if fault is not None and fault.what == "garbage":
                self._send_raw(200, b"<html>not this API</html>")
                return
            if fault is not None and fault.what == "empty":
                self._send_raw(200, b"")
                return
            status, answer = self._answer(body)
            if fault is not None and fault.what == "cut":
                self._send_cut(status, json.dumps(answer).encode())
                return
            if owner.closing.is_set() or (fault is not None and fault.what == "reset after"):
                raise Hangup
            self._send(status, answer, "1" if status == 429 else None)
        except Hangup:
            # Linger 0: the peer gets a reset, as from a process that was killed.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True

    def _fault(self) -> Fault | None:
        for fault in self.owner.state.faults:
            if re.search(fault.path, self.path):
                fault.times -= 1
                if fault.times == 0:
                    self.owner.state.faults.remove(fault)
                return fault
        return None

    def _answer(self, body: bytes) -> tuple[int, Any]:
        owner, state = self.owner, self.owner.state
        if self.headers.get("Authorization") != f"Bearer {state.token}":
            return 401, {"error": "the token is not valid"}
        try:
            fields = json.loads(body) if body else {}
        except ValueError:
            return 400, {"error": "body: is not JSON"}
        key = self.headers.get("Idempotency-Key")
        with owner.changed:
            if key is not None and key in state.keys:
                return state.keys[key]
            answer = self._route(fields)
            if key is not None and answer[0] < 300:
                state.keys[key] = answer
            owner.changed.notify_all()
            return answer

    def _route(self, fields: dict[str, Any]) -> tuple[int, Any]:
        url = urlsplit(self.path)
        query = parse_qs(url.query, keep_blank_values=True)
        parts = url.path.strip("/").split("/")[2:]
        match [self.command, *parts]:
            case ["GET", "sandbox", "task"]:
                task, results = self.owner.state.task, self.owner.state.results
                handed_in = {"result": results[-1]} if results else {}
                return (200, {**task, **handed_in}) if task else (404, {"error": "no task is assigned"})
            case ["POST", "sandbox", "heartbeat"]:
                return self._heartbeat({**fields, "wait": int(query["wait"][0])})
            case [method, "sandbox", "task", task, *rest]:
                if task != TASK:
                    return 403, {"error": "this is another worker's task"}
                return self._task(method, rest, fields, query)
            case [method, "sandboxes", sandbox, what]:
                if sandbox != SANDBOX:
                    return 403, {"error": "this is another sandbox"}
                return self._box(method, what, fields, query)
        return 404, {"error": "no such route"}

    def _heartbeat(self, fields: dict[str, Any]) -> tuple[int, Any]:
        if fields.get("sandbox_id") != SANDBOX:
            return 403, {"error": "sandbox_id: is not this worker's"}
        state = self.owner.state
        state.heartbeats.append(fields)
        commands, state.commands = state.commands, []
        return 200, {"success": True, "commands": commands}

    def _task(self, method: str, rest: list[str], fields: Any, query: Any) -> tuple[int, Any]:
        problem = _unfit(rest[0], fields) if method != "GET" and rest else None
        if problem:
            return 422, {"error": problem}
        state = self.owner.state
        match [method, *rest]:
            case ["PATCH", "status"]:
                if fields.get("status") not in ("pending", "in_progress", "completed", "failed", "blocked"):
                    return 422, {"error": "status: is not one of the five"}
                state.statuses.append(fields)
                return 200, {"success": True, "task_id": TASK, "status": fields["status"]}
            case ["POST", "progress"]:
                state.progress.append(fields)
                return 201, {"success": True, "event_id": f"evt-{len(state.progress)}"}
            case ["POST", "results"]:
                state.results.append(fields)
                return 201, {"success": True, "task_id": TASK, "next_action": "await_review"}
            case ["POST", "review"]:
                review_id = f"rev-{len(state.reviews) + 1}"
                review = {"review_id": review_id, "status": "pending", **fields, **self.owner.prompt_answer}
                state.reviews[review_id] = review
                return 201, {"success": True, "review_id": review_id, "status": review["status"]}
            case ["GET", "review", review_id]:
                review = state.reviews[review_id]
                wait = float(query.get("wait", ["0"])[0])
                owner = self.owner
                owner.changed.wait_for(lambda: review["status"] != "pending" or owner.closing.is_set(), wait)
                return 200, {
                    "review_id": review_id,
                    "status": review["status"],
                    "option": review.get("option"),
                }
        return 404, {"error": "no such route"}

    def _box(self, method: str, what: str, fields: Any, query: Any) -> tuple[int, Any]:
        match [method, what]:
            case ["POST", "events"]:
                return self._append_all(fields) if isinstance(fields, list) else self._append(fields)
            case ["GET", "messages"]:
                return self._messages(query)
        return 404, {"error": "no such route"}

    def _append_all(self, several: list[dict[str, Any]]) -> tuple[int, Any]:
        """Appends all events or none. Counts as one call for the limit."""
        problem = next((problem for fields in several if (problem := _invalid(fields))), None)
        if problem or len(several) > 100:
            return 422, {"error": problem or "more than 100 events"}
        if self.owner.over_limit():
            return 429, {"error": "too many events"}
        self.owner.state.batches += 1
        return 200, {"events": [self._add(fields)[1] for fields in several]}

    def _append(self, fields: dict[str, Any]) -> tuple[int, Any]:
        problem = _invalid(fields)
        if problem:
            return 422, {"error": problem}
        if self.owner.over_limit():
            return 429, {"error": "too many events"}
        return self._add(fields)

    def _add(self, fields: dict[str, Any]) -> tuple[int, Any]:
        state = self.owner.state
        event_id = str(fields["event_id"])
        if event_id in state.by_id:
            state.repeats += 1
            return 200, {"event_id": event_id, "seq": state.by_id[event_id]["seq"], "status": "ok"}
        event = {**fields, "seq": len(state.events) + 1}
        state.events.append(event)
        state.by_id[event_id] = event
        return 201, {"event_id": event_id, "seq": event["seq"], "status": "ok"}

    def _messages(self, query: dict[str, list[str]]) -> tuple[int, Any]:
        """Keeps delivered messages until the worker acknowledges them. Without `ack`, removes them."""
        owner, state = self.owner, self.owner.state
        received = set(query.get("ack", [""])[0].split(","))
        state.in_flight = [message for message in state.in_flight if message["message_id"] not in received]
        owner.changed.notify_all()
        if not state.in_flight:
            wait = float(query.get("wait", ["0"])[0])
            owner.changed.wait_for(lambda: state.queued or owner.closing.is_set(), wait)
        if owner.closing.is_set():
            return 503, {"error": "going away"}
        fresh = sorted(state.queued, key=lambda message: message["message_type"] != "interrupt")
        state.queued = []
        if "ack" not in query:
            return 200, fresh
        state.in_flight += fresh
        return 200, state.in_flight

    def _send(self, status: int, answer: Any, retry_after: str | None = None) -> None:
        self._send_raw(status, json.dumps(answer).encode(), retry_after)

    def _send_cut(self, status: int, content: bytes) -> None:
        """Simulates a crash between the head and the end of a response."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.close_connection = True

    def _send_raw(self, status: int, content: bytes, retry_after: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)


def _invalid(fields: dict[str, Any]) -> str | None:
    """The rules of C-7."""
    if not re.fullmatch(r"[a-zA-Z0-9_.]{1,100}", str(fields.get("event_type", ""))):
        return "event_type: must be letters, digits, _ and ."
    if not isinstance(fields.get("event_data"), dict):
        return "event_data: must be an object"
    if len(json.dumps(fields["event_data"], ensure_ascii=False).encode()) > 100_000:
        return "event_data: must not exceed 100 KB"
    if fields.get("source") not in ("agent", "worker", "system"):
        return "source: must be agent, worker or system"
    return None


# Of each report what it may have, and of its texts how long they may be.
REPORTS: dict[str, dict[str, int | None]] = {
    "status": {"status": None, "message": 10240},
    "progress": {"event_type": 100, "message": 10240, "details": None, "progress_percent": None},
    "results": {"status": None, "summary": 10240, "files_changed": None, "commits": None, "notes": 10240},
    "review": {
        "reason": 200,
        "description": 10240,
        "context": None,
        "blocking": None,
        "timeout_minutes": None,
        "on_timeout": None,
    },
}


def _unfit(report: str, fields: dict[str, Any]) -> str | None:
    """The rules of C-2 and C-7, as the server has them."""
    known = REPORTS.get(report, {})
    for name, value in fields.items():
        if name not in known:
            return f"{name}: is not known"
        most = known[name]
        if most is not None and isinstance(value, str) and len(value.encode()) > most:
            return f"{name}: has {len(value.encode())} bytes; at most {most} are taken"
    # Control characters are taken out of texts before they are counted as JSON.
    kept = {name: _without_controls(value) if isinstance(value, str) else value for name, value in fields.items()}
    size = len(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode())
    return f"{report} has {size} bytes" if size > (100 if report != "review" else 80) * 1024 else None


def _without_controls(text: str) -> str:
    return "".join(c for c in text if c in "\n\t" or not (ord(c) < 32 or 127 <= ord(c) < 160))
