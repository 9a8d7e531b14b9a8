"""Tests that each event is in the log exactly once, despite failures."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from backend import PATIENCE, TestBackend
from disk import NO_SPACE
from started import Started
from test_spool import kill, run_python
from vivarium_worker import events, reports, worker
from vivarium_worker.backend import Backend, Refused, Stopped
from vivarium_worker.connection import Unreachable
from vivarium_worker.control import Control
from vivarium_worker.delivery import SpoolDelivery
from vivarium_worker.heartbeat import Heartbeat
from vivarium_worker.records import RecordFile
from vivarium_worker.run import Outcome, Run
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool, SpoolClosed


class Delivery:
    """Spool with its delivery thread."""

    def __init__(self, settings: Settings, tmp_path: Path) -> None:
        self.spool = Spool(tmp_path / "spool", 1 << 24)
        self.lost: list[Refused] = []
        self.aside = tmp_path / "refused.log"
        self.thread = SpoolDelivery(self.spool, Backend(settings), settings.task_id, self.aside, self.lost.append)

    def emit(self, **data: Any) -> None:
        self.spool.append(events.record("test.event", data, "agent"))

    def close(self) -> None:
        self.thread.close()
        self.spool.close()


@pytest.fixture
def piling(settings: Settings, tmp_path: Path) -> Iterator[Delivery]:
    """Delivery whose thread has not started, so that the number of pending records is fixed."""
    parts = Delivery(settings, tmp_path)
    yield parts
    parts.close()


@pytest.fixture
def delivery(piling: Delivery) -> Delivery:
    piling.thread.start()
    return piling


def numbers(backend: TestBackend) -> list[int]:
    return [data["n"] for data in backend.of("test.event")]


@pytest.mark.parametrize("what", ["503", "reset before", "reset after", "cut", "empty", "garbage", "429", "408"])
def test_a_fault_neither_loses_nor_duplicates_an_event(delivery: Delivery, backend: TestBackend, what: str) -> None:
    backend.fault("/events", what, times=3)
    for n in range(5):
        delivery.emit(n=n)
    assert delivery.spool.drain(20)
    assert numbers(backend) == [0, 1, 2, 3, 4]
    # A call that is repeated may carry several of them.
    assert (backend.state.repeats >= 3) if what in ("reset after", "cut") else (backend.state.repeats == 0)


def test_a_server_receives_all_events_in_order_after_an_outage(delivery: Delivery, backend: TestBackend) -> None:
    delivery.emit(n=0)
    assert delivery.spool.drain(20)
    backend.down()
    for n in range(1, 50):
        delivery.emit(n=n)
    assert delivery.spool.pending == 49
    backend.up()
    assert delivery.spool.drain(20)
    assert numbers(backend) == list(range(50))


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_respected(delivery: Delivery, backend: TestBackend, form: str) -> None:
    later = "1" if form == "seconds" else formatdate(time.time() + 2, usegmt=True)
    backend.fault("/events", "429", retry_after=later)
    began = backend.state.requests
    delivery.emit(n=0)
    assert delivery.spool.drain(20)
    # One rejected and one accepted request, and none in between.
    assert backend.state.requests - began == 2


def test_many_events_arrive_completely_under_a_rate_limit(delivery: Delivery, backend: TestBackend) -> None:
    backend.events_limit = 60
    for n in range(150):
        delivery.emit(n=n)
    assert delivery.spool.drain(30)
    assert numbers(backend) == list(range(150))


def test_events_arrive_although_the_mark_cannot_be_written(
    piling: Delivery, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(2):
        piling.emit(n=n)

    def refuse(*_: Any) -> int:
        raise NO_SPACE

    with monkeypatch.context() as full:
        full.setattr("vivarium_worker.spool.os.pwrite", refuse)
        piling.thread.start()
        assert piling.spool.drain(PATIENCE)
    piling.emit(n=2)
    assert piling.spool.drain(PATIENCE)
    assert numbers(backend) == [0, 1, 2]


def test_events_arrive_after_an_unexpected_exception(
    piling: Delivery, backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vivarium_worker.delivery.PAUSE_SECONDS", 0.01)
    deliver, failures = Backend.deliver, [ValueError("not this one")]

    def failing(caller: Backend, *rest: Any) -> dict[str, Any]:
        if failures:
            raise failures.pop()
        return deliver(caller, *rest)

    monkeypatch.setattr(Backend, "deliver", failing)
    piling.emit(n=0)
    piling.thread.start()
    assert piling.spool.drain(PATIENCE)
    assert not failures
    assert numbers(backend) == [0]


def test_the_next_heartbeat_follows_a_change_at_once_and_waits_for_a_command(
    settings: Settings, backend: TestBackend
) -> None:
    control = Control()

    def on_command(*_: str) -> None:
        control.pause("server")

    heartbeat = Heartbeat(Backend(settings), control, 15.0, on_command)
    backend.state.commands = ["pause"]
    heartbeat.start()
    backend.await_that(lambda state: len(state.heartbeats) > 1, "another beat")
    heartbeat.close()
    assert [(beat["status"], beat["wait"]) for beat in backend.state.heartbeats[:2]] == [("active", 15), ("paused", 15)]


def test_a_failed_command_does_not_stop_the_next(settings: Settings, backend: TestBackend) -> None:
    heard: list[str] = []

    def obey(command: str, *_: str) -> None:
        heard.append(command)
        if command == "pause":
            raise PermissionError("not this one")

    heartbeat = Heartbeat(Backend(settings), Control(), 0.01, obey)
    backend.state.commands = ["pause"]
    heartbeat.start()
    backend.await_that(lambda state: len(state.heartbeats) > 1, "another beat")
    with backend.changed:
        backend.state.commands = ["abort"]
        beats = len(backend.state.heartbeats)
    backend.await_that(lambda state: len(state.heartbeats) > beats + 1, "two more beats")
    heartbeat.close()
    assert heard == ["pause", "abort"]


def test_pending_events_are_sent_in_batches(piling: Delivery, backend: TestBackend) -> None:
    for n in range(250):
        piling.emit(n=n)
    piling.thread.start()
    assert piling.spool.drain(20)
    assert numbers(backend) == list(range(250))
    assert backend.state.batches == 3


def test_large_events_are_not_batched(piling: Delivery, backend: TestBackend) -> None:
    for n in range(12):
        piling.emit(n=n, text="x" * 80_000)
    piling.thread.start()
    assert piling.spool.drain(20)
    assert numbers(backend) == list(range(12))
    assert backend.state.batches == 2


def test_only_the_invalid_event_of_a_batch_is_rejected(piling: Delivery, backend: TestBackend) -> None:
    for n in range(10):
        piling.emit(n=n)
    piling.spool.append(events.record("no spaces please", {"n": 99}, "agent"))
    for n in range(10, 20):
        piling.emit(n=n)
    piling.thread.start()
    assert piling.spool.drain(20)
    assert numbers(backend) == list(range(20))
    assert len(backend.of("worker.event_rejected")) == 1


def test_a_rejected_event_is_stored_and_reported(delivery: Delivery, backend: TestBackend) -> None:
    bad = events.record("no spaces please", {"n": 1}, "agent")
    delivery.spool.append(bad)
    delivery.emit(n=2)
    assert delivery.spool.drain(20)
    assert numbers(backend) == [2]
    (notice,) = backend.of("worker.event_rejected")
    assert notice["event_id"] == bad["id"]
    assert notice["status"] == 422
    kept = RecordFile(delivery.aside)
    assert [record["record"]["body"]["event_data"]["n"] for _, record in kept.read(0, kept.end)] == [1]
    kept.close()


def test_a_crash_during_a_rejection_reports_it_once(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Delivery(settings, tmp_path)
    first.spool.append(events.record("no spaces please", {"n": 1}, "agent"))

    def die(*_: Any) -> None:
        raise SpoolClosed

    with monkeypatch.context() as dying:
        dying.setattr(first.spool, "acknowledge", die)
        first.thread.start()
        first.thread._thread.join()
    first.close()
    again = Delivery(settings, tmp_path)
    again.thread.start()
    assert again.spool.drain(PATIENCE)
    again.close()
    assert len(backend.of("worker.event_rejected")) == 1


def test_a_worker_with_a_wrong_sandbox_is_refused(env: dict[str, str], tmp_path: Path) -> None:
    parts = Delivery(Settings.from_env({**env, "SANDBOX_ID": "sbxsomebodyelses0000000"}), tmp_path)
    parts.thread.start()
    parts.emit(n=0)
    parts.thread._thread.join(20)
    assert parts.lost[0].status == 403
    assert parts.spool.pending == 1
    parts.close()


def test_data_of_any_size_and_shape_fits_the_log(delivery: Delivery, backend: TestBackend) -> None:
    deep: Any = "bottom"
    for _ in range(500):
        deep = {"down": deep}
    shapes: list[dict[str, Any]] = [
        {"text": "x" * 500_000},
        {"lines": ["y" * 100] * 10_000},
        {"many": {f"k{i}": "é" * 20 for i in range(20_000)}},
        {"deep": deep},
        {"half": "\ud800", "nul": "\x00\x1b", "nan": float("nan"), "what": object, "set": {1}},
    ]
    for n, shape in enumerate(shapes):
        delivery.emit(n=n, **shape)
    assert delivery.spool.drain(20)
    assert len(backend.of("test.event")) == len(shapes)
    first = backend.of("test.event")[0]
    assert first["truncated"] is True
    assert first["original_bytes"] > 500_000
    assert "characters left out" in first["text"]


SENDER = """
import sys, threading
from pathlib import Path
from vivarium_worker import events, records
from vivarium_worker import delivery
from vivarium_worker import inbox as inboxes
from vivarium_worker.backend import Backend
from vivarium_worker.control import Control
from vivarium_worker.delivery import SpoolDelivery
from vivarium_worker.heartbeat import Heartbeat
from vivarium_worker.settings import Settings
from vivarium_worker.spool import Spool, SpoolClosed
settings = Settings.from_env()
spool = Spool(settings.state / "spool", 1 << 24)
delivery = SpoolDelivery(
    spool, Backend(settings), settings.task_id, settings.state / "refused.log", lambda refusal: None
)
delivery.start()
for n in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    spool.append(events.record("test.event", {"n": n}, "agent"))
    print(n, flush=True)
spool.drain(60)
print("drained", flush=True)
threading.Event().wait(60)
"""


@pytest.mark.parametrize("seed", range(3))
def test_killed_workers_and_a_failing_server_leave_each_event_once_in_order(
    backend: TestBackend, env: dict[str, str], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    chance = random.Random(seed)
    next_number = 0
    for _ in range(6):
        for what in chance.sample(["503", "reset before", "reset after", "garbage"], 2):
            backend.fault("/events", what)
        process = run_python(SENDER, str(next_number), "1000000")
        assert process.stdout is not None
        last = next_number - 1
        for _ in range(chance.randrange(1, 40)):
            last = int(process.stdout.readline())
        if chance.random() < 0.7:
            wanted = len(backend.types()) + 3
            backend.await_count(wanted)
        rest = kill(process)
        # What was on the disk but not said is a number that is used twice, by two ids; so count generously.
        next_number = (int(rest[-1]) if rest else last) + 1000
    final = run_python(SENDER, str(next_number), "1")
    assert final.stdout is not None
    assert [final.stdout.readline().strip() for _ in range(2)] == [str(next_number), "drained"]
    kill(final)
    found = numbers(backend)
    assert found == sorted(set(found))
    assert [event["seq"] for event in backend.state.events] == list(range(1, len(found) + 1))
    # Between two kills the numbers have no hole.
    jumps = [b - a for a, b in itertools.pairwise(found) if b - a != 1]
    assert all(jump >= 999 for jump in jumps)
    assert found[-1] == next_number


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Event that is set when the run is over and its worker only delivers."""
    finish, noted = Run.finish, threading.Event()

    def finished(run: Run, runtime: str, outcome: Outcome) -> None:
        finish(run, runtime, outcome)
        noted.set()

    monkeypatch.setattr(Run, "finish", finished)
    return noted


def test_a_finished_run_waits_for_the_server_and_sends_heartbeats(
    env: dict[str, str], backend: TestBackend, over: threading.Event
) -> None:
    backend.fault("/events", "503", times=1_000_000)
    settings = Settings.from_env({**env, "DRAIN_SECONDS": "0.1", "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["true"]))
    assert over.wait(PATIENCE)
    backend.state.commands.append("pause")
    beats = len(backend.state.heartbeats)
    backend.await_that(lambda state: len(state.heartbeats) > beats + 20, "more beats")
    backend.state.faults.clear()
    assert started.join() == worker.COMPLETED
    assert backend.types() == ["agent.started", "agent.completed"]


def test_a_worker_that_waits_for_the_server_exits_on_request(
    env: dict[str, str], backend: TestBackend, over: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    backend.fault("/events", "503", times=1_000_000)
    settings = Settings.from_env({**env, "DRAIN_SECONDS": "0.1", "HEARTBEAT_SECONDS": "0.05"})
    started = Started(settings, CommandRuntime(["true"]))
    assert over.wait(PATIENCE)
    backend.state.commands.append("abort")
    assert started.join() == worker.UNDELIVERED
    assert "the result of the run was not delivered" in caplog.text


@pytest.mark.parametrize("to", ["status", "progress", "results"])
def test_a_report_of_another_task_is_reported_and_not_sent_for_this_one(
    delivery: Delivery, backend: TestBackend, to: str
) -> None:
    delivery.spool.append(reports.record("task-0", to, {"status": "completed", "summary": "All done."}))
    assert delivery.spool.drain(PATIENCE)
    (late,) = backend.of("worker.report_undelivered")
    assert (late["task_id"], late["to"], late["summary"]) == ("task-0", to, "All done.")
    assert not backend.state.results
    assert not backend.state.progress
    assert not backend.state.statuses


def test_retries_of_a_report_have_one_idempotency_key(delivery: Delivery, backend: TestBackend) -> None:
    backend.fault("/progress", "reset after", times=2)
    body = {"event_type": "info", "message": "once"}
    delivery.spool.append({"id": events.new_id(), "to": "progress", "body": body})
    assert delivery.spool.drain(20)
    assert backend.state.progress == [body]


@pytest.mark.parametrize("what", ["reset after", "cut"])
def test_a_review_is_requested_once(settings: Settings, backend: TestBackend, what: str) -> None:
    backend.fault("/review", what, times=2)
    assert Backend(settings).request_review({"reason": "once"}, threading.Event())["review_id"] == "rev-1"
    assert len(backend.state.reviews) == 1


@pytest.mark.parametrize("what", ["cut", "empty", "garbage"])
def test_a_truncated_response_is_not_a_task(settings: Settings, backend: TestBackend, what: str) -> None:
    backend.fault("/task", what, times=2)
    assert Backend(settings).task(threading.Event()) == backend.state.task


@pytest.mark.parametrize("what", ["cut", "empty", "garbage"])
def test_a_truncated_response_is_not_a_decision(settings: Settings, backend: TestBackend, what: str) -> None:
    caller = Backend(settings)
    review_id = caller.request_review({"reason": "which"}, threading.Event())["review_id"]
    backend.answer(review_id, "approved", "ours")
    backend.fault("/review/", what, times=2)
    assert caller.review(review_id, 1, threading.Event())["option"] == "ours"


def test_waiting_for_a_decision_ends_with_the_run(settings: Settings) -> None:
    stop = threading.Event()
    caller = Backend(settings)
    review_id = caller.request_review({"reason": "which"}, stop)["review_id"]
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Stopped):
        caller.review(review_id, 600, stop)


def test_an_unreachable_server_raises_unreachable(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, backend: TestBackend
) -> None:
    monkeypatch.setattr("vivarium_worker.backend.CALL_TIMEOUT", 0.5)
    backend.down()
    with pytest.raises(Unreachable, match="gave up"):
        Backend(settings).request_review({"reason": "in vain"}, threading.Event())
    backend.up()


def test_another_workers_task_is_refused(env: dict[str, str]) -> None:
    caller = Backend(Settings.from_env({**env, "TASK_ID": "task-2"}))
    with pytest.raises(Refused, match="another worker's task"):
        caller.deliver("status", "evt_1", {"status": "in_progress", "message": ""}, threading.Event())


def test_waiting_for_messages_ends_on_request(settings: Settings, backend: TestBackend) -> None:
    stop = threading.Event()
    backend.down()
    caller = Backend(settings)
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Stopped):
        caller.messages(30, [], stop)
    backend.up()
