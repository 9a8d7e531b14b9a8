"""Any program as an agent, spoken to in lines.

Every line that the program prints and that is a JSON object with a `type` is one of:

    {"type": "event", "event_type": "agent.message", "data": {"text": "…"}}
    {"type": "progress", "message": "…", "event_type"?: "step_completed", "details"?: {}, "progress_percent"?: 50}
    {"type": "usage", "input_tokens"?: 1, "output_tokens"?: 1, "cost_usd"?: 0.1}
    {"type": "review", "id": "r1", "reason": "…", "description": "…", "context"?: {}, "blocking"?: true}
    {"type": "result", "summary": "…", "status"?: "completed" | "failed"}

Any other line, and everything on standard error, is output and logged as it is. The program reads, a line each:

    {"type": "task", "task": {…}}                                first of all
    {"type": "message", "message_id": "…", "message_type": "…", "content": "…", "source": "…", "inject_mode": "…"}
    {"type": "review", "id": "r1", "status": "…", …}             the answer to a review, or status "error"

To ask a model, it finds ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, OPENAI_BASE_URL, OPENAI_API_KEY and MODEL in its
environment, as libraries expect them: they lead to the server's gateway, which has the real key.

A message comes at once; one whose `inject_mode` is "next_turn" is for the program to put off until it has done what
it is at, for only it knows its turns.

A program that reads none of it and prints plain text is fine: exit status 0 is success. An interrupt is a
message, then SIGINT to the program's process group; an abort is SIGTERM, then SIGKILL; a pause stops the group.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import threading
from collections import deque
from time import monotonic
from typing import IO, Any

from .. import events
from ..backend import Refused
from ..connection import Unreachable
from ..control import Aborted
from ..inbox import Message
from ..run import Outcome, Run, Usage
from ..settings import Model
from ..spool import SpoolClosed

# Longer lines are cut in pieces of this size: an event takes 100 KB.
LINE_BYTES = 64 * 1024
# Output is gathered for this long, so that a chatty program makes few events.
GATHER_SECONDS = 0.1
GRACE_SECONDS = 5.0
# So often that is granted to what is only slow, not stuck.
GRACES = 24
# More than a pipe and its reader hold.
PIPE_BYTES = 256 * 1024
LAST_LINES = 20


class CommandRuntime:
    """Starts one program and speaks with it. One run at a time."""

    name = "command"

    def __init__(self, argv: list[str]) -> None:
        self._argv = argv

    def work(self, run: Run) -> Outcome:
        try:
            process = subprocess.Popen(
                self._argv,
                cwd=run.settings.workspace,
                env={**os.environ, **_model(run.settings.model)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_die_with_us,  # noqa: PLW1509 - one system call, prepared beforehand
            )
        except OSError as e:
            return Outcome.failed(f"{self._argv[0]} could not be started: {e.strerror}")
        return Conversation(run, process).hold()


def _model(model: Model) -> dict[str, str]:
    """The gateway as the libraries of both makers look for it. Its token is good for nothing else."""
    if not model.url:
        return {}
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": model.token,
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": model.token,
        "MODEL": model.name,
    }


class Conversation:
    """One program and what was said. Each stream has a thread; what they share is behind a lock."""

    def __init__(self, run: Run, process: subprocess.Popen[bytes]) -> None:
        self._run = run
        self._process = process
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        # One at a time, and held until what was said counts as delivered.
        self._delivering = threading.Lock()
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        # How much was read of each stream, and of which nothing more is there to read now.
        self._bytes = {True: 0, False: 0}
        self._resting: set[bool] = set()
        self._outputs = {True: Output(run, "stdout"), False: Output(run, "stderr")}
        self._result: dict[str, Any] = {}
        self._usage = Usage()
        self._cost: float | None = None

    def hold(self) -> Outcome:
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None
        assert stderr is not None
        readers = [
            threading.Thread(target=self._read, args=(stdout, True), name="stdout", daemon=True),
            threading.Thread(target=self._read, args=(stderr, False), name="stderr", daemon=True),
        ]
        for reader in readers:
            reader.start()
        self._say({"type": "task", "task": self._run.task})
        self._run.control.listen(self._obey)
        self._run.inbox.listen(self._deliver)
        status = self._process.wait()
        self._read_out(readers[0], stdout, True)
        self._read_out(readers[1], stderr, False)
        self._run.inbox.listen(lambda: None)
        self._say_out()
        return self._outcome(status)

    def _read_out(self, reader: threading.Thread, stream: IO[bytes], speaks: bool) -> None:
        """Waits until all is read that it printed, however slow the disk is that it goes to.

        A daemon that it left behind may hold the pipe for ever; what that prints later is not this run's.
        """
        most = self._bytes[speaks] + PIPE_BYTES
        reader.join(GRACE_SECONDS)
        while reader.is_alive() and self._bytes[speaks] < most:
            if speaks in self._resting and not select.select([stream], [], [], 0)[0]:
                break
            reader.join(GRACE_SECONDS)
        self._outputs[speaks].flush()

    def _say_out(self) -> None:
        """What it read before it ended it has had, as soon as that is on record.

        A daemon with its standard input may hold a message up for ever.
        """
        for _ in range(GRACES):
            if self._delivering.acquire(timeout=GRACE_SECONDS):
                self._delivering.release()
                return
            if self._writing.locked():
                return

    def _read(self, stream: IO[bytes], speaks: bool) -> None:
        try:
            self._log(stream, speaks)
        except SpoolClosed:
            # The run is being ended; until it is, the program must not block on a full pipe.
            while stream.read(LINE_BYTES):
                pass

    def _log(self, stream: IO[bytes], speaks: bool) -> None:
        gathered = self._outputs[speaks]
        try:
            for line in iter(lambda: self._next(stream, speaks), b""):
                said = _spoken(line) if speaks else None
                if said is not None:
                    gathered.flush()
                    self._hear(said)
                else:
                    with self._lock:
                        self._last.append(line.decode("utf-8", "replace").rstrip("\n"))
                    gathered.add(line)
        finally:
            gathered.close()

    def _next(self, stream: IO[bytes], speaks: bool) -> bytes:
        self._resting.add(speaks)
        line = stream.readline(LINE_BYTES)
        # In this order: who sees it rest and the pipe empty must have missed nothing.
        self._resting.discard(speaks)
        self._bytes[speaks] += len(line)
        return line

    def _hear(self, said: dict[str, Any]) -> None:
        kind = said["type"]
        if kind == "event":
            self._event(said)
        elif kind == "progress":
            more = {key: said[key] for key in ("details", "progress_percent") if key in said}
            self._run.progress(str(said.get("event_type", "info")), str(said.get("message", "")), **more)
        elif kind == "usage":
            self._count(said)
        elif kind == "review":
            threading.Thread(target=self._review, args=(said,), name="review", daemon=True).start()
        elif kind == "result":
            with self._lock:
                self._result = said

    def _event(self, said: dict[str, Any]) -> None:
        event_type, data = str(said.get("event_type", "")), said.get("data")
        if events.is_type(event_type):
            self._run.emit(event_type, data if isinstance(data, dict) else {"value": data})
        else:
            problem = "event_type must be letters, digits, _ and ., at most 100"
            self._run.emit(events.ERROR, {"problem": problem, "line": said}, "worker")

    def _count(self, said: dict[str, Any]) -> None:
        with self._lock:
            for name in vars(self._usage):
                setattr(self._usage, name, getattr(self._usage, name) + _whole(said.get(name)))
            cost = said.get("cost_usd")
            if isinstance(cost, int | float):
                self._cost = (self._cost or 0.0) + float(cost)
        self._run.emit(events.USAGE, {**self._usage.fields(), "cost_usd": self._cost})
        budget = self._run.settings.budget_usd
        if budget is not None and (self._cost or 0.0) > budget:
            self._run.control.abort(f"the budget of ${budget} is spent")

    def _review(self, said: dict[str, Any]) -> None:
        request = {key: value for key, value in said.items() if key in ("reason", "description", "context", "blocking")}
        try:
            answer = self._run.review(request)
        except (Aborted, SpoolClosed):
            return
        except (Refused, Unreachable) as e:
            answer = {"status": "error", "problem": str(e)}
        self._say({**answer, "type": "review", "id": said.get("id")})

    def _deliver(self) -> None:
        """Passes on what there is, in order. Called by the inbox's own thread, and at first by the main one."""
        with self._delivering:
            for message in self._run.inbox.unread():
                if not self._say(_line(message)):
                    return
                self._run.inbox.delivered([message], "stdin")
                if message.interrupts:
                    self._run.emit(events.INTERRUPTED, {"message_id": message.id}, "worker")
                    self._signal(signal.SIGINT)

    def _say(self, line: dict[str, Any]) -> bool:
        """Writes one line; whether the program can still hear."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            with self._writing:
                stdin.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                stdin.flush()
            return True
        except (OSError, ValueError):
            return False

    def _obey(self) -> None:
        """Does what the control says now."""
        if self._run.control.aborted is not None:
            self._signal(signal.SIGTERM)
            # A stopped program hears nothing, not even this.
            self._signal(signal.SIGCONT)
            killer = threading.Timer(GRACE_SECONDS, self._signal, [signal.SIGKILL])
            killer.daemon = True
            killer.start()
        else:
            self._signal(signal.SIGSTOP if self._run.control.paused else signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _outcome(self, status: int) -> Outcome:
        with self._lock:
            said_failed = self._result.get("status") == "failed"
            summary = str(self._result.get("summary", ""))
            last = "\n".join(self._last)
        aborted = self._run.control.aborted
        completed = status == 0 and not said_failed and aborted is None
        reason = "" if completed else aborted or _why(status, summary if said_failed else last)
        return Outcome(
            completed=completed,
            summary=summary or (last if completed else ""),
            reason=reason,
            cost_usd=self._cost,
            usage=self._usage,
            exit_code=status if status >= 0 else 128 - status,
        )


class Output:
    """Gathers what a program prints into events of a good size. Two threads: the reader and the timer."""

    def __init__(self, run: Run, stream: str) -> None:
        self._run = run
        self._stream = stream
        self._lock = threading.Lock()
        self._text = bytearray()
        self._since = 0.0
        self._closed = threading.Event()
        self._timer = threading.Thread(target=self._tick, name=f"gather-{stream}", daemon=True)
        self._timer.start()

    def add(self, content: bytes) -> None:
        with self._lock:
            if not self._text:
                self._since = monotonic()
            self._text += content
            full = len(self._text) >= LINE_BYTES
        if full:
            self.flush()

    def flush(self) -> None:
        with self._lock:
            if self._text:
                # In the lock: two flushes at once must not change the order.
                text = self._text.decode("utf-8", "replace")
                self._run.emit(events.OUTPUT, {"stream": self._stream, "text": text})
                self._text.clear()

    def close(self) -> None:
        self._closed.set()
        self.flush()

    def _tick(self) -> None:
        while not self._closed.wait(GATHER_SECONDS):
            with self._lock:
                due = bool(self._text) and monotonic() - self._since >= GATHER_SECONDS
            if due:
                try:
                    self.flush()
                except SpoolClosed:
                    return


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _die_with_us() -> None:
    """In the child: a worker that is killed must not leave a program behind that nobody listens to."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _spoken(line: bytes) -> dict[str, Any] | None:
    """A line in the protocol, or nothing when it is plain output."""
    if not line.startswith(b"{"):
        return None
    try:
        said = json.loads(line)
    except ValueError:
        return None
    known = ("event", "progress", "usage", "review", "result")
    return said if isinstance(said, dict) and said.get("type") in known else None


def _line(message: Message) -> dict[str, Any]:
    return {
        "type": "message",
        "message_id": message.id,
        "message_type": message.kind,
        "content": message.content,
        "source": message.source,
        "inject_mode": message.mode,
    }


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _why(status: int, last: str) -> str:
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"{how}: {last}" if last else how
