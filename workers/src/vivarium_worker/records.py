"""Append-only file of checksummed lines that survives truncation at any byte."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

log = logging.getLogger(__name__)

# Retry interval for a full disk, and interval of its log message.
FULL_DISK_PAUSE = 1.0
COMPLAINT_SECONDS = 60.0
# Format of a line: checksum in hexadecimal, space, JSON, line feed.
_CHECKSUM = 8


class RecordFile:
    """File of records. A returned append is durable. Not safe for concurrent appends.

    A crash or a power failure leaves at most one incomplete line at the end, which opening removes. The reader skips
    and counts damaged lines elsewhere.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self.end = self._cut_torn_tail()
            if not self.end:
                sync_directory(path.parent)
        except OSError:
            self.close()
            raise

    def append(self, *records: dict[str, Any]) -> int:
        """Appends records and returns the end offset. A failed write leaves no trace."""
        lines = b"".join(map(encode, records))
        try:
            _write_fully(self._fd, lines, self.end)
            os.fsync(self._fd)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self.end)
            raise
        self.end += len(lines)
        return self.end

    def read(self, start: int, end: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Reads the records between two offsets, each with its end offset. Skips damaged lines."""
        with self.path.open("rb") as file:
            file.seek(start)
            position = start
            while position < end:
                line = file.readline()
                if not line:
                    return
                position += len(line)
                record = decode(line)
                if record is None:
                    self.damaged += 1
                else:
                    yield position, record

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _cut_torn_tail(self) -> int:
        end = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                end += len(line)
        if end < self.path.stat().st_size:
            os.ftruncate(self._fd, end)
            os.fsync(self._fd)
        return end


def encode(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decode(line: bytes) -> dict[str, Any] | None:
    """Parses a line. Returns none if the checksum does not match."""
    checksum, text = line[:_CHECKSUM], line[_CHECKSUM + 1 : -1]
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    record = json.loads(text)
    return record if isinstance(record, dict) else None


def is_full(failure: OSError) -> bool:
    """Reports whether the error means a full disk, which is temporary."""
    return failure.errno in (errno.ENOSPC, errno.EDQUOT)


def when_there_is_room(write: Callable[[], None], stop: threading.Event) -> None:
    """Writes and retries while the disk is full, until `stop` is set. Other errors propagate."""
    complained = -COMPLAINT_SECONDS
    while True:
        try:
            write()
            return
        except OSError as e:
            if not is_full(e) or stop.is_set():
                raise
            if monotonic() - complained > COMPLAINT_SECONDS:
                log.warning("no space left on the disk; waiting for some: %s", e)
                complained = monotonic()
        stop.wait(FULL_DISK_PAUSE)


def _write_fully(fd: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def sync_directory(directory: Path) -> None:
    """Flushes the directory, because a new file name is durable only then."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
