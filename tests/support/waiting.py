"""Waits for events in tests: a change of an object, the end of a process, a file. Nothing here polls.

Each wait raises TimeoutError after TIMEOUT seconds.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hawse_runtime.watch import inotify
from hawse_runtime.watch.inotify import Inotify

# Seconds after which a waiting test fails. A busy machine needs more than 20 to start a kernel. After 30, the product
# itself gives up in many places, which would hide the failure.
TIMEOUT = 28.0
_ANY_CHANGE = (
    inotify.CREATE
    | inotify.MODIFY
    | inotify.ATTRIB
    | inotify.DELETE
    | inotify.MOVED_FROM
    | inotify.MOVED_TO
    | inotify.DELETE_SELF
)


class Changes:
    """Lets tests wait for a condition of an object. The object calls `notify` after each change."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Check the condition of each wait again. Must be called in the event loop's thread."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition` returns a true value."""
        async with asyncio.timeout(TIMEOUT):
            while not condition():
                future = asyncio.get_running_loop().create_future()
                self._waiting.add(future)
                try:
                    await future
                finally:
                    self._waiting.discard(future)


async def tasks_ended(before: set[asyncio.Task[Any]]) -> None:
    """Wait until all tasks that are not in `before` have ended. `before` must contain the calling task."""
    async with asyncio.timeout(TIMEOUT):
        while new := asyncio.all_tasks() - before:
            await asyncio.wait(new)


async def readable(fd: int) -> None:
    """Wait until `fd` is readable or at its end. No other reader of `fd` may be registered."""
    loop = asyncio.get_running_loop()
    await _ready(fd, loop.add_reader, loop.remove_reader)


async def writable(fd: int) -> None:
    """Wait until `fd` is writable or has no reader. No other writer of `fd` may be registered."""
    loop = asyncio.get_running_loop()
    await _ready(fd, loop.add_writer, loop.remove_writer)


async def _ready(fd: int, add: Callable[..., None], remove: Callable[[int], object]) -> None:
    ready = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    add(fd, wake)
    try:
        async with asyncio.timeout(TIMEOUT):
            await ready
    finally:
        remove(fd)


async def gone(*pids: int) -> None:
    """Wait until each of these processes has ended. A process may stay a zombie if its parent does not reap it."""
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            await readable(fd)
        finally:
            os.close(fd)


async def in_directory(directory: Path, condition: Callable[[], object]) -> None:
    """Wait until `condition`, which depends on the entries of `directory` and their contents, returns a true value.

    Raises:
        FileNotFoundError: `directory` does not exist.
    """
    changes = Inotify()
    try:
        changes.add(os.fsencode(directory), _ANY_CHANGE)
        while not condition():
            await readable(changes.fd)
            changes.read()
    finally:
        changes.close()


async def exists(path: Path) -> None:
    """Wait until a file exists at `path`. Its directory must exist."""
    await in_directory(path.parent, path.exists)


async def lines(*paths: Path) -> list[str]:
    """Wait until each file contains at least one complete line; return their texts. Their directories must exist."""
    for path in paths:
        await in_directory(path.parent, lambda: path.exists() and path.read_text().endswith("\n"))  # noqa: B023
    return [path.read_text() for path in paths]
