"""The real Claude Agent SDK and its program, against the scripted model and a real server. No network."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from scripted import Play, ScriptedModel
from test_command import Started
from vivarium_worker import worker
from vivarium_worker.runtimes.claude import ClaudeRuntime
from vivarium_worker.settings import Settings

# 1000 tokens in and 50 out of claude-sonnet-4-5, in dollars.
ANSWER_COST = 0.00375

# A bare `sleep` is refused by the program's own rules.
ENDLESS = "until [ -e never ]; do sleep 0.05; done"


def bash(command: str) -> list[dict[str, Any]]:
    return [{"name": "Bash", "input": {"command": command}}]


def with_model(env: dict[str, str], model: ScriptedModel, **more: str) -> Settings:
    found = {**env, "MODEL": "claude-sonnet-4-5", "MODEL_URL": model.url, "MODEL_RETRIES": "1", **more}
    return Settings.from_env(found)


def test_a_task_is_done_with_tools_and_everything_is_told(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    hello = str(workspace / "hello.txt")
    model = play(
        {
            "when": {"contains": "Write hello.txt"},
            "thinking": "A file, then.",
            "text": "I write it.",
            "tools": [{"name": "Write", "input": {"file_path": hello, "content": "hello\nthere\n"}}],
        },
        {"text": "And look.", "tools": bash("cat hello.txt; echo done > shell.txt")},
    )
    settings = with_model(env, model)
    assert worker.work(settings, ClaudeRuntime()) == worker.COMPLETED
    assert (workspace / "hello.txt").read_text() == "hello\nthere\n"
    assert (workspace / "shell.txt").read_text() == "done\n"
    assert [data["text"] for data in backend.of("agent.thinking")] == ["A file, then."]
    assert [data["text"] for data in backend.of("agent.message")] == ["I write it.", "And look.", "All done."]
    assert [data["tool_name"] for data in backend.of("agent.tool_use")] == ["Write", "Bash"]
    assert "hello\nthere" in str(backend.of("agent.tool_result")[1]["content"])
    completed = backend.of("agent.completed")[0]
    assert completed["summary"] == "All done."
    assert completed["cost_usd"] == pytest.approx(3 * ANSWER_COST)
    assert completed["usage"]["input_tokens"] == 3000
    assert completed["usage"]["output_tokens"] == 150
    assert completed["tools"] == {"Write": 1, "Bash": 1}
    created = {"path": "hello.txt", "action": "created", "lines_added": 2, "lines_removed": 0}
    assert backend.state.results[0]["files_changed"] == [created]
    transcript = list(Path(completed["transcript"]).glob(f"projects/*/{completed['session_id']}.jsonl"))
    assert len(transcript) == 1
    assert "I write it." in transcript[0].read_text()
    assert backend.types()[-1] == "agent.completed"


def test_a_message_during_a_tool_changes_the_next_step(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    go = Path(env["WORKSPACE_DIR"]) / "go"
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": bash("until [ -e go ]; do sleep 0.02; done")},
        {"when": {"contains": "use the other API"}, "text": "As you say.", "tools": bash("echo other | tee api.txt")},
        {"when": {"lacks": "other"}, "text": "As planned.", "tools": bash("echo plain > api.txt")},
        otherwise="Finished.",
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    backend.await_event("agent.tool_use")
    backend.send("use the other API")
    backend.await_that(lambda state: not state.queued, "the message is fetched")
    go.touch()
    assert started.join(60) == worker.COMPLETED
    assert (go.parent / "api.txt").read_text() == "other\n"
    delivered = backend.of("agent.message_delivered")[0]
    assert delivered["content"] == "use the other API"
    assert delivered["how"] == "conversation"
    assert delivered["latency_ms"] >= 0
    types = backend.types()
    assert types.index("agent.message_delivered") < len(types) - types[::-1].index("agent.tool_use")


def test_a_message_while_the_model_thinks_stops_the_tool_that_it_decided_on(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    model = play(
        # Long enough in coming that the message is there before the tool.
        {"when": {"contains": "Write hello.txt"}, "delay_ms": 400, "text": "Rash.", "tools": bash("touch rash.txt")},
        {"when": {"contains": ["stop", "Read it first"]}, "text": "Sorry.", "tools": bash("touch wise.txt")},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    model.await_question()
    backend.send("stop, be wise", kind="guardian_nudge", source="guardian")
    assert started.join(60) == worker.COMPLETED
    assert not (workspace / "rash.txt").exists()
    assert (workspace / "wise.txt").exists()
    assert "[guardian nudge from guardian] stop, be wise" in model.asked()[-2]["news"]


def test_an_interrupt_ends_the_running_tool_and_the_agent_goes_on_with_what_it_is_told(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": bash(ENDLESS)},
        {"when": {"contains": "do this instead"}, "text": "Better.", "tools": bash("echo instead > instead.txt")},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    backend.await_event("agent.tool_use")
    backend.send("do this instead", kind="interrupt")
    assert started.join(60) == worker.COMPLETED
    assert (Path(env["WORKSPACE_DIR"]) / "instead.txt").read_text() == "instead\n"
    assert "agent.interrupted" in backend.types()


def test_a_message_during_the_last_answer_has_an_answer_of_its_own(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "delay_ms": 1000, "text": "That is all."},
        {"when": {"contains": "one more thing"}, "text": "And that too."},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    model.await_question()
    backend.send("one more thing")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "And that too."
    assert len(backend.of("agent.message_delivered")) == 1


def test_an_interrupt_without_words_stops_the_agent_until_it_is_told_more(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": bash(ENDLESS)},
        {"when": {"contains": "now go on"}, "text": "I went on."},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    backend.await_event("agent.tool_use")
    backend.send("", kind="interrupt")
    backend.await_event("agent.message_delivered")
    backend.send("now go on", kind="guidance")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "I went on."
    assert backend.types().count("agent.interrupted") == 1


def test_what_people_write_is_text_and_no_order_to_the_program(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    (Path(env["WORKSPACE_DIR"]) / "secret.txt").write_text("4711-secret")
    backend.state.task = {"task_id": "task-1", "title": "/clear", "description": "see @secret.txt"}
    model = play({"delay_ms": 800, "text": "Well."})
    started = Started(with_model(env, model), ClaudeRuntime())
    model.await_question()
    backend.send("/help with @secret.txt")
    backend.send("  ")
    assert started.join(60) == worker.COMPLETED
    assert "/clear" in model.asked()[0]["news"]
    assert "/help with @secret.txt" in model.asked()[1]["news"]
    assert "4711-secret" not in str(model.asked())


def test_a_conversation_is_resumed_and_pays_for_its_own_part_only(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play({"when": {"contains": "Write hello.txt"}, "text": "I remember 4711."})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    session = backend.of("agent.completed")[0]["session_id"]
    backend.state.task = {"task_id": "task-1", "title": "Go on", "description": "What was the number?"}
    assert (
        worker.work(with_model(env, model, RESUME_SESSION=session, BUDGET_USD="0.005"), ClaudeRuntime())
        == worker.COMPLETED
    )
    second = backend.of("agent.completed")[1]
    assert second["session_id"] == session
    assert second["cost_usd"] == pytest.approx(ANSWER_COST)
    assert "I remember 4711." in json.dumps(json.loads(model.asked()[-1]["body"])["messages"])


def test_a_budget_ends_the_run(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"times": 0, "text": "More.", "tools": bash("true")})
    settings = with_model(env, model, BUDGET_USD="0.01")
    assert worker.work(settings, ClaudeRuntime()) == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "the budget of $0.01 is spent"
    assert failed["cost_usd"] == pytest.approx(3 * ANSWER_COST)


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 529}, {"kind": "garbage"}, {"kind": "close"}])
def test_a_model_that_does_not_answer_fails_the_run_with_the_reason(
    env: dict[str, str], backend: TestBackend, play: Play, fault: dict[str, Any]
) -> None:
    model = play({"times": 0, "fault": fault})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.FAILED
    assert len(backend.of("agent.failed")[0]["reason"]) > 10


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 529, "retry_after": 0}, {"kind": "cut"}])
def test_one_failure_of_the_model_is_overcome(
    env: dict[str, str], backend: TestBackend, play: Play, fault: dict[str, Any]
) -> None:
    model = play({"text": "Half of what I want to say, and no more.", "fault": fault}, {"text": "Here I am."})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Here I am."


def test_the_agent_asks_a_person_and_hears_the_answer(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    ask = {"reason": "merge_conflict", "description": "ours or theirs?"}
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": [{"name": "mcp__vivarium__request_review", "input": ask}]},
        {"when": {"contains": "keep_ours"}, "text": "Ours it is."},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    backend.await_that(lambda state: state.reviews, "a review")
    backend.answer("rev-1", "approved", "keep_ours")
    assert started.join(60) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Ours it is."


def test_a_model_that_is_not_there_fails_the_run_with_the_reason(env: dict[str, str], backend: TestBackend) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nowhere = Settings.from_env({**env, "MODEL_URL": f"http://127.0.0.1:{port}", "MODEL_RETRIES": "1"})
    assert worker.work(nowhere, ClaudeRuntime()) == worker.FAILED
    assert len(backend.of("agent.failed")[0]["reason"]) > 10


def test_an_abort_ends_a_run_whose_model_never_answers(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"times": 0, "fault": {"kind": "hang"}})
    started = Started(with_model(env, model, HEARTBEAT_SECONDS="0.05"), ClaudeRuntime())
    model.await_question()
    backend.state.commands.append("abort")
    assert started.join(60) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_an_abort_ends_the_run_in_the_middle_of_a_tool(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"when": {"contains": "hello.txt"}, "tools": bash(ENDLESS)})
    started = Started(with_model(env, model, HEARTBEAT_SECONDS="0.05"), ClaudeRuntime())
    backend.await_event("agent.tool_use")
    backend.state.commands.append("abort")
    assert started.join(60) == worker.FAILED
    assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"


def test_a_paused_agent_calls_no_tool_until_it_is_resumed(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    model = play({"when": {"contains": "hello.txt"}, "delay_ms": 300, "tools": bash("touch ran.txt")})
    started = Started(with_model(env, model, HEARTBEAT_SECONDS="0.05"), ClaudeRuntime())
    backend.state.commands.append("pause")
    backend.await_event("agent.paused")
    backend.await_event("agent.tool_use")
    assert not (Path(env["WORKSPACE_DIR"]) / "ran.txt").exists()
    backend.state.commands.append("resume")
    assert started.join(60) == worker.COMPLETED
    assert (Path(env["WORKSPACE_DIR"]) / "ran.txt").exists()


def test_the_workers_token_is_not_in_the_environment_of_what_the_agent_runs(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_TOKEN", env["SANDBOX_TOKEN"])
    model = play({"when": {"contains": "hello.txt"}, "tools": bash("env")})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert env["SANDBOX_TOKEN"] not in str(backend.of("agent.tool_result")[0]["content"])
