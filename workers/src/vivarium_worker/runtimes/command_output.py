"""What a program prints: cut into lines, and gathered for the log."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from .. import events
from ..run import Run

# Longer lines are cut in pieces of this size: an event takes 100 KB.
LINE_BYTES = 64 * 1024
# What begins as JSON is read up to this: an event of 100 KB, however its characters are written.
SPOKEN_BYTES = 1024 * 1024
# Of the text of an event, as JSON; the rest is for what stands around it.
TEXT_BYTES = events.MAX_DATA_BYTES - 1024
# Output is gathered for this long, so that a chatty program makes few events.
GATHER_SECONDS = 0.1
KINDS = ("event", "progress", "usage", "review", "result")
_OURS = re.compile(rb'\{\s*"type"\s*:\s*"(%b)"' % "|".join(KINDS).encode())


@dataclass(frozen=True)
class Piece:
    """A line, or a part of one that is too long. Immutable."""

    content: bytes
    begins: bool
    ends: bool

    @property
    def said(self) -> dict[str, Any] | None:
        """A line in the protocol, or nothing when it is plain output."""
        if not (self.begins and self.ends and self.content.startswith(b"{")):
            return None
        try:
            said = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return said if isinstance(said, dict) and said.get("type") in KINDS else None

    @property
    def is_too_long(self) -> bool:
        """Whether it is the beginning of a line in the protocol that has no end in sight."""
        return self.begins and not self.ends and _OURS.match(self.content) is not None


class Lines:
    """Cuts what is read into lines. For one thread."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._begins = True

    def take(self, content: bytes) -> Iterator[Piece]:
        """The lines that end in here."""
        start = 0
        while start < len(content):
            first = self._held[0] if self._held else content[start]
            limit = SPOKEN_BYTES if self._begins and first == ord("{") else LINE_BYTES
            feed = content.find(b"\n", start)
            end = min(len(content) if feed < 0 else feed + 1, start + limit - len(self._held))
            self._held += content[start:end]
            start = end
            ends = self._held.endswith(b"\n")
            if ends or len(self._held) >= limit:
                yield self._piece(ends)

    def rest(self) -> Iterator[Piece]:
        """The last line, when it was begun and there is no more to read."""
        if self._held:
            yield self._piece(True)

    def _piece(self, ends: bool) -> Piece:
        piece = Piece(bytes(self._held), self._begins, ends)
        self._held.clear()
        self._begins = ends
        return piece


class Output:
    """Gathers what a program prints into events of a good size. For one thread."""

    def __init__(self, run: Run, stream: str) -> None:
        self._run = run
        self._stream = stream
        # Keeps the half of a character at the end of an event for the next one.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._gathered = bytearray()
        self._since = 0.0

    def add(self, content: bytes) -> None:
        for start in range(0, len(content), LINE_BYTES):
            self._add(content[start : start + LINE_BYTES])

    def due(self) -> float | None:
        """In how many seconds it is to be sent, if there is something."""
        return max(0.0, self._since + GATHER_SECONDS - monotonic()) if self._gathered else None

    def flush(self, last: bool = False) -> None:
        text = self._decoder.decode(bytes(self._gathered), last)
        self._gathered.clear()
        for part in _parts(text):
            self._run.emit(events.OUTPUT, {"stream": self._stream, "text": part})

    def _add(self, content: bytes) -> None:
        if len(self._gathered) + len(content) > LINE_BYTES:
            self.flush()
        if not self._gathered:
            self._since = monotonic()
        self._gathered += content


def _parts(text: str) -> Iterator[str]:
    """What fits in an event each: there, a character takes up to six bytes."""
    if events.size(text) > TEXT_BYTES:
        half = len(text) // 2
        yield from _parts(text[:half])
        yield from _parts(text[half:])
    elif text:
        yield text
