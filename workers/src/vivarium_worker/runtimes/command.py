"""Runtime for any program, with a protocol of JSON lines.

A line of standard output that is a JSON object with a `type` is one of:

    {"type": "event", "event_type": "agent.message", "data": {"text": "…"}}
    {"type": "progress", "message": "…", "event_type"?: "step_completed", "details"?: {}, "progress_percent"?: 50}
    {"type": "usage", "input_tokens"?: 1, "output_tokens"?: 1, "cost_usd"?: 0.1}
    {"type": "review", "id": "r1", "reason": "…", "description": "…", "options"?: ["…"], "context"?: {},
     "blocking"?: true, "timeout_minutes"?: 60, "on_timeout"?: "reject" | "approve" | "fail" | "escalate"}
    {"type": "result", "summary": "…", "status"?: "completed" | "failed"}

All other lines, lines of more than 1 MiB, and standard error are output, which the worker logs unchanged. The program
reads these lines from standard input:

    {"type": "task", "task": {…}}                                the first line
    {"type": "message", "message_id": "…", "message_type": "…", "content": "…", "source": "…", "inject_mode": "…"}
    {"type": "review", "id": "r1", "status": "…", …}             the decision of a review, or status "error"

The program may also use HTTP, but must send each item in one way only. BACKEND_URL, SANDBOX_TOKEN, SANDBOX_ID and
TASK_ID are in its environment. All calls have `Authorization: Bearer $SANDBOX_TOKEN` and JSON; see
docs/reference/worker-api.md:

    POST $BACKEND_URL/api/v1/sandboxes/$SANDBOX_ID/events     {"event_type": "agent.message", "event_data": {…}}
    GET  $BACKEND_URL/api/v1/sandbox/task
    POST $BACKEND_URL/api/v1/sandbox/task/$TASK_ID/progress   {"event_type": "…", "message": "…"}
    POST $BACKEND_URL/api/v1/sandbox/task/$TASK_ID/review     {"reason": "…", "description": "…"}
    GET  $BACKEND_URL/api/v1/sandbox/task/$TASK_ID/review/ID?wait=25
    POST $BACKEND_URL/api/v1/sandbox/task/$TASK_ID/results    {"status": "…", "summary": "…", "files_changed": []}

Results that the program submits are the results of the task, unless it also prints a `result`. The exit status
decides whether the run failed. The worker sends heartbeats and the start and end of the run, and fetches messages,
which arrive on standard input. If the program polls `messages`, they do not arrive there. Calls of the worker count
for the same rate limits. While the server is down, the worker spools only printed lines.

For model requests, the environment has ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, OPENAI_BASE_URL, OPENAI_API_KEY and
MODEL. They point to the gateway of the server, which has the real key.

A message arrives immediately. If its `inject_mode` is "next_turn", the program should handle it after its current
turn.

A blocking review, which is the default, stops the process group until a person has answered, also if the program
requests it over HTTP.

A program may ignore the protocol and print plain text; exit status 0 is success. An interrupt is a message, then
SIGINT to the process group. If the program does not read the message, the signal follows after 2 seconds. An abort is
SIGTERM to the group, and SIGKILL to the remaining processes after 5 seconds. A pause stops the group.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections import deque
from typing import Any

from .. import events, review_options
from ..backend import Refused
from ..connection import Unreachable
from ..control import Aborted
from ..run import Outcome, Run, Usage, over_budget
from ..settings import Model, Settings
from ..spool import SpoolClosed
from .command_input import Input
from .command_output import LINE_BYTES
from .command_program import Program, name_of
from .command_stream import Stream

log = logging.getLogger(__name__)

LAST_LINES = 20
# The part of the output in the reason of a failure. The server stores 8 KB, and the exit status precedes it.
LAST_BYTES = 6 * 1024
# Largest accepted amount, so that sums stay finite.
MOST_TOKENS = 1 << 53
MOST_DOLLARS = 1e15
REVIEW_FIELDS = ("reason", "description", "context", "blocking", "timeout_minutes", "on_timeout")


class CommandRuntime:
    """Runs a program as the agent, one at a time."""

    name = "command"

    def __init__(self, argv: list[str]) -> None:
        self._argv = argv

    def work(self, run: Run) -> Outcome:
        try:
            environment = {**os.environ, **_server(run.settings), **_model(run.settings.model)}
            program = Program(self._argv, run.settings.workspace, environment)
        except OSError as e:
            return Outcome.failed(f"{self._argv[0]} could not be started: {e.strerror}", "exit_status")
        with program:
            return Conversation(run, program).hold()


def _server(settings: Settings) -> dict[str, str]:
    """Environment for the worker API. The program is the agent, and the token is limited to its task."""
    return {
        "BACKEND_URL": settings.backend_url,
        "SANDBOX_TOKEN": settings.token,
        "SANDBOX_ID": settings.sandbox_id,
        "TASK_ID": settings.task_id,
    }


def _model(model: Model) -> dict[str, str]:
    """Environment for model libraries. The token is valid for the gateway only."""
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
    """Program and its protocol state. Each stream has a thread; a lock guards the shared state."""

    def __init__(self, run: Run, program: Program) -> None:
        self._run = run
        self._program = program
        self._input = Input(run, program)
        self._stdout = Stream(run, program.stdout, "stdout", self._note)
        self._stderr = Stream(run, program.stderr, "stderr", self._note)
        # Serializes the reactions to the control.
        self._obeying = threading.Lock()
        # Guards all fields below.
        self._lock = threading.Lock()
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._summary = ""
        self._said_failed = False
        self._usage = Usage()
        self._cost: float | None = None

    def hold(self) -> Outcome:
        self._stdout.hear(self._hear)
        self._input.say({"type": "task", "task": self._run.task})
        for part in (self._stdout, self._stderr, self._input):
            part.start()
        self._run.control.listen(self._obey)
        self._run.inbox.listen(self._input.deliver)
        status = self._program.wait()
        self._run.inbox.listen(lambda: None)
        # Other processes of the group may still write output.
        self._program.wait_terminated()
        for stream in (self._stdout, self._stderr):
            stream.end()
        self._input.end()
        for stream in (self._stdout, self._stderr):
            stream.wait()
        return self._outcome(status)

    def _note(self, content: bytes) -> None:
        with self._lock:
            self._last.append(content[-LINE_BYTES:].decode("utf-8", "replace").rstrip("\n"))

    def _hear(self, said: dict[str, Any]) -> None:
        kind = said["type"]
        if kind == "event":
            self._event(said)
        elif kind == "progress":
            more = {key: said[key] for key in ("details", "progress_percent") if key in said}
            self._run.progress(str(said.get("event_type", "info")), _text(said.get("message")), **more)
        elif kind == "usage":
            self._count(said)
        elif kind == "review":
            threading.Thread(target=self._review, args=(said,), name="review", daemon=True).start()
        elif kind == "result":
            self._result(said)

    def _event(self, said: dict[str, Any]) -> None:
        event_type, data = str(said.get("event_type", "")), said.get("data")
        if event_type in (events.COMPLETED, events.FAILED):
            self._judged(event_type, data)
        elif events.is_type(event_type):
            self._run.emit(event_type, data if isinstance(data, dict) else {"value": data})
        else:
            self._complain("event_type must be letters, digits, _ and ., at most 100", line=said)

    def _judged(self, event_type: str, data: Any) -> None:
        """Handles a judgement of the program, which the worker logs once, at the end of the run. A failure is final."""
        field = "reason" if event_type == events.FAILED else "summary"
        text = _text(data.get(field)) if isinstance(data, dict) else ""
        with self._lock:
            if event_type == events.FAILED or not self._said_failed:
                self._summary, self._said_failed = text, event_type == events.FAILED

    def _result(self, said: dict[str, Any]) -> None:
        """An unknown status does not count as success."""
        status = said.get("status")
        if status not in (None, "completed", "failed"):
            self._complain("the status of a result must be completed or failed; it counts as failed", line=said)
        with self._lock:
            self._summary, self._said_failed = _text(said.get("summary")), status not in (None, "completed")

    def _complain(self, problem: str, **more: Any) -> None:
        self._run.emit(events.ERROR, {"problem": problem, **more}, "worker")

    def _count(self, said: dict[str, Any]) -> None:
        with self._lock:
            for name in vars(self._usage):
                setattr(self._usage, name, getattr(self._usage, name) + _whole(said.get(name)))
            cost = _dollars(said.get("cost_usd"))
            if cost is not None:
                self._cost = (self._cost or 0.0) + cost
            counted = {**self._usage.fields(), "cost_usd": self._cost}
        self._run.emit(events.USAGE, counted)
        budget = self._run.settings.budget_usd
        if budget is not None and (self._cost or 0.0) > budget:
            self._run.control.abort(over_budget(self._cost or 0.0, budget), "budget")

    def _review(self, said: dict[str, Any]) -> None:
        request = {key: value for key, value in said.items() if key in REVIEW_FIELDS}
        if said.get("options"):
            request["context"] = {**(request.get("context") or {}), **review_options.context(said["options"])}
        try:
            answer = self._run.review(request, hold=True)
        except (Aborted, SpoolClosed):
            return
        except (Refused, Unreachable) as e:
            answer = {"status": "error", "problem": str(e)}
        except Exception as e:
            # The program waits for a reply, so an error is sent too.
            log.exception("a review could not be requested")
            answer = {"status": "error", "problem": f"{type(e).__name__}: {e}"}
        self._input.say({**answer, "type": "review", "id": said.get("id")})

    def _obey(self) -> None:
        """Applies the current state of the control."""
        with self._obeying:
            if self._run.control.aborted is not None:
                self._program.terminate()
            else:
                self._program.signal(signal.SIGSTOP if self._run.control.paused else signal.SIGCONT)

    def _outcome(self, status: int) -> Outcome:
        with self._lock:
            summary, said_failed = self._summary, self._said_failed
            last = "\n".join(self._last)
        aborted = self._run.control.aborted
        completed = status == 0 and not said_failed and aborted is None
        said = summary if said_failed else ""
        reason = "" if completed else aborted or said or _why(status, last)
        return Outcome(
            completed=completed,
            summary=summary or (last if completed else ""),
            reason=reason,
            cost_usd=self._cost,
            usage=self._usage,
            exit_code=status if status >= 0 else 128 - status,
            told=said_failed or bool(summary),
            code=self._code(status, said_failed),
        )

    def _code(self, status: int, said_failed: bool) -> str:
        """Machine-readable reason of a failure."""
        if self._run.control.aborted is not None:
            return self._run.control.abort_code
        if said_failed:
            return "failed"
        return "signal" if status < 0 else "exit_status"


def _text(value: Any) -> str:
    """Converts a value to text."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_TOKENS else 0


def _dollars(value: Any) -> float | None:
    """Converts a value to a finite amount, because NaN would disable the budget."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < MOST_DOLLARS else None


def _why(status: int, last: str) -> str:
    how = name_of(status)
    end = last.encode("utf-8", "replace")
    if len(end) > LAST_BYTES:
        last = "…" + end[-LAST_BYTES:].decode("utf-8", "ignore")
    return f"{how}: {last}" if last else how
