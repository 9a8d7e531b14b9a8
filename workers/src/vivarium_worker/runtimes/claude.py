"""Claude runtime with the Claude Agent SDK.

A message enters the running conversation immediately, as a user message. The model reads it with the next tool
result. If it arrives during a model request, the next tool call would precede it. The hook therefore refuses every
tool call until the model has read the message, and the model decides again. A message for the next turn enters the
conversation after the response of the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import uuid4

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from .. import events
from ..inbox import Message
from ..run import Outcome, Run, over_budget
from ..spool import SpoolClosed
from .claude_program import allowed_tools, options
from .claude_spent import Spent

log = logging.getLogger(__name__)

STDERR_CHARACTERS = 4000
# Time limit for the program to end a turn or to exit.
END_SECONDS = 10.0
# Time to wait for the message of a tool call. After it the call is refused, so that the run continues.
HEAR_SECONDS = 60.0
INTERRUPTED = "interrupted"
PAYMENT_REQUIRED = 402

# Answers of a model that a retry does not change.
REFUSALS = frozenset({400, 401, 403, 404, 413, 422})
ASK = "A new message has arrived and comes with this result. Read it first, then decide again whether to do this."


class ClaudeRuntime:
    """Runs conversations with Claude Code, one at a time."""

    name = "claude"

    def work(self, run: Run) -> Outcome:
        # One thread reads and one writes. Waits for people use other threads.
        with ThreadPoolExecutor(2, "conversation") as threads:
            return asyncio.run(Conversation(run, threads).hold())


class Changed:
    """Condition that wakes all waiters after a change. Confined to an event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()

    async def until(self, fact: Callable[[], bool]) -> None:
        # Between check and wait there must be no await, or a change would be missed.
        while not fact():
            self._event.clear()
            await self._event.wait()


class Turn(Enum):
    """State of the program for the last input."""

    PENDING = "has unread input and has not started"
    RUNNING = "works"
    IDLE = "waits for the next message"


class Conversation:
    """Conversation and its pending input. Confined to its event loop, except the listeners."""

    def __init__(self, run: Run, threads: ThreadPoolExecutor) -> None:
        self._run = run
        self._threads = threads
        self._directory = run.settings.state / "claude"
        self._changed = Changed()
        # Sent but unread messages by their id in the conversation, and the ids of all sent messages.
        self._unread: dict[str, Message] = {}
        self._sent: set[str] = set()
        self._turn = Turn.PENDING
        self._stderr = ""
        # Tool calls without a result, by call id.
        self._names: dict[str, str] = {}
        self._spent = Spent(self._directory, run.settings.resume)

    async def hold(self) -> Outcome:
        loop = asyncio.get_running_loop()
        self._directory.mkdir(parents=True, exist_ok=True)

        def wake() -> None:
            # A listener may call this after the end of the run, when the loop is closed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._changed.notify)

        self._run.inbox.listen(wake)
        self._run.control.listen(wake)
        client = ClaudeSDKClient(options(self._run, self._spent.before, self._before_tool, self._on_stderr))
        try:
            return await self._outcome(client)
        finally:
            self._run.inbox.listen(lambda: None)
            self._run.control.listen(lambda: None)
            self._run.control.end()
            with contextlib.suppress(Exception):
                await client.disconnect()

    async def _outcome(self, client: ClaudeSDKClient) -> Outcome:
        """Returns the outcome with the usage of the run."""
        try:
            await client.connect()
            await client.query(self._run.prompt())
            outcome = await self._converse(client)
        except SpoolClosed:
            raise
        except ClaudeSDKError as e:
            outcome = self._spent.failed(self._why(str(e)), "crashed")
        except Exception as e:
            # The SDK raises this untyped exception when the program does not answer.
            if self._run.control.aborted is None:
                log.exception("the conversation failed")
            outcome = self._spent.failed(self._why(f"{type(e).__name__}: {e}"), "crashed")
        aborted = self._run.control.aborted
        return outcome if aborted is None else self._spent.failed(aborted, self._run.control.abort_code)

    async def _converse(self, client: ClaudeSDKClient) -> Outcome:
        """Reads and writes concurrently until the conversation is over."""
        listening = asyncio.create_task(self._listen(client))
        others = [asyncio.create_task(self._feed(client)), asyncio.create_task(self._heed_abort(client))]
        try:
            await asyncio.wait([listening, *others], return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                # The program ignores an abort, or the writer has failed.
                await client.disconnect()
                for other in others:
                    if other.done():
                        other.result()
            return await listening
        finally:
            for task in (listening, *others):
                task.cancel()
            # Failures of the tasks are ignored here, because the last result is the outcome.
            await asyncio.gather(listening, *others, return_exceptions=True)

    async def _listen(self, client: ClaudeSDKClient) -> Outcome:
        """Reads messages until the last turn is over and no input is pending."""
        failure: Outcome | None = None
        try:
            async for message in client.receive_messages():
                if isinstance(message, ResultMessage):
                    outcome = await self._result(message)
                    if self._run.control.aborted is not None or not self._more_to_say(outcome):
                        return outcome
                    failure = None if outcome.completed or outcome.reason == INTERRUPTED else outcome
                else:
                    await self._heard(message)
        except ClaudeSDKError:
            # After an error result the program may exit with an error. The result is more specific.
            if failure is None:
                raise
        return failure or self._spent.failed(self._why("it ended without a result"), "crashed")

    def _more_to_say(self, outcome: Outcome) -> bool:
        """Reports whether another turn follows, for pending input or after an interrupt."""
        self._turn = Turn.PENDING if self._unread else Turn.IDLE
        self._run.inbox.turn_over()
        if self._unread or any(message.content.strip() for message in self._run.inbox.pending()):
            return True
        return outcome.reason == INTERRUPTED

    async def _feed(self, client: ClaudeSDKClient) -> None:
        """Writes messages into the conversation when they arrive, interrupts first.

        Only this task writes messages. A hook could be cancelled during a write, when its tool is interrupted.
        """
        try:
            while True:
                await self._changed.until(lambda: bool(self._unsent()))
                # One message at a time, because an interrupt may arrive meanwhile.
                for message in self._unsent()[:1]:
                    await self._put_in(client, message)
                    self._sent.add(message.id)
                    self._changed.notify()
        except CLIConnectionError:
            # The program has exited. Its remaining output gives the reason.
            await asyncio.sleep(END_SECONDS)
            raise

    def _unsent(self) -> list[Message]:
        """Returns pending messages; none when the run is ending."""
        if self._run.control.aborted is not None:
            return []
        if self._turn is Turn.IDLE:
            self._run.inbox.turn_over()
        return [message for message in self._run.inbox.pending() if message.id not in self._sent]

    async def _put_in(self, client: ClaudeSDKClient, message: Message) -> None:
        if message.interrupts:
            await self._interrupt(client)
            await self._emit(events.INTERRUPTED, {"message_id": message.id}, "worker")
        if message.content.strip():
            await self._send(client, message)
        else:
            await self._in_thread(self._run.inbox.delivered, [message], "interrupt")

    async def _interrupt(self, client: ClaudeSDKClient) -> None:
        # The program ignores an interrupt that arrives before it has started with the previous input.
        await self._changed.until(lambda: self._turn is not Turn.PENDING)
        try:
            await client.interrupt()
        except ClaudeSDKError:
            raise
        except Exception as e:
            # The confirmation comes after all pending output, which may take longer than the timeout of the SDK.
            log.warning("the program did not confirm the interrupt: %s", e)

    async def _heed_abort(self, client: ClaudeSDKClient) -> None:
        """Interrupts the turn and waits for its result within the time limit."""
        await self._changed.until(lambda: self._run.control.aborted is not None)
        if self._turn is Turn.IDLE:
            return
        with contextlib.suppress(ClaudeSDKError, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._interrupt(client)
                await asyncio.Event().wait()

    async def _send(self, client: ClaudeSDKClient, message: Message) -> None:
        identity = str(uuid4())
        self._unread[identity] = message
        if self._turn is Turn.IDLE:
            self._turn = Turn.PENDING

        async def one() -> AsyncIterator[dict[str, Any]]:
            yield {
                "type": "user",
                "uuid": identity,
                "message": {"role": "user", "content": message.text},
                "parent_tool_use_id": None,
                "priority": "next",
            }

        await client.query(one())

    async def _heard(self, message: Any) -> None:
        if isinstance(message, AssistantMessage):
            for block in message.content:
                await self._said(block)
        elif isinstance(message, UserMessage):
            await self._told(message)
        elif isinstance(message, SystemMessage):
            await self._system(message)

    async def _said(self, block: Any) -> None:
        if isinstance(block, TextBlock):
            await self._emit(events.MESSAGE, {"text": block.text})
        elif isinstance(block, ThinkingBlock):
            await self._emit(events.THINKING, {"text": block.thinking})
        elif isinstance(block, ToolUseBlock):
            data = {"tool_use_id": block.id, "tool_name": block.name, "tool_input": block.input, "status": "running"}
            if block.name == "Bash":
                data["shell_command"] = str(block.input.get("command", ""))
            await self._emit(events.TOOL_USE, data)
            self._names[block.id] = block.name
            self._changed.notify()

    async def _told(self, message: UserMessage) -> None:
        """Logs tool results, and marks our messages as read when they appear."""
        delivered = self._unread.pop(message.uuid or "", None)
        if delivered is not None:
            await self._in_thread(self._run.inbox.delivered, [delivered], "conversation")
        if isinstance(message.content, str):
            return
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                data = {
                    "tool_use_id": block.tool_use_id,
                    "tool_name": self._names.pop(block.tool_use_id, None),
                    "content": block.content,
                    "is_error": bool(block.is_error),
                }
                if data["tool_name"] == "Bash":
                    data.update(_shell_result(message.tool_use_result, block))
                await self._emit(events.TOOL_RESULT, data)
        self._note_file(message.tool_use_result)

    def _note_file(self, result: Any) -> None:
        """Extracts the file change from a result of Write or Edit."""
        if not isinstance(result, dict) or not isinstance(result.get("structuredPatch"), list):
            return
        path = str(result.get("filePath", ""))
        with contextlib.suppress(ValueError):
            path = str(Path(path).relative_to(self._run.settings.workspace))
        if result.get("type") == "create":
            self._run.file_changed(path, "created", len(str(result.get("content", "")).splitlines()), 0)
            return
        lines = [str(line) for hunk in result["structuredPatch"] for line in hunk.get("lines", [])]
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        self._run.file_changed(path, "modified", added, removed)

    async def _system(self, message: SystemMessage) -> None:
        if message.subtype == "init":
            self._turn = Turn.RUNNING
            self._changed.notify()
        if message.subtype == "init" and self._spent.session != message.data.get("session_id"):
            self._spent.session = str(message.data.get("session_id"))
            data = {"runtime": "claude", "session_id": self._spent.session, "directory": str(self._directory)}
            await self._emit(events.TRANSCRIPT, data, "worker")
        elif message.subtype == "api_retry":
            status = message.data.get("error_status")
            problem = f"the model answered {status}" if status else "the model did not answer"
            await self._emit(events.ERROR, {"problem": f"{problem}; trying again", **message.data})

    async def _result(self, message: ResultMessage) -> Outcome:
        self._spent.add(message)
        await self._emit(events.USAGE, self._spent.fields())
        if (message.terminal_reason or "").startswith("aborted"):
            return self._spent.failed(INTERRUPTED)
        if message.subtype != "success" or message.is_error:
            return self._spent.failed(self._reason(message), _code(message))
        return self._spent.completed(message.result or "")

    def _reason(self, message: ResultMessage) -> str:
        if message.subtype == "error_max_budget_usd":
            return over_budget(self._spent.cost_usd or 0.0, self._run.settings.budget_usd or 0.0)
        said = message.result or "; ".join(message.errors or []) or message.subtype
        return f"the model answered {message.api_error_status}: {said}" if message.api_error_status else said

    async def _before_tool(self, hook: Any, call: str | None, _context: Any) -> Any:
        """Hook before every tool: blocks while the run is paused, and refuses while a message is unread."""
        await self._heard_of(call)
        control = self._run.control
        # Writes pending messages before the refusal, so that the model gets both together.
        await self._changed.until(lambda: not control.holds() and not self._unsent())
        if control.aborted is not None:
            return {"continue_": False, "stopReason": control.aborted, **_decision("deny", control.aborted)}
        allowed = allowed_tools(self._run)
        if hook["tool_name"] not in allowed and not hook["tool_name"].startswith("mcp__vivarium__"):
            return _decision("deny", f"the task allows only {', '.join(allowed) or 'your own answer'}")
        if self._unread:
            return _decision("deny", ASK)
        return _decision("allow", "inside its sandbox the agent may do what the sandbox lets it")

    async def _heard_of(self, call: str | None) -> None:
        """Waits until the tool call and everything before it is in the spool.

        The hook may run before the reader has processed earlier output. Without the wait, a message that the model
        has read would count as unread, and the hook would refuse the tool.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEAR_SECONDS):
                await self._changed.until(lambda: call is None or call in self._names)

    async def _emit(self, event_type: str, data: dict[str, Any], source: str = "agent") -> None:
        # In a thread, because a full spool blocks, and the loop must still handle an abort.
        await self._in_thread(self._run.emit, event_type, data, source)

    async def _in_thread(self, call: Callable[..., None], *arguments: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    def _on_stderr(self, line: str) -> None:
        self._stderr = (self._stderr + line + "\n")[-STDERR_CHARACTERS:]

    def _why(self, problem: str) -> str:
        return f"{problem}: {self._stderr.strip()}" if self._stderr.strip() else problem


def _code(message: ResultMessage) -> str:
    """Machine-readable reason of a failed turn. The gateway answers 402 if the budget is spent."""
    if message.subtype == "error_max_budget_usd" or message.api_error_status == PAYMENT_REQUIRED:
        return "budget"
    if message.api_error_status in REFUSALS:
        return "model_refused"
    return "model_error" if message.api_error_status or message.is_error else "failed"


def _shell_result(result: Any, block: ToolResultBlock) -> dict[str, Any]:
    """Exit code and output of a command. The program reports a failure as a text that begins with `Exit code`."""
    text = block.content if isinstance(block.content, str) else ""
    failed = re.match(r"Exit code (\d+)\n?", text)
    if failed is not None:
        return {"exit_code": int(failed[1]), "output": text[failed.end() :]}
    output = "".join(str(result.get(name) or "") for name in ("stdout", "stderr")) if isinstance(result, dict) else text
    return {"exit_code": 1 if block.is_error else 0, "output": output}


def _decision(decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }
