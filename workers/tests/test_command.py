"""Tests of the command runtime: results, protocol lines and environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from started import MUCH, Started, python
from vivarium_worker import worker
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool


def test_a_program_that_prints_plain_text_is_logged_and_completes(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo hello; echo oops >&2"])) == worker.COMPLETED
    output = {(event["stream"], event["text"]) for event in backend.of("agent.output")}
    assert output == {("stdout", "hello\n"), ("stderr", "oops\n")}
    assert backend.types()[0] == "agent.started"
    assert backend.types()[-1] == "agent.completed"
    assert [status["status"] for status in backend.state.statuses] == ["in_progress", "completed"]
    assert backend.state.results[0]["status"] == "completed"


def test_a_missing_program_fails_with_the_reason(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["no-such-program"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "no-such-program could not be started: No such file or directory"


def test_a_program_that_exits_immediately_fails_with_its_last_output(settings: Settings, backend: TestBackend) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo no licence >&2; exit 7"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "exit status 7: no licence"
    assert failed["exit_code"] == 7


def test_the_reason_has_the_exit_status_before_the_last_output(settings: Settings, backend: TestBackend) -> None:
    program = "for i in range(20): print(str(i) + 'é' * 1000)\nprint('the end')\nraise SystemExit(3)"
    assert worker.work(settings, python(program)) == worker.FAILED
    assert "worker.event_rejected" not in backend.types()
    for reason in (backend.of("agent.failed")[0]["reason"], backend.state.results[0]["summary"]):
        assert reason.startswith("exit status 3: …")
        assert reason.endswith("the end")
        assert len(reason) < 8 * 1024


@pytest.mark.parametrize("code", [0, 4])
def test_a_failed_result_of_a_program_is_the_reason(settings: Settings, backend: TestBackend, code: int) -> None:
    said = '{"type": "result", "status": "failed", "summary": "I lost the key"}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo '{said}'; exit {code}"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["exit_code"]) == ("I lost the key", code)


@pytest.mark.parametrize("status", ['"error"', '"partial"', '"FAILED"', "7", "{}"])
def test_a_result_with_an_unknown_status_is_not_a_success(
    settings: Settings, backend: TestBackend, status: str
) -> None:
    said = f'{{"type": "result", "status": {status}, "summary": "it went wrong"}}'
    assert worker.work(settings, CommandRuntime(["echo", said])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "it went wrong"
    assert "must be completed or failed" in backend.of("agent.error")[0]["problem"]


def test_a_program_that_is_killed_by_a_signal_without_a_name_fails_with_its_last_output(
    settings: Settings, backend: TestBackend
) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", "echo last words; kill -40 $$"])) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["exit_code"]) == ("killed by signal 40: last words", 168)


@pytest.mark.parametrize(("summary", "text"), [("null", "the last line"), ('{"é": [1]}', '{"é": [1]}'), ("7", "7")])
def test_a_summary_that_is_not_text_is_converted(
    settings: Settings, backend: TestBackend, summary: str, text: str
) -> None:
    said = f'{{"type": "result", "summary": {summary}}}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo the last line; echo '{said}'"])) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == text


def test_a_program_that_fails_without_output_fails_with_its_exit_status(
    settings: Settings, backend: TestBackend
) -> None:
    said = '{"type": "result", "status": "failed"}'
    assert worker.work(settings, CommandRuntime(["sh", "-c", f"echo oops; echo '{said}'"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "exit status 0: oops"


@pytest.mark.parametrize("cost", ["1" + "0" * 400, "1e400", "NaN", "-1", "true", '"a lot"'])
def test_an_invalid_cost_is_ignored(env: dict[str, str], backend: TestBackend, cost: str) -> None:
    said = [f'{{"type": "usage", "cost_usd": {amount}}}' for amount in (cost, "0.5")]
    settings = Settings.from_env({**env, "BUDGET_USD": "0.4"})
    program = f"import time\nfor said in {said!r}: print(said)\n{MUCH}\ntime.sleep(600)"
    assert worker.work(settings, python(program)) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert (failed["reason"], failed["cost_usd"]) == ("budget: spent $0.50 of $0.40", 0.5)


def test_the_environment_has_the_model_variables_of_libraries(env: dict[str, str], backend: TestBackend) -> None:
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


def test_protocol_lines_of_a_program_are_handled(settings: Settings, backend: TestBackend) -> None:
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
def test_a_result_that_a_program_sends_over_http_stays(settings: Settings, backend: TestBackend, code: int) -> None:
    ended = worker.work(settings, python(f"{OVER_HTTP}\nraise SystemExit({code})"))
    assert ended == (worker.FAILED if code else worker.COMPLETED)
    assert [event["text"] for event in backend.of("agent.message")] == ["by HTTP"]
    assert backend.state.progress[0]["message"] == "half way"
    assert [result["summary"] for result in backend.state.results] == ["handed in"]
    assert backend.state.statuses[-1]["status"] == ("failed" if code else "completed")


def test_a_printed_result_takes_precedence(settings: Settings, backend: TestBackend) -> None:
    printed = 'print(json.dumps({"type": "result", "summary": "printed"}))'
    assert worker.work(settings, python(OVER_HTTP + printed)) == worker.COMPLETED
    assert [result["summary"] for result in backend.state.results] == ["handed in", "printed"]


def test_a_report_of_an_earlier_worker_is_not_a_result(settings: Settings, backend: TestBackend) -> None:
    left = Spool(settings.state / f"spool-{settings.sandbox_id}", settings.spool_bytes)
    left.append({"id": "evt_old", "to": "results", "body": {"status": "failed", "summary": "old", "files_changed": []}})
    left.close()
    assert worker.work(settings, CommandRuntime(["echo", "new"])) == worker.COMPLETED
    assert [result["summary"] for result in backend.state.results] == ["old", "new"]


ASKING = """
import json, sys
sys.stdin.readline()
print(json.dumps({"type": "review", "id": "r1", "reason": "merge_conflict", "description": "which?"}), flush=True)
answer = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "summary": answer["id"] + " " + answer["status"] + " " + answer["option"]}))
"""


def test_a_blocking_review_waits_for_a_decision(settings: Settings, backend: TestBackend) -> None:
    started = Started(settings, python(ASKING))
    backend.await_that(lambda state: state.reviews, "a review")
    backend.answer("rev-1", "approved", "keep_ours")
    assert started.join() == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "r1 approved keep_ours"


def test_a_blocking_review_stops_the_program_until_the_answer(settings: Settings, backend: TestBackend) -> None:
    program = """
import json, os
print(os.getpid(), flush=True)
question = {"type": "review", "id": "r1", "reason": "r", "description": "d", "options": ["Keep ours", "Keep it"],
            "timeout_minutes": 5, "on_timeout": "fail"}
print(json.dumps(question), flush=True)
while not os.path.exists("go"):
    pass
"""
    started = Started(settings, python(program))
    backend.await_event("agent.output")
    process = Path("/proc", backend.of("agent.output")[0]["text"].strip(), "stat")
    backend.await_that(lambda state: state.reviews, "a review")
    backend.await_that(lambda _: process.read_text().rpartition(")")[2].split()[0] == "T", "a stopped program")
    assert backend.state.reviews["rev-1"]["context"]["options"] == [
        {"id": "keep-ours", "label": "Keep ours"},
        {"id": "keep-it", "label": "Keep it"},
    ]
    assert backend.state.reviews["rev-1"]["timeout_minutes"] == 5
    assert backend.state.reviews["rev-1"]["on_timeout"] == "fail"
    (settings.workspace / "go").touch()
    backend.answer("rev-1", "answered", "keep-ours")
    assert started.join() == worker.COMPLETED


def test_an_immediate_decision_is_received(settings: Settings, backend: TestBackend) -> None:
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
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "budget: spent $0.02 of $0.01"
    assert failed["reason_code"] == "budget"
    assert backend.state.results[-1]["summary"] == failed["reason"]


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 7", "exit_status"), ("kill -9 $$", "signal"), ("no-such-program", "exit_status")],
)
def test_a_failure_has_a_reason_code(settings: Settings, backend: TestBackend, script: str, code: str) -> None:
    assert worker.work(settings, CommandRuntime(["sh", "-c", script])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason_code"] == code


def test_a_failure_that_the_program_reports_is_final(settings: Settings, backend: TestBackend) -> None:
    program = """
import json
for kind in ("failed", "completed"):
    data = {"reason": "no access", "summary": "fine"}
    print(json.dumps({"type": "event", "event_type": f"agent.{kind}", "data": data}), flush=True)
"""
    assert worker.work(settings, python(program)) == worker.FAILED
    assert [failed["reason"] for failed in backend.of("agent.failed")] == ["no access"]
    assert backend.of("agent.completed") == []


def test_a_time_limit_has_a_reason_code(settings: Settings, backend: TestBackend) -> None:
    backend.state.task = {**(backend.state.task or {}), "constraints": {"time_limit_minutes": 0.001}}
    assert worker.work(settings, CommandRuntime(["sleep", "600"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason_code"] == "time_limit"


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
def test_a_task_with_invalid_constraints_is_not_run(
    settings: Settings, backend: TestBackend, constraints: Any, field: str
) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = constraints
    assert worker.work(settings, CommandRuntime(["touch", "ran"])) == worker.FAILED
    assert not (settings.workspace / "ran").exists()
    assert backend.of("agent.failed")[0]["reason"].startswith(f"{field} must be ")


@pytest.mark.parametrize("constraints", [None, {}, {"allowed_tools": None}, {"time_limit_minutes": 1e300, "own": 1}])
def test_valid_constraints_are_accepted(settings: Settings, backend: TestBackend, constraints: Any) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = constraints
    assert worker.work(settings, CommandRuntime(["true"])) == worker.COMPLETED


def test_a_time_limit_ends_the_run_with_the_reason(settings: Settings, backend: TestBackend) -> None:
    assert backend.state.task is not None
    backend.state.task["constraints"] = {"time_limit_minutes": 0.001}
    assert worker.work(settings, CommandRuntime(["sleep", "600"])) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "the time limit of 0.001 minutes has passed"


def test_without_a_task_nothing_is_run(settings: Settings, backend: TestBackend, tmp_path: Path) -> None:
    backend.state.task = None
    assert worker.work(settings, CommandRuntime(["touch", str(tmp_path / "ran")])) == worker.NO_TASK
    assert not (tmp_path / "ran").exists()


def test_a_revoked_token_ends_the_program_and_keeps_the_spool(settings: Settings, backend: TestBackend) -> None:
    started = Started(settings, CommandRuntime(["sh", "-c", "while :; do echo tick; sleep 0.05; done"]))
    backend.await_event("agent.output")
    backend.state.token = "another"
    assert started.join() == worker.LOST
    backend.state.token = "worker-token"
    before = len(backend.types())
    assert worker.work(settings, CommandRuntime(["true"])) == worker.COMPLETED
    assert backend.types()[before] == "agent.output", "what was left is delivered first"
