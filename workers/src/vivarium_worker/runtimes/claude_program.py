"""How the program behind Claude's SDK is started: what it may do, whom it asks, whose orders it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server

from ..run import Run
from ..settings import Settings
from .claude_tools import own_tools

TOOLS = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]
# The names that tasks use for tools of any runtime.
TASK_TOOLS = {"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "search": "Grep"}
# A hook may wait for as long as a run is paused or a person thinks about a review.
HOOK_SECONDS = 7 * 24 * 3600

Hook = Callable[[Any, str | None, Any], Awaitable[Any]]


def allowed_tools(run: Run) -> list[str]:
    """The tools of the program itself that the task allows; ours are always there."""
    wanted = run.constraints.allowed_tools
    return TOOLS if wanted is None else [TASK_TOOLS.get(name, name) for name in wanted]


def options(run: Run, spent_before: float, before_tool: Hook, on_stderr: Callable[[str], None]) -> ClaudeAgentOptions:
    settings = run.settings
    return ClaudeAgentOptions(
        model=settings.model.name,
        tools=allowed_tools(run),
        system_prompt={"type": "preset", "preset": "claude_code"},
        # Left out it may become `auto`, where a second model decides about tools.
        permission_mode="default",
        # Settings in a repository may hold hooks of strangers.
        setting_sources=[],
        strict_mcp_config=True,
        mcp_servers={"vivarium": create_sdk_mcp_server("vivarium", tools=own_tools(run))},
        hooks={"PreToolUse": [HookMatcher(hooks=[before_tool], timeout=HOOK_SECONDS, on_failure="block")]},
        # What people write is text: an @path or a /command in it is no order to this program.
        verbatim_prompts=True,
        cwd=settings.workspace,
        # The program counts on from what a resumed conversation had cost; the budget is for this run.
        max_budget_usd=None if settings.budget_usd is None else settings.budget_usd + spent_before,
        resume=settings.resume,
        env=_environment(settings),
        # Tells when the model has read a message, by the id it was sent with.
        extra_args={"replay-user-messages": None},
        stderr=on_stderr,
    )


def _environment(settings: Settings) -> dict[str, str]:
    env = {
        "ANTHROPIC_API_KEY": settings.model.token,
        "CLAUDE_CONFIG_DIR": str(settings.state / "claude"),
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
