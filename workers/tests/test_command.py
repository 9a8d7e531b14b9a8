"""Any program as an agent, against a real server."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend import PATIENCE, TASK, TestBackend
from disk import FullDisk
from vivarium_worker import worker
from vivarium_worker.inbox import Inbox, Message
from vivarium_worker.records import RecordFile
from vivarium_worker.run import Outcome, Run, Runtime
from vivarium_worker.runtimes import command, command_input, command_program, command_stream
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.runtimes.command_program import Program
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool


def python(program: str) -> CommandRuntime:
    return CommandRuntime([sys.executable, "-u", "-c", program])


class Started:
    """A worker in a thread of its own, while the test plays the people around it."""

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
    """Until a process has ended, reaped or not."""
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


def test_a_program_that_prints_plain_text_is_logged_and_completes(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo hello; echo oops >&2"])) == worker.COMPLETED
    output = {(event["stream"], event["text"]) for event in backend.of("agent.output")}
    assert output == {("stdout", "hello\n"), ("stderr", "oops\n")}
    assert backend.types()[0] == "agent.started"
    assert backend.types()[-1] == "agent.completed"
    assert [status["status"] for status in backend.state.statuses] == ["in_progress", "completed"]
    assert backend.state.results[0]["status"] == "completed"


def test_a_program_that_is_not_there_fails_with_the_reason(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["no-such-program"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "no-such-program could not be started: No such file or directory"


def test_a_program_that_dies_at_once_fails_with_its_last_output(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo no licence >&2; exit 7"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "exit status 7: no licence"
    assert failed["exit_code"] == 7


def test_what_a_failing_program_printed_last_does_not_push_its_exit_status_out_of_the_reason(
    settings: Settings, backend: TestBackend
) -> None:
    program = "for i in range(20): print(str(i) + 'é' * 1000)\nprint('the end')\nraise SystemExit(3)"
    assert worker.work(settings, python(program)) == worker.FAILED
    assert "worker.event_rejected" not in backend.types()
    for reason in (backend.of("agent.failed")[0]["reason"], backend.state.results[0]["summary"]):
        assert reason.startswith("exit status 3: …")
        assert reason.endswith("the end")
        assert len(reason) < 8 * 1024


@pytest.mark.parametrize("code", [0, 4])
def test_a_program_that_says_that_it_failed_is_believed_and_its_words_are_the_reason(
    settings: Settings, backend: TestBackend, code: int
) -> None:
    said = '{"type": "result", "status": "failed", "summary": "I lost the key"}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo '{said}'; exit {code}"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["exit_code"]) == ("I lost the key", code)


def test_a_program_that_is_killed_by_a_signal_without_a_name_fails_with_its_last_output(
    settings: Settings, backend: TestBackend
) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo last words; kill -40 $$"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["exit_code"]) == ("killed by signal 40: last words", 168)


@pytest.mark.parametrize(("summary", "text"), [("null", "the last line"), ('{"é": [1]}', '{"é": [1]}'), ("7", "7")])
def test_a_summary_that_is_no_text_is_shown_as_it_was_said(
    settings: Settings, backend: TestBackend, summary: str, text: str
) -> None:
    said = f'{{"type": "result", "summary": {summary}}}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo the last line; echo '{said}'"])) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == text


def test_a_program_that_fails_without_words_fails_with_its_exit_status(
    settings: Settings, backend: TestBackend
) -> None:
    said = '{"type": "result", "status": "failed"}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo oops; echo '{said}'"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "exit status 0: oops"


@pytest.mark.parametrize("text", ["x" * 80_000, "é" * 45_000, "\x01" * 15_000])
def test_an_event_may_be_as_large_as_the_log_takes_it(settings: Settings, backend: TestBackend, text: str) -> None:
    event = {"type": "event", "event_type": "agent.note", "data": {"text": text}}
    (settings.workspace / "line").write_text(json.dumps(event) + "\n")
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo before; cat line; echo after"])) == worker.COMPLETED
    assert backend.of("agent.note")[0]["text"] == text
    assert "".join(event["text"] for event in backend.of("agent.output")) == "before\nafter\n"


def test_a_line_that_is_too_long_for_an_event_is_output_and_why_is_told(
    settings: Settings, backend: TestBackend
) -> None:
    line = json.dumps({"type": "event", "event_type": "agent.note", "data": {"text": "x" * 1_500_000}}) + "\n"
    (settings.workspace / "line").write_text("before\n" + line)
    assert worker.work(settings, CommandRuntime(["cat", "line"])) == worker.COMPLETED
    assert "".join(event["text"] for event in backend.of("agent.output")) == "before\n" + line
    assert "truncated" not in str(backend.of("agent.output"))
    (error,) = backend.of("agent.error")
    assert error["problem"] == "a line of JSON has more than 1048576 bytes; it is taken as output"


def test_only_a_whole_line_speaks(settings: Settings, backend: TestBackend) -> None:
    said = '{"type": "result", "summary": "not said"}'
    program = f"print('x' * 65536 + {said!r})"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"].endswith(said)
    assert backend.of("agent.completed")[0]["summary"] != "not said"


# More than a pipe holds: who prints it must be read.
MUCH = "for i in range(20000): print('x' * 50)"


def test_a_line_that_nests_without_end_is_output(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, python("print('{\"a\":' + '[' * 60000)\n" + MUCH)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == '{"a":' + "[" * 60000 + "\n" + ("x" * 50 + "\n") * 20000


@pytest.mark.parametrize("cost", ["1" + "0" * 400, "1e400", "NaN", "-1", "true", '"a lot"'])
def test_a_cost_that_is_no_amount_is_not_counted_and_hides_no_other(
    env: dict[str, str], backend: TestBackend, cost: str
) -> None:
    said = [f'{{"type": "usage", "cost_usd": {amount}}}' for amount in (cost, "0.5")]
    settings = Settings.from_env({**env, "BUDGET_USD": "0.4"})
    program = f"import time\nfor said in {said!r}: print(said)\n{MUCH}\ntime.sleep(600)"
    assert worker.work(settings, python(program)) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["cost_usd"]) == ("the budget of $0.4 is spent", 0.5)


def test_a_line_that_is_not_understood_is_output_and_the_next_one_is_read(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confused(*_: Any, **__: Any) -> None:
        raise LookupError("what?")

    monkeypatch.setattr(Run, "progress", confused)
    said = ['{"type": "progress"}', '{"type": "result", "summary": "done"}']
    assert worker.work(settings, python(f"for said in {said!r}: print(said)\n{MUCH}")) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "done"
    assert backend.of("agent.output")[0]["text"].startswith(said[0] + "\n")
    problem = "a line was not understood and is taken as output: LookupError: what?"
    assert [error["problem"] for error in backend.of("agent.error")] == [problem]


def test_a_disk_that_fails_ends_the_run_with_the_reason(
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


def test_a_program_finds_the_model_where_libraries_look_for_it(env: dict[str, str], backend: TestBackend) -> None:
    settings = Settings.from_env({**env, "MODEL_URL": "http://127.0.0.1:1/model", "MODEL_TOKEN": "for the gateway"})
    shown = "echo $ANTHROPIC_BASE_URL,$OPENAI_BASE_URL,$ANTHROPIC_API_KEY,$OPENAI_API_KEY,$MODEL"
    assert worker.work(settings, CommandRuntime(["sh", "-c", shown])) == worker.COMPLETED
    url, token = "http://127.0.0.1:1/model", "for the gateway"
    assert backend.of("agent.output")[0]["text"] == f"{url},{url}/v1,{token},{token},claude-sonnet-4-5\n"


SPEAKER = """
import json, sys
say = lambda **line: print(json.dumps(line))
task = json.loads(sys.stdin.readline())["task"]
say(type="event", event_type="agent.tool_use", data={"tool_name": "read", "source": "inside", "event_type": "x"})
say(type="progress", message="half way", progress_percent=50)
say(type="usage", input_tokens=10, output_tokens=2, cost_usd=0.01)
say(type="usage", input_tokens=5, cost_usd=0.02)
print("plain words")
say(type="event", event_type="bad type!", data={})
say(type="result", summary="did " + task["title"])
"""


def test_a_program_that_speaks_is_understood(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, python(SPEAKER)) == worker.COMPLETED
    tool = backend.of("agent.tool_use")[0]
    assert (tool["tool_name"], tool["source"], tool["event_type"]) == ("read", "inside", "x")
    completed = backend.of("agent.completed")[0]
    assert completed["summary"] == "did Say hello"
    assert completed["tools"] == {"read": 1}
    assert completed["usage"]["input_tokens"] == 15
    assert abs(completed["cost_usd"] - 0.03) < 1e-9
    assert backend.state.progress[0]["progress_percent"] == 50
    assert "event_type must be" in backend.of("agent.error")[0]["problem"]


# It prints nothing of the protocol.
OVER_HTTP = """
import json, os, urllib.request
def say(path, **body):
    token = {"Authorization": "Bearer " + os.environ["SANDBOX_TOKEN"], "Content-Type": "application/json"}
    url = os.environ["BACKEND_URL"] + "/api/v1" + path
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), token)).close()
box, task = "/sandboxes/" + os.environ["SANDBOX_ID"], "/sandbox/task/" + os.environ["TASK_ID"]
say(box + "/events", event_id="e1", event_type="agent.message", event_data={"text": "by HTTP"}, source="agent")
say(task + "/progress", event_type="half_way", message="half way")
say(task + "/results", status="partial", summary="handed in", files_changed=[])
print("some output")
"""


@pytest.mark.parametrize("code", [0, 5])
def test_a_program_may_speak_http_and_its_result_stays(settings: Settings, backend: TestBackend, code: int) -> None:
    ended = worker.work(settings, python(f"{OVER_HTTP}\nraise SystemExit({code})"))
    assert ended == (worker.FAILED if code else worker.COMPLETED)
    assert [event["text"] for event in backend.of("agent.message")] == ["by HTTP"]
    assert backend.state.progress[0]["message"] == "half way"
    assert [result["summary"] for result in backend.state.results] == ["handed in"]
    assert backend.state.statuses[-1]["status"] == ("failed" if code else "completed")


def test_a_result_that_is_printed_is_the_last_word(settings: Settings, backend: TestBackend) -> None:
    printed = 'print(json.dumps({"type": "result", "summary": "printed"}))'
    assert worker.work(settings, python(OVER_HTTP + printed)) == worker.COMPLETED
    assert [result["summary"] for result in backend.state.results] == ["handed in", "printed"]


def test_what_an_earlier_worker_left_is_no_result_of_this_program(settings: Settings, backend: TestBackend) -> None:
    left = Spool(settings.state / f"spool-{settings.sandbox_id}", settings.spool_bytes)
    left.append({"id": "evt_old", "to": "results", "body": {"status": "failed", "summary": "old", "files_changed": []}})
    left.close()
    assert worker.work(settings, CommandRuntime(["echo", "new"])) == worker.COMPLETED
    assert [result["summary"] for result in backend.state.results] == ["old", "new"]


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


def test_a_program_gets_a_message_for_its_next_turn_at_once_and_is_told_so(
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


def test_a_program_that_ends_on_a_message_has_had_it(
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


def test_a_message_that_comes_with_the_end_of_a_run_stays_with_the_server(
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


def test_an_interrupt_overtakes_and_signals_the_program(settings: Settings, backend: TestBackend) -> None:
    program = """
import json, signal, sys
def stop(*_):
    print("interrupted", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""
    started = Started(settings, python(program))
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


# More than a pipe holds.
LARGE_TASK = {"task_id": TASK, "title": "large", "description": "é" * 200_000}
DEAF = """
import os, signal, sys, time
def stop(*_):
    print("interrupted", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""


def test_an_interrupt_signals_a_program_that_reads_nothing_and_has_been_told_much(
    settings: Settings, backend: TestBackend
) -> None:
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


def test_a_large_task_that_a_program_does_not_read_does_not_keep_an_abort_from_it(
    env: dict[str, str], backend: TestBackend
) -> None:
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


def test_an_abort_ends_also_those_whom_the_program_has_started_and_who_ignore_it(
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


def test_a_program_that_ignores_an_abort_is_killed_also_when_nobody_can_look_for_it(
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
    """As in a sandbox: whoever loses its parent becomes a child of the worker."""
    libc, set_subreaper = ctypes.CDLL(None), 36
    libc.prctl(set_subreaper, 1)
    yield
    libc.prctl(set_subreaper, 0)


@pytest.mark.usefixtures("adopting")
def test_those_whom_a_program_has_left_to_the_worker_leave_no_zombies(settings: Settings, backend: TestBackend) -> None:
    orphans = "for n in 1 2 3 4 5; do (sleep 0.1 & echo $! >>pids); done"
    started = Started(settings, CommandRuntime(["sh", "-c", f"{orphans}; echo ready; read task; read enough"]))
    backend.await_event("agent.output")
    pids = (settings.workspace / "pids").read_text().split()
    for pid in pids:
        await_no(Path("/proc", pid))
    backend.send("enough")
    assert started.join() == worker.COMPLETED
    assert len(pids) == 5


def test_those_whom_a_program_has_started_have_time_to_end_after_it(
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


def test_a_program_does_not_outlive_a_run_that_could_not_begin(
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


def test_a_paused_program_stands_still_until_it_is_resumed(env: dict[str, str], backend: TestBackend) -> None:
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


def test_a_program_that_is_paused_and_resumed_at_once_goes_on(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by a thread of its own; the one that pauses is slow to do so."""
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


def test_a_worker_that_is_told_to_end_before_its_run_is_made_ends(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = worker.Worker(settings, CommandRuntime(["sleep", "30"]))
    recover = Inbox._recover

    def meanwhile(inbox: Inbox, path: Path) -> RecordFile:
        told._on_term()
        return recover(inbox, path)

    monkeypatch.setattr(Inbox, "_recover", meanwhile)
    assert told.work() == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "the worker was told to end"


def test_an_abort_ends_a_run_whose_spool_is_full_and_what_was_taken_arrives_later(
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


def test_an_abort_ends_a_run_whose_disk_is_full_and_the_server_hears_of_it(
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


ASKING = """
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "review", "id": "r1", "reason": "merge_conflict", "description": "which?"}), flush=True)
answer = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "summary": answer["id"] + " " + answer["status"] + " " + answer["option"]}))
"""


def test_a_blocking_review_waits_for_a_person(settings: Settings, backend: TestBackend) -> None:
    started = Started(settings, python(ASKING))
    backend.await_that(lambda state: state.reviews, "a review")
    backend.answer("rev-1", "approved", "keep_ours")
    assert started.join() == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "r1 approved keep_ours"


def test_what_a_person_says_at_once_is_heard_too(settings: Settings, backend: TestBackend) -> None:
    backend.prompt_answer = {"status": "approved", "option": "keep_ours"}
    assert worker.work(settings, python(ASKING)) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "r1 approved keep_ours"


def test_a_budget_that_is_spent_ends_the_run(env: dict[str, str], backend: TestBackend) -> None:
    program = """
import json, time
print(json.dumps({"type": "usage", "cost_usd": 0.02}), flush=True)
time.sleep(600)
"""
    settings = Settings.from_env({**env, "BUDGET_USD": "0.01"})
    assert worker.work(settings, python(program)) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "the budget of $0.01 is spent"


def test_a_flood_of_output_becomes_few_events_and_loses_no_byte(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, python("for i in range(20000): print(i)")) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "".join(f"{i}\n" for i in range(20000))
    assert len(backend.of("agent.output")) < 100


def test_the_last_words_of_a_program_come_before_its_end_however_slow_the_disk_is(
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
def test_a_daemon_that_a_program_left_behind_does_not_hold_up_its_end(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    daemon = f"(until [ -e stop ]; do {does}; sleep 0.001; done) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo ready; {daemon}"])) == worker.COMPLETED
    (settings.workspace / "stop").touch()
    assert backend.of("agent.output")[0]["text"].startswith("ready\n")


def test_output_that_is_no_text_and_has_no_line_feed_is_kept(settings: Settings, backend: TestBackend) -> None:
    program = r"import sys; sys.stdout.buffer.write(b'\xff\x00{' + b'x' * 300000)"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "\ufffd\x00{" + "x" * 300000


@pytest.mark.parametrize(
    ("constraints", "field"),
    [
        ({"allowed_tools": "bash"}, "constraints.allowed_tools"),
        ({"allowed_tools": [1]}, "constraints.allowed_tools"),
        ({"allowed_tools": {"bash": True}}, "constraints.allowed_tools"),
        ({"time_limit_minutes": "soon"}, "constraints.time_limit_minutes"),
        ({"time_limit_minutes": True}, "constraints.time_limit_minutes"),
        ({"time_limit_minutes": 0}, "constraints.time_limit_minutes"),
        ({"time_limit_minutes": -1}, "constraints.time_limit_minutes"),
        (["bash"], "constraints"),
        ("none", "constraints"),
    ],
)
def test_a_task_whose_constraints_cannot_be_kept_is_not_run(
    settings: Settings, backend: TestBackend, constraints: Any, field: str
) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = constraints
    assert worker.work(settings, CommandRuntime(["touch", "ran"])) == worker.FAILED
    assert not (settings.workspace / "ran").exists()
    assert backend.of("agent.failed")[0]["reason"].startswith(f"{field} must be ")


@pytest.mark.parametrize("constraints", [None, {}, {"allowed_tools": None}, {"time_limit_minutes": 1e300, "own": 1}])
def test_constraints_that_can_be_kept_do_no_harm(settings: Settings, backend: TestBackend, constraints: Any) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = constraints
    assert worker.work(settings, CommandRuntime(["true"])) == worker.COMPLETED


def test_a_time_limit_ends_the_run_with_the_reason(settings: Settings, backend: TestBackend) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = {"time_limit_minutes": 0.001}
    assert worker.work(settings, CommandRuntime(["sleep", "600"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "the time limit of 0.001 minutes has passed"


def test_a_character_is_whole_wherever_the_output_is_cut(settings: Settings, backend: TestBackend) -> None:
    program = "import sys; sys.stdout.buffer.write(b'a' + 'é€😀'.encode() * 30000 + b'\\xe2\\x82')"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "a" + "é€😀" * 30000 + "\ufffd"


@pytest.mark.parametrize("what", ["\\n", "\\x1b", "\\xff"])
def test_output_that_takes_more_room_in_an_event_loses_no_byte(
    settings: Settings, backend: TestBackend, what: str
) -> None:
    program = f"import sys; sys.stdout.buffer.write(b'{what}' * 150000)"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert len(text) == 150000
    assert len(set(text)) == 1
    assert "truncated" not in str(backend.of("agent.output"))


def test_a_last_line_that_has_no_end_is_logged_though_a_daemon_could_end_it(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_stream, "GRACE_SECONDS", 0.05)
    daemon = "(until [ -e stop ]; do sleep 0.05; done) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"printf 'no end'; {daemon}"])) == worker.COMPLETED
    (settings.workspace / "stop").touch()
    assert "".join(event["text"] for event in backend.of("agent.output")) == "no end"


def test_what_a_daemon_prints_after_the_end_is_no_event(
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


def test_without_a_task_nothing_is_run(settings: Settings, backend: TestBackend, tmp_path: Path) -> None:
    backend.state.task = None
    assert worker.work(settings, CommandRuntime(["touch", str(tmp_path / "ran")])) == worker.NO_TASK
    assert not (tmp_path / "ran").exists()


def test_a_dead_token_ends_the_program_and_keeps_what_was_not_delivered(
    settings: Settings, backend: TestBackend
) -> None:
    started = Started(settings, CommandRuntime(["sh", "-c", "while :; do echo tick; sleep 0.05; done"]))
    backend.await_event("agent.output")
    backend.state.token = "another"
    assert started.join() == worker.LOST
    backend.state.token = "worker-token"
    before = len(backend.types())
    assert worker.work(settings, CommandRuntime(["true"])) == worker.COMPLETED
    assert backend.types()[before] == "agent.output", "what was left is delivered first"
