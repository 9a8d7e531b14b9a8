"""Pause, resume and abort of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Aborted(Exception):
    """The run was aborted; the message gives the reason."""


class Control:
    """Requested state of a run. Thread-safe.

    A run checks the state between tool calls. A pause does not freeze a running tool.
    """

    def __init__(self, on_abort: Callable[[], None] = lambda: None) -> None:
        # Called before the listener, which may wait for its effect.
        self._on_abort = on_abort
        self._changed = threading.Condition()
        self._paused: set[str] = set()
        self._aborted: str | None = None
        self._code = "aborted"
        self._listener: Callable[[], None] = lambda: None
        # Set when the run is aborted or over. Other waits include it.
        self.ending = threading.Event()
        # Set when the worker itself should exit.
        self.dismissed = threading.Event()

    def listen(self, listener: Callable[[], None]) -> None:
        """Registers a function that is called after every change, and now if there was a change before."""
        with self._changed:
            self._listener = listener
            changed = bool(self._paused) or self._aborted is not None
        if changed:
            listener()

    def pause(self, why: str) -> bool:
        """Pauses the run. Returns whether this reason is new. Each reason is resumed separately."""
        with self._changed:
            news = why not in self._paused
            self._paused.add(why)
            listener = self._listener
        listener()
        return news

    def resume(self, why: str) -> None:
        with self._changed:
            self._paused.discard(why)
            self._changed.notify_all()
            listener = self._listener
        listener()

    def abort(self, why: str, code: str = "crashed") -> None:
        """Aborts the run. The first reason counts; `code` is its machine-readable form."""
        with self._changed:
            if self._aborted is not None:
                return
            self._aborted = why
            self._code = code
            self.ending.set()
            self._changed.notify_all()
            listener = self._listener
        self._on_abort()
        listener()

    def dismiss(self, why: str, code: str = "aborted") -> None:
        """Aborts the run if it is active, and shortens the shutdown of the worker."""
        self.dismissed.set()
        self.abort(why, code)

    def end(self) -> None:
        """Marks the run as over and wakes all threads at checkpoints."""
        with self._changed:
            self._aborted = self._aborted or "the run is over"
            self.ending.set()
            self._changed.notify_all()

    def is_paused_by(self, why: str) -> bool:
        with self._changed:
            return why in self._paused

    @property
    def paused(self) -> bool:
        with self._changed:
            return bool(self._paused)

    @property
    def aborted(self) -> str | None:
        with self._changed:
            return self._aborted

    @property
    def abort_code(self) -> str:
        with self._changed:
            return self._code

    def holds(self) -> bool:
        """Reports whether a checkpoint would block now."""
        with self._changed:
            return bool(self._paused) and self._aborted is None

    def checkpoint(self) -> None:
        """Blocks while the run is paused. Raises `Aborted` when the run is aborted."""
        with self._changed:
            self._changed.wait_for(lambda: not self.holds())
            if self._aborted is not None:
                raise Aborted(self._aborted)
