"""Log events of an OpenHands agent."""

from __future__ import annotations

import contextlib
from difflib import unified_diff
from pathlib import Path
from typing import Any, TypeGuard

from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from openhands.sdk.event.conversation_error import ConversationErrorEvent
from openhands.sdk.llm import content_to_str
from openhands.tools.file_editor.definition import FileEditorObservation
from openhands.tools.terminal import TerminalTool
from openhands.tools.terminal.definition import TerminalAction, TerminalObservation

from .. import events
from ..run import Run


class Report:
    """Converts events of the SDK and keeps the final message. Confined to the agent's step."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.summary = ""
        self.error = ""
        # Tool calls that started a command, until their result, and the call whose command still runs.
        self._started: set[str] = set()
        self._running = ""

    def tell(self, event: Any) -> None:
        if isinstance(event, ActionEvent):
            self._action(event)
        elif isinstance(event, ObservationEvent):
            content = "\n".join(content_to_str(event.observation.to_llm_content))
            self._result(event, content, bool(event.observation.is_error), self._exit(event))
            self._note_file(event.observation)
        elif isinstance(event, UserRejectObservation):
            self._result(event, event.rejection_reason, True)
        elif isinstance(event, AgentErrorEvent):
            self._result(event, event.error, True)
        elif isinstance(event, MessageEvent) and event.source == "agent":
            self.summary = "\n".join(content_to_str(event.llm_message.content))
            self._run.emit(events.MESSAGE, {"text": self.summary})
        elif isinstance(event, ConversationErrorEvent):
            self.error = f"{event.code}: {event.detail}"
            self._run.emit(events.ERROR, {"code": event.code, "problem": event.detail})

    def _action(self, event: ActionEvent) -> None:
        if event.reasoning_content:
            self._run.emit(events.THINKING, {"text": event.reasoning_content})
        thought = "\n".join(content_to_str(list(event.thought)))
        if thought:
            self._run.emit(events.MESSAGE, {"text": thought})
        given = event.action.model_dump(exclude={"kind"}) if event.action is not None else event.tool_call.arguments
        data = {"tool_use_id": event.tool_call_id, "tool_name": event.tool_name, "tool_input": given}
        data["status"] = "running"
        if event.tool_name == TerminalTool.name and _starts_command(event.action):
            data["shell_command"] = event.action.command
            self._started.add(event.tool_call_id)
        self._run.emit(events.TOOL_USE, data)
        if event.tool_name == "finish" and event.action is not None:
            self.summary = str(getattr(event.action, "message", ""))

    def _result(self, event: Any, content: str, is_error: bool, shell: dict[str, Any] | None = None) -> None:
        data = {
            "tool_use_id": event.tool_call_id,
            "tool_name": event.tool_name,
            "content": content,
            "is_error": is_error,
            **(shell or {}),
        }
        self._run.emit(events.TOOL_RESULT, data)

    def _exit(self, event: ObservationEvent) -> dict[str, Any]:
        """Exit code and output of a command that has ended. A later call may end a command that timed out."""
        observation, call = event.observation, event.tool_call_id
        if not isinstance(observation, TerminalObservation):
            return {}
        command = call if call in self._started else self._running
        self._started.discard(call)
        if observation.exit_code in (None, -1):
            self._running = self._running or command
            return {}
        self._running = ""
        if not command:
            return {}
        ended = {"exit_code": observation.exit_code, "output": "\n".join(content_to_str(observation.content))}
        return ended if command == call else {**ended, "command_id": command}

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


def _starts_command(action: Any) -> TypeGuard[TerminalAction]:
    """Reports whether the action starts a command. Others send input to the running command, or wait for it."""
    return isinstance(action, TerminalAction) and not action.is_input and bool(action.command.strip())
