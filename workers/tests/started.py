"""Worker in a thread, for tests that act as its users."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from scripted import PATIENCE
from vivarium_worker import worker
from vivarium_worker.run import Runtime
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings

# A program that says what it hears, until that is enough.
LISTENER = """
import json, sys
print("ready", flush=True)
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] == "message":
        print("heard " + said["content"], flush=True)
        if said["content"] == "enough":
            break
"""
# More than a pipe holds: who prints it must be read.
MUCH = "for i in range(20000): print('x' * 50)"


class Started:
    """Worker in a thread, while the test acts as its users."""

    def __init__(self, settings: Settings, runtime: Runtime) -> None:
        self.status = -1
        self._thread = threading.Thread(target=self._work, args=(settings, runtime), daemon=True)
        self._thread.start()

    def _work(self, settings: Settings, runtime: Runtime) -> None:
        self.status = worker.work(settings, runtime)

    def join(self, seconds: float = PATIENCE) -> int:
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the worker did not end"
        return self.status


def await_file(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} never came"
        time.sleep(0.02)


def await_no(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while path.exists():
        assert time.monotonic() < deadline, f"{path} is still there"
        time.sleep(0.02)


def await_end(pid: int) -> None:
    """Waits until a process has exited, reaped or not."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return
        if stat.rpartition(") ")[2].startswith("Z"):
            return
        assert time.monotonic() < deadline, f"{pid} still runs"
        time.sleep(0.02)


def python(program: str) -> CommandRuntime:
    return CommandRuntime([sys.executable, "-u", "-c", program])
