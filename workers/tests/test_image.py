"""Tests of the SDK and interpreter of an image."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ENTER = """
import sys
from pathlib import Path
from vivarium_worker import image
image.enter(sys.argv[1], Path(sys.argv[2]))
import agent_sdk
print(agent_sdk.__file__, sys.executable, sys.argv[3])
"""


def enter(place: Path, program: Path) -> subprocess.CompletedProcess[str]:
    program.write_text(ENTER)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    line = [sys.executable, str(program), "agent", str(place), "an argument"]
    return subprocess.run(line, env=env, capture_output=True, text=True, timeout=30, check=False)


def test_the_sdk_of_the_image_is_imported_by_the_interpreter_of_the_image(tmp_path: Path) -> None:
    place = tmp_path / "opt"
    (place / "agent").mkdir(parents=True)
    (place / "agent" / "agent_sdk.py").write_text("")
    binaries = place / "python" / "bin"
    binaries.mkdir(parents=True)
    ended = enter(place, tmp_path / "program.py")
    assert ended.stdout == f"{place}/agent/agent_sdk.py {sys.executable} an argument\n", ended.stderr
    (binaries / "python3").symlink_to(sys.executable)
    assert enter(place, tmp_path / "program.py").stdout.endswith(" an argument\n")


def test_without_the_image_nothing_changes(tmp_path: Path) -> None:
    ended = enter(tmp_path / "nowhere", tmp_path / "program.py")
    assert "No module named 'agent_sdk'" in ended.stderr
