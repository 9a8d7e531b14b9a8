"""Tests of the Claude Agent SDK and its program with the scripted model and a real server, without a network."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKClient, ResultMessage, SystemMessage

from backend import PATIENCE, TestBackend
from contract import AgentContract, Kind, await_tool
from scripted import Play, ScriptedModel
from started import Started
from vivarium_worker import worker
from vivarium_worker.backend import Backend
from vivarium_worker.inbox import Message
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes import claude
from vivarium_worker.runtimes.claude import ClaudeRuntime, Conversation, Turn
from vivarium_worker.runtimes.claude_spent import Spent
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool


def bash(command: str) -> list[dict[str, Any]]:
    return [{"name": "Bash", "input": {"command": command}}]


CLAUDE = Kind(
    runtime=ClaudeRuntime,
    model="claude-sonnet-4-5",
    cost=0.00375,
    shell=bash,
    ask=lambda question: [{"name": "mcp__vivarium__request_review", "input": question}],
    read=lambda path: [{"name": "Read", "input": {"file_path": str(path)}}],
    write=lambda path, text: [{"name": "Write", "input": {"file_path": str(path), "content": text}}],
    search=lambda word: [{"name": "Grep", "input": {"pattern": word}}],
    # A bare `sleep` is refused by the program's own rules.
    endless="touch begun; until [ -e never ]; do sleep 0.05; done",
    overloaded=529,
)


class TestClaude(AgentContract):
    kind = CLAUDE


def with_model(env: dict[str, str], model: ScriptedModel) -> Settings:
    return CLAUDE.settings(env, model.url)


def test_a_task_is_completed_with_tools_and_all_events_are_logged(
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
    assert completed["turns"] == 3
    told = backend.of("agent.usage")[-1]
    assert {name: told[name] for name in completed["usage"]} == completed["usage"]
    assert completed["tools"] == {"Write": 1, "Bash": 1}
    created = {"path": "hello.txt", "action": "created", "lines_added": 2, "lines_removed": 0}
    assert backend.state.results[0]["files_changed"] == [created]
    transcript = list(Path(completed["transcript"]).glob(f"projects/*/{completed['session_id']}.jsonl"))
    assert len(transcript) == 1
    assert "I write it." in transcript[0].read_text()
    assert backend.types()[-1] == "agent.completed"


def test_messages_are_plain_text_and_not_commands_of_the_program(
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
def test_the_sdk_retries_a_failed_model_request(
    env: dict[str, str], backend: TestBackend, play: Play, fault: dict[str, Any]
) -> None:
    model = play({"text": "Half of what I want to say, and no more.", "fault": fault}, {"text": "Here I am."})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Here I am."


def test_commands_of_the_agent_do_not_have_the_worker_token(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_TOKEN", env["SANDBOX_TOKEN"])
    model = play({"when": {"contains": "hello.txt"}, "tools": bash("env")})
    assert worker.work(with_model(env, model), ClaudeRuntime()) == worker.COMPLETED
    assert env["SANDBOX_TOKEN"] not in str(backend.of("agent.tool_result")[0]["content"])


def test_a_program_that_exits_while_idle_fails_the_run(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    model = play({"when": {"contains": "hello.txt"}, "tools": bash(CLAUDE.endless)})
    before = children()
    started = Started(with_model(env, model), ClaudeRuntime())
    await_tool(env)
    backend.send("", kind="interrupt")
    backend.await_event("agent.usage")
    for program in children() - before:
        os.kill(program, signal.SIGKILL)
    backend.send("go on")
    assert started.join() == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] != "interrupted"
    assert failed["cost_usd"] == pytest.approx(CLAUDE.cost)
    assert [data["content"] for data in backend.of("agent.message_undelivered")] == ["go on"]


def children() -> set[int]:
    """Child processes of all threads of this process."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(child) for task in tasks for child in task.read_text().split()}


def test_an_abort_is_the_reason_also_if_the_program_was_killed(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk blocks until the program was killed, so the worker reads from a closed stream."""
    ended = threading.Event()
    emit = Run.emit

    class Client(ClaudeSDKClient):
        async def disconnect(self) -> None:
            await super().disconnect()
            ended.set()

    def hangs(run: Run, event_type: str, data: dict[str, Any], source: str = "agent") -> None:
        emit(run, event_type, data, source)
        if event_type == "agent.tool_use":
            ended.wait()

    monkeypatch.setattr(claude, "ClaudeSDKClient", Client)
    monkeypatch.setattr(claude, "END_SECONDS", 0.1)
    monkeypatch.setattr(Run, "emit", hangs)
    model = play({"when": {"contains": "hello.txt"}, "tools": bash("true")})
    started = Started(CLAUDE.settings(env, model.url, HEARTBEAT_SECONDS="0.05"), ClaudeRuntime())
    backend.await_event("agent.tool_use")
    backend.state.commands.append("abort")
    assert started.join() == worker.FAILED
    failed = backend.of("agent.failed")[0]
    assert failed["reason"] == "aborted by the server"
    assert failed["session_id"]


def test_a_late_confirmation_of_an_interrupt_does_not_fail_the_run(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Client(ClaudeSDKClient):
        async def interrupt(self) -> None:
            await super().interrupt()
            raise Exception("Control request timeout: interrupt")  # as the SDK does, after a minute

    monkeypatch.setattr(claude, "ClaudeSDKClient", Client)
    model = play(
        {"when": {"contains": "Write hello.txt"}, "tools": bash(CLAUDE.endless)},
        {"when": {"contains": "do this instead"}, "text": "Better."},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    await_tool(env)
    backend.send("do this instead", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Better."


def test_paused_tools_do_not_block_other_work(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    """There are more paused tools than threads."""
    reads = [{"name": "Read", "input": {"file_path": f"{env['WORKSPACE_DIR']}/{n}.txt"}} for n in range(40)]
    model = play({"when": {"contains": "Write hello.txt"}, "held": True, "tools": reads})
    started = Started(CLAUDE.settings(env, model.url, HEARTBEAT_SECONDS="0.05"), ClaudeRuntime())
    model.await_question()
    backend.state.commands.append("pause")
    backend.await_event("agent.paused")
    model.release()
    backend.await_that(lambda _: len(backend.of("agent.tool_use")) == len(reads), "all calls are told")
    backend.send("never mind", kind="interrupt")
    backend.await_event("agent.interrupted")
    backend.state.commands.append("resume")
    assert started.join() == worker.COMPLETED


def test_an_interrupt_works_before_the_program_has_started_the_turn(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Conversation._send

    async def interrupted(self: Conversation, client: ClaudeSDKClient, message: Message) -> None:
        """Sends the interrupt directly after the message."""
        await send(self, client, message)
        if message.content == "go on":
            backend.send("", kind="interrupt")
            await self._changed.until(lambda: len(self._unsent()) > 1)

    ended = threading.Semaphore(0)
    result_of = Conversation._result

    async def counted(self: Conversation, message: ResultMessage) -> Outcome:
        outcome = await result_of(self, message)
        ended.release()
        return outcome

    monkeypatch.setattr(Conversation, "_result", counted)
    monkeypatch.setattr(Conversation, "_send", interrupted)
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": bash(CLAUDE.endless)},
        {"when": {"contains": "go on"}, "times": 0, "tools": bash("true")},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    await_tool(env)
    backend.send("", kind="interrupt")
    # Several times: in most of them the program would have begun soon enough. One that goes on ends the run.
    for told in [*["go on"] * 4, "that is all"]:
        assert ended.acquire(timeout=PATIENCE), backend.types()
        backend.send(told)
    assert started.join() == worker.COMPLETED
    assert backend.types().count("agent.interrupted") == 5


def test_a_long_review_does_not_block_other_work(
    env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other reviews occupy all threads except one."""
    take = ThreadPoolExecutor.__init__

    def one_left(pool: ThreadPoolExecutor, max_workers: int = 1, thread_name_prefix: str = "") -> None:
        take(pool, max_workers, thread_name_prefix)

    monkeypatch.setattr(ThreadPoolExecutor, "__init__", one_left)
    ask = CLAUDE.ask({"reason": "merge_conflict", "description": "ours or theirs?"})
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": ask},
        {"when": {"contains": "never mind"}, "text": "Then not."},
    )
    started = Started(with_model(env, model), ClaudeRuntime())
    backend.await_that(lambda state: state.reviews, "a review")
    backend.send("never mind", kind="interrupt")
    assert backend.await_event("agent.message")["text"] == "Then not."
    backend.answer("rev-1", "rejected")
    assert started.join() == worker.COMPLETED


class SlowProgram:
    """Replacement of the SDK client that holds one state, which the real client leaves within microseconds, until it
    is released."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.busy = asyncio.Event()
        self.go = asyncio.Event()

    async def interrupt(self) -> None:
        self.busy.set()
        await self.go.wait()

    async def query(self, prompt: AsyncIterator[dict[str, Any]]) -> None:
        async for message in prompt:
            self.busy.set()
            await self.go.wait()
            self.read.append(message["message"]["content"])


@pytest.fixture
def run(settings: Settings) -> Iterator[Run]:
    spool, server = Spool(settings.state / "spool", settings.spool_bytes), Backend(settings)
    with contextlib.closing(spool), contextlib.closing(server):
        run = Run(settings, {}, spool, server)
        run.inbox.start()
        yield run
        run.inbox.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def test_a_message_is_sent_even_if_the_waiting_tool_is_interrupted(
    run: Run, threads: ThreadPoolExecutor, backend: TestBackend
) -> None:
    async def scene() -> None:
        program, conversation = SlowProgram(), Conversation(run, threads)
        conversation._turn = Turn.RUNNING
        conversation._names["call"] = "Bash"
        feeding = asyncio.create_task(conversation._feed(program))
        asking = asyncio.create_task(conversation._before_tool({"tool_name": "Bash"}, "call", None))
        await program.busy.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        program.go.set()
        await conversation._changed.until(lambda: bool(conversation._sent))
        assert program.read == ["use the other API"]
        feeding.cancel()

    backend.send("use the other API")
    backend.await_received()
    asyncio.run(scene())


def test_nothing_overtakes_an_interrupt(run: Run, threads: ThreadPoolExecutor, backend: TestBackend) -> None:
    async def scene() -> None:
        program, conversation = SlowProgram(), Conversation(run, threads)
        conversation._turn = Turn.RUNNING
        conversation._names["call"] = "Bash"
        feeding = asyncio.create_task(conversation._feed(program))
        await program.busy.wait()
        asking = asyncio.create_task(conversation._before_tool({"tool_name": "Bash"}, "call", None))
        # Time enough for the question to do what it does without waiting.
        for _ in range(100):
            await asyncio.sleep(0)
        program.go.set()
        await asking
        assert program.read == ["stop", "and then this"]
        feeding.cancel()

    backend.send("and then this")
    backend.send("stop", kind="interrupt")
    backend.await_received()
    asyncio.run(scene())


def test_an_interrupt_waits_until_the_program_has_started(
    run: Run, threads: ThreadPoolExecutor, backend: TestBackend
) -> None:
    async def scene() -> None:
        program, conversation = SlowProgram(), Conversation(run, threads)
        feeding = asyncio.create_task(conversation._feed(program))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not program.busy.is_set()
        await conversation._heard(SystemMessage("init", {"session_id": "session-1"}))
        await program.busy.wait()
        feeding.cancel()

    backend.send("stop", kind="interrupt")
    backend.await_received()
    asyncio.run(scene())


def result(total: float) -> ResultMessage:
    return ResultMessage("success", 1, 1, False, 2, "session-1", total_cost_usd=total, usage={"input_tokens": 7})


def test_costs_of_turns_are_summed_and_earlier_costs_are_excluded(tmp_path: Path) -> None:
    first = Spent(tmp_path, None)
    first.add(result(1.0))
    first.add(result(1.5))
    assert (first.cost_usd, first.turns, first.usage.input_tokens) == (1.5, 4, 14)
    resumed = Spent(tmp_path, "session-1")
    resumed.add(result(2.0))
    assert resumed.failed("no").cost_usd == 0.5
    assert Spent(tmp_path, "session-2").before == 0.0


def test_a_crash_during_a_write_keeps_the_old_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Spent(tmp_path, None).add(result(1.0))
    write = Path.write_text

    def cut_off(path: Path, text: str) -> None:
        write(path, text[: len(text) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", cut_off)
    with pytest.raises(KeyboardInterrupt):
        Spent(tmp_path, "session-1").add(result(2.0))
    assert Spent(tmp_path, "session-1").before == 1.0


def test_a_failed_write_of_the_sum_does_not_fail_the_run(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    # A directory of this name does what a full disk does, and goes away with the test.
    (Path(env["WORKER_STATE_DIR"]) / "claude" / "spent.json").mkdir(parents=True)
    assert worker.work(with_model(env, play()), ClaudeRuntime()) == worker.COMPLETED
    assert backend.of("agent.completed")[0]["cost_usd"] == pytest.approx(CLAUDE.cost)
