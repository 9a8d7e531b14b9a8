"""Tests of pause and abort of the program and its child processes."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import PATIENCE, TestBackend
from disk import FullDisk
from started import LISTENER, Started, await_end, await_no, python
from vivarium_worker import worker
from vivarium_worker.control import Control
from vivarium_worker.inbox import Inbox
from vivarium_worker.records import RecordFile
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes import command, command_program, command_stream
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.runtimes.command_program import Program
from vivarium_worker.settings import Settings


def test_an_abort_kills_child_processes_that_ignore_it(
    env: dict[str, str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_program, "GRACE_SECONDS", 0.5)
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    stubborn = "trap '' TERM; echo $$ >pid.new; mv pid.new pid; while :; do sleep 0.1; done"
    program = f'sh -c "{stubborn.replace("$", chr(92) + "$")}" >/dev/null 2>&1 & until [ -e pid ]; do sleep 0.1; done'
    started = Started(settings, CommandRuntime(["sh", "-c", f"{program}; echo ready; wait"]))
    backend.await_event("agent.output")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    await_end(int((settings.workspace / "pid").read_text()))


def test_a_program_that_ignores_an_abort_is_killed_without_proc(
    env: dict[str, str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir

    def exhausted(path: str = ".") -> list[str]:
        if path == "/proc":
            raise OSError(errno.EMFILE, "too many open files")
        return listed(path)

    monkeypatch.setattr(os, "listdir", exhausted)
    monkeypatch.setattr(command_program, "GRACE_SECONDS", 0.1)
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]))
    backend.await_event("agent.output")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    assert backend.of("agent.failed")[0]["exit_code"] == 128 + signal.SIGKILL


@pytest.fixture
def adopting() -> Iterator[None]:
    """Makes the worker a subreaper, as in a sandbox."""
    libc, set_subreaper = ctypes.CDLL(None), 36
    libc.prctl(set_subreaper, 1)
    yield
    libc.prctl(set_subreaper, 0)


@pytest.mark.usefixtures("adopting")
def test_reparented_processes_leave_no_zombies(settings: Settings, backend: TestBackend) -> None:
    orphans = "for n in 1 2 3 4 5; do (sleep 0.1 & echo $! >>pids); done"
    started = Started(settings, CommandRuntime(["sh", "-c", f"{orphans}; echo ready; read task; read enough"]))
    backend.await_event("agent.output")
    pids = (settings.workspace / "pids").read_text().split()
    for pid in pids:
        await_no(Path("/proc", pid))
    backend.send("enough")
    assert started.join() == worker.COMPLETED
    assert len(pids) == 5


def test_child_processes_have_time_to_exit_after_the_program(
    env: dict[str, str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_program, "GRACE_SECONDS", PATIENCE)
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    careful = """
import pathlib, signal, sys, time
def clean(*_):
    time.sleep(0.5)
    print("cleaned", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, clean)
print("ready", flush=True)
while True:
    signal.pause()
"""
    (settings.workspace / "careful.py").write_text(careful)
    started = Started(settings, CommandRuntime(["sh", "-c", f"{sys.executable} careful.py & wait"]))
    backend.await_event("agent.output")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    assert "".join(event["text"] for event in backend.of("agent.output")) == "ready\ncleaned\n"


def test_a_program_does_not_outlive_a_run_that_failed_to_start(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs: list[Program] = []

    class Kept(Program):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            programs.append(self)

    def no_thread(_: command_stream.Stream) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(command, "Program", Kept)
    monkeypatch.setattr(command_stream.Stream, "start", no_thread)
    assert worker.work(settings, CommandRuntime(["sleep", "600"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "RuntimeError: can't start new thread"
    assert programs[0]._process.returncode == -signal.SIGKILL


def test_an_abort_by_heartbeat_ends_the_run_with_the_reason(env: dict[str, str], backend: TestBackend) -> None:
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["sh", "-c", "echo ready; sleep 600"]))
    backend.await_event("agent.output")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_a_paused_program_is_stopped_until_it_is_resumed(
    env: dict[str, str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume = Control.resume

    def late(control: Control, why: str) -> None:
        resume(control, why)
        backend.await_event("agent.completed")

    monkeypatch.setattr(Control, "resume", late)
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, python(LISTENER))
    backend.await_event("agent.output")
    backend.state.commands.append("pause")
    backend.await_event("agent.paused")
    backend.send("enough")
    backend.await_event("agent.message_delivered")
    assert started._thread.is_alive()
    backend.state.commands.append("resume")
    assert started.join() == worker.COMPLETED
    assert backend.types().index("agent.resumed") < backend.types().index("agent.completed")


def test_a_program_that_is_paused_and_resumed_concurrently_continues(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads pause and resume; the pause is slow."""
    runs: list[Run] = []
    killpg = os.killpg

    def slowly(group: int, number: int) -> None:
        if number == signal.SIGSTOP:
            resuming = threading.Thread(target=runs[0].control.resume, args=("test",), daemon=True)
            resuming.start()
            resuming.join(0.3)
        killpg(group, number)

    class Watched(CommandRuntime):
        def work(self, run: Run) -> Outcome:
            runs.append(run)
            return super().work(run)

    monkeypatch.setattr(os, "killpg", slowly)
    started = Started(settings, Watched([sys.executable, "-u", "-c", LISTENER]))
    backend.await_event("agent.output")
    runs[0].control.pause("test")
    backend.send("enough")
    assert started.join() == worker.COMPLETED


def test_a_worker_that_is_terminated_before_its_run_exits(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = worker.Worker(settings, CommandRuntime(["sleep", "30"]))
    recover = Inbox._recover

    def meanwhile(inbox: Inbox, path: Path) -> RecordFile:
        told._on_term()
        return recover(inbox, path)

    monkeypatch.setattr(Inbox, "_recover", meanwhile)
    assert told.work() == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "the worker received a termination signal"


def test_an_abort_ends_a_run_with_a_full_spool_and_its_events_arrive_later(
    env: dict[str, str], backend: TestBackend, caplog: pytest.LogCaptureFixture
) -> None:
    few = {"SPOOL_BYTES": "20000", "DRAIN_SECONDS": "0.1", "HEARTBEAT_SECONDS": "0.05"}
    backend.fault("/events", "503", times=1_000_000)
    started = Started(Settings.from_env({**env, **few}), python("while True: print('x' * 1000)"))
    deadline = time.monotonic() + PATIENCE
    while "spool is full" not in caplog.text:
        assert time.monotonic() < deadline, "the spool is never full"
        time.sleep(0.02)
    backend.state.commands.append("abort")
    assert started.join() == worker.UNDELIVERED
    backend.state.faults.clear()
    assert worker.work(Settings.from_env(env), CommandRuntime(["true"])) == worker.COMPLETED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_an_abort_ends_a_run_with_a_full_disk_and_reports_it(
    env: dict[str, str], backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["sh", "-c", "while :; do echo tick; sleep 0.05; done"]))
    backend.await_event("agent.output")
    disk = FullDisk(monkeypatch)
    disk.refused.wait()
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"
