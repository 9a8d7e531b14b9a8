"""An OpenHands agent that tells what it is about to do, and the model that it asks."""

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

# What a model is told of a call that nobody saw the end of.
CUT_OFF = "The run ended while this was being done. It may have been done in part; look before you do it again."
# The turn that a tool's thread belongs to, which has the context of its step; the conversation may be in the next one.
_turn: ContextVar[CancellationToken] = ContextVar("turn")


class WatchedAgent(Agent):
    """The agent, telling when a step begins, with what the conversation holds by then, and when it ends.

    It asks before each tool.
    """

    @property
    def prompt_dir(self) -> str:
        # The SDK looks beside the file of the class; the prompts are beside its own.
        return str(Path(inspect.getfile(Agent)).parent / "prompts")

    async def astep(self, conversation: Any, *args: Any, **kwargs: Any) -> None:
        _turn.set(conversation.cancel_token)
        conversation.before_step()
        try:
            await super().astep(conversation, *args, **kwargs)
        finally:
            conversation.after_step()

    def _execute_action_event(self, conversation: Any, action_event: ActionEvent) -> list[Event]:
        """In the tool's own thread. The SDK's own way to block an action is for when the answer comes."""
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
    """A conversation that has somebody to tell. The SDK counts the cost of exact `LLM`s only, so not those."""

    before_step: Callable[[], None]
    after_step: Callable[[], None]
    refusal: Callable[[ActionEvent, CancellationToken], str | None]

    def catch_up(self) -> None:
        """Goes on behind the last event that there is, as if what had no end were cut off.

        A worker that was killed has written events of its last step that its conversation does not count yet; and a
        call without a result would be made again before the model is asked.
        """
        last = next((e for e in reversed(self.state.events) if not isinstance(e, ConversationStateUpdateEvent)), None)
        if last is not None and last.id != self.state.leaf_event_id:
            self.navigate_to(last.id)
        with self.state:
            for call in ConversationState.get_unmatched_actions(self.state.active_branch()):
                self._on_event(AgentErrorEvent(error=CUT_OFF, tool_name=call.tool_name, tool_call_id=call.tool_call_id))
            # Until now it left out what had no result.
            self.state.rebuild_view()


def model(settings: Model) -> LLM:
    """The model in litellm's words: the maker before the name, and the part of the URL that it expects."""
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
