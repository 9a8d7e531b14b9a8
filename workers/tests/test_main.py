"""Tests of the worker as a process with its environment and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from backend import PATIENCE, TestBackend

SOURCES = str(Path(__file__).parent.parent / "src")


def started(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES, "HOME": "/nonexistent", **env}
    command = [sys.executable, "-m", "vivarium_worker", *arguments]
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=60, check=False)


def test_a_run_from_start_to_end(env: dict[str, str], backend: TestBackend) -> None:
    secret = {"MODEL_TOKEN": "for the gateway"}
    done = started({**env, **secret}, "command", "--", "sh", "-c", "env; echo $HOME > $HOME/kept; touch here")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "", "standard output stays free"
    output = "".join(data["text"] for data in backend.of("agent.output"))
    assert "SANDBOX_ID=" in output
    assert "MODEL_TOKEN" not in output
    assert f"SANDBOX_TOKEN={env['SANDBOX_TOKEN']}\n" in output, "the program is the agent, and may speak for itself"
    assert (Path(env["WORKSPACE_DIR"]) / "here").exists()
    assert (Path(env["WORKER_STATE_DIR"]) / "home" / "kept").exists()


def test_a_terminated_worker_ends_the_program_and_reports_it(env: dict[str, str], backend: TestBackend) -> None:
    worker = launched(env, "sh", "-c", "echo $$; exec sleep 600")
    backend.await_event("agent.output")
    worker.terminate()
    assert worker.wait(30) == 1
    assert backend.of("agent.failed")[0]["reason"] == "the worker received a termination signal"


def test_a_killed_worker_leaves_no_program(env: dict[str, str], backend: TestBackend) -> None:
    worker = launched(env, "sh", "-c", "echo $$; exec sleep 600")
    pid = int(backend.await_event("agent.output")["text"])
    worker.kill()
    worker.wait()
    deadline = time.monotonic() + 20
    while running(pid):
        assert time.monotonic() < deadline, "the program is still there"
        time.sleep(0.02)


def launched(env: dict[str, str], *program: str) -> subprocess.Popen[bytes]:
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES, **env}
    return subprocess.Popen([sys.executable, "-m", "vivarium_worker", "command", "--", *program], env=own)


def running(pid: int) -> bool:
    """Reports whether the process runs and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_missing_setting_is_named(env: dict[str, str]) -> None:
    done = started({**env, "TASK_ID": ""}, "command", "--", "true")
    assert done.returncode == 64
    assert "TASK_ID is not set" in done.stderr


def test_the_next_worker_delivers_the_spool_of_the_last(env: dict[str, str], backend: TestBackend) -> None:
    backend.fault("/events", "503", times=100000)
    told = launched({**env, "DRAIN_SECONDS": "0.2"}, "sleep", "600")
    backend.await_that(lambda state: state.statuses, "the run has begun")
    told.terminate()
    assert told.wait(PATIENCE) == 4
    assert backend.types() == []
    backend.state.faults.clear()
    assert started(env, "command", "--", "true").returncode == 0
    assert backend.types() == ["agent.started", "agent.failed", "agent.started", "agent.completed"]
