"""The terminal of an OpenHands agent: when it is ready for a command, and how to get one out of it."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from itertools import count
from time import monotonic
from typing import Any

from openhands.tools.terminal.definition import TerminalObservation
from openhands.tools.terminal.terminal.factory import create_terminal_session

log = logging.getLogger(__name__)

# How long a command has to end after a Ctrl-C, and how often one is typed.
INTERRUPT_SECONDS = 10.0
INTERRUPT_EVERY = 0.2
# How long a shell may take until it reads, when it is asked again, and how often its answer is looked for.
READY_SECONDS = 120.0
ASK_EVERY = 5.0
LOOK_EVERY = 0.01


class Terminal:
    """The terminal of an executor of the SDK, one of its own and not of tmux. Safe for any thread.

    The SDK takes any prompt for the end of the command that it typed last. One that is late, because the host is busy,
    would end a command that has not begun; so a command is typed only when the shell has nothing else to do.
    """

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._running = threading.Event()
        self._ending = threading.Event()
        self._questions = count()
        self._execute = executor._execute_single_session
        executor._execute_single_session = self._watched
        # The agent may ask for a new terminal itself.
        executor._reset_single_session = self._reset
        _keep_prompts(executor.session.terminal)

    def end_command(self) -> None:
        """Types Ctrl-C until the terminal is quiet; between two turns only, or it would hit the next command.

        The SDK signals the shell's own process group, which an interactive shell's command is not in; a Ctrl-C
        reaches whatever is in the foreground. Once is not enough: the command may just be about to start, which is
        also why the terminal must be found quiet twice. What does not hear it is killed, with its terminal.
        """
        self._ending.set()
        try:
            deadline = monotonic() + INTERRUPT_SECONDS
            quiet = 0
            while quiet < 2:
                if monotonic() > deadline:
                    self._replace()
                    return
                terminal = self._executor.session.terminal
                quiet = quiet + 1 if not self._running.is_set() and not terminal.is_running() else 0
                if quiet == 0:
                    terminal.send_keys("C-c", enter=False)
                threading.Event().wait(INTERRUPT_EVERY)
            # What had run into its time limit is gone as well: the next command is the first again.
            session = self._executor.session
            session.prev_status, session.prev_output = None, ""
        finally:
            self._ending.clear()

    def _watched(self, action: Any, *more: Any) -> Any:
        self._running.set()
        try:
            if not action.is_input and not action.reset:
                self._await_shell()
            return self._execute(action, *more)
        finally:
            self._running.clear()

    def _reset(self) -> TerminalObservation:
        """What the SDK does for an agent that wants a new terminal; it types the agent's command right after this."""
        self._replace()
        self._await_shell()
        told: TerminalObservation = TerminalObservation.from_text(
            text=self._executor._RESET_TEXT, command="[RESET]", exit_code=0
        )
        return told

    def _replace(self) -> None:
        """Of the same kind: the SDK itself would take tmux where there is one."""
        executor, old = self._executor, self._executor.session
        _kill_foreground(old.terminal)
        old.close()
        executor._session = create_terminal_session(
            work_dir=old.work_dir,
            username=old.username,
            no_change_timeout_seconds=old.no_change_timeout_seconds,
            terminal_type="subprocess",
            shell_path=executor.shell_path,
            env=executor._env,
        )
        executor._session.initialize()
        _keep_prompts(executor.session.terminal)

    def _await_shell(self) -> None:
        """Waits until the shell has done all that was typed so far, unless an earlier command still runs in it.

        A Ctrl-C on its way takes the question with it, so it is asked again, each time for another answer.
        """
        session = self._executor.session
        terminal, deadline = session.terminal, monotonic() + READY_SECONDS
        while not session.is_running() and not _gone(terminal):
            if monotonic() > deadline:
                log.warning("the shell does not answer; the command is typed all the same")
                return
            answer = f"ready-{next(self._questions)}"
            terminal.send_keys(f"printf 'shell-%s\\n' {answer}")
            if self._hears(terminal, f"shell-{answer}\n"):
                terminal.clear_screen()
                return

    def _hears(self, terminal: Any, answer: str) -> bool:
        """Whether the answer comes, and a prompt after it."""
        deadline = monotonic() + ASK_EVERY
        while monotonic() < deadline and not _gone(terminal):
            if self._ending.is_set():
                # The SDK expects this kind of a tool, and tells nobody: the turn is over.
                raise ValueError("interrupted")
            if answer in terminal.read_screen() and not terminal.is_running():
                return True
            threading.Event().wait(LOOK_EVERY)
        return False


def _gone(terminal: Any) -> bool:
    """Whether nobody is left who could answer: it was closed, or its shell has ended."""
    process = terminal.process
    return process is None or process.poll() is not None


def _kill_foreground(terminal: Any) -> None:
    """Kills what runs in it. That may ignore also that its terminal goes; the shell itself ends with it."""
    if _gone(terminal):
        return
    with contextlib.suppress(OSError):
        group = os.tcgetpgrp(terminal._pty_master_fd)
        if group not in (0, terminal.process.pid):
            os.killpg(group, signal.SIGKILL)


def _keep_prompts(terminal: Any) -> None:
    """Has the SDK know the last prompt when it clears the screen.

    It looks for a prompt with plain ends of lines, but a terminal's have carriage returns, which it removes only when
    the screen is read. Not finding any, it presses Enter after every command, for a prompt that comes when it may.
    """
    add = terminal._add_text_to_buffer
    terminal._add_text_to_buffer = lambda text: add(text.replace("\r", ""))
