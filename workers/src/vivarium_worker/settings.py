"""Settings from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class Misconfigured(Exception):
    """The environment lacks a variable; the message names it and its source."""


@dataclass(frozen=True)
class Model:
    """Model endpoint inside the sandbox: the gateway, which holds the real key."""

    name: str
    url: str
    token: str
    retries: int | None = None


@dataclass(frozen=True)
class Settings:
    """Settings of a run. Immutable."""

    backend_url: str
    token: str
    sandbox_id: str
    task_id: str
    workspace: Path
    state: Path
    model: Model
    budget_usd: float | None
    resume: str | None
    heartbeat_seconds: float
    spool_bytes: int
    drain_seconds: float

    @staticmethod
    def from_env(env: Mapping[str, str] = os.environ) -> Settings:
        """Reads the environment. Raises `Misconfigured` for a missing or malformed variable."""
        return Settings(
            backend_url=_required(env, "BACKEND_URL").rstrip("/"),
            token=_required(env, "SANDBOX_TOKEN"),
            sandbox_id=_required(env, "SANDBOX_ID"),
            task_id=_required(env, "TASK_ID"),
            workspace=Path(env.get("WORKSPACE_DIR", "/workspace")),
            state=Path(env.get("WORKER_STATE_DIR", "/workspace/.vivarium")),
            model=Model(
                name=env.get("MODEL", "claude-sonnet-4-5"),
                url=env.get("MODEL_URL", "").rstrip("/"),
                token=env.get("MODEL_TOKEN", "none"),
                retries=_whole(env, "MODEL_RETRIES"),
            ),
            budget_usd=_number(env, "BUDGET_USD"),
            resume=env.get("RESUME_SESSION") or None,
            heartbeat_seconds=_number(env, "HEARTBEAT_SECONDS") or 15.0,
            spool_bytes=int(_number(env, "SPOOL_BYTES") or 64 * 1024 * 1024),
            drain_seconds=_number(env, "DRAIN_SECONDS") or 30.0,
        )


def _required(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "")
    if not value:
        raise Misconfigured(f"{name} is not set; the server sets it when it starts a run")
    return value


def _whole(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "")
    if not text:
        return None
    if not text.isdecimal():
        raise Misconfigured(f"{name} is {text!r}; it must be a whole number")
    return int(text)


def _number(env: Mapping[str, str], name: str) -> float | None:
    text = env.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise Misconfigured(f"{name} is {text!r}; it must be a number") from None
    if not 0 < value < float("inf"):
        raise Misconfigured(f"{name} is {text!r}; it must be above zero")
    return value
