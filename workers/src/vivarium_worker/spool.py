"""Durable queue of records for the server."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
from collections import deque
from itertools import islice
from pathlib import Path
from typing import Any

from .records import RecordFile, encode, is_full, when_there_is_room

log = logging.getLogger(__name__)

SEGMENT_BYTES = 4 * 1024 * 1024


class SpoolClosed(Exception):
    """The spool is closed. Earlier records are on the disk."""


class SpoolFull(Exception):
    """The run is ending and there is no space for the record. It was not stored."""


class SpoolBusy(Exception):
    """Another worker has opened this spool."""


class Spool:
    """Ordered queue on disk, in segments. Any thread may append; one thread takes.

    A record survives `kill -9` and power loss after `append` has returned. If the spool is full, `append` waits and
    slows the agent to the speed of the server. Records that were taken but not acknowledged are taken again, so the
    server must identify a record by its id.

    Urgent records never wait. They may exceed the limit, and are only in memory while the disk is full. The same
    applies to all records when the run is ending, but they may exceed the limit at most by its size.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._limit = limit
        self._lock_fd = _lock(directory / "lock")
        # Serializes writes. Held across disk writes, but never by the thread that takes.
        self._writing = threading.Lock()
        # Guards all fields below. Never held across disk writes.
        self._state = threading.Condition()
        self._closed = False
        self._released = False
        # Set when no thread may wait for space or for the disk any more.
        self._hurried = threading.Event()
        self._segments: deque[tuple[int, RecordFile]] = deque()
        self._waiting: deque[tuple[int, int, dict[str, Any]]] = deque()
        self._bytes = 0
        self._ack_fd = os.open(directory / "acknowledged", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.damaged = self._recover()
        # Allocates the mark file while there is space. Later writes are in place and work on a full disk.
        self._mark(*self._acknowledged())

    def append(self, record: dict[str, Any], urgent: bool = False) -> None:
        """Appends one record durably. Waits while the spool or the disk is full.

        `urgent` never waits. It is for the last events of a run, and for threads that other threads depend on. When
        the run is ending, no append waits, and a full spool raises `SpoolFull`.
        """
        size = len(encode(record))
        self._reserve(size, urgent)
        try:
            self._store(record, urgent)
        except BaseException:
            with self._state:
                self._bytes -= size
                self._state.notify_all()
            raise

    def take(self, timeout: float) -> dict[str, Any] | None:
        """Waits for the oldest unacknowledged record. Returns none after the timeout."""
        with self._state:
            self._state.wait_for(lambda: self._waiting or self._closed or self._released, timeout)
            return self._waiting[0][2] if self._waiting and not self._closed else None

    def peek(self, most: int) -> list[dict[str, Any]]:
        """Returns the available unacknowledged records in order."""
        with self._state:
            return [record for _, _, record in islice(self._waiting, most)]

    def acknowledge(self, count: int = 1) -> None:
        """Acknowledges the oldest records, which removes them."""
        with self._state:
            for _ in range(count):
                number, end, record = self._waiting.popleft()
                self._bytes -= len(encode(record))
            finished = []
            while self._segments and self._segments[0][0] < number:
                finished.append(self._segments.popleft()[1])
            self._state.notify_all()
        self._mark(number, end)
        for segment in finished:
            segment.close()
            # The next worker deletes a file that remains.
            with contextlib.suppress(OSError):
                segment.path.unlink()

    def hurry(self) -> None:
        """Stops all waits in `append`, because the run is ending."""
        with self._state:
            self._hurried.set()
            self._state.notify_all()

    def release(self) -> None:
        """Stops all waits in `take`."""
        with self._state:
            self._released = True
            self._state.notify_all()

    @property
    def pending(self) -> int:
        with self._state:
            return len(self._waiting)

    def drain(self, timeout: float) -> bool:
        """Waits until everything is acknowledged. Returns whether it is."""
        with self._state:
            return self._state.wait_for(lambda: not self._waiting or self._closed, timeout) and not self._waiting

    def close(self) -> None:
        with self._state:
            if self._closed:
                return
            self._closed = True
            self._hurried.set()
            self._state.notify_all()
        with self._writing:
            for _, segment in self._segments:
                segment.close()
            os.close(self._ack_fd)
            os.close(self._lock_fd)

    def _reserve(self, size: int, urgent: bool) -> None:
        """Reserves space before the write, so that no thread waits for space while it holds the file."""
        with self._state:
            if not urgent and not self._fits(size):
                log.warning("spool is full with %d records; the agent waits for the server", len(self._waiting))
            while not urgent and not self._fits(size) and not self._hurried.is_set():
                self._state.wait()
            if self._closed:
                raise SpoolClosed
            if not urgent and not self._fits(size):
                raise SpoolFull
            self._bytes += size

    def _fits(self, size: int) -> bool:
        """An empty spool accepts any record, because one larger than the bound would wait forever."""
        limit = self._limit * (2 if self._hurried.is_set() else 1)
        return not self._bytes or self._bytes + size <= limit

    def _store(self, record: dict[str, Any], urgent: bool) -> None:
        """Waits while the disk is full. Other errors propagate."""
        try:
            if urgent:
                self._write(record)
            else:
                when_there_is_room(lambda: self._write(record), self._hurried)
        except OSError as e:
            if not is_full(e):
                raise
            self._hold(record)

    def _write(self, record: dict[str, Any]) -> None:
        with self._writing:
            if self._closed:
                raise SpoolClosed
            number, segment = self._segment_for_writing()
            self._offer(number, segment.append(record), record)

    def _hold(self, record: dict[str, Any]) -> None:
        """Keeps the record in memory only. Its offset is the end of the last record on the disk."""
        with self._writing:
            if self._closed:
                raise SpoolClosed
            number, segment = self._segments[-1]
            self._offer(number, segment.end, record)

    def _offer(self, number: int, end: int, record: dict[str, Any]) -> None:
        with self._state:
            self._waiting.append((number, end, record))
            self._state.notify_all()

    def _segment_for_writing(self) -> tuple[int, RecordFile]:
        with self._state:
            number, segment = self._segments[-1]
        if segment.end < SEGMENT_BYTES:
            return number, segment
        fresh = (number + 1, RecordFile(self._directory / f"{number + 1:08d}.log"))
        with self._state:
            self._segments.append(fresh)
        return fresh

    def _mark(self, number: int, end: int) -> None:
        """Writes the offset up to which everything is delivered.

        The write is neither synced nor retried. Without it, the worker sends the last records again, and the server
        identifies them by id.
        """
        try:
            os.pwrite(self._ack_fd, b"%020d %020d\n" % (number, end), 0)
        except OSError as e:
            log.warning("the delivered records could not be marked; the next worker sends them again: %s", e)

    def _recover(self) -> int:
        """Reads records of an earlier worker. Runs before other threads use the spool."""
        acknowledged = self._acknowledged()
        damaged = 0
        for path in sorted(self._directory.glob("*.log")):
            number = int(path.stem)
            if number < acknowledged[0]:
                path.unlink()
                continue
            segment = RecordFile(path)
            start = acknowledged[1] if number == acknowledged[0] else 0
            for end, record in segment.read(start, segment.end):
                self._waiting.append((number, end, record))
                self._bytes += len(encode(record))
            damaged += segment.damaged
            self._segments.append((number, segment))
        if not self._segments:
            number = acknowledged[0] + 1
            self._segments.append((number, RecordFile(self._directory / f"{number:08d}.log")))
        return damaged

    def _acknowledged(self) -> tuple[int, int]:
        """Offset up to which everything is delivered; 0 if unreadable, because a repeated delivery has no effect."""
        with contextlib.suppress(ValueError):
            number, end = os.pread(self._ack_fd, 64, 0).split()
            return int(number), int(end)
        return 0, 0


def _lock(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e:
        os.close(fd)
        raise SpoolBusy(f"another worker is using {path.parent}; end it first") from e
    return fd
