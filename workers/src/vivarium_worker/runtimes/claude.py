"""Claude, through its Agent SDK.

A message goes into the running conversation at once, as a message of the user; the agent reads it with the next
result of a tool. When it came while the model was still thinking, that would be one tool too late, so until the
model has read it every tool call is refused with the reason, and the model decides again. One that is for the next
turn goes in when the agent has given its answer, and disturbs no tool.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
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
from ..run import Outcome, Run
from ..spool import SpoolClosed
from .claude_program import allowed_tools, options
from .claude_spent import Spent

log = logging.getLogger(__name__)

STDERR_CHARACTERS = 4000
# How long the program has to end a turn, or to say its last words.
END_SECONDS = 10.0
# A program that asks about a call before it tells of it has a tool refused too often, and does not stand still.
HEAR_SECONDS = 60.0
INTERRUPTED = "interrupted"
ASK = "A new message has arrived and comes with this result. Read it first, then decide again whether to do this."


class ClaudeRuntime:
    """One conversation with Claude Code. One run at a time."""

    name = "claude"

    def work(self, run: Run) -> Outcome:
        # One who listens and one who feeds; what waits for people waits in other threads, and keeps neither waiting.
        with ThreadPoolExecutor(2, "conversation") as threads:
            return asyncio.run(Conversation(run, threads).hold())


class Changed:
    """Wakes all who wait for a fact, so that they look whether it is there. Belongs to an event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()

    async def until(self, fact: Callable[[], bool]) -> None:
        # Nothing may be awaited between the look and the wait: what changes in between would be lost.
        while not fact():
            self._event.clear()
            await self._event.wait()


class Turn(Enum):
    """How far the program is with what it was told."""

    OWED = "it has something to read, and has not begun"
    ON = "it works"
    OVER = "it has nothing to do until it is told more"


class Conversation:
    """The conversation and what is on its way into it. Belongs to its event loop, but for the listeners."""

    def __init__(self, run: Run, threads: ThreadPoolExecutor) -> None:
        self._run = run
        self._threads = threads
        self._directory = run.settings.state / "claude"
        self._changed = Changed()
        # What went in and the model has not read, by the id it went in with; and the messages' own ids, for ever.
        self._unread: dict[str, Message] = {}
        self._sent: set[str] = set()
        self._turn = Turn.OWED
        self._stderr = ""
        # The tools that the model called and that have no result yet, by the id of the call.
        self._names: dict[str, str] = {}
        self._spent = Spent(self._directory, run.settings.resume)

    async def hold(self) -> Outcome:
        loop = asyncio.get_running_loop()
        self._directory.mkdir(parents=True, exist_ok=True)

        def wake() -> None:
            # Who had this at hand when the run ended may call it later still, when nobody is there to be woken.
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
        """How it ended, with what it took until then, whatever ended it."""
        try:
            await client.connect()
            await client.query(self._run.prompt())
            outcome = await self._converse(client)
        except SpoolClosed:
            raise
        except ClaudeSDKError as e:
            outcome = self._spent.failed(self._why(str(e)))
        except Exception as e:
            # Often the SDK's own: it has no kind of error for a program that does not answer.
            if self._run.control.aborted is None:
                log.exception("the conversation failed")
            outcome = self._spent.failed(self._why(f"{type(e).__name__}: {e}"))
        aborted = self._run.control.aborted
        return outcome if aborted is None else self._spent.failed(aborted)

    async def _converse(self, client: ClaudeSDKClient) -> Outcome:
        """Hears and speaks at the same time, until all is said."""
        listening = asyncio.create_task(self._listen(client))
        others = [asyncio.create_task(self._feed(client)), asyncio.create_task(self._heed_abort(client))]
        try:
            await asyncio.wait([listening, *others], return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                # An abort that the program does not heed; or nobody is there any more who brings it messages.
                await client.disconnect()
                for other in others:
                    if other.done():
                        other.result()
            return await listening
        finally:
            for task in (listening, *others):
                task.cancel()
            # Their own failures are no news any more: what was said in the end is the outcome.
            await asyncio.gather(listening, *others, return_exceptions=True)

    async def _listen(self, client: ClaudeSDKClient) -> Outcome:
        """Hears everything until the last turn has ended, and nothing more is on its way in."""
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
            # After a result that is an error the program may end with one too; the result says more.
            if failure is None:
                raise
        return failure or self._spent.failed(self._why("it ended without a result"))

    def _more_to_say(self, outcome: Outcome) -> bool:
        """Whether another turn follows: for a message on its way, or one that an interrupted agent waits for."""
        self._turn = Turn.OWED if self._unread else Turn.OVER
        self._run.inbox.turn_over()
        if self._unread or any(message.content.strip() for message in self._run.inbox.pending()):
            return True
        return outcome.reason == INTERRUPTED

    async def _feed(self, client: ClaudeSDKClient) -> None:
        """Puts messages into the conversation the moment they come, interrupts first.

        Nobody else puts any in: whoever asks for it may be gone in the middle, as the question before a tool is when
        the tool is interrupted.
        """
        try:
            while True:
                await self._changed.until(lambda: bool(self._unsent()))
                # Not more than one: what comes meanwhile may be an interrupt.
                for message in self._unsent()[:1]:
                    await self._put_in(client, message)
                    self._sent.add(message.id)
                    self._changed.notify()
        except CLIConnectionError:
            # The program has ended, and its last words, which are still to be heard, say more about that.
            await asyncio.sleep(END_SECONDS)
            raise

    def _unsent(self) -> list[Message]:
        """What has come and is still to go in; nothing does when the run is to end."""
        if self._run.control.aborted is not None:
            return []
        if self._turn is Turn.OVER:
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
        # The program forgets an interrupt that comes before it has begun with what it was told just before.
        await self._changed.until(lambda: self._turn is not Turn.OWED)
        try:
            await client.interrupt()
        except ClaudeSDKError:
            raise
        except Exception as e:
            # It was asked; that it heeds is said behind all that is still to be heard, which may take longer than the
            # SDK waits, and has no error of its own.
            log.warning("the program does not say that it was interrupted: %s", e)

    async def _heed_abort(self, client: ClaudeSDKClient) -> None:
        """Interrupts, so that the last turn still has a result, and waits for it, but not for ever."""
        await self._changed.until(lambda: self._run.control.aborted is not None)
        if self._turn is Turn.OVER:
            return
        with contextlib.suppress(ClaudeSDKError, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self._interrupt(client)
                await asyncio.Event().wait()

    async def _send(self, client: ClaudeSDKClient, message: Message) -> None:
        identity = str(uuid4())
        self._unread[identity] = message
        if self._turn is Turn.OVER:
            self._turn = Turn.OWED

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
            data = {"tool_use_id": block.id, "tool_name": block.name, "tool_input": block.input}
            await self._emit(events.TOOL_USE, data)
            self._names[block.id] = block.name
            self._changed.notify()

    async def _told(self, message: UserMessage) -> None:
        """Results of tools; and our own words, which come back when the model has them."""
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
                await self._emit(events.TOOL_RESULT, data)
        self._note_file(message.tool_use_result)

    def _note_file(self, result: Any) -> None:
        """What Write and Edit say about the file they changed."""
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
            self._turn = Turn.ON
            self._changed.notify()
        if message.subtype == "init" and self._spent.session != message.data.get("session_id"):
            self._spent.session = str(message.data.get("session_id"))
            data = {"runtime": "claude", "session_id": self._spent.session, "directory": str(self._directory)}
            await self._emit(events.TRANSCRIPT, data, "worker")
        elif message.subtype == "api_retry":
            await self._emit(events.ERROR, {"problem": "the model did not answer; trying again", **message.data})

    async def _result(self, message: ResultMessage) -> Outcome:
        self._spent.add(message)
        await self._emit(events.USAGE, self._spent.fields())
        if (message.terminal_reason or "").startswith("aborted"):
            return self._spent.failed(INTERRUPTED)
        if message.subtype != "success" or message.is_error:
            return self._spent.failed(self._reason(message))
        return self._spent.completed(message.result or "")

    def _reason(self, message: ResultMessage) -> str:
        if message.subtype == "error_max_budget_usd":
            return f"the budget of ${self._run.settings.budget_usd} is spent"
        said = message.result or "; ".join(message.errors or []) or message.subtype
        return f"the model answered {message.api_error_status}: {said}" if message.api_error_status else said

    async def _before_tool(self, hook: Any, call: str | None, _context: Any) -> Any:
        """Runs before every tool: waits while the run is paused, and refuses while a message is unread."""
        await self._heard_of(call)
        control = self._run.control
        # What has come goes in before a tool is refused for it, so that the model has both at once.
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
        """Waits until the call itself was heard and is safe in the spool, and so all that the program said before it.

        This question overtakes what is still to be heard. Without the wait, a message that the model has read would
        count as unread, and its tool be refused for it.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEAR_SECONDS):
                await self._changed.until(lambda: call is None or call in self._names)

    async def _emit(self, event_type: str, data: dict[str, Any], source: str = "agent") -> None:
        # In a thread: a full spool makes this wait, and the loop must still hear an abort.
        await self._in_thread(self._run.emit, event_type, data, source)

    async def _in_thread(self, call: Callable[..., None], *arguments: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    def _on_stderr(self, line: str) -> None:
        self._stderr = (self._stderr + line + "\n")[-STDERR_CHARACTERS:]

    def _why(self, problem: str) -> str:
        return f"{problem}: {self._stderr.strip()}" if self._stderr.strip() else problem


def _decision(decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }
