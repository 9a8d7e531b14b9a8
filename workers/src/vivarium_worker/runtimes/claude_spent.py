"""Usage of a Claude conversation in this run."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from claude_agent_sdk import ResultMessage

from ..run import Outcome, Usage

log = logging.getLogger(__name__)


class Spent:
    """Sum over all turns. Confined to the event loop of its conversation.

    The program reports the tokens of each turn, but the cost of the whole conversation, including earlier runs. The
    cost is therefore stored on disk for the run that resumes the conversation.
    """

    def __init__(self, directory: Path, resume: str | None) -> None:
        self.session: str | None = None
        self.cost_usd: float | None = None
        self.usage = Usage()
        self.turns = 0
        self._file = directory / "spent.json"
        # Last reported values by session id.
        self._totals = _read(self._file)
        self.before = self._totals.get(resume or "", 0.0)

    def add(self, result: ResultMessage) -> None:
        """Adds one turn."""
        self.session = result.session_id
        self.turns += result.num_turns
        self._count(result.usage or {})
        if result.total_cost_usd is not None:
            self.cost_usd = max(0.0, result.total_cost_usd - self.before)
            self._remember(result.session_id, result.total_cost_usd)

    def fields(self) -> dict[str, Any]:
        return {**self.usage.fields(), "cost_usd": self.cost_usd, "turns": self.turns}

    def completed(self, summary: str) -> Outcome:
        return self._outcome(True, summary, "")

    def failed(self, reason: str, code: str = "failed") -> Outcome:
        return self._outcome(False, "", reason, code)

    def _outcome(self, completed: bool, summary: str, reason: str, code: str = "failed") -> Outcome:
        return Outcome(completed, summary, reason, self.cost_usd, self.usage, self.turns, self.session, code=code)

    def _count(self, tokens: dict[str, Any]) -> None:
        self.usage = Usage(
            self.usage.input_tokens + int(tokens.get("input_tokens") or 0),
            self.usage.output_tokens + int(tokens.get("output_tokens") or 0),
            self.usage.cache_read_tokens + int(tokens.get("cache_read_input_tokens") or 0),
            self.usage.cache_write_tokens + int(tokens.get("cache_creation_input_tokens") or 0),
        )

    def _remember(self, session: str, total: float) -> None:
        """Replaces the file atomically. On a full disk the sum is lost, but the run continues."""
        self._totals[session] = total
        fresh = self._file.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(self._totals))
            fresh.replace(self._file)
        except OSError as e:
            log.warning("the cost of this conversation could not be stored: %s", e)


def _read(file: Path) -> dict[str, float]:
    try:
        return {str(session): float(total) for session, total in json.loads(file.read_text()).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
