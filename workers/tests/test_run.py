"""Tests of calls of a runtime during the end of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend import PATIENCE, TestBackend
from vivarium_worker.backend import Backend
from vivarium_worker.control import Aborted
from vivarium_worker.run import Outcome, Run
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", limit=2000)
    yield spool
    spool.close()


@pytest.fixture
def run(settings: Settings, spool: Spool) -> Iterator[Run]:
    run = Run(settings, {"title": "Say hello"}, spool, Backend(settings))
    yield run
    run.inbox.close()


class Doing:
    """Blocking call in a thread."""

    def __init__(self, what: Callable[[], object]) -> None:
        self.raised: BaseException | None = None
        self._what = what
        self._thread = threading.Thread(target=self._do, daemon=True)
        self._thread.start()

    def _do(self) -> None:
        try:
            self._what()
        except Exception as e:
            self.raised = e

    def join(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "it waits for ever"


@pytest.mark.parametrize("asked", [True, False], ids=["while a person thinks", "before it is asked for"])
def test_an_abort_ends_a_review_without_the_server(run: Run, backend: TestBackend, asked: bool) -> None:
    if not asked:
        backend.down()
    review = Doing(lambda: run.review({"reason": "which"}))
    if asked:
        backend.await_that(lambda state: state.reviews, "a review")
        backend.down()
    run.control.abort("enough")
    review.join()
    assert isinstance(review.raised, Aborted)
    assert str(review.raised) == "enough"


def test_a_review_ends_with_its_run(run: Run, backend: TestBackend) -> None:
    review = Doing(lambda: run.review({"reason": "which"}))
    backend.await_that(lambda state: state.reviews, "a review")
    backend.down()
    run.control.end()
    review.join()
    assert isinstance(review.raised, Aborted)


def test_an_abort_ends_waiting_appends_and_dropped_events_are_counted(run: Run, spool: Spool) -> None:
    def talk() -> None:
        while not run.control.ending.is_set():
            run.emit("test.event", {"text": "x" * 500})

    agent = Doing(talk)
    run.control.abort("enough")
    agent.join()
    assert agent.raised is None
    taken = spool.pending
    for _ in range(10):
        run.emit("test.event", {"text": "x" * 500})
    dropped = taken + 10 - spool.pending
    assert dropped > 0
    run.finish("command", Outcome.failed("enough"))
    assert spool.peek(100)[-1]["body"]["event_data"]["dropped_events"] == dropped


@pytest.mark.parametrize("command", ["pause", "resume", "abort"])
def test_a_command_of_the_server_does_not_wait_for_the_spool(run: Run, spool: Spool, command: str) -> None:
    run.control.pause("server" if command == "resume" else "another")
    spool.append({"text": "x" * 2000})
    heard = Doing(lambda: run.command(command))
    heard.join()
    assert heard.raised is None
    assert spool.pending == (1 if command == "abort" else 2)
