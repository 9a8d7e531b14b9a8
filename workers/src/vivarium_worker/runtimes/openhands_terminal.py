"""The terminal of an OpenHands agent, and how to get its command out of it."""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any

# How long a command has to end after a Ctrl-C, and how often one is typed.
INTERRUPT_SECONDS = 10.0
INTERRUPT_EVERY = 0.2


class Terminal:
    """Knows whether a command runs in the terminal of an executor of the SDK. Safe for any thread."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._running = threading.Event()
        self._watch()

    def end_command(self) -> None:
        """Types Ctrl-C until the terminal is quiet; between two turns only, or it would hit the next command.

        The SDK signals the shell's own process group, which an interactive shell's command is not in; a Ctrl-C
        reaches whatever is in the foreground. Once is not enough: the command may just be about to start, which is
        also why the terminal must be found quiet twice. What does not hear it goes with its terminal.
        """
        deadline = monotonic() + INTERRUPT_SECONDS
        quiet = 0
        while quiet < 2:
            if monotonic() > deadline:
                self._executor.reset()
                self._watch()
                return
            terminal = self._executor.session.terminal
            quiet = quiet + 1 if not self._running.is_set() and not terminal.is_running() else 0
            if quiet == 0:
                terminal.send_keys("C-c", enter=False)
            threading.Event().wait(INTERRUPT_EVERY)

    def _watch(self) -> None:
        session = self._executor.session
        execute = session.execute

        def watched(action: Any) -> Any:
            self._running.set()
            try:
                return execute(action)
            finally:
                self._running.clear()

        session.execute = watched
