"""OpenHands, through its SDK.

Callbacks run inside the agent's step, under its lock, so they only spool. Messages go in from a thread of their
own, because they wait for that lock while a tool runs. The lock is free while the model thinks, but a message put
in then would stand before an answer that was given without it; so it waits for the answer, and if that is an action,
the action is blocked with the reason, and the model decides again. One that is for the next turn goes in when the
agent has given its answer, and blocks nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

# Read when the SDK is imported: no price list from the network, no greeting on standard output.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import Tool
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from openhands.sdk.event.conversation_error import ConversationErrorEvent
from openhands.sdk.llm import content_to_str
from openhands.sdk.tool import register_tool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.file_editor.definition import FileEditorObservation
from openhands.tools.terminal import TerminalTool

from .. import events
from ..inbox import Message
from ..run import Outcome, Run, Usage
from ..spool import SpoolClosed
from .openhands_agent import WatchedAgent, WatchedConversation, model
from .openhands_review import RequestReviewTool
from .openhands_terminal import Terminal

log = logging.getLogger(__name__)

ASK = "A new message has arrived. Read it first, then decide again whether to do this."
# How often the main loop looks whether there is a reason to go on.
LOOK_SECONDS = 0.05


class OpenHandsRuntime:
    """One conversation with an OpenHands agent. One run at a time."""

    name = "openhands"

    def work(self, run: Run) -> Outcome:
        return asyncio.run(Conversation(run).hold())


class Conversation:
    """The conversation and what is on its way into it. What the threads share is behind a lock."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._directory = run.settings.state / "openhands"
        self._identity = UUID(run.settings.resume) if run.settings.resume else uuid4()
        self._lock = threading.Lock()
        self._sent: dict[str, Message] = {}
        self._unread: dict[str, Message] = {}
        self._sending = ""
        self._placed: set[str] = set()
        # One interrupts at a time, and is done with it when the other thread looks.
        self._interrupting = threading.Lock()
        self._interrupts: set[str] = set()
        # Whose words were the reason why an action was blocked: once is enough, the next action knows them.
        self._told: set[str] = set()
        self._stopped = threading.Event()
        self._feed = threading.Event()
        self._answered = threading.Event()
        self._answered.set()
        self._steer = threading.Event()
        self._closed = threading.Event()
        self._summary = ""
        self._error = ""
        self._turns = 0
        self._conversation = self._open()
        stats = self._conversation.conversation_stats.get_combined_metrics()
        self._spent_before = float(stats.accumulated_cost)
        if run.settings.budget_usd is not None:
            # The SDK counts on from what a resumed conversation had cost; the budget is for this run.
            self._conversation.max_budget_per_run = run.settings.budget_usd + self._spent_before
        self._before = _usage(stats)

    async def hold(self) -> Outcome:
        threads = [
            threading.Thread(target=self._aside, args=[self._feeding], name="messages", daemon=True),
            threading.Thread(target=self._aside, args=[self._steering], name="steering", daemon=True),
        ]
        data = {"runtime": "openhands", "session_id": str(self._identity), "directory": str(self._directory)}
        self._run.emit(events.TRANSCRIPT, data, "worker")
        await asyncio.to_thread(self._conversation.send_message, self._run.prompt())
        self._terminal = Terminal(self._conversation.agent.tools_map[TerminalTool.name].executor)
        for thread in threads:
            thread.start()
        self._run.inbox.listen(self._wake)
        self._run.control.listen(self._wake)
        try:
            await self._turns_until_done()
            return self._outcome("")
        except ConversationRunError as e:
            return self._outcome(self._error or str(e.original_exception))
        finally:
            self._run.inbox.listen(lambda: None)
            self._run.control.listen(lambda: None)
            # A tool call may still wait at a checkpoint, and the event loop would wait for it.
            self._run.control.end()
            self._closed.set()
            self._answered.set()
            self._wake()
            await asyncio.to_thread(self._conversation.close)

    async def _turns_until_done(self) -> None:
        """Runs turn after turn: for a message that came late, after a pause, and after an interrupt."""
        while True:
            interrupted = await self._turn()
            if self._stopped.is_set() or self._run.control.aborted is not None:
                await asyncio.to_thread(self._terminal.end_command)
            await asyncio.to_thread(self._run.control.checkpoint)
            status = self._conversation.state.execution_status
            if status == ConversationExecutionStatus.ERROR:
                return
            if interrupted or status == ConversationExecutionStatus.PAUSED:
                await self._until_told()
                continue
            self._run.inbox.turn_over()
            if self._waiting() or self._run.inbox.pending():
                await self._until_told()
            else:
                return

    async def _turn(self) -> bool:
        """One turn; whether it was interrupted before the SDK had begun it.

        In a task of its own: an interrupt cancels the task, and may come when the turn is over.
        """
        turn = asyncio.create_task(self._conversation.arun())
        await asyncio.wait([turn])
        if not turn.cancelled():
            turn.result()
        return turn.cancelled()

    async def _until_told(self) -> None:
        """After an interrupt the agent waits for words; after a pause there is nothing to wait for."""
        while self._run.inbox.pending() and not self._waiting():
            await asyncio.to_thread(self._run.control.checkpoint)
            await asyncio.sleep(LOOK_SECONDS)
        while self._stopped.is_set() and not self._waiting():
            await asyncio.to_thread(self._run.control.checkpoint)
            # An interrupt has ended the turn, so what is for the next one is as good as any words.
            self._run.inbox.turn_over()
            await asyncio.sleep(LOOK_SECONDS)
        self._stopped.clear()

    def _waiting(self) -> bool:
        """Whether a message is in the conversation that the model has not read."""
        with self._lock:
            return any(identity in self._placed for identity in self._unread)

    def _wake(self) -> None:
        self._feed.set()
        self._steer.set()

    def _aside(self, work: Callable[[], None]) -> None:
        """What a thread beside the agent does. Without a spool the run is being ended, and nothing is left to do."""
        try:
            work()
        except SpoolClosed:
            pass
        except Exception as e:
            # The conversation may be closed under it; before that, nobody would hear a message or stop the agent.
            if not self._closed.is_set():
                log.exception("the conversation took no more")
                self._run.control.abort(f"{type(e).__name__}: {e}")

    def _feeding(self) -> None:
        """Puts messages into the conversation; waits there while a tool runs."""
        while not self._closed.is_set():
            self._feed.wait()
            self._feed.clear()
            for message in self._run.inbox.pending():
                if self._closed.is_set():
                    return
                self._send(message)

    def _send(self, message: Message) -> None:
        with self._lock:
            if message.id in self._sent:
                return
            self._sent[message.id] = message
        if message.interrupts:
            # What counts as delivered is not looked at any more.
            self._interrupt(message)
        if message.content.strip():
            with self._lock:
                self._unread[message.id] = message
                self._sending = message.id
            self._answered.wait()
            if not self._closed.is_set():
                self._conversation.send_message(message.text, sender=message.source)
        else:
            self._run.inbox.delivered([message], "interrupt")

    def _steering(self) -> None:
        """Interrupts, pauses and aborts: never behind a message that waits for a tool to end."""
        while not self._closed.is_set():
            self._steer.wait()
            self._steer.clear()
            if self._closed.is_set():
                return
            if self._run.control.aborted is not None:
                self._conversation.interrupt()
            elif self._run.control.paused:
                self._conversation.pause()
            for message in self._run.inbox.pending():
                if message.interrupts:
                    self._interrupt(message)

    def _interrupt(self, message: Message) -> None:
        """Once for each, by whichever thread comes first."""
        with self._interrupting:
            if message.id not in self._interrupts:
                self._interrupts.add(message.id)
                self._stopped.set()
                self._conversation.interrupt()
                self._run.emit(events.INTERRUPTED, {"message_id": message.id}, "worker")

    def _before_step(self) -> None:
        """The model is about to be asked, under the agent's lock: what has been put in by now, it reads."""
        self._turns += 1
        self._answered.clear()
        with self._lock:
            read = [message for message in self._unread.values() if message.id in self._placed]
            for message in read:
                del self._unread[message.id]
        if read:
            self._run.inbox.delivered(read, "conversation")

    def _after_step(self) -> None:
        self._answered.set()
        if self._run.control.paused:
            # Here, and not only by the thread that steers: it may be late, and the next step has begun.
            self._conversation.pause()

    def _on_event(self, event: Any) -> None:
        """Called inside the agent's step, or in `send_message`."""
        if event.source == "agent":
            self._answered.set()
        if isinstance(event, ActionEvent):
            self._action(event)
        elif isinstance(event, ObservationEvent):
            content = "\n".join(content_to_str(event.observation.to_llm_content))
            self._result(event, content, bool(event.observation.is_error))
            self._note_file(event.observation)
        elif isinstance(event, UserRejectObservation):
            self._result(event, event.rejection_reason, True)
        elif isinstance(event, AgentErrorEvent):
            self._result(event, event.error, True)
        elif isinstance(event, MessageEvent) and event.source == "user":
            # Inside `send_message`, under the agent's lock: from here on the next step has it.
            with self._lock:
                self._placed.add(self._sending)
        elif isinstance(event, MessageEvent) and event.source == "agent":
            self._summary = "\n".join(content_to_str(event.llm_message.content))
            self._run.emit(events.MESSAGE, {"text": self._summary})
        elif isinstance(event, ConversationErrorEvent):
            self._error = f"{event.code}: {event.detail}"
            self._run.emit(events.ERROR, {"code": event.code, "problem": event.detail})

    def _action(self, event: ActionEvent) -> None:
        if event.reasoning_content:
            self._run.emit(events.THINKING, {"text": event.reasoning_content})
        thought = "\n".join(content_to_str(list(event.thought)))
        if thought:
            self._run.emit(events.MESSAGE, {"text": thought})
        given = event.action.model_dump(exclude={"kind"}) if event.action is not None else event.tool_call.arguments
        data = {"tool_use_id": event.tool_call_id, "tool_name": event.tool_name, "tool_input": given}
        self._run.emit(events.TOOL_USE, data)
        if event.tool_name == "finish" and event.action is not None:
            self._summary = str(getattr(event.action, "message", ""))
        unread = self._unheard()
        if unread:
            # With the words, should the next question be asked before they are in the conversation themselves.
            reason = "\n".join([ASK, *(message.text for message in unread)])
            self._conversation.state.block_action(event.id, reason)
            self._told.update(message.id for message in unread)

    def _unheard(self) -> list[Message]:
        """What has come and the model knows nothing of, whether it has been put in yet or not."""
        pending = [message for message in self._run.inbox.pending() if message.id not in self._told]
        with self._lock:
            return [message for message in pending if message.id in self._unread or message.id not in self._sent]

    def _result(self, event: Any, content: str, is_error: bool) -> None:
        data = {
            "tool_use_id": event.tool_call_id,
            "tool_name": event.tool_name,
            "content": content,
            "is_error": is_error,
        }
        self._run.emit(events.TOOL_RESULT, data)

    def _note_file(self, observation: Any) -> None:
        if not isinstance(observation, FileEditorObservation) or observation.new_content is None:
            return
        if observation.is_error or observation.command == "view" or observation.path is None:
            return
        path = observation.path
        with contextlib.suppress(ValueError):
            path = str(Path(path).relative_to(self._run.settings.workspace))
        old = (observation.old_content or "").splitlines()
        lines = list(unified_diff(old, observation.new_content.splitlines(), lineterm=""))[2:]
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        self._run.file_changed(path, "modified" if observation.prev_exist else "created", added, removed)

    def _outcome(self, problem: str) -> Outcome:
        metrics = self._conversation.conversation_stats.get_combined_metrics()
        status = self._conversation.state.execution_status
        completed = not problem and status == ConversationExecutionStatus.FINISHED
        budget = self._run.settings.budget_usd
        if "MaxBudgetReached" in (problem or self._error):
            problem = f"the budget of ${budget} is spent"
        usage = _usage(metrics)
        return Outcome(
            completed=completed,
            summary=self._summary if completed else "",
            reason="" if completed else problem or self._error or f"the agent is {status.value}",
            cost_usd=max(0.0, float(metrics.accumulated_cost) - self._spent_before),
            usage=Usage(**{name: value - getattr(self._before, name) for name, value in usage.fields().items()}),
            turns=self._turns,
            session_id=str(self._identity),
        )

    def _open(self) -> WatchedConversation:
        settings = self._run.settings
        self._directory.mkdir(parents=True, exist_ok=True)
        register_tool(RequestReviewTool.name, RequestReviewTool.create(run=self._run)[0])
        agent = WatchedAgent(
            llm=model(settings.model),
            tools=[
                # No tmux is needed, and none is left behind.
                Tool(name=TerminalTool.name, params={"terminal_type": "subprocess"}),
                Tool(name=FileEditorTool.name),
                Tool(name=RequestReviewTool.name),
            ],
        )
        conversation = WatchedConversation(
            agent=agent,
            workspace=str(settings.workspace),
            persistence_dir=str(self._directory),
            profile_store_dir=str(self._directory / "profiles"),
            conversation_id=self._identity,
            callbacks=[self._on_event],
            visualizer=None,
            delete_on_close=False,
        )
        conversation.before_step = self._before_step
        conversation.after_step = self._after_step
        return conversation


def _usage(metrics: Any) -> Usage:
    tokens = metrics.accumulated_token_usage
    if tokens is None:
        return Usage()
    return Usage(
        input_tokens=tokens.prompt_tokens,
        output_tokens=tokens.completion_tokens,
        cache_read_tokens=tokens.cache_read_tokens,
        cache_write_tokens=tokens.cache_write_tokens,
    )
