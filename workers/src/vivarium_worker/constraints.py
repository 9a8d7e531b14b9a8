"""Constraints of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class BadConstraint(Exception):
    """Invalid constraint; the message names it. The worker must not run the task without it."""


@dataclass(frozen=True)
class Constraints:
    """Constraints that the worker enforces. Immutable."""

    # None if the task has no such constraint. If empty, only the worker's own tools are allowed.
    allowed_tools: tuple[str, ...] | None = None
    time_limit_minutes: float | None = None

    @staticmethod
    def of(task: dict[str, Any]) -> Constraints:
        """Parses the constraints of a task. Raises `BadConstraint` for a wrong type. Ignores unknown ones."""
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
