"""Scripted model as a separate process, and the requests that it received."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Long enough for a machine that does much else; nothing here is a claim about time.
PATIENCE = 300.0


class ScriptedModel:
    """Runs scripts until it is closed. `make test-workers` sets its command, `VIVARIUM_SCRIPTED`."""

    def __init__(self, directory: Path) -> None:
        file = directory / "script.json"
        file.write_text("{}")
        self._process = subprocess.Popen(
            [*os.environ["VIVARIUM_SCRIPTED"].split(), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("ready on "), line
        self.url = line.removeprefix("ready on ").strip()

    def play(self, script: dict[str, Any]) -> None:
        """Sets the script and clears the received requests."""
        body = json.dumps(script).encode()
        request = urllib.request.Request(f"{self.url}/scripted/script", body, method="PUT")
        urllib.request.urlopen(request).close()

    def asked(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{self.url}/scripted/asked") as answer:
            found: list[dict[str, Any]] = json.load(answer)["asked"]
            return found

    def await_question(self) -> None:
        """Waits until the model has received a request and holds its response."""
        deadline = time.monotonic() + PATIENCE
        while not self.asked():
            assert time.monotonic() < deadline, "the model was never asked"
            time.sleep(0.02)

    def release(self) -> None:
        """Releases held responses."""
        request = urllib.request.Request(f"{self.url}/scripted/release", b"", method="POST")
        urllib.request.urlopen(request).close()

    def close(self) -> None:
        """Closes standard input, which ends the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE)
        self._process.stdout.close()


Play = Callable[..., ScriptedModel]
