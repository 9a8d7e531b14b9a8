"""Standard input of the program in the command runtime."""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from .. import events
from ..inbox import Message
from ..run import Run
from ..spool import SpoolClosed
from .command_program import Program
from .wakeup import Wakeup

log = logging.getLogger(__name__)

# Time limit for writing a message before it is acknowledged and before the signal of an interrupt.
HEARING_SECONDS = 2.0


class Input:
    """Thread that writes lines to a program. Thread-safe.

    If the program does not read, its pipe is full. Only this thread waits for it, and only until the program has
    exited.
    """

    def __init__(self, run: Run, program: Program) -> None:
        self._run = run
        self._program = program
        self._pipe = program.stdin
        self._wakeup = Wakeup()
        self._thread = threading.Thread(target=self._work, name="stdin", daemon=True)
        # Guards all fields below.
        self._changed = threading.Condition()
        self._lines: deque[dict[str, Any]] = deque()
        # Ids of messages that the program can read.
        self._written: set[str] = set()
        # Ids of messages whose signal is sent.
        self._interrupts: set[str] = set()
        self._deaf = False
        self._ended = False

    def start(self) -> None:
        self._thread.start()

    def say(self, line: dict[str, Any]) -> None:
        """Inserts a line before the messages that are not yet being written."""
        with self._changed:
            self._lines.append(line)
        self._wakeup.set()

    def deliver(self) -> None:
        """Writes new messages. Returns when the program can read them and interrupts are signalled."""
        messages = self._run.inbox.unread()
        self._wakeup.set()
        self._await(lambda: all(message.id in self._written for message in messages))
        for message in messages:
            if message.interrupts:
                self._follow_up(message)

    def end(self) -> None:
        """Handles the exit of the program: marks the messages that it could read as delivered."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._wakeup.set()
        self._thread.join()
        self._wakeup.close()

    def _follow_up(self, message: Message) -> None:
        """Sends the signal of an interrupt, also if its message is not yet written."""
        self._await(lambda: message.id in self._interrupts)
        self._interrupt(message)

    def _await(self, fact: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: fact() or self._deaf or self._ended, HEARING_SECONDS)

    def _interrupt(self, message: Message) -> None:
        with self._changed:
            if message.id in self._interrupts or self._ended:
                return
            self._interrupts.add(message.id)
            self._changed.notify_all()
        self._program.signal(signal.SIGINT)
        self._run.emit(events.INTERRUPTED, {"message_id": message.id}, "worker")

    def _work(self) -> None:
        try:
            with self._pipe:
                os.set_blocking(self._pipe.fileno(), False)
                while self._tell():
                    pass
        except SpoolClosed:
            pass
        except Exception as e:
            log.exception("the program accepts no more messages")
            self._run.control.abort(f"a message could not be written to the program: {type(e).__name__}: {e}")
        finally:
            with self._changed:
                self._deaf = True
                self._changed.notify_all()

    def _tell(self) -> bool:
        """Writes the next line or waits for one. Returns false when there is nothing left to do."""
        with self._changed:
            if self._ended:
                return False
            line = self._lines.popleft() if self._lines else None
        if line is not None:
            return self._write(line)
        message = next(iter(self._run.inbox.unread()), None)
        if message is None:
            return self._wait()
        if not self._write(_line(message)):
            return False
        with self._changed:
            self._written.add(message.id)
            self._changed.notify_all()
        self._run.inbox.delivered([message], "stdin")
        if message.interrupts:
            self._interrupt(message)
        return True

    def _write(self, line: dict[str, Any]) -> bool:
        """Writes a line. Reports whether the program can read all of it."""
        content = memoryview(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        while content:
            try:
                content = content[os.write(self._pipe.fileno(), content) :]
            except BlockingIOError:
                if not self._wait(room=True):
                    return False
            except OSError:
                # The program has closed its standard input.
                return False
        return True

    def _wait(self, room: bool = False) -> bool:
        """Waits for a wakeup, or also for space in the pipe. Reports whether the program still runs."""
        waiting = select.poll()
        waiting.register(self._wakeup, select.POLLIN)
        if room:
            waiting.register(self._pipe, select.POLLOUT)
        waiting.poll()
        self._wakeup.clear()
        with self._changed:
            return not self._ended


def _line(message: Message) -> dict[str, Any]:
    return {
        "type": "message",
        "message_id": message.id,
        "message_type": message.kind,
        "content": message.content,
        "source": message.source,
        "inject_mode": message.mode,
    }
