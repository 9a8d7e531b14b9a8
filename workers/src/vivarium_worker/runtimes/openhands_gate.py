"""Whether an OpenHands agent may run a tool now."""

from __future__ import annotations

from openhands.sdk.conversation.cancellation import CancellationToken
from openhands.sdk.event import ActionEvent

from ..control import Aborted, Control
from .openhands_mail import Mail
from .openhands_tools import Toolbox

ASK = "A new message has arrived. Read it first, then decide again whether to do this."
INTERRUPTED = "The turn was interrupted."


class Gate:
    """What every tool call passes on its way. Safe for any thread."""

    def __init__(self, control: Control, toolbox: Toolbox, mail: Mail) -> None:
        self._control = control
        self._toolbox = toolbox
        self._mail = mail

    def refusal(self, call: ActionEvent, turn: CancellationToken) -> str | None:
        """Why it may not run, if so. In the tool's own thread, just before: it waits here while the run is paused.

        Not earlier, when the model's answer comes: all calls of an answer come at once, and what happens during the
        first concerns the second. The turn may be over when the pause is, and another one begun.
        """
        try:
            self._control.checkpoint()
        except Aborted as e:
            return str(e)
        if turn.is_cancelled:
            return INTERRUPTED
        forbidden = self._toolbox.refusal(call.tool_name, call.action)
        reasons = [forbidden] if forbidden else []
        unheard = self._mail.unheard(call.llm_response_id)
        if unheard:
            # With the words, should the next question be asked before they are in the conversation themselves.
            reasons += [ASK, *(message.text for message in unheard)]
        return "\n".join(reasons) or None
