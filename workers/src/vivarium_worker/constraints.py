"""What a task forbids its agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class BadConstraint(Exception):
    """A constraint that cannot be kept as it was written; the message names it. The task must not be run without it."""


@dataclass(frozen=True)
class Constraints:
    """The constraints that workers keep. Immutable."""

    # None when the task says nothing of tools; empty when it allows none but our own.
    allowed_tools: tuple[str, ...] | None = None
    time_limit_minutes: float | None = None

    @staticmethod
    def of(task: dict[str, Any]) -> Constraints:
        """Those of a task; `BadConstraint` for one of the wrong kind. Others are for the agent itself."""
        found = task.get("constraints")
        if found is None:
            return Constraints()
        if not isinstance(found, dict):
            raise BadConstraint("constraints must be an object")
        return Constraints(_tools(found.get("allowed_tools")), _minutes(found.get("time_limit_minutes")))


def _tools(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadConstraint("constraints.allowed_tools must be a list of names")
    return tuple(value)


def _minutes(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise BadConstraint("constraints.time_limit_minutes must be a number above 0")
    return float(value)
