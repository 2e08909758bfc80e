"""Processes with a runtime's mark are found and ended, and no others."""

import os
import signal
import subprocess
import sys

from hawse_gateway.providers.marked_processes import end_marked, find_marked
from tests.support.gateway import eventually

MINE = os.urandom(8).hex()  # other processes of pytest-xdist have other marks
OTHER = f"{MINE}b"


def start(runtime: str, *program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(program, env={"PATH": os.environ["PATH"], "HAWSE_RUNTIME": runtime})


async def test_only_processes_with_exactly_this_mark_are_ended() -> None:
    mine, other = start(MINE, "sleep", "300"), start(OTHER, "sleep", "300")
    try:
        for process, mark in ((mine, MINE), (other, OTHER)):
            await eventually(lambda: find_marked(mark) == [process.pid])  # noqa: B023  # not before the end of exec(2)
        assert end_marked(MINE, 5) == []
        assert mine.wait(5) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_process_that_keeps_starting_others_is_ended_with_them() -> None:
    forks = "import os, time\nfor _ in range(20):\n    os.fork() or time.sleep(300)\ntime.sleep(300)"
    root = start(MINE, sys.executable, "-c", forks)
    assert end_marked(MINE, 5) == []
    assert find_marked(MINE) == []
    assert root.wait(5) == -signal.SIGKILL
