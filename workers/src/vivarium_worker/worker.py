"""Composition and shutdown of a worker."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any

from . import events
from .backend import Backend, Refused, Stopped
from .connection import Unreachable
from .constraints import BadConstraint
from .control import Aborted, Control
from .delivery import SpoolDelivery
from .heartbeat import Heartbeat
from .inbox import Inbox
from .run import Outcome, Run, Runtime
from .settings import Settings
from .spool import Spool, SpoolClosed

log = logging.getLogger(__name__)

COMPLETED = 0
FAILED = 1
NO_TASK = 2
LOST = 3
UNDELIVERED = 4
# Interval at which a waiting worker checks for a shutdown request.
LOOK_SECONDS = 0.2


def work(settings: Settings, runtime: Runtime) -> int:
    """Runs one task to its end. Returns the exit status."""
    return Worker(settings, runtime).work()


class Worker:
    """Parts of a worker. Call `work` once."""

    def __init__(self, settings: Settings, runtime: Runtime) -> None:
        self._settings = settings
        self._runtime = runtime
        self._backend = Backend(settings)
        self._spool = Spool(settings.state / f"spool-{settings.sandbox_id}", settings.spool_bytes)
        self._delivery = SpoolDelivery(
            self._spool, self._backend, settings.task_id, settings.state / "refused.log", self._on_lost
        )
        # Created before the run, so that an abort during its creation has an effect.
        self._control = Control(self._spool.hurry)
        self._lost = False

    def work(self) -> int:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_term)
        self._delivery.start()
        try:
            return self._work()
        except (SpoolClosed, Stopped):
            return LOST
        except Refused as e:
            log.error("no task: %s", e)
            return NO_TASK if e.status == 404 else LOST
        finally:
            self._delivery.close()
            self._spool.close()
            self._backend.close()

    def _work(self) -> int:
        settings, spool, backend = self._settings, self._spool, self._backend
        run = Run(settings, backend.task(self._control.ending), spool, backend, self._control)
        if spool.damaged:
            run.emit(events.SPOOL_DAMAGED, {"records": spool.damaged}, "worker")
        heartbeat = Heartbeat(backend, run.control, settings.heartbeat_seconds, run.command)
        heartbeat.start()
        run.inbox.start()
        try:
            run.start(self._runtime.name)
            outcome = _outcome(run, self._runtime)
            # From now on messages are not acknowledged and stay on the server for the next run.
            run.inbox.close()
            _return_unread(run)
            run.finish(self._runtime.name, outcome)
            run.control.end()
            return self._status(outcome, run.inbox)
        finally:
            run.control.end()
            heartbeat.close()
            run.inbox.close()

    def _status(self, outcome: Outcome, inbox: Inbox) -> int:
        """Returns the exit status after delivery."""
        delivered = self._drain()
        if self._lost:
            return LOST
        inbox.settle(self._settings.drain_seconds if delivered else 0.0)
        if self._delivery.next_action:
            log.info("the server asks for: %s", self._delivery.next_action)
        if not delivered:
            log.error("the result of the run was not delivered; the next worker in this sandbox delivers it")
            return UNDELIVERED
        return COMPLETED if outcome.completed else FAILED

    def _drain(self) -> bool:
        """Waits until everything is delivered; after a shutdown request for a short time only."""
        deadline: float | None = None
        while not self._spool.drain(LOOK_SECONDS):
            if self._control.dismissed.is_set() and deadline is None:
                deadline = monotonic() + self._settings.drain_seconds
            if self._lost or (deadline is not None and monotonic() > deadline):
                return False
        return True

    def _on_lost(self, refusal: Refused) -> None:
        """Handles the end of delivery: nothing empties the spool any more, so no thread may wait for space."""
        self._lost = True
        self._control.abort(f"the server refused this worker: {refusal}")
        self._spool.close()

    def _on_term(self, *_: object) -> None:
        # In a thread, because the signal may interrupt a holder of the required lock.
        threading.Thread(target=self._dismiss, daemon=True).start()

    def _dismiss(self) -> None:
        """Ends the run for the reason of the server, if the server has one."""
        answer: dict[str, Any] = {}
        with contextlib.suppress(Refused, Unreachable):
            answer = self._backend.heartbeat("active", {})
        self._backend.close()
        if "abort" in (answer.get("commands") or []):
            self._control.dismiss(str(answer.get("reason")), str(answer.get("reason_code")))
        self._control.dismiss("the worker received a termination signal", "signal")


@contextlib.contextmanager
def _time_limit(run: Run) -> Iterator[None]:
    """Ends the run at the time limit of the task."""
    minutes = run.constraints.time_limit_minutes
    if minutes is None:
        yield
        return
    seconds = min(minutes * 60, threading.TIMEOUT_MAX)
    timer = threading.Timer(
        seconds, run.control.abort, [f"the time limit of {minutes:g} minutes has passed", "time_limit"]
    )
    timer.name, timer.daemon = "time-limit", True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _return_unread(run: Run) -> None:
    """Logs undelivered messages, for their senders and for the next run."""
    for message in run.inbox.unread():
        data = {
            "message_id": message.id,
            "message_type": message.kind,
            "source": message.source,
            "content": message.content,
            "reason": "the run ended before the agent could read it",
        }
        run.emit(events.MESSAGE_UNDELIVERED, data, "worker", urgent=True)


def _outcome(run: Run, runtime: Runtime) -> Outcome:
    try:
        with _time_limit(run):
            return runtime.work(run)
    except Aborted as e:
        return Outcome.failed(str(e), run.control.abort_code)
    except BadConstraint as e:
        return Outcome.failed(str(e))
    except SpoolClosed:
        raise
    except Exception as e:
        # Any exception of an SDK ends the run and must be in the log of the run.
        log.exception("the %s runtime failed", runtime.name)
        return Outcome.failed(f"{type(e).__name__}: {e}", "crashed")
