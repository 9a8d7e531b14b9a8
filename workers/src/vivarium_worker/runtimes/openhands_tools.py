"""Which tools an OpenHands agent has for its task, and what it may do with them."""

from __future__ import annotations

import re
from typing import Any

from openhands.sdk import Tool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.grep import GrepTool
from openhands.tools.terminal import TerminalTool

from .openhands_review import RequestReviewTool

# The names that tasks use for tools of any runtime: a tool here, and of one that does several things, which of them.
TASK_TOOLS: dict[str, tuple[str, frozenset[str]]] = {
    "bash": (TerminalTool.name, frozenset()),
    "read_file": (FileEditorTool.name, frozenset({"view"})),
    "write_file": (FileEditorTool.name, frozenset({"create"})),
    "edit_file": (FileEditorTool.name, frozenset({"str_replace", "insert", "undo_edit"})),
    "search": (GrepTool.name, frozenset()),
}
# What an agent has whose task says nothing.
USUAL = (TerminalTool.name, FileEditorTool.name)
# To ask, to think and to answer is always allowed.
OWN = (RequestReviewTool.name, "think", "finish")


class Toolbox:
    """The tools of one task. Immutable."""

    def __init__(self, wanted: tuple[str, ...] | None, resumes: bool) -> None:
        self._wanted = wanted
        self._resumes = resumes
        # What it may do with each: any of these commands, or everything where none is named.
        self._allowed: dict[str, frozenset[str]] = {}
        for name in USUAL if wanted is None else wanted:
            tool, commands = TASK_TOOLS.get(name, (name, frozenset()))
            known = self._allowed.get(tool)
            whole = not commands or known == frozenset()
            self._allowed[tool] = frozenset() if whole else commands | (known or frozenset())

    def tools(self) -> list[Tool]:
        """Those that are made. A conversation that is resumed must have all that it ever had; `shown` hides them."""
        makeable = {
            TerminalTool.name: Tool(name=TerminalTool.name),
            FileEditorTool.name: Tool(name=FileEditorTool.name),
            GrepTool.name: Tool(name=GrepTool.name),
        }
        made = [tool for name, tool in makeable.items() if self._resumes or name in self._allowed]
        return [*made, Tool(name=RequestReviewTool.name)]

    @property
    def shown(self) -> str:
        """The names that the model is told, as a pattern."""
        return "^(" + "|".join(re.escape(name) for name in (*self._allowed, *OWN)) + ")$"

    def refusal(self, tool: str, action: Any) -> str | None:
        """Why the agent may not do this, if so: one tool does more than one thing, and a task may allow but some."""
        if tool in OWN:
            return None
        commands = self._allowed.get(tool)
        if commands is not None and (not commands or getattr(action, "command", None) in commands):
            return None
        return f"The task does not allow this. It allows only: {', '.join(self._wanted or ()) or 'no tools'}."
