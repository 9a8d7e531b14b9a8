"""Tools of the worker for Claude."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from claude_agent_sdk import tool

from .. import review_options
from ..run import Run

REVIEW = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "Why a person has to decide, in a word or two."},
        "description": {"type": "string", "description": "What has to be decided."},
        "options": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The possible decisions, if it is not about yes or no.",
        },
        "timeout_minutes": {"type": "number", "description": review_options.TIMEOUT},
        "on_timeout": {
            "type": "string",
            "enum": list(review_options.ON_TIMEOUT),
            "description": review_options.ON_TIMEOUT_TEXT,
        },
    },
    "required": ["reason", "description"],
}


def own_tools(run: Run) -> list[Any]:
    """Creates the review and progress tools of one run."""

    @tool(
        "request_review",
        "Ask a person to decide. Waits for the answer. Use it when a decision is not yours to take.",
        REVIEW,
    )
    async def request_review(arguments: dict[str, Any]) -> dict[str, Any]:
        question = {
            "reason": arguments.get("reason"),
            "description": arguments.get("description"),
            "context": review_options.context(arguments.get("options")),
            "blocking": True,
            **review_options.deadline(arguments.get("timeout_minutes"), arguments.get("on_timeout")),
        }
        answer = await asyncio.to_thread(run.review, question)
        return {"content": [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}]}

    @tool("report_progress", "Tell how far the task is.", {"message": str, "progress_percent": int})
    async def report_progress(arguments: dict[str, Any]) -> dict[str, Any]:
        percent = arguments.get("progress_percent")
        await asyncio.to_thread(
            run.progress, "step_completed", str(arguments.get("message", "")), progress_percent=percent
        )
        return {"content": [{"type": "text", "text": "noted"}]}

    return [request_review, report_progress]
