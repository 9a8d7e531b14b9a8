"""Carries what is in the spool to the server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import events
from .backend import Backend, Refused, Stopped
from .records import RecordFile
from .spool import Spool, SpoolClosed

log = logging.getLogger(__name__)


class Courier:
    """One thread that delivers in order, each record until the server has it. Safe to call from any thread.

    The log knows an event by the id it got in the spool, so a repeat after a lost answer changes nothing. A
    record that the server will never take is set aside on disk, and the log is told.
    """

    def __init__(self, spool: Spool, backend: Backend, aside: Path, on_lost: Callable[[Refused], None]) -> None:
        self._spool = spool
        self._backend = backend
        self._aside = aside
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)
        self.next_action: str | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stops; what has not arrived stays in the spool for the next worker."""
        self._stop.set()
        self._spool.release()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                record = self._spool.take(timeout=0.5)
                if record is not None:
                    self._deliver(record)
        except (Stopped, SpoolClosed):
            pass
        except Refused as e:
            log.error("the server no longer knows this worker: %s", e)
            self._on_lost(e)
        finally:
            self._backend.close()

    def _deliver(self, record: dict[str, Any]) -> None:
        try:
            self._send(record)
        except Refused as e:
            if e.final:
                raise
            self._set_aside(record, e)
        self._spool.acknowledge()

    def _send(self, record: dict[str, Any]) -> None:
        answer = self._backend.deliver(record["to"], record["id"], record["body"], self._stop)
        if record["to"] == "results":
            action = answer.get("next_action")
            self.next_action = str(action) if action else None

    def _set_aside(self, record: dict[str, Any], refusal: Refused) -> None:
        log.error("the server refused a record for good: %s: %s", refusal, record["id"])
        try:
            aside = RecordFile(self._aside)
            try:
                aside.append({"record": record, "status": refusal.status, "problem": refusal.problem})
            finally:
                aside.close()
        except OSError as e:
            log.error("it could not be set aside either, and is lost: %s: %s", e, record)
        body = record["body"]
        # A refused notice of a refusal is on disk and in the worker's own log; no notice of that one.
        if body.get("event_type") != events.EVENT_REJECTED:
            notice = {
                "event_id": record["id"],
                "to": record["to"],
                "event_type": str(body.get("event_type", ""))[:100],
                "status": refusal.status,
                "problem": refusal.problem[:1000],
            }
            self._spool.append(events.record(events.EVENT_REJECTED, notice, "worker"), urgent=True)
