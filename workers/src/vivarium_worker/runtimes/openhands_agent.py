"""OpenHands agent and conversation with hooks, and the model configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from openhands.sdk import LLM, Agent, LocalConversation
from openhands.sdk.conversation.cancellation import CancellationToken
from openhands.sdk.conversation.state import ConversationState
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    ConversationStateUpdateEvent,
    Event,
    UserRejectObservation,
)
from pydantic import SecretStr

from ..settings import Model

# Result of a tool call that has no result after a crash.
CUT_OFF = "The run ended while this was being done. It may have been done in part; look before you do it again."
# Turn of a tool's thread. The conversation may already be in the next turn.
_turn: ContextVar[CancellationToken] = ContextVar("turn")


class WatchedAgent(Agent):
    """Agent that calls hooks before and after each step and before each tool."""

    @property
    def prompt_dir(self) -> str:
        # The SDK searches beside the file of the class, but the prompts are in the SDK.
        return str(Path(inspect.getfile(Agent)).parent / "prompts")

    async def astep(self, conversation: Any, *args: Any, **kwargs: Any) -> None:
        _turn.set(conversation.cancel_token)
        conversation.before_step()
        try:
            await super().astep(conversation, *args, **kwargs)
        finally:
            conversation.after_step()

    def _execute_action_event(self, conversation: Any, action_event: ActionEvent) -> list[Event]:
        """Runs in the thread of the tool. Returns a rejection if the worker refuses the call."""
        refusal = conversation.refusal(action_event, _turn.get())
        if refusal is None:
            results: list[Event] = super()._execute_action_event(conversation, action_event)
            return results
        rejection = UserRejectObservation(
            action_id=action_event.id,
            tool_name=action_event.tool_name,
            tool_call_id=action_event.tool_call_id,
            rejection_reason=refusal,
            rejection_source="hook",
        )
        return [rejection]


class WatchedConversation(LocalConversation):
    """Conversation with hooks. `LLM` has none, because the SDK counts the cost of exact `LLM` objects only."""

    before_step: Callable[[], None]
    after_step: Callable[[], None]
    refusal: Callable[[ActionEvent, CancellationToken], str | None]

    def catch_up(self) -> None:
        """Continues after the last stored event and marks unfinished tool calls as failed.

        A killed worker may have stored events of its last step that the conversation does not count yet. The SDK
        would repeat a call without a result before the next model request.
        """
        last = next((e for e in reversed(self.state.events) if not isinstance(e, ConversationStateUpdateEvent)), None)
        if last is not None and last.id != self.state.leaf_event_id:
            self.navigate_to(last.id)
        with self.state:
            for call in ConversationState.get_unmatched_actions(self.state.active_branch()):
                self._on_event(AgentErrorEvent(error=CUT_OFF, tool_name=call.tool_name, tool_call_id=call.tool_call_id))
            # Rebuilds the view, which omitted calls without a result.
            self.state.rebuild_view()


def model(settings: Model) -> LLM:
    """Creates the model with litellm names: provider prefix, and the path that the provider expects."""
    name = settings.name
    if "/" not in name:
        name = f"anthropic/{name}" if name.startswith("claude") else f"openai/{name}"
    fields: dict[str, Any] = {
        "usage_id": "agent",
        "model": name,
        "api_key": SecretStr(settings.token),
        "api_mode": "chat",
    }
    if settings.url:
        fields["base_url"] = settings.url if name.startswith("anthropic/") else f"{settings.url}/v1"
    if settings.retries is not None:
        fields.update(num_retries=settings.retries, retry_min_wait=0, retry_max_wait=1)
    return LLM(**fields)
