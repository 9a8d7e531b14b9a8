"""Terminal tool of the OpenHands agent. It replaces the tool of the SDK under the same name."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

from openhands.sdk.llm import TextContent
from openhands.sdk.tool import ToolExecutor, register_tool
from openhands.tools.terminal import TerminalTool
from openhands.tools.terminal.constants import HISTORY_LIMIT
from openhands.tools.terminal.definition import (
    TerminalAction,
    TerminalObservation,
    looks_like_python_literal_argument,
)
from openhands.tools.terminal.terminal.subprocess_terminal import SubprocessTerminal
from openhands.tools.terminal.terminal.terminal_session import TerminalSession

log = logging.getLogger(__name__)

# Time limit for a command to exit after Ctrl-C, and the interval between two Ctrl-C.
INTERRUPT_SECONDS = 10.0
INTERRUPT_EVERY = 0.2
# Time limit for the shell to become ready, the interval between two probes, and the poll interval for the reply.
READY_SECONDS = 120.0
PROBE_EVERY = 5.0
POLL_EVERY = 0.01

RESET = "The terminal was replaced. Environment variables and other state of the old shell are gone."


class WorkerTerminalTool(TerminalTool):
    """Terminal tool whose executor can end a running command."""

    name = TerminalTool.name

    @classmethod
    def create(cls, conv_state: Any, **_: Any) -> Sequence[WorkerTerminalTool]:
        executor = ShellExecutor(conv_state.workspace.working_dir, conv_state.env_observation_persistence_dir)
        tools: Sequence[WorkerTerminalTool] = super().create(conv_state, executor=executor)
        return tools


def register() -> None:
    """Makes the SDK use the tool for conversations that open from now on."""
    register_tool(TerminalTool.name, WorkerTerminalTool)


class _Lines(deque[str]):
    """Line buffer without carriage returns.

    The SDK searches the buffer for a prompt with plain line ends, but the lines of a terminal end with carriage
    returns. Without a match it sends Enter after every command, and the extra prompt may end the next command early.
    """

    def append(self, line: str) -> None:
        super().append(line.replace("\r", ""))


class Shell(SubprocessTerminal):
    """Interactive shell in a pseudoterminal."""

    def __init__(self, work_dir: str) -> None:
        super().__init__(work_dir)
        self.output_buffer: deque[str] = _Lines(maxlen=HISTORY_LIMIT)

    @property
    def exited(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def kill_foreground(self) -> None:
        """Kills the command in the foreground, which may ignore the hangup of its terminal. The shell survives."""
        if self.process is None or self.exited:
            return
        with contextlib.suppress(OSError):
            group = _foreground_group(self.process.pid)
            if group not in (-1, 0, self.process.pid):
                os.killpg(group, signal.SIGKILL)


class ShellExecutor(ToolExecutor[TerminalAction, TerminalObservation]):
    """Runs the commands of an agent in one shell. Thread-safe.

    The SDK takes any prompt for the end of the last command. On a busy host a late prompt of an earlier command would
    end a command that has not started. Therefore the executor types a command only when the shell is idle.
    """

    def __init__(self, working_dir: str, full_output_save_dir: str | None = None) -> None:
        self._working_dir = working_dir
        self._full_output_save_dir = full_output_save_dir
        self._running = threading.Event()
        self._ending = threading.Event()
        self._probes = count()
        self._open()

    def __call__(self, action: TerminalAction, _conversation: Any = None) -> TerminalObservation:
        if action.reset and action.is_input:
            raise ValueError("Cannot use reset=True with is_input=True")
        if not action.is_input and (kind := looks_like_python_literal_argument(action.command)):
            text = f"The command is a Python or JSON {kind}, not a shell command. Send the shell command as plain text."
            return TerminalObservation.from_text(text, is_error=True, command=action.command, exit_code=None)
        self._running.set()
        try:
            observation = self._execute(action)
        finally:
            self._running.clear()
        return observation.model_copy(update={"full_output_save_dir": self._full_output_save_dir})

    def interrupt(self) -> None:
        with contextlib.suppress(Exception):
            self._session.interrupt()

    def close(self) -> None:
        self._session.close()

    def end_command(self) -> None:
        """Ends the running command. Call it between two turns only, because it would also end the next command.

        `interrupt` signals the process group of the shell, but an interactive shell runs a command in another group.
        Ctrl-C reaches the foreground group. The command may not have started yet, so the executor repeats Ctrl-C until
        the terminal is idle twice in a row. After the time limit it kills the command and replaces the shell.
        """
        self._ending.set()
        try:
            deadline = monotonic() + INTERRUPT_SECONDS
            idle = 0
            while idle < 2:
                if monotonic() > deadline:
                    self._replace()
                    return
                shell = self._shell
                idle = idle + 1 if not self._running.is_set() and not shell.is_running() else 0
                if idle == 0:
                    shell.send_keys("C-c", enter=False)
                threading.Event().wait(INTERRUPT_EVERY)
            # The session may still expect input for a command that had timed out.
            self._session.prev_status, self._session.prev_output = None, ""
        finally:
            self._ending.clear()

    def _open(self) -> None:
        self._shell = Shell(self._working_dir)
        self._session = TerminalSession(self._shell)
        self._session.initialize()

    def _replace(self) -> None:
        self._shell.kill_foreground()
        self._session.close()
        self._open()

    def _execute(self, action: TerminalAction) -> TerminalObservation:
        if not action.reset and not self._shell.closed:
            if not action.is_input:
                self._await_shell()
            return self._session.execute(action)
        self._replace()
        if not action.command.strip():
            return TerminalObservation.from_text(RESET, command="[RESET]", exit_code=0)
        self._await_shell()
        observation = self._session.execute(TerminalAction(command=action.command, timeout=action.timeout))
        text = [TextContent(text=f"{RESET}\n\n{observation.text}")]
        return observation.model_copy(update={"content": text, "command": f"[RESET] {action.command}"})

    def _await_shell(self) -> None:
        """Waits until the shell has executed all input, unless an earlier command still runs in it.

        A pending Ctrl-C may discard the probe, so the executor repeats it, each time with another reply.
        """
        shell, deadline = self._shell, monotonic() + READY_SECONDS
        while not self._session.is_running() and not shell.exited:
            if monotonic() > deadline:
                log.warning("the shell did not reply within %.0f s; typing the command anyway", READY_SECONDS)
                return
            reply = f"ready-{next(self._probes)}"
            shell.send_keys(f"printf 'shell-%s\\n' {reply}")
            if self._replies(shell, f"shell-{reply}\n"):
                shell.clear_screen()
                return

    def _replies(self, shell: Shell, reply: str) -> bool:
        """Reports whether the reply arrives, followed by a prompt."""
        deadline = monotonic() + PROBE_EVERY
        while monotonic() < deadline and not shell.exited:
            if self._ending.is_set():
                # The SDK turns this exception into a tool error. The turn is over, so the model does not see it.
                raise ValueError("interrupted")
            if reply in shell.read_screen() and not shell.is_running():
                return True
            threading.Event().wait(POLL_EVERY)
        return False


def _foreground_group(pid: int) -> int:
    """Returns the foreground process group of the terminal of a process; -1 without a terminal."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[5])
