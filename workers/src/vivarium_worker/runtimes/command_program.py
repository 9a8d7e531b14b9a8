"""Process group of the program in the command runtime."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import IO

# Time from SIGTERM to SIGKILL.
GRACE_SECONDS = 5.0
# Poll interval during that time.
LOOK_SECONDS = 0.05
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Program:
    """Program and its process group. Thread-safe.

    After a normal exit, background processes continue, for example a server that the task had to start. After an
    abort, none remains: the group keeps its number until `close`, so that its members can be killed.
    """

    def __init__(self, argv: list[str], directory: Path, env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            argv,
            bufsize=0,
            cwd=directory,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_die_with_us,  # noqa: PLW1509 - one system call, prepared beforehand
        )
        self._group = self._process.pid
        # Held during a signal and guards both fields: the system may reuse a reaped process id.
        self._lock = threading.Lock()
        self._ended = False
        self._reaped = False
        self._terminated = threading.Event()
        # Started early, because the program may have exhausted the process limit later.
        self._killer = threading.Thread(target=self._kill_late, name="killer", daemon=True)
        try:
            self._killer.start()
        except RuntimeError:
            self._send(signal.SIGKILL)
            self._reap()
            raise

    @property
    def stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        assert self._process.stderr is not None
        return self._process.stderr

    def __enter__(self) -> Program:
        return self

    def __exit__(self, _type: type[BaseException] | None, _e: BaseException | None, _at: TracebackType | None) -> None:
        self.close()

    def wait(self) -> int:
        """Waits for the exit of the program. Returns the status, or the negative signal number."""
        while (how := _first_to_end(self._group)).si_pid != self._group:
            # An orphaned descendant that the kernel has reparented to this worker.
            os.waitid(os.P_PID, how.si_pid, os.WEXITED)
        with self._lock:
            self._ended = True
        return how.si_status if how.si_code == os.CLD_EXITED else -how.si_status

    def signal(self, number: int) -> None:
        """Signals the whole group while the program runs."""
        with self._lock:
            if not self._ended:
                self._send(number)

    def terminate(self) -> None:
        """Sends SIGTERM to the group, and SIGKILL after the time limit."""
        with self._lock:
            if self._terminated.is_set() or self._reaped:
                return
            self._send(signal.SIGTERM)
            # A stopped program does not handle SIGTERM, so it is continued.
            self._send(signal.SIGCONT)
            self._terminated.set()

    def wait_terminated(self) -> None:
        """Waits until the whole group has exited or was killed."""
        if self._terminated.is_set():
            self._killer.join()

    def close(self) -> None:
        """Reaps the program and kills it if it still runs."""
        with self._lock:
            if not self._ended and not self._reaped:
                self._send(signal.SIGKILL)
        self.wait_terminated()
        with self._lock:
            self._reap()
        # Stops the thread, which is no longer needed.
        self._terminated.set()

    def _reap(self) -> None:
        if not self._reaped:
            self._process.wait()
            self._reaped = True

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._group, number)

    def _kill_late(self) -> None:
        self._terminated.wait()
        deadline = monotonic() + GRACE_SECONDS
        while not self._reaped and _lives(self._group) and monotonic() < deadline:
            sleep(LOOK_SECONDS)
        with self._lock:
            if not self._reaped:
                self._send(signal.SIGKILL)


def _die_with_us() -> None:
    """Runs in the child: makes the kernel kill the program when the worker dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _first_to_end(group: int) -> os.waitid_result:
    """Waits for the exit of a child in the group without reaping it."""
    how = os.waitid(os.P_PGID, group, os.WEXITED | os.WNOWAIT)
    assert how is not None
    return how


def _lives(group: int) -> bool:
    """Reports whether a process of the group runs or may run. Zombies do not count."""
    try:
        return any(_is_live_member(name, group) for name in os.listdir("/proc") if name.isdigit())
    except (OSError, ValueError):
        # Without access to /proc the answer is unknown, so the group may run.
        return True


def _is_live_member(process: str, group: int) -> bool:
    try:
        stat = Path("/proc", process, "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False
    # The program name may contain any character, including brackets.
    state, _, members_group = stat[stat.rindex(b")") + 2 :].split()[:3]
    return int(members_group) == group and state not in (b"Z", b"X")


def name_of(status: int) -> str:
    """Describes an exit status."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
