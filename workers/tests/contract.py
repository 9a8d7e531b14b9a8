"""Contract tests of the agents of all SDKs. Each SDK has its own environment and test file; `make test-workers` runs
both."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backend import TestBackend
from scripted import PATIENCE, Play
from started import Started, await_file
from vivarium_worker import events, worker
from vivarium_worker.control import Control
from vivarium_worker.inbox import Inbox
from vivarium_worker.run import Run, Runtime
from vivarium_worker.settings import Settings

Tools = list[dict[str, Any]]

TASK = {"task_id": "task-1", "title": "Say hello", "description": "Write hello.txt"}
# Each of these commands says that it has begun.
WAIT_FOR_GO = "touch begun; until [ -e go ]; do sleep 0.02; done"
# Does not end by itself, and always has something to say.
CHATTER = "touch begun; until [ -e never ]; do echo x; sleep 0.05; done"


@dataclass(frozen=True)
class Kind:
    """Properties of one SDK for the tests."""

    runtime: Callable[[], Runtime]
    # The model that it asks, and what 1000 tokens in and 50 out of it cost, in dollars.
    model: str
    cost: float
    # How its model calls a shell, and how it asks a person.
    shell: Callable[[str], Tools]
    ask: Callable[[dict[str, Any]], Tools]
    # How it reads a file, how it writes one, and how it looks for words in files.
    read: Callable[[Path], Tools]
    write: Callable[[Path, str], Tools]
    search: Callable[[str], Tools]
    # A command that does not end by itself, and says that it has begun.
    endless: str
    # What a model says that has too much to do.
    overloaded: int

    def settings(self, env: dict[str, str], url: str, **more: str) -> Settings:
        return Settings.from_env({**env, "MODEL": self.model, "MODEL_URL": url, "MODEL_RETRIES": "1", **more})


def await_tool(env: dict[str, str]) -> None:
    """Waits until one of the commands above runs. The event of a call precedes its start."""
    await_file(Path(env["WORKSPACE_DIR"]) / "begun")


def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Event that is set when a paused run waits to be resumed."""
    waits = threading.Event()
    holds = Control.holds

    def noted(control: Control) -> bool:
        if holds(control):
            waits.set()
        return holds(control)

    monkeypatch.setattr(Control, "holds", noted)
    return waits


class AgentContract:
    """Tests of the real SDK with the scripted model and a real server, without a network."""

    kind: Kind

    def work(self, settings: Settings) -> int:
        return worker.work(settings, self.kind.runtime())

    def start(self, env: dict[str, str], url: str, **more: str) -> Started:
        return Started(self.kind.settings(env, url, **more), self.kind.runtime())

    def paused_in_a_tool(self, env: dict[str, str], backend: TestBackend, play: Play) -> Started:
        model = play({"when": {"contains": "hello.txt"}, "tools": self.kind.shell(CHATTER)})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.state.commands.append("pause")
        backend.await_event("agent.paused")
        return started

    def test_a_message_during_a_tool_changes_the_next_step(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        go = Path(env["WORKSPACE_DIR"]) / "go"
        shell = self.kind.shell
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": shell(WAIT_FOR_GO)},
            {"when": {"contains": "use the other API"}, "text": "Yes.", "tools": shell("echo other | tee api.txt")},
            {"when": {"lacks": "other"}, "text": "As planned.", "tools": shell("echo plain > api.txt")},
        )
        started = self.start(env, model.url)
        await_tool(env)
        backend.send("use the other API")
        backend.await_received()
        go.touch()
        assert started.join() == worker.COMPLETED
        assert (go.parent / "api.txt").read_text() == "other\n"
        delivered = backend.of("agent.message_delivered")[0]
        assert delivered["content"] == "use the other API"
        assert delivered["how"] == "conversation"
        assert delivered["latency_ms"] >= 0
        types = backend.types()
        assert types.index("agent.message_delivered") < len(types) - types[::-1].index("agent.tool_use")

    def test_a_slow_disk_refuses_no_tool_for_a_message_that_the_model_has_read(
        self, env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go = Path(env["WORKSPACE_DIR"]) / "go"
        emit = Run.emit

        def slowly(run: Run, event_type: str, *rest: Any, **more: Any) -> None:
            if event_type == events.TOOL_RESULT:
                time.sleep(1.0)
            emit(run, event_type, *rest, **more)

        monkeypatch.setattr(Run, "emit", slowly)
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": self.kind.shell(WAIT_FOR_GO)},
            {"when": {"contains": "use the other API"}, "tools": self.kind.shell("echo other | tee api.txt")},
        )
        started = self.start(env, model.url)
        await_tool(env)
        backend.send("use the other API")
        backend.await_received()
        go.touch()
        assert started.join() == worker.COMPLETED
        assert (go.parent / "api.txt").read_text() == "other\n"
        assert not any(data["is_error"] for data in backend.of("agent.tool_result"))

    def test_a_message_during_a_model_request_refuses_the_next_tool(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        rash, wise = self.kind.shell("touch rash.txt"), self.kind.shell("touch wise.txt")
        model = play(
            {"when": {"contains": "Write hello.txt"}, "held": True, "text": "Rash.", "tools": rash},
            {"when": {"contains": ["stop", "Read it first"]}, "text": "Sorry.", "tools": wise},
        )
        started = self.start(env, model.url)
        model.await_question()
        backend.send("stop, be wise", kind="guardian_nudge", source="guardian")
        backend.await_received()
        model.release()
        assert started.join() == worker.COMPLETED
        assert not (workspace / "rash.txt").exists()
        assert (workspace / "wise.txt").exists()
        assert "[guardian nudge from guardian] stop, be wise" in json.dumps(model.asked()[-2])

    def test_a_message_during_a_model_request_refuses_every_tool_of_the_response(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        both = self.kind.shell("touch rash.txt") + self.kind.shell("touch rasher.txt")
        model = play({"when": {"contains": "Write hello.txt"}, "held": True, "tools": both})
        started = self.start(env, model.url)
        model.await_question()
        backend.send("stop, be wise")
        backend.await_received()
        model.release()
        assert started.join() == worker.COMPLETED
        assert not (workspace / "rash.txt").exists()
        assert not (workspace / "rasher.txt").exists()
        assert len(backend.of("agent.message_delivered")) == 1

    def test_a_message_during_the_first_tool_of_a_response_refuses_the_second(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        both = self.kind.shell(WAIT_FOR_GO) + self.kind.shell("touch rash.txt")
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": both},
            {"when": {"contains": "be wise"}, "tools": self.kind.shell("touch wise.txt")},
        )
        started = self.start(env, model.url)
        await_tool(env)
        backend.send("stop, be wise")
        backend.await_received()
        (workspace / "go").touch()
        assert started.join() == worker.COMPLETED
        assert not (workspace / "rash.txt").exists()
        assert (workspace / "wise.txt").exists()

    def test_a_message_for_the_next_turn_does_not_change_the_current_one(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        planned = self.kind.shell("touch planned.txt")
        model = play(
            {"when": {"contains": "Write hello.txt"}, "held": True, "tools": planned},
            {"when": {"lacks": "tell me more"}, "text": "That is all."},
            {"when": {"contains": "tell me more"}, "text": "More it is."},
        )
        started = self.start(env, model.url)
        model.await_question()
        backend.send("tell me more", kind="guidance", mode="next_turn")
        backend.await_received()
        model.release()
        assert started.join() == worker.COMPLETED
        assert (workspace / "planned.txt").exists()
        assert [data["text"] for data in backend.of("agent.message")] == ["That is all.", "More it is."]
        assert backend.of("agent.completed")[0]["summary"] == "More it is."
        assert len(backend.of("agent.message_delivered")) == 1
        assert not any(data["is_error"] for data in backend.of("agent.tool_result"))

    def test_an_interrupt_ends_the_running_tool_and_the_agent_continues_with_the_message(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        instead = self.kind.shell("echo instead > instead.txt")
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": self.kind.shell(self.kind.endless)},
            {"when": {"contains": "do this instead"}, "text": "Better.", "tools": instead},
        )
        started = self.start(env, model.url)
        await_tool(env)
        backend.send("do this instead", kind="interrupt")
        assert started.join() == worker.COMPLETED
        assert (Path(env["WORKSPACE_DIR"]) / "instead.txt").read_text() == "instead\n"
        assert "agent.interrupted" in backend.types()

    def test_usage_and_cost_include_all_turns_of_the_run(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": self.kind.shell(self.kind.endless)},
            {"when": {"contains": "do this instead"}, "tools": self.kind.shell("true")},
        )
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.send("do this instead", kind="interrupt")
        assert started.join() == worker.COMPLETED
        completed = backend.of("agent.completed")[0]
        assert completed["cost_usd"] == pytest.approx(3 * self.kind.cost)
        assert completed["usage"]["input_tokens"] == 3000
        assert completed["usage"]["output_tokens"] == 150

    def test_a_message_during_the_last_response_starts_another_turn(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play(
            {"when": {"contains": "Write hello.txt"}, "held": True, "text": "That is all."},
            {"when": {"contains": "one more thing"}, "text": "And that too."},
        )
        started = self.start(env, model.url)
        model.await_question()
        backend.send("one more thing")
        backend.await_received()
        model.release()
        assert started.join() == worker.COMPLETED
        assert backend.of("agent.completed")[0]["summary"] == "And that too."
        assert len(backend.of("agent.message_delivered")) == 1

    @pytest.mark.parametrize("mode", ["immediate", "next_turn"])
    def test_an_interrupt_without_text_stops_the_agent_until_the_next_message(
        self, env: dict[str, str], backend: TestBackend, play: Play, mode: str
    ) -> None:
        model = play(
            {"when": {"contains": "Write hello.txt"}, "tools": self.kind.shell(self.kind.endless)},
            {"when": {"contains": "now go on"}, "text": "I went on."},
        )
        started = self.start(env, model.url)
        await_tool(env)
        backend.send("", kind="interrupt")
        backend.await_event("agent.message_delivered")
        backend.send("now go on", kind="guidance", mode=mode)
        assert started.join() == worker.COMPLETED
        assert backend.of("agent.completed")[0]["summary"] == "I went on."
        assert backend.types().count("agent.interrupted") == 1

    def test_a_resumed_conversation_counts_only_its_own_cost(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play({"when": {"contains": "Write hello.txt"}, "text": "I remember 4711."})
        assert self.work(self.kind.settings(env, model.url)) == worker.COMPLETED
        session = backend.of("agent.completed")[0]["session_id"]
        backend.state.task = {"task_id": "task-1", "title": "Go on", "description": "What was the number?"}
        budget = f"{self.kind.cost * 4 / 3:.4f}"
        resumed = self.kind.settings(env, model.url, RESUME_SESSION=session, BUDGET_USD=budget)
        assert self.work(resumed) == worker.COMPLETED
        second = backend.of("agent.completed")[1]
        assert second["session_id"] == session
        assert second["cost_usd"] == pytest.approx(self.kind.cost)
        assert "I remember 4711." in json.dumps(json.loads(model.asked()[-1]["body"])["messages"])

    def test_a_budget_ends_the_run(self, env: dict[str, str], backend: TestBackend, play: Play) -> None:
        model = play({"times": 0, "text": "More.", "tools": self.kind.shell("true")})
        budget = f"{self.kind.cost * 1.5:.4f}"
        assert self.work(self.kind.settings(env, model.url, BUDGET_USD=budget)) == worker.FAILED
        failed = backend.of("agent.failed")[0]
        assert failed["reason"].startswith("budget: spent $")
        assert failed["reason_code"] == "budget"
        assert failed["cost_usd"] == pytest.approx(2 * self.kind.cost)

    @pytest.mark.parametrize("fault", ["status", "garbage", "close"])
    def test_a_failing_model_fails_the_run_with_the_reason(
        self, env: dict[str, str], backend: TestBackend, play: Play, fault: str
    ) -> None:
        more = {"status": self.kind.overloaded} if fault == "status" else {}
        model = play({"times": 0, "fault": {"kind": fault, **more}})
        assert self.work(self.kind.settings(env, model.url)) == worker.FAILED
        failed = backend.of("agent.failed")[0]
        assert len(failed["reason"]) > 10
        assert failed["reason_code"] == "model_error"

    def test_a_model_that_refuses_the_key_fails_the_run_for_good(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play({"times": 0, "fault": {"kind": "status", "status": 401}})
        assert self.work(self.kind.settings(env, model.url)) == worker.FAILED
        assert backend.of("agent.failed")[0]["reason_code"] == "model_refused"

    def test_an_unreachable_model_fails_the_run_with_the_reason(
        self, env: dict[str, str], backend: TestBackend
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        assert self.work(self.kind.settings(env, f"http://127.0.0.1:{port}")) == worker.FAILED
        assert len(backend.of("agent.failed")[0]["reason"]) > 10

    def test_a_message_after_the_end_of_the_run_has_no_effect(
        self, env: dict[str, str], play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        listeners: list[Callable[[], None]] = []
        listen = Inbox.listen

        def noted(inbox: Inbox, listener: Callable[[], None]) -> None:
            listeners.append(listener)
            listen(inbox, listener)

        monkeypatch.setattr(Inbox, "listen", noted)
        assert self.work(self.kind.settings(env, play().url)) == worker.COMPLETED
        assert listeners
        for listener in listeners:
            listener()

    def test_the_agent_requests_a_review_and_receives_the_decision(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        ask = {
            "reason": "merge_conflict",
            "description": "ours or theirs?",
            "options": ["Keep ours", "Keep theirs"],
            "timeout_minutes": 5,
            "on_timeout": "escalate",
        }
        model = play(
            {"when": {"contains": "hello.txt"}, "tools": self.kind.ask(ask)},
            {"when": {"contains": "keep_ours"}, "text": "Ours it is."},
        )
        started = self.start(env, model.url)
        backend.await_that(lambda state: state.reviews, "a review")
        assert backend.state.reviews["rev-1"]["context"]["options"] == [
            {"id": "keep-ours", "label": "Keep ours"},
            {"id": "keep-theirs", "label": "Keep theirs"},
        ]
        assert backend.state.reviews["rev-1"]["timeout_minutes"] == 5
        assert backend.state.reviews["rev-1"]["on_timeout"] == "escalate"
        backend.answer("rev-1", "approved", "keep_ours")
        assert started.join() == worker.COMPLETED
        assert backend.of("agent.completed")[0]["summary"] == "Ours it is."

    def test_an_abort_during_a_review_ends_the_run_without_the_server(
        self, env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        review, runs = Run.review, list[Run]()

        def seen(run: Run, request: dict[str, Any]) -> dict[str, Any]:
            runs.append(run)
            return review(run, request)

        monkeypatch.setattr(Run, "review", seen)
        question = {"reason": "merge_conflict", "description": "which?"}
        model = play({"when": {"contains": "hello.txt"}, "tools": self.kind.ask(question)})
        started = self.start(env, model.url, DRAIN_SECONDS="0.1")
        backend.await_that(lambda state: state.reviews, "a review")
        backend.down()
        runs[0].control.dismiss("aborted by the server")
        assert started.join() == worker.UNDELIVERED
        backend.up()

    @pytest.mark.parametrize(
        ("allowed", "done"),
        [
            ([], []),
            (["read_file"], ["read"]),
            (["write_file"], ["write"]),
            (["search", "read_file"], ["read", "search"]),
            (["bash"], ["shell"]),
            (["bash", "read_file", "write_file", "edit_file", "search"], ["shell", "read", "write", "search"]),
        ],
    )
    def test_an_agent_uses_only_the_allowed_tools(
        self, env: dict[str, str], backend: TestBackend, play: Play, allowed: list[str], done: list[str]
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        (workspace / "old.txt").write_text("4711 old")
        backend.state.task = {**TASK, "constraints": {"allowed_tools": allowed}}
        # The model calls only what it is offered.
        model = play(
            {"text": "shell", "tools": self.kind.shell("touch ran.txt")},
            {"text": "read", "tools": self.kind.read(workspace / "old.txt")},
            {"text": "write", "tools": self.kind.write(workspace / "new.txt", "new")},
            {"text": "search", "tools": self.kind.search("4711")},
        )
        assert self.work(self.kind.settings(env, model.url)) == worker.COMPLETED
        *called, last = [data["text"] for data in backend.of("agent.message")]
        refused = [data["is_error"] for data in backend.of("agent.tool_result")]
        assert [step for step, failed in zip(called, refused, strict=True) if not failed] == done
        assert last == "All done."
        assert (workspace / "ran.txt").exists() == ("shell" in done)
        assert (workspace / "new.txt").exists() == ("write" in done)

    @pytest.mark.parametrize("allowed", [[], ["read_file"]])
    def test_an_agent_with_few_tools_may_request_a_review(
        self, env: dict[str, str], backend: TestBackend, play: Play, allowed: list[str]
    ) -> None:
        backend.state.task = {**TASK, "constraints": {"allowed_tools": allowed}}
        backend.prompt_answer = {"status": "approved", "option": "keep_ours"}
        ask = {"reason": "merge_conflict", "description": "ours or theirs?"}
        model = play(
            {"when": {"contains": "hello.txt"}, "tools": self.kind.ask(ask)},
            {"when": {"contains": "keep_ours"}, "text": "Ours it is."},
        )
        assert self.work(self.kind.settings(env, model.url)) == worker.COMPLETED
        assert backend.of("agent.completed")[0]["summary"] == "Ours it is."

    def test_a_conversation_is_resumed_with_other_tools(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        model = play({"text": "I remember 4711."})
        assert self.work(self.kind.settings(env, model.url)) == worker.COMPLETED
        session = backend.of("agent.completed")[0]["session_id"]
        backend.state.task = {**TASK, "title": "Go on", "constraints": {"allowed_tools": ["search"]}}
        model = play({"when": {"contains": "Go on"}, "tools": self.kind.shell("touch ran.txt")}, {"text": "So be it."})
        assert self.work(self.kind.settings(env, model.url, RESUME_SESSION=session)) == worker.COMPLETED
        assert not (workspace / "ran.txt").exists()
        assert backend.of("agent.completed")[1]["summary"] == "So be it."

    def test_an_abort_ends_a_run_whose_model_never_answers(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play({"times": 0, "fault": {"kind": "hang"}})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        model.await_question()
        backend.state.commands.append("abort")
        assert started.join() == worker.FAILED
        assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"

    def test_an_abort_ends_the_run_in_the_middle_of_a_tool(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        model = play({"when": {"contains": "hello.txt"}, "tools": self.kind.shell(self.kind.endless)})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.state.commands.append("abort")
        assert started.join() == worker.FAILED
        assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"

    def test_a_message_before_an_interrupt_is_read_too(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        model = play(
            {"when": {"contains": "hello.txt"}, "tools": self.kind.shell(self.kind.endless)},
            {"when": {"contains": "do this instead"}, "tools": self.kind.shell("touch instead.txt")},
        )
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.send("by the way")
        backend.await_received()
        backend.send("do this instead", kind="interrupt")
        assert started.join() == worker.COMPLETED
        assert (workspace / "instead.txt").exists()
        delivered = [data["content"] for data in backend.of("agent.message_delivered")]
        assert sorted(delivered) == ["by the way", "do this instead"]
        assert "by the way" in str(model.asked())

    def test_an_aborted_run_reports_its_usage(self, env: dict[str, str], backend: TestBackend, play: Play) -> None:
        tool = self.kind.shell(self.kind.endless)
        model = play({"when": {"contains": "hello.txt"}, "tools": tool})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.state.commands.append("abort")
        assert started.join() == worker.FAILED
        failed = backend.of("agent.failed")[0]
        assert failed["reason"] == "aborted by the server"
        assert failed["cost_usd"] == pytest.approx(self.kind.cost)
        assert failed["usage"]["input_tokens"] == 1000
        assert failed["turns"] > 0
        assert failed["session_id"]

    def test_a_paused_agent_runs_no_tool_until_it_is_resumed(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        workspace = Path(env["WORKSPACE_DIR"])
        model = play(
            {"when": {"contains": "hello.txt"}, "tools": self.kind.shell(WAIT_FOR_GO)},
            {"when": {"lacks": "hello.txt"}, "tools": self.kind.shell("touch ran.txt")},
        )
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        await_tool(env)
        backend.state.commands.append("pause")
        backend.await_event("agent.paused")
        (workspace / "go").touch()
        backend.await_event("agent.tool_result")
        assert not (workspace / "ran.txt").exists()
        backend.state.commands.append("resume")
        assert started.join() == worker.COMPLETED
        assert (workspace / "ran.txt").exists()

    def test_a_pause_during_a_model_request_blocks_the_next_tool(
        self, env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits = held(monkeypatch)
        patient = Path(env["WORKSPACE_DIR"]) / "patient.txt"
        tools = self.kind.shell("touch patient.txt")
        model = play({"when": {"contains": "Write hello.txt"}, "held": True, "tools": tools})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        model.await_question()
        backend.state.commands.append("pause")
        backend.await_event("agent.paused")
        model.release()
        assert waits.wait(PATIENCE)
        assert not patient.exists()
        backend.state.commands.append("resume")
        assert started.join() == worker.COMPLETED
        assert patient.exists()

    def test_a_run_paused_before_its_start_runs_no_tool(
        self, env: dict[str, str], backend: TestBackend, play: Play, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits = held(monkeypatch)
        patient = Path(env["WORKSPACE_DIR"]) / "patient.txt"
        start = Run.start

        def paused(run: Run, runtime: str) -> None:
            run.command("pause")
            start(run, runtime)

        monkeypatch.setattr(Run, "start", paused)
        model = play({"when": {"contains": "Write hello.txt"}, "tools": self.kind.shell("touch patient.txt")})
        started = self.start(env, model.url, HEARTBEAT_SECONDS="0.05")
        assert waits.wait(PATIENCE)
        assert not patient.exists()
        backend.state.commands.append("resume")
        assert started.join() == worker.COMPLETED
        assert patient.exists()

    def test_an_abort_ends_a_run_that_was_paused_in_the_middle_of_a_tool(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        started = self.paused_in_a_tool(env, backend, play)
        backend.state.commands.append("abort")
        assert started.join() == worker.FAILED
        assert backend.of("agent.failed")[0]["reason"] == "aborted by the server"

    def test_an_interrupt_ends_the_tool_of_a_paused_run_with_a_pending_message(
        self, env: dict[str, str], backend: TestBackend, play: Play
    ) -> None:
        started = self.paused_in_a_tool(env, backend, play)
        backend.send("a note")
        backend.await_received()
        backend.send("stop", kind="interrupt")
        backend.await_event("agent.interrupted")
        backend.state.commands.append("resume")
        assert started.join() == worker.COMPLETED
        assert len(backend.of("agent.message_delivered")) == 2
