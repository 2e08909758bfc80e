"""The kernel's queue of events."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_runtime.watch import inotify
from hawse_runtime.watch.inotify import Inotify, InotifyEvent
from tests.support.runtime import open_fds

MASK = inotify.CREATE | inotify.DELETE | inotify.MOVED_FROM | inotify.MOVED_TO


@pytest.fixture
def queue() -> Iterator[Inotify]:
    queue = Inotify()
    yield queue
    queue.close()


def test_events_are_read_in_order_with_names_of_any_bytes(queue: Inotify, tmp_path: Path) -> None:
    wd = queue.add(os.fsencode(tmp_path), MASK)
    here = os.fsencode(tmp_path)
    os.close(os.open(here + b"/\xff\n", os.O_CREAT))
    os.mkdir(here + b"/d")
    os.rename(here + b"/\xff\n", here + b"/\xc3\xa9")
    assert queue.read() == [
        InotifyEvent(wd, inotify.CREATE, b"\xff\n"),
        InotifyEvent(wd, inotify.CREATE | inotify.IS_DIRECTORY, b"d"),
        InotifyEvent(wd, inotify.MOVED_FROM, b"\xff\n"),
        InotifyEvent(wd, inotify.MOVED_TO, b"\xc3\xa9"),
    ]
    assert queue.read() == []


def test_a_directory_whose_watch_is_removed_reports_that_and_nothing_more(queue: Inotify, tmp_path: Path) -> None:
    wd = queue.add(os.fsencode(tmp_path), MASK)
    queue.remove(wd)
    queue.remove(wd)
    (tmp_path / "x").touch()
    assert queue.read() == [InotifyEvent(wd, inotify.IGNORED, b"")]


def test_an_overflow_is_an_event(queue: Inotify, tmp_path: Path) -> None:
    queue.add(os.fsencode(tmp_path), MASK)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(limit // 2 + 1):
        (tmp_path / str(number)).touch()
        (tmp_path / str(number)).unlink()
    events: list[InotifyEvent] = []
    while more := queue.read():
        events += more
    assert events[-1].mask == inotify.OVERFLOW
    assert len(events) == limit + 1


def test_an_error_explains_why_a_directory_cannot_be_watched(queue: Inotify, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        queue.add(os.fsencode(tmp_path / "none"), MASK)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        queue.add(os.fsencode(tmp_path / "file"), MASK | inotify.ONLY_DIRECTORIES)


def test_closing_leaves_no_descriptor() -> None:
    before = open_fds()
    Inotify().close()
    assert open_fds() == before


def test_is_limit_is_true_only_for_errors_of_limits() -> None:
    assert inotify.is_limit(OSError(errno.ENOSPC, ""))
    assert inotify.is_limit(OSError(errno.EMFILE, ""))
    assert not inotify.is_limit(OSError(errno.ENOENT, ""))
