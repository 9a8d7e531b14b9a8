"""Tests of the output of the command runtime: protocol lines and plain output."""

from __future__ import annotations

import errno
import json
import time
from typing import Any

import pytest

from backend import TestBackend
from started import MUCH, await_file, python
from vivarium_worker import worker
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes import command_stream
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool


@pytest.mark.parametrize("text", ["x" * 80_000, "é" * 45_000, "\x01" * 15_000])
def test_an_event_may_have_the_maximum_size_of_the_log(settings: Settings, backend: TestBackend, text: str) -> None:
    event = {"type": "event", "event_type": "agent.note", "data": {"text": text}}
    (settings.workspace / "line").write_text(json.dumps(event) + "\n")
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo before; cat line; echo after"])) == worker.COMPLETED
    assert backend.of("agent.note")[0]["text"] == text
    assert "".join(event["text"] for event in backend.of("agent.output")) == "before\nafter\n"


def test_a_line_that_is_too_long_for_an_event_is_output_with_a_reason(settings: Settings, backend: TestBackend) -> None:
    line = json.dumps({"type": "event", "event_type": "agent.note", "data": {"text": "x" * 1_500_000}}) + "\n"
    (settings.workspace / "line").write_text("before\n" + line)
    assert worker.work(settings, CommandRuntime(["cat", "line"])) == worker.COMPLETED
    assert "".join(event["text"] for event in backend.of("agent.output")) == "before\n" + line
    assert "truncated" not in str(backend.of("agent.output"))
    (error,) = backend.of("agent.error")
    assert error["problem"] == "a line of JSON has more than 1048576 bytes; it is taken as output"


def test_only_a_complete_line_is_a_protocol_line(settings: Settings, backend: TestBackend) -> None:
    said = '{"type": "result", "summary": "not said"}'
    program = f"print('x' * 65536 + {said!r})"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"].endswith(said)
    assert backend.of("agent.completed")[0]["summary"] != "not said"


def test_a_deeply_nested_line_is_output(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, python("print('{\"a\":' + '[' * 60000)\n" + MUCH)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == '{"a":' + "[" * 60000 + "\n" + ("x" * 50 + "\n") * 20000


def test_an_invalid_line_is_output_and_the_next_one_is_read(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confused(*_: Any, **__: Any) -> None:
        raise LookupError("what?")

    monkeypatch.setattr(Run, "progress", confused)
    said = ['{"type": "progress"}', '{"type": "result", "summary": "done"}']
    assert worker.work(settings, python(f"for said in {said!r}: print(said)\n{MUCH}")) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "done"
    assert backend.of("agent.output")[0]["text"].startswith(said[0] + "\n")
    problem = "a line could not be parsed and is taken as output: LookupError: what?"
    assert [error["problem"] for error in backend.of("agent.error")] == [problem]


def test_a_failed_disk_ends_the_run_with_the_reason(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Spool.append

    def failing(spool: Spool, record: dict[str, Any], urgent: bool = False) -> None:
        if record["body"].get("event_type") == "agent.output":
            raise OSError(errno.EIO, "input/output error")
        whole(spool, record, urgent)

    monkeypatch.setattr(Spool, "append", failing)
    assert worker.work(settings, python("while True: print('x' * 1000)")) == worker.FAILED
    reason = backend.of("agent.failed")[0]["reason"]
    assert reason == f"stdout could not be logged: OSError: [Errno {errno.EIO}] input/output error"


def test_much_output_becomes_few_events_without_loss(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, python("for i in range(20000): print(i)")) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "".join(f"{i}\n" for i in range(20000))
    assert len(backend.of("agent.output")) < 100


def test_the_last_output_of_a_program_precedes_its_end(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = Spool.append

    def slowly(spool: Spool, record: dict[str, Any], urgent: bool = False) -> None:
        time.sleep(0.01)
        at_once(spool, record, urgent)

    monkeypatch.setattr(Spool, "append", slowly)
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    line = '{"type": "event", "event_type": "agent.message", "data": {"text": "%d"}}'
    program = CommandRuntime(["sh", "-c", f"seq 100 | while read n; do printf '{line}\\n' $n; done"])
    assert worker.work(settings, program) == worker.COMPLETED
    assert [event["text"] for event in backend.of("agent.message")] == [str(n) for n in range(1, 101)]
    assert backend.types()[-1] == "agent.completed"


@pytest.mark.parametrize("does", [":", "echo tick"])
def test_a_daemon_of_a_program_does_not_delay_its_end(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    daemon = f"(until [ -e stop ]; do {does}; sleep 0.001; done) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo ready; {daemon}"])) == worker.COMPLETED
    (settings.workspace / "stop").touch()
    assert backend.of("agent.output")[0]["text"].startswith("ready\n")


def test_binary_output_without_a_line_feed_is_logged(settings: Settings, backend: TestBackend) -> None:
    program = r"import sys; sys.stdout.buffer.write(b'\xff\x00{' + b'x' * 300000)"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "\ufffd\x00{" + "x" * 300000


def test_a_character_is_whole_wherever_the_output_is_cut(settings: Settings, backend: TestBackend) -> None:
    program = "import sys; sys.stdout.buffer.write(b'a' + 'é€😀'.encode() * 30000 + b'\\xe2\\x82')"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "a" + "é€😀" * 30000 + "\ufffd"


@pytest.mark.parametrize("what", ["\\n", "\\x1b", "\\xff"])
def test_output_that_grows_by_escaping_loses_no_byte(settings: Settings, backend: TestBackend, what: str) -> None:
    program = f"import sys; sys.stdout.buffer.write(b'{what}' * 150000)"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert len(text) == 150000
    assert len(set(text)) == 1
    assert "truncated" not in str(backend.of("agent.output"))


def test_a_last_line_without_a_line_feed_is_logged_despite_a_daemon(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    daemon = "(until [ -e stop ]; do sleep 0.05; done) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"printf 'no end'; {daemon}"])) == worker.COMPLETED
    (settings.workspace / "stop").touch()
    assert "".join(event["text"] for event in backend.of("agent.output")) == "no end"


def test_output_of_a_daemon_after_the_end_is_not_logged(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    finish = Run.finish

    def then_it_speaks(run: Run, runtime: str, outcome: Outcome) -> None:
        finish(run, runtime, outcome)
        (settings.workspace / "go").touch()
        await_file(settings.workspace / "gone")

    monkeypatch.setattr(Run, "finish", then_it_speaks)
    said = '{"type": "event", "event_type": "agent.message", "data": {"text": "too late"}}'
    daemon = f"(until [ -e go ]; do sleep 0.05; done; echo '{said}'; seq 50000; touch gone) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo ready; {daemon}"])) == worker.COMPLETED
    assert backend.types()[-1] == "agent.completed"
