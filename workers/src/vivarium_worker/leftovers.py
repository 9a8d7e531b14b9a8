"""Processes that a run left behind."""

from __future__ import annotations

import contextlib
import os
import signal

# Largest number of scans. Each finds the processes that the earlier ones missed.
MAX_SCANS = 50


def kill_run(run_id: str) -> int:
    """Kills all processes with this run in their environment, also those of another session. Returns their number."""
    marker = f"RUN_ID={run_id}".encode()
    stopped: set[int] = set()
    for _ in range(MAX_SCANS):
        found = {process for process in _processes(marker) if process not in stopped}
        if not found:
            break
        # A stopped process starts no others.
        for process in found:
            _send(process, signal.SIGSTOP)
        stopped |= found
    for process in stopped:
        _send(process, signal.SIGKILL)
    return len(stopped)


def _processes(marker: bytes) -> list[int]:
    return [
        int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid() and _has(name, marker)
    ]


def _has(process: str, marker: bytes) -> bool:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return marker in file.read().split(b"\0")
    except OSError:
        return False


def _send(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
