"""Runtime files of the sandbox image: the SDK and its interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PLACE = Path("/opt/vivarium")


def enter(runtime: str, place: Path = PLACE) -> None:
    """Makes the SDK importable. Restarts in the interpreter of the image, if there is one.

    Changes only the path of this process, because programs of the agent must not inherit it. The SDK takes precedence
    over packages of the host.
    """
    sdk = place / runtime
    if not runtime or not sdk.is_dir():
        return
    interpreter = place / "python" / "bin" / "python3"
    if interpreter.exists() and not interpreter.samefile(sys.executable):
        os.execv(interpreter, [str(interpreter), *sys.orig_argv[1:]])
    sys.path.insert(1, str(sdk))
