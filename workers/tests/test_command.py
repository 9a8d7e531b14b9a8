"""Any program as an agent, against a real server."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from backend import PATIENCE, TestBackend
from vivarium_worker import worker
from vivarium_worker.inbox import Inbox, Message
from vivarium_worker.run import Runtime
from vivarium_worker.runtimes import command
from vivarium_worker.runtimes.command import CommandRuntime
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
    monkeypatch.setattr(command, "GRACE_SECONDS", 0.05)
    line = '{"type": "event", "event_type": "agent.message", "data": {"text": "%d"}}'
    program = CommandRuntime(["sh", "-c", f"seq 100 | while read n; do printf '{line}\\n' $n; done"])
    assert worker.work(settings, program) == worker.COMPLETED
    assert [event["text"] for event in backend.of("agent.message")] == [str(n) for n in range(1, 101)]
    assert backend.types()[-1] == "agent.completed"


@pytest.mark.parametrize("does", [":", "echo tick"])
def test_a_daemon_that_a_program_left_behind_does_not_hold_up_its_end(
    settings: Settings, backend: TestBackend, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setattr(command, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(command, "PIPE_BYTES", 1024)
    daemon = f"(until [ -e stop ]; do {does}; sleep 0.001; done) &"
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo ready; {daemon}"])) == worker.COMPLETED
    (settings.workspace / "stop").touch()
    assert backend.of("agent.output")[0]["text"].startswith("ready\n")


def test_output_that_is_no_text_and_has_no_line_feed_is_kept(settings: Settings, backend: TestBackend) -> None:
    program = r"import sys; sys.stdout.buffer.write(b'\xff\x00{' + b'x' * 300000)"
    assert worker.work(settings, python(program)) == worker.COMPLETED
    text = "".join(event["text"] for event in backend.of("agent.output"))
    assert text == "\ufffd\x00{" + "x" * 300000


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
