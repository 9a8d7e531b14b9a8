"""Heartbeats to the server, and its commands."""

from __future__ import annotations

import logging
import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from .backend import Backend, Refused
from .connection import Unreachable
from .control import Control
from .spool import SpoolClosed

log = logging.getLogger(__name__)


# Shortest interval of heartbeats during a pause, because the response to a heartbeat ends it.
PAUSED_SECONDS = 1.0
# Longest time that the server waits for a command before it responds.
MOST_WAIT_SECONDS = 60


class Heartbeat:
    """Thread that sends heartbeats and executes the commands in the replies. Thread-safe.

    The server responds to a heartbeat when it has a command, at the latest after the interval. Therefore a command
    takes effect at once.
    """

    def __init__(
        self, backend: Backend, control: Control, seconds: float, on_command: Callable[[str, str, str], None]
    ) -> None:
        self._backend = backend
        self._control = control
        self._seconds = seconds
        self._on_command = on_command
        self._began = monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        meter = CpuMeter()
        try:
            while not self._stop.is_set():
                began, was_paused = monotonic(), self._is_paused()
                self._beat(meter)
                # After a change, the next response must not wait for the interval.
                if self._is_paused() == was_paused:
                    interval = min(self._seconds, PAUSED_SECONDS) if was_paused else self._seconds
                    self._stop.wait(max(0.0, interval - (monotonic() - began)))
        except SpoolClosed:
            # The spool rejected the record of a command, because the run is ending.
            pass
        finally:
            self._backend.close()

    def _is_paused(self) -> bool:
        return self._control.is_paused_by("server")

    def _beat(self, meter: CpuMeter) -> None:
        metrics = {
            "cpu_percent": meter.percent(),
            "memory_mb": memory_mb(),
            "uptime_seconds": round(monotonic() - self._began, 1),
        }
        try:
            status, wait = "paused" if self._is_paused() else "active", int(min(self._seconds, MOST_WAIT_SECONDS))
            answer = self._backend.heartbeat(status, metrics, wait, stop=self._stop)
            for command in answer.get("commands") or []:
                self._obey(str(command), str(answer.get("reason") or ""), str(answer.get("reason_code") or ""))
        except Unreachable as e:
            log.warning("a heartbeat was not delivered: %s", e)
        except Refused as e:
            log.error("a heartbeat was refused: %s", e)

    def _obey(self, command: str, why: str, code: str) -> None:
        """Executes a command. A failure must not stop the heartbeats."""
        try:
            self._on_command(command, why, code)
        except SpoolClosed:
            raise
        except Exception:
            log.exception("a command of the server failed: %s", command)


class CpuMeter:
    """CPU usage of this worker and its reaped children between two samples."""

    def __init__(self) -> None:
        self._wall, self._cpu = monotonic(), _cpu_seconds()

    def percent(self) -> float:
        wall, cpu = monotonic(), _cpu_seconds()
        share = (cpu - self._cpu) / max(wall - self._wall, 1e-3)
        self._wall, self._cpu = wall, cpu
        return round(100 * max(0.0, share), 1)


def memory_mb() -> float:
    """Resident memory of all visible processes, which are those of the sandbox."""
    pages = 0
    for statm in Path("/proc").glob("[0-9]*/statm"):
        try:
            pages += int(statm.read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1048576, 1)


def _cpu_seconds() -> float:
    children: Any = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + float(children.ru_utime) + float(children.ru_stime)
