"""Tests of the example agent for the runtime `command`, with the scripted model and a real server."""

from __future__ import annotations

import sys
from pathlib import Path

from backend import TestBackend
from scripted import Play
from started import Started, await_file
from vivarium_worker import worker
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings

AGENT = Path(__file__).parents[2] / "demo/src/main/resources/dev/vivarium/demo/agent.py"


def test_an_interrupt_that_bash_ignores_is_repeated(env: dict[str, str], backend: TestBackend, play: Play) -> None:
    """Bash ignores the signal if its command exits at the same moment."""
    heedless = "trap 'trap - INT' INT; touch begun; until [ -e never ]; do sleep 0.02; done"
    model = play(
        {"when": {"contains": "hello.txt"}, "tools": [{"name": "Bash", "input": {"command": heedless}}]},
        {"when": {"contains": "do this instead"}, "text": "Better."},
    )
    settings = Settings.from_env({**env, "MODEL": "claude-sonnet-4-5", "MODEL_URL": model.url})
    started = Started(settings, CommandRuntime([sys.executable, str(AGENT)]))
    await_file(settings.workspace / "begun")
    backend.send("do this instead", kind="interrupt")
    assert started.join() == worker.COMPLETED
    assert backend.of("agent.completed")[0]["summary"] == "Better."
    assert [data["is_error"] for data in backend.of("agent.tool_result")] == [True]
