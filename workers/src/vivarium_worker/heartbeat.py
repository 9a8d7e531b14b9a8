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


class Heartbeat:
    """Thread that sends heartbeats and executes the commands in the replies. Thread-safe."""

    def __init__(self, backend: Backend, control: Control, seconds: float, on_command: Callable[[str], None]) -> None:
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
                self._beat(meter)
                self._stop.wait(self._seconds)
        except SpoolClosed:
            # The spool rejected the record of a command, because the run is ending.
            pass
        finally:
            self._backend.close()

    def _beat(self, meter: CpuMeter) -> None:
        metrics = {
            "cpu_percent": meter.percent(),
            "memory_mb": memory_mb(),
            "uptime_seconds": round(monotonic() - self._began, 1),
        }
        try:
            for command in self._backend.heartbeat("paused" if self._control.paused else "active", metrics):
                self._obey(command)
        except Unreachable as e:
            log.warning("a heartbeat did not arrive: %s", e)
        except Refused as e:
            log.error("a heartbeat was refused: %s", e)

    def _obey(self, command: str) -> None:
        """Executes a command. A failure must not stop the heartbeats."""
        try:
            self._on_command(command)
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
