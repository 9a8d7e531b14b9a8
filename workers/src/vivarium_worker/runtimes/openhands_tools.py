"""Tools of an OpenHands agent and the commands that its task allows."""

from __future__ import annotations

import re
from typing import Any

from openhands.sdk import Tool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.grep import GrepTool
from openhands.tools.terminal import TerminalTool

from .openhands_review import RequestReviewTool

# Tool names of tasks, for all runtimes, with the SDK tool and its allowed commands.
TASK_TOOLS: dict[str, tuple[str, frozenset[str]]] = {
    "bash": (TerminalTool.name, frozenset()),
    "read_file": (FileEditorTool.name, frozenset({"view"})),
    "write_file": (FileEditorTool.name, frozenset({"create"})),
    "edit_file": (FileEditorTool.name, frozenset({"str_replace", "insert", "undo_edit"})),
    "search": (GrepTool.name, frozenset()),
}
# Tools without a constraint.
USUAL = (TerminalTool.name, FileEditorTool.name)
# Tools that are always allowed.
OWN = (RequestReviewTool.name, "think", "finish")


class Toolbox:
    """Tools of one task. Immutable."""

    def __init__(self, wanted: tuple[str, ...] | None, resumes: bool) -> None:
        self._wanted = wanted
        self._resumes = resumes
        # Allowed commands of each tool. An empty set allows all.
        self._allowed: dict[str, frozenset[str]] = {}
        for name in USUAL if wanted is None else wanted:
            tool, commands = TASK_TOOLS.get(name, (name, frozenset()))
            known = self._allowed.get(tool)
            whole = not commands or known == frozenset()
            self._allowed[tool] = frozenset() if whole else commands | (known or frozenset())

    def tools(self) -> list[Tool]:
        """Tools to create. A resumed conversation needs all tools that it ever had; `shown` hides the others."""
        makeable = {
            TerminalTool.name: Tool(name=TerminalTool.name),
            FileEditorTool.name: Tool(name=FileEditorTool.name),
            GrepTool.name: Tool(name=GrepTool.name),
        }
        made = [tool for name, tool in makeable.items() if self._resumes or name in self._allowed]
        return [*made, Tool(name=RequestReviewTool.name)]

    @property
    def shown(self) -> str:
        """Pattern of the tool names that the model sees."""
        return "^(" + "|".join(re.escape(name) for name in (*self._allowed, *OWN)) + ")$"

    def refusal(self, tool: str, action: Any) -> str | None:
        """Returns the reason of a refusal, or none. A task may allow only some commands of a tool."""
        if tool in OWN:
            return None
        commands = self._allowed.get(tool)
        if commands is not None and (not commands or getattr(action, "command", None) in commands):
            return None
        return f"The task does not allow this. It allows only: {', '.join(self._wanted or ()) or 'no tools'}."
