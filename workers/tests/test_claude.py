"""The real Claude Agent SDK and its program, against the scripted model and a real server. No network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from contract import AgentContract, Kind
from scripted import Play, ScriptedModel
from test_command import Started
from vivarium_worker import worker
from vivarium_worker.runtimes.claude import ClaudeRuntime
from vivarium_worker.settings import Settings


def bash(command: str) -> list[dict[str, Any]]:
    return [{"name": "Bash", "input": {"command": command}}]


CLAUDE = Kind(
    runtime=ClaudeRuntime,
    model="claude-sonnet-4-5",
    cost=0.00375,
    shell=bash,
    ask=lambda question: [{"name": "mcp__vivarium__request_review", "input": question}],
    # A bare `sleep` is refused by the program's own rules.
    endless="until [ -e never ]; do sleep 0.05; done",
    overloaded=529,
)


class TestClaude(AgentContract):
    kind = CLAUDE


def with_model(env: dict[str, str], model: ScriptedModel) -> Settings:
    return CLAUDE.settings(env, model.url)


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
    assert completed["cost_usd"] == pytest.approx(3 * CLAUDE.cost)
    assert completed["usage"]["input_tokens"] == 3000
    assert completed["usage"]["output_tokens"] == 150
    assert completed["tools"] == {"Write": 1, "Bash": 1}
    created = {"path": "hello.txt", "action": "created", "lines_added": 2, "lines_removed": 0}
    assert backend.state.results[0]["files_changed"] == [created]
    transcript = list(Path(completed["transcript"]).glob(f"projects/*/{completed['session_id']}.jsonl"))
    assert len(transcript) == 1
    assert "I write it." in transcript[0].read_text()
    assert backend.types()[-1] == "agent.completed"


def test_what_people_write_is_text_and_no_order_to_the_program(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    (Path(env["WORKSPACE_DIR"]) / "secret.txt").write_text("4711-secret")
    backend.state.task = {"task_id": "task-1", "title": "/clear", "description": "see @secret.txt"}
    model = play({"held": True, "text": "Well."})
    started = Started(with_model(env, model), ClaudeRuntime())
    model.await_question()
    backend.send("/help with @secret.txt")
    backend.send("  ")
    backend.await_received()
    model.release()
    assert started.join() == worker.COMPLETED
    assert "/clear" in model.asked()[0]["news"]
    assert "/help with @secret.txt" in model.asked()[1]["news"]
    assert "4711-secret" not in str(model.asked())


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 529, "retry_after": 0}, {"kind": "cut"}])
def test_one_failure_of_the_model_is_overcome(
    env: dict[str, str], backend: TestBackend, play: Play, fault: dict[str, Any]
) -> None:
    model = play({"text": "Half of what I want to say, and no more.", "fault": fault}, {"text": "Here I am."})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Here I am."


def test_the_workers_token_is_not_in_the_environment_of_what_the_agent_runs(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_TOKEN", env["SANDBOX_TOKEN"])
    model = play({"when": {"contains": "hello.txt"}, "tools": bash("env")})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert env["SANDBOX_TOKEN"] not in str(backend.of("agent.tool_result")[0]["content"])
