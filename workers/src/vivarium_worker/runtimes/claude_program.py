"""Options of the Claude Code process: tools, permissions, settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server

from ..run import Run
from ..settings import Settings
from .claude_tools import own_tools

TOOLS = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]
# Tool names of tasks, for all runtimes.
TASK_TOOLS = {"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "search": "Grep"}
# Timeout of hooks. A hook waits during a pause or a review.
HOOK_SECONDS = 7 * 24 * 3600

Hook = Callable[[Any, str | None, Any], Awaitable[Any]]


def allowed_tools(run: Run) -> list[str]:
    """Built-in tools that the task allows. The worker's own tools are always available."""
    wanted = run.constraints.allowed_tools
    return TOOLS if wanted is None else [TASK_TOOLS.get(name, name) for name in wanted]


def options(run: Run, spent_before: float, before_tool: Hook, on_stderr: Callable[[str], None]) -> ClaudeAgentOptions:
    settings = run.settings
    return ClaudeAgentOptions(
        model=settings.model.name,
        tools=allowed_tools(run),
        system_prompt={"type": "preset", "preset": "claude_code"},
        # Without a mode the program may choose `auto`, where a second model decides about tools.
        permission_mode="default",
        # Settings in a repository may contain untrusted hooks.
        setting_sources=[],
        strict_mcp_config=True,
        mcp_servers={"vivarium": create_sdk_mcp_server("vivarium", tools=own_tools(run))},
        hooks={"PreToolUse": [HookMatcher(hooks=[before_tool], timeout=HOOK_SECONDS, on_failure="block")]},
        # Messages are plain text. The program must not interpret @path or /command.
        verbatim_prompts=True,
        cwd=settings.workspace,
        # The program adds the cost of a resumed conversation, but the budget is for this run.
        max_budget_usd=None if settings.budget_usd is None else settings.budget_usd + spent_before,
        resume=settings.resume,
        env=_environment(settings),
        # Reports when the model has read a message, by its id.
        extra_args={"replay-user-messages": None},
        stderr=on_stderr,
    )


def _environment(settings: Settings) -> dict[str, str]:
    env = {
        "ANTHROPIC_API_KEY": settings.model.token,
        "CLAUDE_CONFIG_DIR": str(settings.state / "claude"),
        # The program connects only to the model.
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
        # The programs of the agent must not see the token of the worker.
        "SANDBOX_TOKEN": "",
    }
    if settings.model.url:
        env["ANTHROPIC_BASE_URL"] = settings.model.url
    if settings.model.retries is not None:
        env["CLAUDE_CODE_MAX_RETRIES"] = str(settings.model.retries)
    return env
