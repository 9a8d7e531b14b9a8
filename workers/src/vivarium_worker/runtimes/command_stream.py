"""Output stream of the program in the command runtime."""

from __future__ import annotations

import fcntl
import logging
import os
import select
import struct
import termios
import threading
from collections.abc import Callable
from time import monotonic
from typing import IO, Any

from .. import events
from ..run import Run
from ..spool import SpoolClosed
from .command_output import SPOKEN_BYTES, Lines, Output, Piece
from .wakeup import Wakeup

log = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
# Time for output of descendants after the exit of the program.
GRACE_SECONDS = 5.0


class Stream:
    """Thread that reads a stream. It handles protocol lines and logs all others. Thread-safe.

    A program must never block because its reader has failed. After any error, the thread reads the pipe to its end.
    """

    def __init__(self, run: Run, pipe: IO[bytes], name: str, note: Callable[[bytes], None]) -> None:
        self._run = run
        self._pipe = pipe
        self._name = name
        self._note = note
        self._hear: Callable[[dict[str, Any]], None] | None = None
        self._wakeup = Wakeup()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        # The fields below are confined to the thread.
        self._lines = Lines()
        self._output = Output(run, name)
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)
        # After the exit of the program: the read deadline, and the number of bytes available then.
        self._deadline: float | None = None
        self._owed: int | None = None

    def hear(self, hear: Callable[[dict[str, Any]], None]) -> None:
        """Registers a handler of protocol lines. Call it before `start`."""
        self._hear = hear

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Handles the exit of the program. Output of descendants is read until the deadline."""
        self._wakeup.set()

    def wait(self) -> None:
        """Waits until all output before the exit is in the log."""
        self._done.wait()
        self._wakeup.close()

    def _work(self) -> None:
        with self._pipe:
            try:
                self._read()
            except SpoolClosed:
                pass
            except Exception as e:
                log.exception("%s cannot be logged any more", self._name)
                self._run.control.abort(f"{self._name} could not be logged: {type(e).__name__}: {e}")
            finally:
                self._done.set()
            # Discards further output of a daemon that holds the pipe; it does not belong to this run.
            while os.read(self._pipe.fileno(), READ_BYTES):
                pass

    def _read(self) -> None:
        while content := self._next():
            for piece in self._lines.take(content):
                self._log(piece)
        for piece in self._lines.rest():
            self._log(piece)
        self._output.flush(last=True)

    def _log(self, piece: Piece) -> None:
        if self._hear is not None:
            said = piece.said
            if said is not None and self._understands(said, self._hear):
                return
            if piece.is_too_long:
                self._complain(f"a line of JSON has more than {SPOKEN_BYTES} bytes; it is taken as output")
        self._note(piece.content)
        self._output.add(piece.content)

    def _understands(self, said: dict[str, Any], hear: Callable[[dict[str, Any]], None]) -> bool:
        self._output.flush()
        try:
            hear(said)
            return True
        except (SpoolClosed, OSError):
            raise
        except Exception as e:
            # Continues after an invalid line.
            log.warning("a line could not be parsed", exc_info=True)
            self._complain(f"a line could not be parsed and is taken as output: {type(e).__name__}: {e}")
            return False

    def _complain(self, problem: str) -> None:
        self._output.flush()
        self._run.emit(events.ERROR, {"problem": problem}, "worker")

    def _next(self) -> bytes:
        """Reads the next chunk. Returns none at the end."""
        while True:
            readable = self._wait()
            if self._output.due() == 0.0:
                self._output.flush()
            if self._is_over(readable):
                return b""
            if readable:
                content = os.read(self._pipe.fileno(), READ_BYTES)
                if self._owed is not None:
                    self._owed -= len(content)
                return content

    def _wait(self) -> bool:
        """Waits for input, the batch deadline or a stop. Returns whether there is input."""
        waits = [] if self._deadline is None else [max(0.0, self._deadline - monotonic())]
        due = self._output.due()
        if due is not None:
            waits.append(due)
        ready = [fd for fd, _ in self._poll.poll(min(waits) * 1000 if waits else None)]
        if self._wakeup.fileno() in ready:
            self._poll.unregister(self._wakeup)
            self._deadline = monotonic() + GRACE_SECONDS
        return self._pipe.fileno() in ready

    def _is_over(self, readable: bool) -> bool:
        """Reports whether the deadline is over and all bytes available at that time are read."""
        if self._deadline is None or monotonic() < self._deadline:
            return False
        if self._owed is None:
            self._owed = _available(self._pipe)
        return self._owed <= 0 or not readable


def _available(pipe: IO[bytes]) -> int:
    """Number of readable bytes."""
    count: int = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
    return count
