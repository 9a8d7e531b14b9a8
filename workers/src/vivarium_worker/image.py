"""What the sandbox's image brings for a runtime: its SDK, and an interpreter that the SDK runs on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PLACE = Path("/opt/vivarium")


def enter(runtime: str, place: Path = PLACE) -> None:
    """Makes the SDK importable; goes on in the image's interpreter, if it has one of its own.

    In the path of this process alone: what the agent starts must not inherit it, and nothing that the host's Python
    has installed may come before it.
    """
    sdk = place / runtime
    if not runtime or not sdk.is_dir():
        return
    interpreter = place / "python" / "bin" / "python3"
    if interpreter.exists() and not interpreter.samefile(sys.executable):
        os.execv(interpreter, [str(interpreter), *sys.orig_argv[1:]])
    sys.path.insert(1, str(sdk))
