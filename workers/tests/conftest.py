from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend import SANDBOX, TASK, TOKEN, TestBackend
from vivarium_worker.settings import Settings


@pytest.fixture
def backend() -> Iterator[TestBackend]:
    server = TestBackend()
    yield server
    server.down()


@pytest.fixture
def env(backend: TestBackend, tmp_path: Path) -> dict[str, str]:
    """What the server would put into the environment of a worker."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return {
        "BACKEND_URL": backend.url,
        "SANDBOX_TOKEN": TOKEN,
        "SANDBOX_ID": SANDBOX,
        "TASK_ID": TASK,
        "WORKSPACE_DIR": str(workspace),
        "WORKER_STATE_DIR": str(tmp_path / "state"),
        "DRAIN_SECONDS": "20",
    }


@pytest.fixture
def settings(env: dict[str, str]) -> Settings:
    return Settings.from_env(env)
