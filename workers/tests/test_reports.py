"""Tests of reports with long texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend import TestBackend
from started import python
from vivarium_worker import events, reports, worker
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings

# Of one byte and of more, text that JSON writes longer, and what is taken out.
TEXTS = ["x" * 12_000, "é" * 9_000, "\U0001f600" * 5_000, 'say "no"\n' * 4_000, "\x01" * 20_000, "\ud800" * 12_000]


class Says:
    """Runtime whose agent returns this result."""

    name = "says"

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.files = 0

    def work(self, run: Run) -> Outcome:
        for n in range(self.files):
            run.file_changed(f"src/directory-{n}/" + "a-long-name" * 10, "modified", n, n)
        return self.outcome


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_any_length_is_the_result_of_the_task(settings: Settings, backend: TestBackend, text: str) -> None:
    assert worker.work(settings, Says(Outcome(completed=True, summary=text))) == worker.COMPLETED
    assert "worker.event_rejected" not in backend.types()
    (result,) = backend.state.results
    assert "bytes left out" in result["summary"]
    assert 10_000 < len(result["summary"].encode()) <= 10_240
    assert [status["status"] for status in backend.state.statuses] == ["in_progress", "completed"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_long_reason_is_reported_with_its_beginning_and_end(
    settings: Settings, backend: TestBackend, text: str
) -> None:
    reason = f"the beginning: {text}: the end"
    assert worker.work(settings, Says(Outcome.failed(reason))) == worker.FAILED
    assert "worker.event_rejected" not in backend.types()
    for told in (backend.of("agent.failed")[0]["reason"], backend.state.results[0]["notes"]):
        assert told.startswith("the beginning: ")
        assert told.endswith(": the end")
        assert len(told.encode()) <= 8 * 1024
    assert backend.state.statuses[-1]["message"].startswith("the beginning: ")


def test_files_beyond_the_limit_of_a_report_are_counted(settings: Settings, backend: TestBackend) -> None:
    runtime = Says(Outcome(completed=True, summary='"' * 12_000))
    runtime.files = 3_000
    assert worker.work(settings, runtime) == worker.COMPLETED
    assert "worker.event_rejected" not in backend.types()
    (result,) = backend.state.results
    listed = len(result["files_changed"])
    assert listed > 100
    assert result["notes"] == f"{3_000 - listed} more files were changed than are listed here."


def test_long_texts_of_a_program_are_reported(settings: Settings, backend: TestBackend) -> None:
    program = f"""
import json
say = lambda **line: print(json.dumps(line), flush=True)
say(type="progress", message={"é" * 12_000!r}, details={{"log": "y" * 30_000, "more": "\\x01" * 20_000}})
say(type="result", summary="z" * 20_000)
"""
    assert worker.work(settings, python(program)) == worker.COMPLETED
    assert "worker.event_rejected" not in backend.types()
    assert "bytes left out" in backend.state.progress[0]["message"]
    assert backend.state.progress[0]["details"]["truncated"] is True
    assert backend.state.results[0]["summary"].startswith("zzz")


def test_a_long_review_is_requested(settings: Settings, backend: TestBackend) -> None:
    backend.prompt_answer = {"status": "approved"}
    ask = {"type": "review", "id": "r", "reason": "ж" * 300, "description": "é" * 9_000, "context": {"c": "x" * 70_000}}
    Path(settings.workspace / "ask").write_text(json.dumps(ask, ensure_ascii=False) + "\n")
    shows = 'read task; cat ask; read answer; echo "answer: $answer"'
    assert worker.work(settings, CommandRuntime(["sh", "-c", shows])) == worker.COMPLETED
    assert '"status": "approved"' in backend.of("agent.output")[0]["text"]
    assert list(backend.state.reviews) == ["rev-1"]


def test_a_valid_reason_of_a_review_is_unchanged() -> None:
    assert reports.review({"reason": "ж" * 200})["reason"] == "ж" * 200


@pytest.mark.parametrize("most", [200, 201, 10_240])
def test_a_truncated_text_has_no_partial_character(most: int) -> None:
    for text in ("é" * 20_000, "a" + "é" * 20_000, "\U0001f600" * 9_000, "ab\U0001f600" * 9_000):
        cut = events.shortened(text, most)
        assert most - 80 < len(cut.encode()) <= most
        assert "\ufffd" not in cut
        assert (cut[0], cut[-1]) == (text[0], text[-1])
