"""OpenHands runtime with the OpenHands SDK.

Callbacks run in the step of the agent, under its lock, so they only write to the spool. A separate thread inserts
messages, because it waits for the lock while a tool runs. The lock is free during a model request, but a message
inserted then would precede a response that does not consider it. The thread therefore waits for the response. If the
response has tool calls, the gate refuses them, and the model decides again. A message for the next turn enters after
the response of the agent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

# Read at import of the SDK: no price list from the network, no banner on standard output.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus
from openhands.sdk.event import MessageEvent
from openhands.sdk.llm.exceptions import LLMAuthenticationError
from openhands.sdk.tool import register_tool
from openhands.tools.terminal import TerminalTool

from .. import events
from ..control import Aborted
from ..inbox import Message
from ..run import Outcome, Run, Usage, over_budget
from ..spool import SpoolClosed
from .openhands_agent import WatchedAgent, WatchedConversation, model
from .openhands_gate import Gate
from .openhands_messages import MessageTracker
from .openhands_report import Report
from .openhands_review import RequestReviewTool
from .openhands_terminal import ShellExecutor
from .openhands_terminal import register as register_terminal
from .openhands_tools import Toolbox

log = logging.getLogger(__name__)

# Poll interval of the main loop.
LOOK_SECONDS = 0.05


class OpenHandsRuntime:
    """Runs conversations with an OpenHands agent, one at a time."""

    name = "openhands"

    def work(self, run: Run) -> Outcome:
        return asyncio.run(Conversation(run).hold())


class Conversation:
    """Conversation and its pending input. A lock guards the state that threads share."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._directory = run.settings.state / "openhands"
        self._identity = UUID(run.settings.resume) if run.settings.resume else uuid4()
        self._messages = MessageTracker(run.inbox)
        self._report = Report(run)
        # Serializes interrupts. An interrupt is complete when another thread gets the lock.
        self._interrupting = threading.Lock()
        self._interrupts: set[str] = set()
        self._stopped = threading.Event()
        self._feed = threading.Event()
        self._answered = threading.Event()
        self._answered.set()
        self._steer = threading.Event()
        self._closed = threading.Event()
        self._turns = 0
        self._toolbox = Toolbox(run.constraints.allowed_tools, run.settings.resume is not None)
        self._terminal: ShellExecutor | None = None
        self._conversation = self._open()
        if run.settings.resume:
            self._conversation.catch_up()
        stats = self._conversation.conversation_stats.get_combined_metrics()
        self._spent_before = float(stats.accumulated_cost)
        if run.settings.budget_usd is not None:
            # The SDK adds the cost of a resumed conversation, but the budget is for this run.
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
        terminal = self._conversation.agent.tools_map.get(TerminalTool.name)
        if terminal is not None and isinstance(terminal.executor, ShellExecutor):
            self._terminal = terminal.executor
        for thread in threads:
            thread.start()
        self._run.inbox.listen(self._wake)
        self._run.control.listen(self._wake)
        try:
            await self._turns_until_done()
            return self._outcome("")
        except Aborted as e:
            return self._outcome(str(e), self._run.control.abort_code)
        except ConversationRunError as e:
            aborted = self._run.control.aborted
            problem = aborted or self._report.error or str(e.original_exception)
            refused = isinstance(e.original_exception, LLMAuthenticationError)
            code = "model_refused" if refused else "model_error"
            return self._outcome(problem, self._run.control.abort_code if aborted else code)
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
        """Runs turns until no message, pause or interrupt requires another one."""
        await asyncio.to_thread(self._run.control.checkpoint)
        while True:
            interrupted = await self._turn()
            ended = self._stopped.is_set() or self._run.control.aborted is not None
            if ended and self._terminal is not None:
                await asyncio.to_thread(self._terminal.end_command)
            await asyncio.to_thread(self._run.control.checkpoint)
            status = self._conversation.state.execution_status
            if status == ConversationExecutionStatus.ERROR:
                return
            if interrupted or status == ConversationExecutionStatus.PAUSED:
                await self._until_told()
                continue
            self._run.inbox.turn_over()
            if self._messages.waiting() or self._run.inbox.pending():
                await self._until_told()
            else:
                return

    async def _turn(self) -> bool:
        """Runs one turn. Returns whether it was interrupted before the SDK started it.

        The turn is a separate task, because an interrupt cancels it and may arrive after its end.
        """
        turn = asyncio.create_task(self._conversation.arun())
        await asyncio.wait([turn])
        if not turn.cancelled():
            turn.result()
        return turn.cancelled()

    async def _until_told(self) -> None:
        """Waits for a message after an interrupt. After a pause there is nothing to wait for."""
        while self._run.inbox.pending() and not self._messages.waiting():
            await asyncio.to_thread(self._run.control.checkpoint)
            await asyncio.sleep(LOOK_SECONDS)
        while self._stopped.is_set() and not self._messages.waiting():
            await asyncio.to_thread(self._run.control.checkpoint)
            # The interrupt has ended the turn, so messages for the next turn are due.
            self._run.inbox.turn_over()
            await asyncio.sleep(LOOK_SECONDS)
        await asyncio.to_thread(self._go_on)

    def _go_on(self) -> None:
        """Waits for an interrupt in progress, so that it does not affect the next turn."""
        with self._interrupting:
            self._stopped.clear()

    def _wake(self) -> None:
        self._feed.set()
        self._steer.set()

    def _aside(self, work: Callable[[], None]) -> None:
        """Runs a function beside the agent. If the spool is closed, the run is ending and the thread returns."""
        try:
            work()
        except SpoolClosed:
            pass
        except Exception as e:
            # The conversation may be closed concurrently. Before that, a failure of this thread must abort the run.
            if not self._closed.is_set():
                log.exception("the conversation accepts no more messages")
                self._run.control.abort(f"{type(e).__name__}: {e}")

    def _feeding(self) -> None:
        """Writes messages into the conversation. Blocks while a tool runs."""
        while not self._closed.is_set():
            self._feed.wait()
            self._feed.clear()
            for message in self._run.inbox.pending():
                if self._closed.is_set():
                    return
                self._send(message)

    def _send(self, message: Message) -> None:
        if not self._messages.take(message):
            return
        if message.interrupts:
            # Delivered messages leave the inbox.
            self._interrupt(message)
        if message.content.strip():
            self._messages.begin(message)
            self._answered.wait()
            if not self._closed.is_set():
                self._conversation.send_message(message.text, sender=message.source)
        else:
            self._run.inbox.delivered([message], "interrupt")

    def _steering(self) -> None:
        """Handles interrupts and aborts, which must not wait behind a message.

        The gate before each tool and the end of each step handle a pause. Here, a pause would also wait for a running
        tool.
        """
        while not self._closed.is_set():
            self._steer.wait()
            self._steer.clear()
            if self._closed.is_set():
                return
            if self._run.control.aborted is not None:
                self._conversation.interrupt()
            for message in self._run.inbox.pending():
                if message.interrupts:
                    self._interrupt(message)

    def _interrupt(self, message: Message) -> None:
        """Interrupts once for each message, in the first thread that sees it."""
        with self._interrupting:
            if message.id not in self._interrupts:
                self._interrupts.add(message.id)
                self._stopped.set()
                self._conversation.interrupt()
                self._run.emit(events.INTERRUPTED, {"message_id": message.id}, "worker")

    def _before_step(self) -> None:
        """Called under the agent's lock before each request to the model, which includes all written messages."""
        if self._stopped.is_set() or self._run.control.aborted is not None:
            # Between two turns the SDK ignores an interrupt, so it is repeated here.
            raise asyncio.CancelledError
        self._turns += 1
        self._answered.clear()
        read = self._messages.read()
        if read:
            self._run.inbox.delivered(read, "conversation")

    def _after_step(self) -> None:
        self._answered.set()
        if self._run.control.paused:
            self._conversation.pause()

    def _on_event(self, event: Any) -> None:
        """Called inside the agent's step, or in `send_message`."""
        if event.source == "agent":
            self._answered.set()
        if isinstance(event, MessageEvent) and event.source == "user":
            # The SDK also sends messages as the user; those have no sender.
            if event.sender is not None:
                self._messages.placed()
        else:
            self._report.tell(event)

    def _outcome(self, problem: str, code: str = "failed") -> Outcome:
        metrics = self._conversation.conversation_stats.get_combined_metrics()
        status = self._conversation.state.execution_status
        completed = not problem and status == ConversationExecutionStatus.FINISHED
        usage = _usage(metrics)
        cost = max(0.0, float(metrics.accumulated_cost) - self._spent_before)
        if "MaxBudgetReached" in (problem or self._report.error):
            problem, code = over_budget(cost, self._run.settings.budget_usd or 0.0), "budget"
        return Outcome(
            completed=completed,
            summary=self._report.summary if completed else "",
            reason="" if completed else problem or self._report.error or f"the agent is {status.value}",
            cost_usd=cost,
            usage=Usage(**{name: value - getattr(self._before, name) for name, value in usage.fields().items()}),
            turns=self._turns,
            session_id=str(self._identity),
            code=code,
        )

    def _open(self) -> WatchedConversation:
        settings = self._run.settings
        self._directory.mkdir(parents=True, exist_ok=True)
        register_terminal()
        register_tool(RequestReviewTool.name, RequestReviewTool.create(run=self._run)[0])
        agent = WatchedAgent(
            llm=model(settings.model),
            tools=self._toolbox.tools(),
            filter_tools_regex=self._toolbox.shown,
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
        conversation.refusal = Gate(self._run.control, self._toolbox, self._messages).refusal
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
