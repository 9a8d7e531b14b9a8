"""Claude, through its Agent SDK.

A message goes into the running conversation at once, as a message of the user; the agent reads it with the next
result of a tool. When it came while the model was still thinking, that would be one tool too late, so until the
model has read it every tool call is refused with the reason, and the model decides again. One that is for the next
turn goes in when the agent has given its answer, and disturbs no tool.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    HookMatcher,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    create_sdk_mcp_server,
)

from .. import events
from ..control import Aborted
from ..inbox import Message
from ..run import Outcome, Run, Usage
from .claude_tools import own_tools

log = logging.getLogger(__name__)

TOOLS = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]
# The names that tasks use for tools of any runtime.
TASK_TOOLS = {"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "search": "Grep"}
# A hook may wait for as long as a run is paused or a person thinks about a review.
HOOK_SECONDS = 7 * 24 * 3600
STDERR_CHARACTERS = 4000
ABORT_SECONDS = 10.0
ASK = "A new message has arrived and comes with this result. Read it first, then decide again whether to do this."


class ClaudeRuntime:
    """One conversation with Claude Code. One run at a time."""

    name = "claude"

    def work(self, run: Run) -> Outcome:
        return asyncio.run(Conversation(run).hold())


class Conversation:
    """The conversation and what is on its way into it. Belongs to its event loop, but for the listeners."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._directory = run.settings.state / "claude"
        self._wake = asyncio.Event()
        self._changed = asyncio.Event()
        self._unread: dict[str, Message] = {}
        self._sent: set[str] = set()
        # Held while a message is written: what is said of it comes after it.
        self._sending = asyncio.Lock()
        self._stderr = ""
        self._names: dict[str, str] = {}
        self._session: str | None = None
        self._spent_before = _spent(self._directory, run.settings.resume)

    async def hold(self) -> Outcome:
        loop = asyncio.get_running_loop()
        self._directory.mkdir(parents=True, exist_ok=True)

        def wake() -> None:
            # Who had this at hand when the run ended may call it later still, when nobody is there to be woken.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._wake.set)

        self._run.inbox.listen(wake)
        self._run.control.listen(wake)
        self._client = client = ClaudeSDKClient(self._options())
        try:
            await client.connect()
            await client.query(self._run.prompt())
            feeding = asyncio.create_task(self._feed(client))
            try:
                return await self._listen(client, feeding)
            finally:
                feeding.cancel()
                # Its own failure is no news any more: what was said in the end is the outcome.
                await asyncio.gather(feeding, return_exceptions=True)
        except ClaudeSDKError as e:
            return Outcome.failed(self._why(str(e)))
        finally:
            self._run.inbox.listen(lambda: None)
            self._run.control.listen(lambda: None)
            # A tool call may still wait at a checkpoint, and the event loop would wait for it.
            self._run.control.end()
            with contextlib.suppress(Exception):
                await client.disconnect()

    async def _listen(self, client: ClaudeSDKClient, feeding: asyncio.Task[None]) -> Outcome:
        """Hears everything until the last turn has ended, and nothing more is on its way in."""
        outcome: Outcome | None = None
        try:
            async for message in client.receive_messages():
                if feeding.done():
                    feeding.result()
                if isinstance(message, ResultMessage):
                    outcome = await self._result(message)
                    if not await self._more_to_say(outcome):
                        return outcome
                else:
                    await self._heard(message)
        except ClaudeSDKError as e:
            # After a result that is an error the program may end with one too; the result says more.
            if outcome is None and self._run.control.aborted is None:
                return Outcome.failed(self._why(str(e)))
        if self._run.control.aborted is not None:
            raise Aborted(self._run.control.aborted)
        return outcome or Outcome.failed(self._why("it ended without a result"))

    async def _more_to_say(self, outcome: Outcome) -> bool:
        """Whether another turn follows: for a message on its way, or one that an interrupted agent waits for."""
        if self._run.control.aborted is not None:
            raise Aborted(self._run.control.aborted)
        waits = outcome.reason == "interrupted"
        while True:
            self._run.inbox.turn_over()
            if self._unread or any(message.content.strip() for message in self._run.inbox.pending()):
                return True
            if not waits:
                return False
            self._changed.clear()
            await self._changed.wait()
            if self._run.control.aborted is not None:
                raise Aborted(self._run.control.aborted)

    async def _feed(self, client: ClaudeSDKClient) -> None:
        """Puts messages into the conversation the moment they come; interrupts stop what is going on first."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._run.control.aborted is not None:
                await self._end(client)
            for message in self._run.inbox.pending():
                if message.id in self._sent:
                    continue
                self._sent.add(message.id)
                if message.interrupts:
                    await client.interrupt()
                    await self._emit(events.INTERRUPTED, {"message_id": message.id}, "worker")
                if message.content.strip():
                    await self._send(client, message)
                else:
                    await asyncio.to_thread(self._run.inbox.delivered, [message], "interrupt")
            self._changed.set()

    async def _end(self, client: ClaudeSDKClient) -> None:
        """Interrupts, so that the last turn still has a result; if it takes too long, ends the program."""
        with contextlib.suppress(ClaudeSDKError, TimeoutError):
            async with asyncio.timeout(ABORT_SECONDS):
                await client.interrupt()
                await asyncio.Event().wait()
        await client.disconnect()

    async def _send(self, client: ClaudeSDKClient, message: Message) -> None:
        identity = str(uuid4())
        self._unread[identity] = message

        async def one() -> AsyncIterator[dict[str, Any]]:
            yield {
                "type": "user",
                "uuid": identity,
                "message": {"role": "user", "content": message.text},
                "parent_tool_use_id": None,
                "priority": "next",
            }

        async with self._sending:
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
            self._names[block.id] = block.name
            data = {"tool_use_id": block.id, "tool_name": block.name, "tool_input": block.input}
            await self._emit(events.TOOL_USE, data)

    async def _told(self, message: UserMessage) -> None:
        """Results of tools; and our own words, which come back when the model has them."""
        delivered = self._unread.pop(message.uuid or "", None)
        if delivered is not None:
            await asyncio.to_thread(self._run.inbox.delivered, [delivered], "conversation")
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
        if message.subtype == "init" and self._session != message.data.get("session_id"):
            self._session = str(message.data.get("session_id"))
            data = {"runtime": "claude", "session_id": self._session, "directory": str(self._directory)}
            await self._emit(events.TRANSCRIPT, data, "worker")
        elif message.subtype == "api_retry":
            await self._emit(events.ERROR, {"problem": "the model did not answer; trying again", **message.data})

    async def _result(self, message: ResultMessage) -> Outcome:
        self._session = message.session_id
        total = message.total_cost_usd or 0.0
        _remember_spent(self._directory, message.session_id, total)
        usage = _usage(message.usage)
        cost = max(0.0, total - self._spent_before)
        await self._emit(events.USAGE, {**usage.fields(), "cost_usd": cost, "turns": message.num_turns})
        interrupted = (message.terminal_reason or "").startswith("aborted")
        completed = message.subtype == "success" and not message.is_error and not interrupted
        reason = ""
        if interrupted:
            reason = "interrupted"
        elif not completed:
            reason = self._reason(message)
        return Outcome(
            completed=completed,
            summary=message.result or "" if completed else "",
            reason=reason,
            cost_usd=cost,
            usage=usage,
            turns=message.num_turns,
            session_id=message.session_id,
        )

    def _reason(self, message: ResultMessage) -> str:
        if message.subtype == "error_max_budget_usd":
            return f"the budget of ${self._run.settings.budget_usd} is spent"
        said = message.result or "; ".join(message.errors or []) or message.subtype
        return f"the model answered {message.api_error_status}: {said}" if message.api_error_status else said

    async def _before_tool(self, hook: Any, _tool: str | None, _context: Any) -> Any:
        """Runs before every tool: waits while the run is paused, and refuses while a message is unread."""
        try:
            await asyncio.to_thread(self._run.control.checkpoint)
        except Aborted as e:
            return {"continue_": False, "stopReason": str(e), **_decision("deny", str(e))}
        allowed = self._allowed()
        if hook["tool_name"] not in allowed and not hook["tool_name"].startswith("mcp__vivarium__"):
            return _decision("deny", f"the task allows only {', '.join(allowed)}")
        await self._pass_on()
        if self._unread or any(message.id not in self._sent for message in self._run.inbox.pending()):
            return _decision("deny", ASK)
        return _decision("allow", "inside its sandbox the agent may do what the sandbox lets it")

    async def _pass_on(self) -> None:
        """What has come goes in before a tool is refused for it, so that the model has both at once."""
        for message in self._run.inbox.pending():
            if message.content.strip() and not message.interrupts and message.id not in self._sent:
                self._sent.add(message.id)
                await self._send(self._client, message)
        async with self._sending:
            pass

    async def _emit(self, event_type: str, data: dict[str, Any], source: str = "agent") -> None:
        # In a thread: a full spool makes this wait, and the loop must still hear an abort.
        await asyncio.to_thread(self._run.emit, event_type, data, source)

    def _allowed(self) -> list[str]:
        wanted = (self._run.task.get("constraints") or {}).get("allowed_tools")
        return [TASK_TOOLS.get(str(name), str(name)) for name in wanted] if wanted else TOOLS

    def _options(self) -> ClaudeAgentOptions:
        settings = self._run.settings
        return ClaudeAgentOptions(
            model=settings.model.name,
            tools=self._allowed(),
            system_prompt={"type": "preset", "preset": "claude_code"},
            # Left out it may become `auto`, where a second model decides about tools.
            permission_mode="default",
            # Settings in a repository may hold hooks of strangers.
            setting_sources=[],
            strict_mcp_config=True,
            mcp_servers={"vivarium": create_sdk_mcp_server("vivarium", tools=own_tools(self._run))},
            hooks={"PreToolUse": [HookMatcher(hooks=[self._before_tool], timeout=HOOK_SECONDS, on_failure="block")]},
            # What people write is text: an @path or a /command in it is no order to this program.
            verbatim_prompts=True,
            cwd=settings.workspace,
            # The program counts on from what a resumed conversation had cost; the budget is for this run.
            max_budget_usd=None if settings.budget_usd is None else settings.budget_usd + self._spent_before,
            resume=settings.resume,
            env=self._environment(),
            # Tells when the model has read a message, by the id it was sent with.
            extra_args={"replay-user-messages": None},
            stderr=self._on_stderr,
        )

    def _environment(self) -> dict[str, str]:
        settings = self._run.settings
        env = {
            "ANTHROPIC_API_KEY": settings.model.token,
            "CLAUDE_CONFIG_DIR": str(self._directory),
            # Nobody but the model is spoken to.
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            # The worker's own token is for the worker; what the agent runs need not see it.
            "SANDBOX_TOKEN": "",
        }
        if settings.model.url:
            env["ANTHROPIC_BASE_URL"] = settings.model.url
        if settings.model.retries is not None:
            env["CLAUDE_CODE_MAX_RETRIES"] = str(settings.model.retries)
        return env

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


def _usage(fields: dict[str, Any] | None) -> Usage:
    found = fields or {}
    return Usage(
        input_tokens=int(found.get("input_tokens") or 0),
        output_tokens=int(found.get("output_tokens") or 0),
        cache_read_tokens=int(found.get("cache_read_input_tokens") or 0),
        cache_write_tokens=int(found.get("cache_creation_input_tokens") or 0),
    )


def _spent(directory: Path, session: str | None) -> float:
    """What the resumed conversation had cost before: the program counts on from there."""
    try:
        return float(json.loads((directory / "spent.json").read_text())[session])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def _remember_spent(directory: Path, session: str, total: float) -> None:
    (directory / "spent.json").write_text(json.dumps({session: total}))
