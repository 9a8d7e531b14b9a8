"""Delivery of spooled records to the server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from . import events
from .backend import Backend, Refused, Stopped
from .records import RecordFile, encode
from .spool import Spool, SpoolClosed

log = logging.getLogger(__name__)

# Limits of one call. The server limits the number of calls, so batches keep a verbose agent fast.
MOST_EVENTS = 100
MOST_BYTES = 512 * 1024
# Delay after an unexpected exception.
PAUSE_SECONDS = 1.0


class SpoolDelivery:
    """Thread that delivers records in order and retries each until the server has it. Thread-safe.

    An event has its id from the spool, so a repetition after a lost response has no effect. A record that the server
    rejects permanently moves to a file, and the log gets an event.
    """

    def __init__(
        self, spool: Spool, backend: Backend, task: str, aside: Path, on_lost: Callable[[Refused], None]
    ) -> None:
        self._spool = spool
        self._task = task
        self._backend = backend
        self._aside = aside
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
        self._has_results = False
        self.next_action: str | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stops the thread. Undelivered records stay in the spool for the next worker."""
        self._stop.set()
        self._spool.release()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                if self._spool.take(timeout=0.5) is not None:
                    self._bring(self._next())
        except (Stopped, SpoolClosed):
            pass
        except Refused as e:
            log.error("the server rejects this worker: %s", e)
            self._on_lost(e)
        finally:
            self._backend.close()

    def _bring(self, records: list[dict[str, Any]]) -> None:
        """Retries after any failure, because nothing else empties the spool."""
        try:
            self._deliver(records)
        except (Stopped, SpoolClosed, Refused):
            raise
        except Exception:
            log.exception("the spool could not be delivered; retrying")
            self._stop.wait(PAUSE_SECONDS)

    def _next(self) -> list[dict[str, Any]]:
        """Returns the oldest record; if it is an event, with the events that follow it directly."""
        records = self._spool.peek(MOST_EVENTS)
        count, size = 1, len(encode(records[0]))
        while count < len(records) and records[count - 1]["to"] == records[count]["to"] == "events":
            size += len(encode(records[count]))
            if size > MOST_BYTES:
                break
            count += 1
        return records[:count]

    def _deliver(self, records: list[dict[str, Any]]) -> None:
        try:
            if len(records) == 1:
                self._send(records[0])
            else:
                self._backend.deliver_events([record["body"] for record in records], self._stop)
        except Refused as e:
            if e.final:
                raise
            if len(records) > 1:
                # The server rejected the batch because of one event and stored none.
                for record in records:
                    self._deliver([record])
                return
            self._set_aside(records[0], e)
        self._spool.acknowledge(len(records))

    def _send(self, record: dict[str, Any]) -> None:
        if record.get("task", self._task) != self._task:
            self._send_late(record)
            return
        if record.get("default") and self._is_handed_in():
            return
        answer = self._backend.deliver(record["to"], record["id"], record["body"], self._stop)
        if record["to"] == "results":
            self._has_results = True
            action = answer.get("next_action")
            self.next_action = str(action) if action else None

    def _send_late(self, record: dict[str, Any]) -> None:
        """Drops a report of an earlier worker for a task that is over, and logs it."""
        data = {"task_id": record["task"], "to": record["to"], **record["body"]}
        event = events.record(events.REPORT_UNDELIVERED, data, "worker", record["id"])
        self._backend.deliver(event["to"], event["id"], event["body"], self._stop)

    def _is_handed_in(self) -> bool:
        """Reports whether the task already has a result, which the agent's program sent over HTTP."""
        if self._has_results:
            return False
        try:
            return self._backend.task(self._stop).get("result") is not None
        except Refused:
            return False

    def _set_aside(self, record: dict[str, Any], refusal: Refused) -> None:
        log.error("the server refused a record for good: %s: %s", refusal, record["id"])
        try:
            aside = RecordFile(self._aside)
            try:
                aside.append({"record": record, "status": refusal.status, "problem": refusal.problem})
            finally:
                aside.close()
        except OSError as e:
            log.error("the refused record could not be stored and is lost: %s: %s", e, record)
        body = record["body"]
        # A rejected rejection event causes no further event. The worker's log has it.
        if body.get("event_type") != events.EVENT_REJECTED:
            notice = {
                "event_id": record["id"],
                "to": record["to"],
                "event_type": str(body.get("event_type", ""))[:100],
                "status": refusal.status,
                "problem": refusal.problem[:1000],
            }
            # The id derives from the record's id, so a repetition after a crash has no effect.
            identity = "evt_" + uuid5(NAMESPACE_OID, f"refused {record['id']}").hex
            self._spool.append(events.record(events.EVENT_REJECTED, notice, "worker", identity), urgent=True)
