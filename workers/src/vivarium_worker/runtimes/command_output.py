"""Output of a program: split into lines and batched for the log."""

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

# Longer lines are split, because an event holds 100 KB.
LINE_BYTES = 64 * 1024
# Largest line of the protocol: an event of 100 KB in any JSON escaping.
SPOKEN_BYTES = 1024 * 1024
# Text of an event as JSON. The rest is for the other fields.
TEXT_BYTES = events.MAX_DATA_BYTES - 1024
# Batching time, so that a verbose program causes few events.
GATHER_SECONDS = 0.1
KINDS = ("event", "progress", "usage", "review", "result")
_OURS = re.compile(rb'\{\s*"type"\s*:\s*"(%b)"' % "|".join(KINDS).encode())


@dataclass(frozen=True)
class Piece:
    """Line, or a part of a long line. Immutable."""

    content: bytes
    begins: bool
    ends: bool

    @property
    def said(self) -> dict[str, Any] | None:
        """Parses a protocol line. Returns none for plain output."""
        if not (self.begins and self.ends and self.content.startswith(b"{")):
            return None
        try:
            said = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return said if isinstance(said, dict) and said.get("type") in KINDS else None

    @property
    def is_too_long(self) -> bool:
        """Reports whether this is the beginning of a protocol line without its end."""
        return self.begins and not self.ends and _OURS.match(self.content) is not None


class Lines:
    """Splitter of input into lines. Confined to one thread."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._begins = True

    def take(self, content: bytes) -> Iterator[Piece]:
        """Returns the lines that end in this chunk."""
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
        """Returns the incomplete last line at the end of the stream."""
        if self._held:
            yield self._piece(True)

    def _piece(self, ends: bool) -> Piece:
        piece = Piece(bytes(self._held), self._begins, ends)
        self._held.clear()
        self._begins = ends
        return piece


class Output:
    """Batches output into events. Confined to one thread."""

    def __init__(self, run: Run, stream: str) -> None:
        self._run = run
        self._stream = stream
        # Keeps a partial character for the next event.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._gathered = bytearray()
        self._since = 0.0

    def add(self, content: bytes) -> None:
        for start in range(0, len(content), LINE_BYTES):
            self._add(content[start : start + LINE_BYTES])

    def due(self) -> float | None:
        """Seconds until the batch is due, if there is one."""
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
    """Splits a text for events. A character takes up to six bytes there."""
    if events.size(text) > TEXT_BYTES:
        half = len(text) // 2
        yield from _parts(text[:half])
        yield from _parts(text[half:])
    elif text:
        yield text
