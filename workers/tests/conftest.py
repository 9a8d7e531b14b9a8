from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from backend import SANDBOX, TASK, TOKEN, TestBackend
from scripted import Play, ScriptedModel
from vivarium_worker.settings import Settings

# Each SDK has an environment of its own; `make test-workers` runs the tests in both.
SDKS = {"test_claude.py": "claude_agent_sdk", "test_openhands.py": "openhands"}
collect_ignore = [test for test, module in SDKS.items() if find_spec(module) is None]


@pytest.fixture
def backend() -> Iterator[TestBackend]:
    server = TestBackend()
    yield server
    server.down()


@pytest.fixture
def env(backend: TestBackend, tmp_path: Path) -> dict[str, str]:
    """Environment of a worker."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return {
        "BACKEND_URL": backend.url,
        "SANDBOX_TOKEN": TOKEN,
        "SANDBOX_ID": SANDBOX,
        "TASK_ID": TASK,
        "WORKSPACE_DIR": str(workspace),
        "WORKER_STATE_DIR": str(tmp_path / "state"),
        "DRAIN_SECONDS": "300",
    }


@pytest.fixture
def settings(env: dict[str, str]) -> Settings:
    return Settings.from_env(env)


USAGE = {"input_tokens": 1000, "output_tokens": 50}


@pytest.fixture(scope="session")
def scripted_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModel]:
    model = ScriptedModel(tmp_path_factory.mktemp("scripted"))
    yield model
    model.close()


@pytest.fixture
def play(request: pytest.FixtureRequest) -> Play:
    """Sets the steps of the scripted model, which the first test starts. Each response has the same cost."""

    def start(*steps: dict[str, Any], otherwise: str = "All done.") -> ScriptedModel:
        model: ScriptedModel = request.getfixturevalue("scripted_model")
        spoken = [{"usage": USAGE, **step} for step in steps]
        model.play({"steps": spoken, "otherwise": {"text": otherwise, "usage": USAGE}})
        return model

    return start
