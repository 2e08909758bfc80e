"""How the two users are separated is tested in containers: tests/integration/test_docker.py."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hawse_runtime.posix.user_separation import Users, separate


def test_the_two_users_are_read_from_text() -> None:
    assert Users.parse("990:1000") == Users(990, 1000)


@pytest.mark.parametrize("text", ["1000:1000", "0:1000", "990:0", "-1:5", "990", "a:b", "1:2:3"])
def test_users_that_separate_nothing_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Users.parse(text)


def test_a_process_with_several_threads_is_refused(tmp_path: Path) -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        with pytest.raises(OSError, match="single-threaded"):
            separate(Users(990, 1000), private=tmp_path, socket_path=tmp_path / "s", workspace=tmp_path)
    finally:
        end.set()
        thread.join()


# Prints the users of each thread, the one for files last (proc_pid_status(5)). The second one uses the runtime's files.
THREADS = """
import os, pathlib, threading
from hawse_runtime.posix.user_separation import Users, use_files_of_runtime
os.setresuid(990, 1000, 990)
ready, end = threading.Event(), threading.Event()
def work():
    use_files_of_runtime(Users(990, 1000))
    ready.set()
    end.wait()
threading.Thread(target=work).start()
ready.wait()
for task in sorted(pathlib.Path("/proc/self/task").iterdir(), key=lambda path: int(path.name)):
    lines = (task / "status").read_text().splitlines()
    print(*next(line.split()[1:] for line in lines if line.startswith("Uid:")))
end.set()
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can become two users")
def test_one_thread_uses_the_files_of_the_runtime() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["990 1000 990 1000", "990 1000 990 990"]
