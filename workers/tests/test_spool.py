"""Tests that no appended record is lost in a crash."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from disk import NO_SPACE, FullDisk
from vivarium_worker import records
from vivarium_worker import spool as spools
from vivarium_worker.records import RecordFile, encode
from vivarium_worker.spool import Spool, SpoolBusy, SpoolClosed, SpoolFull

LIMIT = 1024 * 1024


def contents(directory: Path) -> list[Any]:
    """Takes and acknowledges all pending records."""
    spool = Spool(directory, LIMIT)
    found = []
    while (record := spool.take(timeout=0)) is not None:
        found.append(record["n"])
        spool.acknowledge()
    spool.close()
    return found


APPENDER = """
import sys
from pathlib import Path
from vivarium_worker.spool import Spool
spool = Spool(Path(sys.argv[1]), 1 << 30)
first = int(sys.argv[2])
for n in range(first, first + 100000):
    spool.append({"n": n, "text": "x" * (n * 37 % 900)})
    print(n, flush=True)
"""


def run_python(program: str, *arguments: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True, env=env)


def kill(process: subprocess.Popen[str]) -> list[str]:
    """Sends SIGKILL and returns the output of the process."""
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    return said.split()


@pytest.mark.parametrize("seed", range(8))
def test_a_returned_append_survives_a_kill(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged = -1
    for _ in range(3):
        process = run_python(APPENDER, str(tmp_path), str(acknowledged + 1))
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 60)):
            acknowledged = int(process.stdout.readline())
        rest = kill(process)
        acknowledged = int(rest[-1]) if rest else acknowledged
        # One more may be on the disk whose append had not returned yet; the next worker counts from there.
        spool = Spool(tmp_path, LIMIT)
        found = [entry[2]["n"] for entry in spool._waiting]
        spool.close()
        assert found == list(range(len(found)))
        assert acknowledged <= found[-1] <= acknowledged + 1
        acknowledged = found[-1]


def test_a_truncated_file_returns_every_complete_record(tmp_path: Path) -> None:
    lines = [encode({"n": n, "text": "é\n\x00" * n}) for n in range(6)]
    whole = b"".join(lines)
    for cut in range(len(whole) + 1):
        path = tmp_path / f"{cut}.log"
        path.write_bytes(whole[:cut])
        file = RecordFile(path)
        found = [record["n"] for _, record in file.read(0, file.end)]
        ends = [sum(map(len, lines[: i + 1])) for i in range(len(lines))]
        assert found == [n for n, end in enumerate(ends) if end <= cut]
        file.append({"n": "next"})
        assert [record["n"] for _, record in file.read(0, file.end)] == [*found, "next"]
        file.close()


def test_a_damaged_record_is_counted_and_the_others_are_kept(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    for n in range(5):
        spool.append({"n": n})
    spool.close()
    (segment,) = tmp_path.glob("*.log")
    content = bytearray(segment.read_bytes())
    content[content.index(b'{"n":2') + 5] ^= 1
    segment.write_bytes(content)
    again = Spool(tmp_path, LIMIT)
    assert again.damaged == 1
    again.close()
    assert contents(tmp_path) == [0, 1, 3, 4]


def test_acknowledged_records_are_not_taken_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    for n in range(10):
        spool.append({"n": n})
    for _ in range(4):
        assert spool.take(0) is not None
        spool.acknowledge()
    spool.close()
    assert contents(tmp_path) == [4, 5, 6, 7, 8, 9]
    assert contents(tmp_path) == []


def test_without_the_mark_all_records_are_taken_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    for n in range(3):
        spool.append({"n": n})
    spool.acknowledge()
    spool.close()
    (tmp_path / "acknowledged").write_bytes(b"\x00" * 41)
    assert contents(tmp_path) == [0, 1, 2]


def test_space_for_the_mark_is_allocated_in_advance(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    size = (tmp_path / "acknowledged").stat().st_size
    spool.append({"n": 0})
    spool.acknowledge()
    assert (tmp_path / "acknowledged").stat().st_size == size > 0
    spool.close()


def test_delivered_segments_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "SEGMENT_BYTES", 200)
    spool = Spool(tmp_path, LIMIT)
    for n in range(100):
        spool.append({"n": n, "text": "x" * 50})
    assert len(list(tmp_path.glob("*.log"))) > 10
    for n in range(100):
        record = spool.take(0)
        assert record is not None
        assert record["n"] == n
        spool.acknowledge()
    assert len(list(tmp_path.glob("*.log"))) == 1
    spool.append({"n": 100})
    spool.close()
    assert contents(tmp_path) == [100]


def test_a_full_spool_makes_the_agent_wait_and_drops_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=1000)
    appended: list[int] = []

    def agent() -> None:
        for n in range(50):
            spool.append({"n": n, "text": "x" * 100})
            appended.append(n)

    thread = threading.Thread(target=agent)
    thread.start()
    found: list[int] = []
    while len(found) < 50:
        record = spool.take(timeout=10)
        assert record is not None
        assert len(appended) - len(found) < 12, "the bound holds"
        found.append(record["n"])
        spool.acknowledge()
    thread.join()
    assert found == list(range(50))
    spool.close()


def test_a_full_disk_makes_the_agent_wait_and_leaves_no_partial_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path, LIMIT)
    spool.append({"n": 0})
    monkeypatch.setattr(records, "FULL_DISK_PAUSE", 0.01)
    write, full = os.pwrite, [True] * 3

    def half(fd: int, content: Any, offset: int) -> int:
        if full and offset > 0:
            full.pop()
            write(fd, bytes(content)[: len(content) // 2], offset)
            raise NO_SPACE
        return write(fd, content, offset)

    monkeypatch.setattr(os, "pwrite", half)
    spool.append({"n": 1})
    assert not full
    spool.close()
    assert contents(tmp_path) == [0, 1]


def test_a_new_segment_waits_for_disk_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spools, "SEGMENT_BYTES", 10)
    monkeypatch.setattr(records, "FULL_DISK_PAUSE", 0.01)
    spool = Spool(tmp_path, LIMIT)
    spool.append({"n": 0})
    opened, full = os.open, [True] * 3

    def refuse(path: Any, flags: int, mode: int = 0o777) -> int:
        if full:
            full.pop()
            raise NO_SPACE
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    spool.append({"n": 1})
    assert not full
    spool.close()
    assert contents(tmp_path) == [0, 1]


def test_urgent_records_do_not_wait_for_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path, LIMIT)
    disk = FullDisk(monkeypatch)
    agent = threading.Thread(target=spool.append, args=[{"n": "waits"}])
    agent.start()
    disk.refused.wait()
    spool.append({"n": "last words"}, urgent=True)
    assert spool.take(0) == {"n": "last words"}
    disk.room.set()
    agent.join()
    spool.acknowledge()
    spool.close()
    assert contents(tmp_path) == ["waits"]


def test_a_failed_mark_repeats_a_delivery_and_loses_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path, LIMIT)
    for n in range(3):
        spool.append({"n": n})
    spool.acknowledge()

    def refuse(*_: Any) -> int:
        raise NO_SPACE

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse)
        spool.acknowledge()
    assert spool.take(0) == {"n": 2}
    spool.close()
    assert contents(tmp_path) == [1, 2]


def test_urgent_records_do_not_wait_for_a_full_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=100)
    spool.append({"n": 0, "text": "x" * 200})
    spool.append({"n": 1}, urgent=True)
    spool.close()
    assert contents(tmp_path) == [0, 1]


def test_closing_wakes_waiting_appends(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=100)
    spool.append({"n": 0, "text": "x" * 200})
    failure: list[BaseException] = []

    def agent() -> None:
        try:
            spool.append({"n": 1})
        except SpoolClosed as e:
            failure.append(e)

    thread = threading.Thread(target=agent)
    thread.start()
    spool.close()
    thread.join(10)
    assert failure
    assert contents(tmp_path) == [0]


def test_an_ending_run_does_not_wait_and_may_exceed_the_limit_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path, limit=300)
    spool.append({"n": 0, "text": "x" * 250})
    agent = threading.Thread(target=spool.append, args=[{"n": 1, "text": "x" * 200}])
    agent.start()
    spool.hurry()
    agent.join()
    with pytest.raises(SpoolFull):
        spool.append({"n": 2, "text": "x" * 200})
    spool.append({"n": 3, "text": "x" * 200}, urgent=True)
    spool.close()
    assert contents(tmp_path) == [0, 1, 3]


def test_an_ending_run_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path, LIMIT)
    disk = FullDisk(monkeypatch)
    agent = threading.Thread(target=spool.append, args=[{"n": 0}])
    agent.start()
    disk.refused.wait()
    spool.hurry()
    agent.join()
    assert spool.take(0) == {"n": 0}, "it can still be delivered"
    spool.close()


def test_two_workers_never_share_a_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    with pytest.raises(SpoolBusy, match="another worker"):
        Spool(tmp_path, LIMIT)
    spool.close()
    Spool(tmp_path, LIMIT).close()
