"""Admission of tool calls of an OpenHands agent."""

from __future__ import annotations

from openhands.sdk.conversation.cancellation import CancellationToken
from openhands.sdk.event import ActionEvent

from ..control import Aborted, Control
from .openhands_messages import MessageTracker
from .openhands_tools import Toolbox

ASK = "A new message has arrived. Read it first, then decide again whether to do this."
INTERRUPTED = "The turn was interrupted."


class Gate:
    """Check before every tool call. Thread-safe."""

    def __init__(self, control: Control, toolbox: Toolbox, messages: MessageTracker) -> None:
        self._control = control
        self._toolbox = toolbox
        self._messages = messages

    def refusal(self, call: ActionEvent, turn: CancellationToken) -> str | None:
        """Returns the reason of a refusal, or none. Runs in the tool's thread and blocks while the run is paused.

        The check runs before each tool, not when the response arrives: all calls of a response arrive at once, and a
        message during the first call concerns the second. After a pause, the turn may be over and another may have
        started.
        """
        try:
            self._control.checkpoint()
        except Aborted as e:
            return str(e)
        if turn.is_cancelled:
            return INTERRUPTED
        forbidden = self._toolbox.refusal(call.tool_name, call.action)
        reasons = [forbidden] if forbidden else []
        unheard = self._messages.unheard(call.llm_response_id)
        if unheard:
            # Includes the messages, because the next request may be sent before they are in the conversation.
            reasons += [ASK, *(message.text for message in unheard)]
        return "\n".join(reasons) or None
