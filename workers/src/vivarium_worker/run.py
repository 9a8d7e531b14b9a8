"""Run of an agent on a task."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from . import events, reports
from .backend import Backend, Stopped
from .constraints import Constraints
from .control import Aborted, Control
from .inbox import Inbox
from .settings import Settings
from .spool import Spool, SpoolFull

log = logging.getLogger(__name__)

REVIEW_WAIT_SECONDS = 25


@dataclass
class Usage:
    """Token usage."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def fields(self) -> dict[str, int]:
        return dict(vars(self))


@dataclass
class Outcome:
    """Outcome of a run and its usage."""

    completed: bool
    summary: str
    reason: str = ""
    cost_usd: float | None = None
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    session_id: str | None = None
    exit_code: int | None = None
    # True if the agent reported this outcome. Otherwise a result that it submitted itself takes precedence.
    told: bool = True
    # Machine-readable reason of a failure.
    code: str = "failed"

    @staticmethod
    def failed(reason: str, code: str = "failed") -> Outcome:
        return Outcome(completed=False, summary="", reason=reason, code=code)


def over_budget(cost: float, budget: float) -> str:
    """Reason of a run that has spent its budget."""
    return f"budget: spent {_dollars(cost)} of {_dollars(budget)}"


def _dollars(amount: float) -> str:
    """Formats an amount with at least two decimals."""
    exact = f"{amount:.6f}".rstrip("0")
    return f"${exact}" if len(exact.rpartition(".")[2]) > 1 else f"${amount:.2f}"


class Runtime(Protocol):
    """Kind of agent. It works on a run until the task is done and returns the outcome."""

    name: str

    def work(self, run: Run) -> Outcome: ...


class Run:
    """Interface of a runtime to the worker. Thread-safe.

    Events go to the spool, so a slow or absent server does not slow the agent until the spool is full.
    """

    def __init__(
        self,
        settings: Settings,
        task: dict[str, Any],
        spool: Spool,
        backend: Backend,
        control: Control | None = None,
    ) -> None:
        self.settings = settings
        self.task = task
        self.control = control or Control(spool.hurry)
        self.inbox = Inbox(backend, settings.state / "inbox", self._emit_as)
        self._backend = backend
        self._spool = spool
        self._began = monotonic()
        self._counting = threading.Lock()
        self._tools: Counter[str] = Counter()
        self._files: dict[str, dict[str, Any]] = {}
        self._dropped = 0
        self._is_over = False

    def emit(self, event_type: str, data: dict[str, Any], source: str = "agent", urgent: bool = False) -> None:
        """Appends an event to the spool. The event is durable on return, unless the run is ending without space.

        `urgent` does not wait for the server or the disk. It is for threads that other threads depend on.
        """
        if event_type == events.TOOL_USE:
            with self._counting:
                self._tools[str(data.get("tool_name", "unknown"))] += 1
        self._append(events.record(event_type, data, source), urgent)

    def progress(self, event_type: str, message: str, **more: Any) -> None:
        """Reports progress of the task."""
        self._tell("progress", reports.progress(event_type, message, more))

    def file_changed(self, path: str, action: str, added: int, removed: int) -> None:
        """Records a file change that the agent reported, for the results."""
        with self._counting:
            known = self._files.setdefault(path, {"path": path, "action": action, "lines_added": 0, "lines_removed": 0})
            known["lines_added"] += added
            known["lines_removed"] += removed

    def review(self, request: dict[str, Any], hold: bool = False) -> dict[str, Any]:
        """Requests a decision by a person. A blocking review waits for it; with `hold`, the run is paused meanwhile."""
        try:
            return self._reviewed(reports.review(request), hold)
        except Stopped:
            raise Aborted(self.control.aborted) from None

    @property
    def constraints(self) -> Constraints:
        """Constraints of the task. Raises `BadConstraint` for invalid ones."""
        return Constraints.of(self.task)

    def prompt(self) -> str:
        """First message to an agent: the task."""
        parts = [str(self.task.get("title", "")).strip(), str(self.task.get("description", "")).strip()]
        context = self.task.get("context") or {}
        if context:
            lines = [f"- {name}: {value}" for name, value in context.items()]
            parts.append("Context:\n" + "\n".join(lines))
        return "\n\n".join(part for part in parts if part)

    def command(self, name: str, why: str = "", code: str = "") -> None:
        """Executes a command of the server. After the end of the run only a shutdown has an effect.

        `why` and `code` are the reason of an abort.
        """
        if self._is_over and name != "abort":
            return
        if name == "pause":
            if self.control.pause("server"):
                self.emit(events.PAUSED, {"by": "server"}, "worker", urgent=True)
        elif name == "resume":
            if self.control.is_paused_by("server"):
                # Logs first, because the resumed run may end immediately.
                self.emit(events.RESUMED, {"by": "server"}, "worker", urgent=True)
                self.control.resume("server")
        elif name == "abort":
            self.control.dismiss(why or "aborted by the server", code or "aborted")
        else:
            log.warning("the server sent a command that this worker does not know: %s", name)

    def start(self, runtime: str) -> None:
        """Logs the start of the run."""
        self._tell("status", reports.status("in_progress", runtime))
        data = {
            "runtime": runtime,
            "task_id": self.settings.task_id,
            "title": str(self.task.get("title", "")),
            "model": self.settings.model.name,
            "resumed_from": self.settings.resume,
        }
        self.emit(events.STARTED, data)

    def finish(self, runtime: str, outcome: Outcome) -> None:
        """Reports the results of the task, then logs the end of the run."""
        self._is_over = True
        with self._counting:
            tools, files, dropped = dict(self._tools), list(self._files.values()), self._dropped
        # Directory of the runtime with the state for a resume in another sandbox.
        transcript = self.settings.state / runtime
        data: dict[str, Any] = {
            "runtime": runtime,
            "summary": outcome.summary,
            "cost_usd": outcome.cost_usd,
            "usage": outcome.usage.fields(),
            "tool_calls": sum(tools.values()),
            "tools": tools,
            "turns": outcome.turns,
            "duration_ms": round((monotonic() - self._began) * 1000),
            "session_id": outcome.session_id,
            "transcript": str(transcript) if transcript.is_dir() else None,
            "files_changed": len(files),
        }
        if dropped:
            data["dropped_events"] = dropped
        if outcome.exit_code is not None:
            data["exit_code"] = outcome.exit_code
        reason = "" if outcome.completed else events.shortened(outcome.reason, reports.MAX_REASON_BYTES)
        if not outcome.completed:
            data["reason"] = reason
            data["reason_code"] = outcome.code
        word = "completed" if outcome.completed else "failed"
        said = outcome.summary or reason
        results = reports.results(word, said, files, reason)
        self._tell("results", results, urgent=True, default=not outcome.told)
        self._tell("status", reports.status(word, said), urgent=True)
        end = events.COMPLETED if outcome.completed else events.FAILED
        self._spool.append(events.record(end, data, "agent"), urgent=True)

    def _reviewed(self, request: dict[str, Any], hold: bool) -> dict[str, Any]:
        ending = self.control.ending
        asked = self._backend.request_review(request, ending)
        review_id = str(asked.get("review_id", ""))
        if not review_id:
            return asked
        # The server logs this event with the same id, so the log has it once.
        self._emit_as(events.REVIEW_REQUESTED, {**request, "review_id": review_id}, f"{review_id}.requested")
        if not request.get("blocking", True):
            return asked
        answer = self._answer(review_id, hold)
        self.emit(events.REVIEW_ANSWERED, {**answer, "review_id": review_id})
        return answer

    def _answer(self, review_id: str, hold: bool) -> dict[str, Any]:
        if hold:
            self.control.pause(review_id)
        try:
            # Reads the status again, because the reply with the id does not contain the decision.
            answer: dict[str, Any] = {}
            while answer.get("status", "pending") == "pending":
                answer = self._backend.review(review_id, REVIEW_WAIT_SECONDS, self.control.ending)
            return answer
        finally:
            if hold:
                self.control.resume(review_id)

    def _tell(self, to: str, body: dict[str, Any], urgent: bool = False, default: bool = False) -> None:
        self._append(reports.record(self.settings.task_id, to, body, default), urgent)

    def _emit_as(self, event_type: str, data: dict[str, Any], event_id: str) -> None:
        self._append(events.record(event_type, data, "worker", event_id), urgent=True)

    def _append(self, record: dict[str, Any], urgent: bool) -> None:
        try:
            self._spool.append(record, urgent)
        except SpoolFull:
            with self._counting:
                self._dropped += 1
                first = self._dropped == 1
            if first:
                log.warning("the run ends and the spool is full; further events of the agent are dropped")
