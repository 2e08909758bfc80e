"""How the two users are separated is tested in containers: tests/integration/test_docker.py."""

import threading
from pathlib import Path

import pytest

from runtime.posix.two_users import Users, separate


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
