"""Tests of the inbox: storage, order, duplicates and acknowledgement."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from backend import PATIENCE, TestBackend
from disk import NO_SPACE, FullDisk
from started import Started
from vivarium_worker import inbox as inboxes
from vivarium_worker import worker
from vivarium_worker.backend import Backend
from vivarium_worker.inbox import Inbox
from vivarium_worker.records import RecordFile
from vivarium_worker.runtimes.command import CommandRuntime
from vivarium_worker.settings import Settings


class Events(list[tuple[str, dict[str, Any], str]]):
    def __call__(self, event_type: str, data: dict[str, Any], event_id: str) -> None:
        self.append((event_type, data, event_id))


def opened(settings: Settings, directory: Path) -> tuple[Inbox, Events]:
    emitted = Events()
    return Inbox(Backend(settings), directory, emitted), emitted


def without_room(
    settings: Settings, backend: TestBackend, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Inbox, FullDisk]:
    """Inbox with a message and a full disk."""
    inbox, _ = opened(settings, directory)
    disk = FullDisk(monkeypatch)
    backend.send("one")
    inbox.start()
    disk.refused.wait()
    return inbox, disk


def test_interrupts_come_first_and_the_rest_in_order(settings: Settings, backend: TestBackend, tmp_path: Path) -> None:
    inbox, _ = opened(settings, tmp_path)
    for content, kind in (
        ("a", "user_message"),
        ("b", "guidance"),
        ("stop", "interrupt"),
        ("c", "user_message"),
    ):
        backend.send(content, kind)
    inbox.start()
    assert inbox.wait(20)
    backend.await_that(lambda state: not state.queued, "all fetched")
    while len(inbox.pending()) < 4:
        inbox.wait(0.05)
    assert [message.content for message in inbox.pending()] == ["stop", "a", "b", "c"]
    inbox.close()


@pytest.mark.parametrize("what", ["503", "reset before", "reset after", "cut", "empty", "garbage"])
def test_a_message_is_delivered_once_after_a_lost_response(
    settings: Settings, backend: TestBackend, tmp_path: Path, what: str
) -> None:
    inbox, emitted = opened(settings, tmp_path)
    backend.fault("/messages", what, times=2)
    backend.send("only once")
    inbox.start()
    assert inbox.wait(20)
    inbox.delivered(inbox.pending(), "test")
    backend.send("and another")
    assert inbox.wait(20)
    assert [message.content for message in inbox.pending()] == ["and another"]
    assert [data["content"] for _, data, _ in emitted] == ["only once"]
    inbox.close()


def test_a_fetched_message_survives_a_crash_of_the_worker(
    settings: Settings, backend: TestBackend, tmp_path: Path
) -> None:
    first, emitted = opened(settings, tmp_path)
    one = backend.send("one")
    backend.send("two")
    first.start()
    while len(first.pending()) < 2:
        first.wait(0.05)
    first.delivered([message for message in first.pending() if message.id == one], "test")
    first.close()
    again, _ = opened(settings, tmp_path)
    assert [message.content for message in again.pending()] == ["two"]
    again.close()
    assert emitted[0][2] == f"evt_delivered_{one}", "an id that a repeat would have too"


def test_a_delivery_during_close_is_logged_and_repeated(
    settings: Settings, backend: TestBackend, tmp_path: Path
) -> None:
    inbox, emitted = opened(settings, tmp_path)
    sent = backend.send("late")
    inbox.start()
    assert inbox.wait(20)
    late = inbox.pending()
    inbox.close()
    inbox.delivered(late, "test")
    assert [event_id for _, _, event_id in emitted] == [f"evt_delivered_{sent}"]
    again, _ = opened(settings, tmp_path)
    assert [message.content for message in again.pending()] == ["late"]
    again.close()


def test_a_message_waits_for_disk_space_without_blocking_others(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, disk = without_room(settings, backend, tmp_path, monkeypatch)
    assert inbox.unread() == []
    assert len(backend.state.in_flight) == 1, "what is not safe is not called received"
    disk.room.set()
    backend.await_received()
    backend.send("two")
    backend.await_received()
    assert [message.content for message in inbox.pending()] == ["one", "two"]
    inbox.close()


def test_the_last_acknowledgement_includes_a_partially_stored_page(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, _ = opened(settings, tmp_path)
    append, refused = RecordFile.append, threading.Event()

    def full_for_two(file: RecordFile, *lines: dict[str, Any]) -> int:
        if lines[-1].get("got", {}).get("content") == "two":
            refused.set()
            raise NO_SPACE
        return append(file, *lines)

    monkeypatch.setattr(RecordFile, "append", full_for_two)
    for word in ("one", "two"):
        backend.send(word)
    inbox.start()
    refused.wait()
    inbox.close()
    inbox.settle(PATIENCE)
    assert [message["content"] for message in backend.state.in_flight] == ["two"]


def test_an_inbox_closes_although_the_disk_is_full(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, _ = without_room(settings, backend, tmp_path, monkeypatch)
    inbox.close()
    inbox._thread.join()
    assert len(backend.state.in_flight) == 1


def test_a_delivery_that_a_full_disk_could_not_mark_is_marked_later(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, emitted = opened(settings, tmp_path)
    for word in ("one", "two"):
        backend.send(word)
    inbox.start()
    backend.await_received()
    one, two = inbox.pending()
    disk = FullDisk(monkeypatch)
    inbox.delivered([one], "test")
    assert inbox.pending() == [two]
    disk.room.set()
    inbox.delivered([two], "test")
    again, _ = opened(settings, tmp_path)
    assert again.pending() == []
    again.close()
    inbox.close()
    assert [data["content"] for _, data, _ in emitted] == ["one", "two"]


def test_a_worker_starts_on_a_full_disk_with_what_it_had(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = opened(settings, tmp_path)
    backend.send("kept")
    first.start()
    backend.await_received()
    first.close()
    disk = FullDisk(monkeypatch)
    again, _ = opened(settings, tmp_path)
    assert disk.refused.is_set()
    assert [message.content for message in again.pending()] == ["kept"]
    again.close()


def test_messages_arrive_after_a_listener_failed(
    settings: Settings, backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "PAUSE_SECONDS", 0.01)
    inbox, _ = opened(settings, tmp_path)
    told: list[int] = []

    def listener() -> None:
        told.append(len(inbox.pending()))
        if len(told) == 1:
            raise ValueError("not this one")

    inbox.listen(listener)
    inbox.start()
    backend.send("one")
    backend.await_received()
    backend.send("two")
    backend.await_received()
    assert told == [1, 2]
    inbox.close()


def test_a_rate_limited_run_still_acknowledges_at_its_end(settings: Settings, backend: TestBackend) -> None:
    # The first is for the question that the run does not live to ask again.
    backend.fault("ack=msg", "429", retry_after="600")
    backend.fault("ack=msg", "429", times=2, retry_after="0.01")
    waits = "read task; read message; until [ -e go ]; do sleep 0.02; done"
    started = Started(settings, CommandRuntime(["sh", "-c", waits]))
    backend.send("go home")
    while len(backend.state.faults) == 2:
        time.sleep(0.02)
    (settings.workspace / "go").touch()
    assert started.join() == worker.COMPLETED
    assert not backend.state.in_flight
    assert not backend.state.faults


def test_a_rejected_acknowledgement_does_not_delay_the_end(env: dict[str, str], backend: TestBackend) -> None:
    backend.fault("ack=msg", "429", times=1000, retry_after="600")
    settings = Settings.from_env({**env, "DRAIN_SECONDS": "1"})
    started = Started(settings, CommandRuntime(["sh", "-c", "read task; read message"]))
    backend.await_event("agent.started")
    backend.send("go home")
    assert started.join() in (worker.COMPLETED, worker.UNDELIVERED)
