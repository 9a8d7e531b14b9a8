"""An OpenHands agent that tells what it is about to do, and the model that it asks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openhands.sdk import LLM, Agent, LocalConversation
from pydantic import SecretStr

from ..settings import Model


class WatchedAgent(Agent):
    """The agent, telling when a step begins, with what the conversation holds by then, and when it ends."""

    @property
    def prompt_dir(self) -> str:
        # The SDK looks beside the file of the class; the prompts are beside its own.
        return str(Path(inspect.getfile(Agent)).parent / "prompts")

    async def astep(self, conversation: Any, *args: Any, **kwargs: Any) -> None:
        conversation.before_step()
        try:
            await super().astep(conversation, *args, **kwargs)
        finally:
            conversation.after_step()


class WatchedConversation(LocalConversation):
    """A conversation that has somebody to tell. The SDK counts the cost of exact `LLM`s only, so not those."""

    before_step: Callable[[], None]
    after_step: Callable[[], None]


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
