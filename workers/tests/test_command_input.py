"""Tests of the input of the command runtime: task, messages, interrupts."""

from __future__ import annotations

import time
from typing import Any

import pytest

from backend import PATIENCE, TASK, TestBackend
from started import LISTENER, Started, python
from vivarium_worker import worker
from vivarium_worker.inbox import Inbox, Message
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes import command_input
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings

# More than a pipe holds.
LARGE_TASK = {"task_id": TASK, "title": "large", "description": "é" * 200_000}
# Reads nothing, and ends with an interrupt.
DEAF = """
import signal, sys
def stop(*_):
    print("interrupted", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""


def test_a_program_receives_a_message_for_the_next_turn_immediately_with_its_mode(
    settings: Settings, backend: TestBackend
) -> None:
    shows = 'import sys; sys.stdin.readline(); print("ready", flush=True); print(sys.stdin.readline())'
    started = Started(settings, python(shows))
    backend.await_event("agent.output")
    backend.send("later", kind="guidance", mode="next_turn")
    assert started.join() == worker.COMPLETED
    assert '"inject_mode": "next_turn"' in backend.of("agent.output")[-1]["text"]


def test_messages_reach_the_program_in_order_and_their_delivery_is_an_event(
    settings: Settings, backend: TestBackend
) -> None:
    started = Started(settings, python(LISTENER))
    backend.await_event("agent.output")
    began = time.monotonic()
    for word in ("one", "two", "enough"):
        backend.send(word)
    assert started.join() == worker.COMPLETED
    took = (time.monotonic() - began) * 1000
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "ready\nheard one\nheard two\nheard enough\n"
    delivered = backend.of("agent.message_delivered")
    assert [event["content"] for event in delivered] == ["one", "two", "enough"]
    assert all(0 <= event["latency_ms"] <= took + 1 for event in delivered)


def test_a_message_that_ends_the_program_is_delivered(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = Inbox.delivered

    def slowly(inbox: Inbox, messages: list[Message], how: str) -> None:
        time.sleep(0.3)
        at_once(inbox, messages, how)

    monkeypatch.setattr(Inbox, "delivered", slowly)
    started = Started(settings, python(LISTENER))
    backend.await_event("agent.output")
    backend.send("enough")
    assert started.join() == worker.COMPLETED
    assert "agent.message_undelivered" not in backend.types()
    assert backend.types().index("agent.message_delivered") < backend.types().index("agent.completed")


def test_a_message_at_the_end_of_a_run_stays_on_the_server(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Run.finish

    def late(run: Run, runtime: str, outcome: Outcome) -> None:
        backend.send("late")
        run.inbox._thread.join(PATIENCE)
        finish(run, runtime, outcome)

    monkeypatch.setattr(Run, "finish", late)
    assert worker.work(settings, CommandRuntime(["true"])) == worker.COMPLETED
    left = [*backend.state.queued, *backend.state.in_flight]
    told = backend.of("agent.message_undelivered")
    assert [message["content"] for message in [*left, *told]] == ["late"]


def test_an_interrupt_precedes_other_messages_and_signals_the_program(settings: Settings, backend: TestBackend) -> None:
    started = Started(settings, python(DEAF))
    backend.await_event("agent.output")
    backend.send("stop now", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert "agent.interrupted" in backend.types()


def test_a_message_is_acknowledged_when_the_program_can_read_it(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = command_input.Input._write

    def slowly(to: command_input.Input, line: dict[str, Any]) -> bool:
        if line["type"] == "message":
            time.sleep(0.5)
        return write(to, line)

    monkeypatch.setattr(command_input.Input, "_write", slowly)
    program = """
import json, os, pathlib, select, time
while b"\\n" not in os.read(0, 65536):
    pass
print("ready", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
heard = bool(select.select([0], [], [], 0)[0])
print(json.dumps({"type": "result", "summary": "heard" if heard else "deaf"}), flush=True)
"""
    started = Started(settings, python(program))
    backend.await_event("agent.output")
    backend.send("the other way")
    backend.await_received()
    (settings.workspace / "go").touch()
    assert started.join() == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "heard"


def test_an_interrupt_signals_a_program_with_a_full_input_pipe(settings: Settings, backend: TestBackend) -> None:
    backend.state.task = LARGE_TASK
    started = Started(settings, python(DEAF))
    backend.await_event("agent.output")
    backend.send("stop now", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert len(backend.of("agent.interrupted")) == 1
    undelivered = [message["content"] for message in backend.of("agent.message_undelivered")]
    assert undelivered == ["stop now"], "it was signalled, but not read"


def test_an_interrupt_signals_a_program_that_has_closed_its_input(settings: Settings, backend: TestBackend) -> None:
    started = Started(settings, python("import os\nos.close(0)\n" + DEAF))
    backend.await_event("agent.output")
    backend.send("stop now", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert len(backend.of("agent.interrupted")) == 1


def test_an_abort_works_while_a_large_task_is_unread(env: dict[str, str], backend: TestBackend) -> None:
    backend.state.task = LARGE_TASK
    settings = Settings.from_env({**env, "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["sh", "-c", "echo ready; exec sleep 600"]))
    backend.await_event("agent.output")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_a_large_task_reaches_a_program_that_reads_slowly(settings: Settings, backend: TestBackend) -> None:
    backend.state.task = LARGE_TASK
    program = """
import json, os
line = b""
while not line.endswith(b"\\n"):
    line += os.read(0, 1000)
print(len(json.loads(line)["task"]["description"]))
"""
    assert worker.work(settings, python(program)) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "200000"
