"""The real OpenHands SDK and its tools, against the scripted model and a real server. No network."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from scripted import Play
from test_command import Started
from vivarium_worker import worker
from vivarium_worker.runtimes.openhands import OpenHandsRuntime
from vivarium_worker.settings import Settings

# 1000 tokens in and 50 out, in dollars, by the price list of the SDK.
COSTS = {"openai/gpt-4o": 0.003, "anthropic/claude-sonnet-4-5": 0.00375}


def terminal(command: str) -> list[dict[str, Any]]:
    return [{"name": "terminal", "input": {"command": command, "security_risk": "LOW", "summary": "as told"}}]


def settings_for(env: dict[str, str], url: str, model: str = "openai/gpt-4o", **more: str) -> Settings:
    return Settings.from_env({**env, "MODEL": model, "MODEL_URL": url, "MODEL_RETRIES": "1", **more})


@pytest.mark.parametrize("name", sorted(COSTS))
def test_a_task_is_done_with_tools_and_everything_is_told(
    env: dict[str, str], backend: TestBackend, play: Play, name: str
) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    create = {"command": "create", "path": str(workspace / "hello.txt"), "file_text": "hello\nthere\n"}
    create |= {"security_risk": "LOW", "summary": "as told"}
    model = play(
        {
            "when": {"contains": "Write hello.txt"},
            "text": "I write it.",
            "tools": [{"name": "file_editor", "input": create}],
        },
        {"text": "And look.", "tools": terminal("cat hello.txt; echo done > shell.txt")},
    )
    assert worker.work(settings_for(env, model.url, name), OpenHandsRuntime()) == worker.COMPLETED
    assert (workspace / "hello.txt").read_text() == "hello\nthere\n"
    assert (workspace / "shell.txt").read_text() == "done\n"
    assert [data["text"] for data in backend.of("agent.message")] == ["I write it.", "And look.", "All done."]
    assert [data["tool_name"] for data in backend.of("agent.tool_use")] == ["file_editor", "terminal"]
    assert "hello\nthere" in backend.of("agent.tool_result")[1]["content"].replace("\r", "")
    completed = backend.of("agent.completed")[0]
    assert completed["summary"] == "All done."
    assert completed["cost_usd"] == pytest.approx(3 * COSTS[name])
    assert completed["usage"]["input_tokens"] == 3000
    assert completed["usage"]["output_tokens"] == 150
    assert completed["tools"] == {"file_editor": 1, "terminal": 1}
    created = {"path": "hello.txt", "action": "created", "lines_added": 2, "lines_removed": 0}
    assert backend.state.results[0]["files_changed"] == [created]
    kept = list(Path(completed["transcript"]).rglob("event-*.json"))
    assert any("I write it." in file.read_text() for file in kept)


def test_a_message_during_a_tool_changes_the_next_step(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    go = Path(env["WORKSPACE_DIR"]) / "go"
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": terminal("until [ -e go ]; do sleep 0.02; done")},
        {
            "when": {"contains": "use the other API"},
            "text": "As you say.",
            "tools": terminal("echo other | tee api.txt"),
        },
        {"when": {"lacks": "other"}, "text": "As planned.", "tools": terminal("echo plain > api.txt")},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.send("use the other API")
    backend.await_that(lambda state: not state.queued, "the message is fetched")
    go.touch()
    assert started.join(60) == worker.COMPLETED
    assert (go.parent / "api.txt").read_text() == "other\n"
    assert backend.of("agent.message_delivered")[0]["how"] == "conversation"


def test_a_message_while_the_model_thinks_stops_the_tool_that_it_decided_on(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    model = play(
        {
            "when": {"contains": "Write hello.txt"},
            "delay_ms": 2000,
            "text": "Rash.",
            "tools": terminal("touch rash.txt"),
        },
        {"when": {"contains": ["stop", "Read it first"]}, "text": "Sorry.", "tools": terminal("touch wise.txt")},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    model.await_question()
    backend.send("stop, be wise", kind="guardian_nudge", source="guardian")
    assert started.join(60) == worker.COMPLETED
    assert not (workspace / "rash.txt").exists()
    assert (workspace / "wise.txt").exists()
    assert "[guardian nudge from guardian] stop, be wise" in json.dumps(model.asked()[-2])


def test_an_interrupt_ends_the_running_tool_and_the_agent_goes_on_with_what_it_is_told(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": terminal("sleep 600")},
        {"when": {"contains": "do this instead"}, "text": "Better.", "tools": terminal("echo instead > instead.txt")},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.send("do this instead", kind="interrupt")
    assert started.join(90) == worker.COMPLETED
    assert (Path(env["WORKSPACE_DIR"]) / "instead.txt").read_text() == "instead\n"
    assert "agent.interrupted" in backend.types()


def test_a_message_during_the_last_answer_has_an_answer_of_its_own(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "delay_ms": 1000, "text": "That is all."},
        {"when": {"contains": "one more thing"}, "text": "And that too."},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    model.await_question()
    backend.send("one more thing")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "And that too."
    assert len(backend.of("agent.message_delivered")) == 1


def test_an_interrupt_without_words_stops_the_agent_until_it_is_told_more(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": terminal("sleep 600")},
        {"when": {"contains": "now go on"}, "text": "I went on."},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.send("", kind="interrupt")
    backend.await_event("agent.message_delivered")
    backend.send("now go on", kind="guidance")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "I went on."
    assert backend.types().count("agent.interrupted") == 1


def test_a_conversation_is_resumed_and_pays_for_its_own_part_only(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play({"when": {"contains": "Write hello.txt"}, "text": "I remember 4711."})
    assert worker.work(settings_for(env, model.url), OpenHandsRuntime()) == worker.COMPLETED
    session = backend.of("agent.completed")[0]["session_id"]
    backend.state.task = {"task_id": "task-1", "title": "Go on", "description": "What was the number?"}
    resumed = settings_for(env, model.url, RESUME_SESSION=session, BUDGET_USD="0.004")
    assert worker.work(resumed, OpenHandsRuntime()) == worker.COMPLETED
    second = backend.of("agent.completed")[1]
    assert second["session_id"] == session
    assert second["cost_usd"] == pytest.approx(COSTS["openai/gpt-4o"])
    assert "I remember 4711." in model.asked()[-1]["body"]


def test_a_budget_ends_the_run(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"times": 0, "text": "More.", "tools": terminal("true")})
    assert worker.work(settings_for(env, model.url, BUDGET_USD="0.005"), OpenHandsRuntime()) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "the budget of $0.005 is spent"
    assert failed["cost_usd"] == pytest.approx(2 * COSTS["openai/gpt-4o"])


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 500}, {"kind": "garbage"}, {"kind": "close"}])
def test_a_model_that_does_not_answer_fails_the_run_with_the_reason(
    env: dict[str, str], backend: TestBackend, play: Play, fault: dict[str, Any]
) -> None:
    model = play({"times": 0, "fault": fault})
    assert worker.work(settings_for(env, model.url), OpenHandsRuntime()) == worker.FAILED
    assert len(backend.of("agent.failed")[0]["reason"]) > 10


def test_the_agent_asks_a_person_and_hears_the_answer(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    ask = {"reason": "merge_conflict", "description": "ours or theirs?", "security_risk": "LOW", "summary": "to ask"}
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": [{"name": "request_review", "input": ask}]},
        {"when": {"contains": "keep_ours"}, "text": "Ours it is."},
    )
    started = Started(settings_for(env, model.url), OpenHandsRuntime())
    backend.await_that(lambda state: state.reviews, "a review")
    backend.answer("rev-1", "approved", "keep_ours")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Ours it is."


def test_a_model_that_is_not_there_fails_the_run_with_the_reason(env: dict[str, str], backend: TestBackend) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert worker.work(settings_for(env, f"http://127.0.0.1:{port}"), OpenHandsRuntime()) == worker.FAILED
    assert len(backend.of("agent.failed")[0]["reason"]) > 10


def test_an_abort_ends_a_run_whose_model_never_answers(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"times": 0, "fault": {"kind": "hang"}})
    started = Started(settings_for(env, model.url, HEARTBEAT_SECONDS="0.05"), OpenHandsRuntime())
    model.await_question()
    backend.state.commands.append("abort")
    assert started.join(60) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_an_abort_ends_the_run_in_the_middle_of_a_tool(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"when": {"contains": "hello.txt"}, "tools": terminal("sleep 600")})
    started = Started(settings_for(env, model.url, HEARTBEAT_SECONDS="0.05"), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.state.commands.append("abort")
    assert started.join(90) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_a_paused_agent_stands_still_until_it_is_resumed(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": terminal("until [ -e go ]; do sleep 0.02; done")},
        {"when": {"lacks": "hello.txt"}, "tools": terminal("touch ran.txt")},
    )
    started = Started(settings_for(env, model.url, HEARTBEAT_SECONDS="0.05"), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.state.commands.append("pause")
    backend.await_event("agent.paused")
    (workspace / "go").touch()
    backend.await_event("agent.tool_result")
    assert not (workspace / "ran.txt").exists()
    backend.state.commands.append("resume")
    assert started.join(60) == worker.COMPLETED
    assert (workspace / "ran.txt").exists()
