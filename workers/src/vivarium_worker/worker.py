"""Puts one worker together, and takes it apart again."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from . import events
from .backend import Backend, Refused
from .connection import Unreachable
from .control import Aborted
from .courier import Courier
from .heartbeat import Heartbeat
from .run import Outcome, Run, Runtime
from .settings import Settings
from .spool import Spool, SpoolClosed

log = logging.getLogger(__name__)

COMPLETED = 0
FAILED = 1
NO_TASK = 2
LOST = 3
UNDELIVERED = 4


def work(settings: Settings, runtime: Runtime) -> int:
    """Runs one task to its end. The exit status says how; everything else is in the log."""
    backend = Backend(settings)
    spool = Spool(settings.state / f"spool-{settings.sandbox_id}", settings.spool_bytes)
    lost: list[Refused] = []
    runs: list[Run] = []

    def on_lost(refusal: Refused) -> None:
        lost.append(refusal)
        for run in runs:
            run.control.abort(f"the server refused this worker: {refusal}")
        # Nobody empties it any more: whoever waits for room would wait for ever.
        spool.close()

    courier = Courier(spool, backend, settings.state / "refused.log", on_lost)
    courier.start()
    try:
        status = _run(settings, runtime, backend, spool, runs)
        delivered = spool.drain(settings.drain_seconds)
        if lost:
            return LOST
        if courier.next_action:
            log.info("the server asks for: %s", courier.next_action)
        return status if delivered else UNDELIVERED
    except SpoolClosed:
        return LOST
    except Refused as e:
        log.error("no task: %s", e)
        return NO_TASK if e.status == 404 else LOST
    except Unreachable as e:
        log.error("the server was not reached: %s", e)
        return UNDELIVERED
    finally:
        courier.close()
        spool.close()
        backend.close()


def _run(settings: Settings, runtime: Runtime, backend: Backend, spool: Spool, runs: list[Run]) -> int:
    run = Run(settings, backend.task(), spool, backend)
    runs.append(run)
    if spool.damaged:
        run.emit(events.SPOOL_DAMAGED, {"records": spool.damaged}, "worker")
    heartbeat = Heartbeat(backend, run.control, settings.heartbeat_seconds, run.command)
    heartbeat.start()
    run.inbox.start()
    try:
        spool.append(
            {
                "id": events.new_id(),
                "to": "status",
                "body": {"status": "in_progress", "message": runtime.name},
            }
        )
        started = {
            "runtime": runtime.name,
            "task_id": settings.task_id,
            "title": str(run.task.get("title", "")),
            "model": settings.model.name,
            "resumed_from": settings.resume,
        }
        run.emit(events.STARTED, started)
        with _time_limit(run):
            outcome = _outcome(run, runtime)
        _return_unread(run)
        run.finish(runtime.name, outcome, transcript(settings, runtime))
        return COMPLETED if outcome.completed else FAILED
    finally:
        heartbeat.close()
        run.inbox.close()


@contextlib.contextmanager
def _time_limit(run: Run) -> Iterator[None]:
    """Ends the run when the task's own limit has passed."""
    minutes = (run.task.get("constraints") or {}).get("time_limit_minutes")
    if not isinstance(minutes, int | float) or minutes <= 0:
        yield
        return
    timer = threading.Timer(minutes * 60, run.control.abort, [f"the time limit of {minutes} minutes has passed"])
    timer.name, timer.daemon = "time-limit", True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _return_unread(run: Run) -> None:
    """Messages that came too late are not lost: the log has them, for who sent them and for the next run."""
    for message in run.inbox.pending():
        data = {
            "message_id": message.id,
            "message_type": message.kind,
            "source": message.source,
            "content": message.content,
            "reason": "the run ended before the agent could read it",
        }
        run.emit(events.MESSAGE_UNDELIVERED, data, "worker")


def _outcome(run: Run, runtime: Runtime) -> Outcome:
    try:
        return runtime.work(run)
    except Aborted as e:
        return Outcome.failed(str(e))
    except SpoolClosed:
        raise
    except Exception as e:
        # Whatever goes wrong in an SDK is the end of this run and must be said in the log, not only here.
        log.exception("the %s runtime failed", runtime.name)
        return Outcome.failed(f"{type(e).__name__}: {e}")


def transcript(settings: Settings, runtime: Runtime) -> Path | None:
    """Where the runtime keeps what another sandbox needs to go on from here."""
    directory = settings.state / runtime.name
    return directory if directory.is_dir() else None
