"""Review tool of an OpenHands agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from openhands.sdk.tool import Action, Observation, ToolAnnotations, ToolDefinition, ToolExecutor
from pydantic import Field

from .. import review_options
from ..run import Run

DESCRIPTION = "Ask a person to decide. Waits for the answer. Use it when a decision is not yours to take."


OPTIONS = "The possible decisions, if it is not about yes or no."


class RequestReviewAction(Action):
    """Review request of the agent."""

    reason: str = Field(description="Why a person has to decide, in a word or two.")
    description: str = Field(description="What has to be decided.")
    options: list[str] = Field(default=[], description=OPTIONS)
    timeout_minutes: float | None = Field(default=None, description=review_options.TIMEOUT)
    on_timeout: Literal["reject", "approve", "fail", "escalate"] | None = Field(
        default=None, description=review_options.ON_TIMEOUT_TEXT
    )


class RequestReviewObservation(Observation):
    """Decision of the person."""


class RequestReview(ToolExecutor[RequestReviewAction, RequestReviewObservation]):
    """Executes the request through the run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, action: RequestReviewAction, conversation: Any = None) -> RequestReviewObservation:  # noqa: ARG002
        question = {
            "reason": action.reason,
            "description": action.description,
            "context": review_options.context(action.options),
            "blocking": True,
            **review_options.deadline(action.timeout_minutes, action.on_timeout),
        }
        answer = json.dumps(self._run.review(question), ensure_ascii=False)
        heard: RequestReviewObservation = RequestReviewObservation.from_text(text=answer)
        return heard


class RequestReviewTool(ToolDefinition[RequestReviewAction, RequestReviewObservation]):
    """Tool `request_review`."""

    @classmethod
    def create(cls, *_: Any, run: Run) -> Sequence[RequestReviewTool]:
        found = cls(
            description=DESCRIPTION,
            action_type=RequestReviewAction,
            observation_type=RequestReviewObservation,
            executor=RequestReview(run),
            annotations=ToolAnnotations(readOnlyHint=True, destructiveHint=False, openWorldHint=True),
        )
        return [found]
