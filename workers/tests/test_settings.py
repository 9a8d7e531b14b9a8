"""Tests of the settings."""

from __future__ import annotations

import pytest

from vivarium_worker.__main__ import Sdk, choose
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Misconfigured, Settings


@pytest.mark.parametrize("name", ["BACKEND_URL", "SANDBOX_TOKEN", "SANDBOX_ID", "TASK_ID"])
def test_a_missing_variable_is_named(env: dict[str, str], name: str) -> None:
    with pytest.raises(Misconfigured, match=f"{name} is not set"):
        Settings.from_env({key: value for key, value in env.items() if key != name})


@pytest.mark.parametrize("text", ["many", "-1", "0", "nan", "inf"])
def test_a_budget_must_be_a_number_above_zero(env: dict[str, str], text: str) -> None:
    with pytest.raises(Misconfigured, match="BUDGET_USD"):
        Settings.from_env({**env, "BUDGET_USD": text})


def test_an_unknown_runtime_is_refused_with_the_choices() -> None:
    with pytest.raises(Misconfigured, match="claude, openhands or command"):
        choose("gpt", [])


def test_the_command_runtime_needs_a_program() -> None:
    with pytest.raises(Misconfigured, match="needs a program"):
        choose("command", [])


def test_a_missing_sdk_is_named() -> None:
    with pytest.raises(Misconfigured, match="viv image build worker"):
        Sdk("other", "no_such_module", lambda: CommandRuntime([]))
