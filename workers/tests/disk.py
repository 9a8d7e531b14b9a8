"""Simulation of a full disk."""

from __future__ import annotations

import errno
import threading
from typing import Any

import pytest

from vivarium_worker import records
from vivarium_worker.records import RecordFile

NO_SPACE = OSError(errno.ENOSPC, "no space left on device")


class FullDisk:
    """Rejects records until there is space."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = threading.Event()
        self.refused = threading.Event()
        append = RecordFile.append

        def refuse(file: RecordFile, *lines: dict[str, Any]) -> int:
            if self.room.is_set():
                return append(file, *lines)
            self.refused.set()
            raise NO_SPACE

        monkeypatch.setattr(records, "FULL_DISK_PAUSE", 0.01)
        monkeypatch.setattr(RecordFile, "append", refuse)
