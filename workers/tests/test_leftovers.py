"""Tests of the processes that a run leaves behind."""

from __future__ import annotations

import os
import subprocess

from vivarium_worker.leftovers import kill_run


def test_all_processes_of_the_run_are_killed_and_no_others() -> None:
    loop = ["sh", "-c", "setsid sleep 600 & echo $!; wait"]
    ours = subprocess.Popen(loop, env={**os.environ, "RUN_ID": "run1"}, stdout=subprocess.PIPE)
    other = subprocess.Popen(["sleep", "600"], env={**os.environ, "RUN_ID": "run12"})
    assert ours.stdout is not None
    assert ours.stdout.readline()
    try:
        assert kill_run("run1") == 2
        assert ours.wait() == -9
        # The pipe has no other writer left.
        assert ours.stdout.read() == b""
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
