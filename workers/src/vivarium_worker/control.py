"""Pause, resume and abort: what others may ask of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Aborted(Exception):
    """The run was ended from outside; the message says by whom or why."""


class Control:
    """The state that others put a run into. Safe for any thread.

    A run asks at its own good moments, between tool calls; pausing does not freeze what is in the middle.
    """

    def __init__(self, on_abort: Callable[[], None] = lambda: None) -> None:
        # Called before the listener: what it does may be what the listener waits for.
        self._on_abort = on_abort
        self._changed = threading.Condition()
        self._paused: set[str] = set()
        self._aborted: str | None = None
        self._listener: Callable[[], None] = lambda: None
        # Set once the run is aborted or over: whoever waits for something else than this control waits for it too.
        self.ending = threading.Event()
        # Set once others want the worker itself to go, and not only its run to end.
        self.dismissed = threading.Event()

    def listen(self, listener: Callable[[], None]) -> None:
        """Has a function called after every change; at once if there was one before."""
        with self._changed:
            self._listener = listener
            changed = bool(self._paused) or self._aborted is not None
        if changed:
            listener()

    def pause(self, why: str) -> bool:
        """Asks the run to wait; whether that is news. Each reason is taken back by itself."""
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

    def abort(self, why: str) -> None:
        with self._changed:
            if self._aborted is not None:
                return
            self._aborted = why
            self.ending.set()
            self._changed.notify_all()
            listener = self._listener
        self._on_abort()
        listener()

    def dismiss(self, why: str) -> None:
        """Ends the run, if it is still on, and has the worker not stay for long after it."""
        self.dismissed.set()
        self.abort(why)

    def end(self) -> None:
        """The run is over: whoever waits at a checkpoint goes home."""
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

    def holds(self) -> bool:
        """Whether who comes to a checkpoint now waits there."""
        with self._changed:
            return bool(self._paused) and self._aborted is None

    def checkpoint(self) -> None:
        """Waits while the run is paused; raises `Aborted` when it is to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self.holds())
            if self._aborted is not None:
                raise Aborted(self._aborted)
