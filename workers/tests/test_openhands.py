"""Tests of the OpenHands SDK and its tools with the scripted model and a real server, without a network."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from contract import TASK, AgentContract, Kind, await_tool
from scripted import PATIENCE, Play
from started import Started, await_end
from vivarium_worker import worker
from vivarium_worker.inbox import Message
from vivarium_worker.runtimes.openhands import Conversation, OpenHandsRuntime
from vivarium_worker.runtimes.openhands_agent import CUT_OFF, WatchedConversation
from vivarium_worker.runtimes.openhands_messages import MessageTracker

# 1000 tokens in and 50 out, in dollars, by the price list of the SDK.
COSTS = {"openai/gpt-4o": 0.003, "anthropic/claude-sonnet-4-5": 0.00375}
# What its model says with every call.
MORE = {"security_risk": "LOW", "summary": "as told"}


def terminal(command: str) -> list[dict[str, Any]]:
    return [{"name": "terminal", "input": {"command": command, **MORE}}]


def editor(command: str, path: Path, **more: str) -> list[dict[str, Any]]:
    return [{"name": "file_editor", "input": {"command": command, "path": str(path), **more, **MORE}}]


OPENHANDS = Kind(
    runtime=OpenHandsRuntime,
    model="openai/gpt-4o",
    cost=COSTS["openai/gpt-4o"],
    shell=terminal,
    ask=lambda question: [{"name": "request_review", "input": {**question, **MORE}}],
    read=lambda path: editor("view", path),
    write=lambda path, text: editor("create", path, file_text=text),
    search=lambda word: [{"name": "grep", "input": {"pattern": word, **MORE}}],
    endless="touch begun; sleep 600",
    overloaded=500,
)


class TestOpenHands(AgentContract):
    kind = OPENHANDS


def test_an_interrupt_works_even_if_it_is_delivered_first(
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
    await_tool(env)
    backend.send("", kind="interrupt")
    backend.await_event("agent.message_delivered")
    backend.send("now go on")
    assert started.join() == worker.COMPLETED
    assert backend.types().count("agent.interrupted") == 1


def test_a_command_that_a_later_call_ends_has_its_exit_code(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    first = [{"name": "terminal", "input": {"command": "read line; (exit 7)", "timeout": 1, **MORE}}]
    then = [{"name": "terminal", "input": {"command": "go", "is_input": True, **MORE}}]
    model = play({"when": {"contains": "hello.txt"}, "tools": first}, {"tools": then}, {"text": "."})
    assert worker.work(OPENHANDS.settings(env, model.url), OpenHandsRuntime()) == worker.COMPLETED
    started, answered = backend.of("agent.tool_use")
    waits, ended = backend.of("agent.tool_result")
    assert started["shell_command"] == "read line; (exit 7)"
    assert "shell_command" not in answered
    assert "exit_code" not in waits
    assert (ended["exit_code"], ended["command_id"]) == (7, started["tool_use_id"])


def forget_after_the_call(directory: Path) -> None:
    """Simulates a worker that was killed during a tool: the call is stored, but not counted."""
    files = sorted(directory.glob("*/events/event-*.json"))
    kinds = [json.loads(file.read_text())["kind"] for file in files]
    call = kinds.index("ActionEvent")
    for file in files[call + 1 :]:
        file.unlink()
    base = next(directory.glob("*/base_state.json"))
    state = json.loads(base.read_text())
    base.write_text(json.dumps({**state, "leaf_event_id": json.loads(files[call].read_text())["parent_id"]}))


def test_an_unfinished_call_of_a_killed_worker_is_reported_and_not_repeated(
    env: dict[str, str], backend: TestBackend, play: Play
) -> None:
    done = Path(env["WORKSPACE_DIR"]) / "done"
    model = play(
        {"when": {"contains": "hello.txt"}, "text": "I begin.", "tools": terminal("touch done")}, {"text": "."}
    )
    settings = OPENHANDS.settings(env, model.url)
    assert worker.work(settings, OpenHandsRuntime()) == worker.COMPLETED
    session = backend.of("agent.completed")[0]["session_id"]
    forget_after_the_call(settings.state / "openhands")
    done.unlink()
    backend.state.task = {"task_id": "task-1", "title": "Go on"}
    resumed = OPENHANDS.settings(env, model.url, RESUME_SESSION=session)
    assert worker.work(resumed, OpenHandsRuntime()) == worker.COMPLETED
    said = json.dumps(json.loads(model.asked()[-1]["body"])["messages"])
    assert said.index("I begin.") < said.index(CUT_OFF) < said.index("Go on")
    assert not done.exists()


@pytest.mark.parametrize("what", ["abort", "interrupt"])
def test_an_interrupt_just_before_a_turn_stops_it(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    asked_to_stop = threading.Event()
    interrupt, turn = WatchedConversation.interrupt, Conversation._turn

    def noted(conversation: WatchedConversation) -> None:
        interrupt(conversation)
        asked_to_stop.set()

    async def late(conversation: Conversation) -> bool:
        if asked_to_stop.is_set():
            return await turn(conversation)
        if what == "abort":
            backend.state.commands.append("abort")
        else:
            backend.send("", kind="interrupt")
        await asyncio.to_thread(asked_to_stop.wait)
        ended = await turn(conversation)
        backend.send("be wise")
        return ended

    monkeypatch.setattr(WatchedConversation, "interrupt", noted)
    monkeypatch.setattr(Conversation, "_turn", late)
    model = play({"when": {"lacks": "be wise"}, "tools": terminal("touch rash.txt")})
    started = Started(OPENHANDS.settings(env, model.url, HEARTBEAT_SECONDS="0.05"), OpenHandsRuntime())
    assert started.join() == (worker.FAILED if what == "abort" else worker.COMPLETED)
    assert not (Path(env["WORKSPACE_DIR"]) / "rash.txt").exists()
    assert not backend.of("agent.tool_use")


def test_a_user_message_of_the_sdk_is_not_a_pending_message(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, refused = threading.Event(), threading.Event()
    # Not at the top of the file: the runtime imports it first, as it wants it.
    sdk = pytest.importorskip("openhands.sdk.llm")
    ask, begin, send = sdk.LLM.agenerate, MessageTracker.begin, WatchedConversation.send_message

    async def malformed(llm: Any, *args: Any, **more: Any) -> Any:
        if begun.is_set():
            return await ask(llm, *args, **more)
        backend.send("stop, be wise")
        await asyncio.to_thread(begun.wait)
        raise sdk.exceptions.FunctionCallValidationError("no such function")

    def noted(messages: MessageTracker, message: Message) -> None:
        begin(messages, message)
        begun.set()

    def late(conversation: WatchedConversation, message: str, sender: str | None = None) -> None:
        if sender is not None:
            assert refused.wait(PATIENCE)
        send(conversation, message, sender)

    monkeypatch.setattr(sdk.LLM, "agenerate", malformed)
    monkeypatch.setattr(MessageTracker, "begin", noted)
    monkeypatch.setattr(WatchedConversation, "send_message", late)
    model = play({"when": {"contains": "no such function"}, "tools": terminal("touch rash.txt")})
    started = Started(OPENHANDS.settings(env, model.url), OpenHandsRuntime())
    result = backend.await_event("agent.tool_result")
    refused.set()
    assert started.join() == worker.COMPLETED
    assert "stop, be wise" in result["content"]
    assert not (Path(env["WORKSPACE_DIR"]) / "rash.txt").exists()
    assert len(backend.of("agent.message_delivered")) == 1


@pytest.mark.parametrize("anew", [False, True])
def test_the_terminal_waits_for_a_command_in_a_slow_shell(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, anew: bool
) -> None:
    # The prompt of the SDK tells where the shell is.
    (tmp_path / ".bashrc").write_text("sleep 3; pwd() { sleep 1; builtin pwd; }\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    calls = [
        {"name": "terminal", "input": {"command": f"sleep 1; echo $((40 + {number}))", "reset": reset, **MORE}}
        for number, reset in [(2, anew), (3, False)]
    ]
    model = play({"when": {"contains": "hello"}, "tools": calls})
    assert worker.work(OPENHANDS.settings(env, model.url), OpenHandsRuntime()) == worker.COMPLETED
    first, second = [data["content"] for data in backend.of("agent.tool_result")]
    assert "42\n" in first.replace("\r", "")
    assert "43\n" in second.replace("\r", "")


@pytest.mark.parametrize("name", sorted(COSTS))
def test_a_task_is_completed_with_tools_and_all_events_are_logged(
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


@pytest.mark.parametrize(
    ("allowed", "text"),
    [
        (["read_file"], "old"),
        (["write_file"], "old"),
        (["edit_file"], "new"),
        (["file_editor"], "new"),
        (["file_editor", "read_file"], "new"),
        (["read_file", "edit_file"], "new"),
        (["terminal"], "old"),
    ],
)
def test_the_editor_allows_only_the_commands_of_the_task(
    env: dict[str, str], backend: TestBackend, play: Play, allowed: list[str], text: str
) -> None:
    file = Path(env["WORKSPACE_DIR"]) / "file.txt"
    file.write_text("old\n")
    backend.state.task = {**TASK, "constraints": {"allowed_tools": allowed}}
    model = play(
        {"when": {"contains": "hello"}, "tools": editor("str_replace", file, old_str="old", new_str="new")},
        {"text": "Done."},
    )
    assert worker.work(OPENHANDS.settings(env, model.url), OpenHandsRuntime()) == worker.COMPLETED
    assert file.read_text() == f"{text}\n"


def test_a_command_that_ignores_an_interrupt_and_the_end_of_its_terminal_is_killed(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vivarium_worker.runtimes.openhands_terminal.INTERRUPT_SECONDS", 0.5)
    workspace = Path(env["WORKSPACE_DIR"])
    stubborn = "(trap '' INT HUP; echo $BASHPID > pid; touch begun; exec sleep 600)"
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": terminal(stubborn)},
        {"when": {"contains": "do this instead"}, "tools": terminal("touch instead.txt")},
    )
    started = Started(OPENHANDS.settings(env, model.url), OpenHandsRuntime())
    await_tool(env)
    backend.send("do this instead", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert (workspace / "instead.txt").exists()
    await_end(int((workspace / "pid").read_text()))
