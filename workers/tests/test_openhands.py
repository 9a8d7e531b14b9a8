"""The real OpenHands SDK and its tools, against the scripted model and a real server. No network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from contract import AgentContract, Kind
from scripted import Play
from test_command import Started
from vivarium_worker import worker
from vivarium_worker.runtimes.openhands import Conversation, OpenHandsRuntime

# 1000 tokens in and 50 out, in dollars, by the price list of the SDK.
COSTS = {"openai/gpt-4o": 0.003, "anthropic/claude-sonnet-4-5": 0.00375}
# What its model says with every call.
MORE = {"security_risk": "LOW", "summary": "as told"}


def terminal(command: str) -> list[dict[str, Any]]:
    return [{"name": "terminal", "input": {"command": command, **MORE}}]


OPENHANDS = Kind(
    runtime=OpenHandsRuntime,
    model="openai/gpt-4o",
    cost=COSTS["openai/gpt-4o"],
    shell=terminal,
    ask=lambda question: [{"name": "request_review", "input": {**question, **MORE}}],
    endless="sleep 600",
    overloaded=500,
)


class TestOpenHands(AgentContract):
    kind = OPENHANDS


def test_an_interrupt_is_one_also_if_it_counts_as_delivered_before_the_agent_is_steered(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = Conversation._steering

    def late(conversation: Conversation) -> None:
        backend.await_event("agent.message_delivered")
        at_once(conversation)

    monkeypatch.setattr(Conversation, "_steering", late)
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": terminal(OPENHANDS.endless)},
        {"when": {"contains": "now go on"}, "text": "I went on."},
    )
    started = Started(OPENHANDS.settings(env, model.url), OpenHandsRuntime())
    backend.await_event("agent.tool_use")
    backend.send("", kind="interrupt")
    backend.await_event("agent.message_delivered")
    backend.send("now go on")
    assert started.join() == worker.COMPLETED
    assert backend.types().count("agent.interrupted") == 1


@pytest.mark.parametrize("name", sorted(COSTS))
def test_a_task_is_done_with_tools_and_everything_is_told(
    env: dict[str, str], backend: TestBackend, play: Play, name: str
) -> None:
    workspace = Path(env["WORKSPACE_DIR"])
    create = {"command": "create", "path": str(workspace / "hello.txt"), "file_text": "hello\nthere\n"}
    create |= MORE
    model = play(
        {
            "when": {"contains": "Write hello.txt"},
            "text": "I write it.",
            "tools": [{"name": "file_editor", "input": create}],
        },
        {"text": "And look.", "tools": terminal("cat hello.txt; echo done > shell.txt")},
    )
    assert worker.work(replace(OPENHANDS, model=name).settings(env, model.url), OpenHandsRuntime()) == worker.COMPLETED
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
