"""The subset of inotify(7) needed for watching directories. Names are bytes, and lost events are reported.

docs/decisions/0035-watch-directories-with-inotify-directly-not-watchfiles.md explains why no library is used.
"""

import ctypes
import errno
import os
import struct
from typing import Final, NamedTuple

MODIFY: Final = 0x2
ATTRIB: Final = 0x4
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
DELETE_SELF: Final = 0x400
MOVE_SELF: Final = 0x800
UNMOUNT: Final = 0x2000
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
ONLY_DIRECTORIES: Final = 0x0100_0000
NO_FOLLOW: Final = 0x0200_0000
NOT_UNLINKED: Final = 0x0400_0000  # don't report events for deleted files that are still open
IS_DIRECTORY: Final = 0x4000_0000

READ_SIZE = 64 << 10  # number of bytes per read; an event has at most 272
_HEAD = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


class InotifyEvent(NamedTuple):
    """An event for the entry `name` in the directory `wd` or, if `name` is empty, for the directory itself."""

    wd: int
    mask: int
    name: bytes


class Inotify:
    """A queue of inotify events. Its creator must close it."""

    def __init__(self) -> None:
        """Create a queue. Raises `OSError`, with EMFILE if the user has too many queues or the process too many fds."""
        self.fd = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, path: bytes, mask: int) -> int:
        """Watch `path`. Return a watch descriptor, one per directory. Raises `OSError`, with ENOSPC at the limit."""
        return _checked(_libc.inotify_add_watch(self.fd, path, ctypes.c_uint32(mask)))

    def remove(self, wd: int) -> None:
        """Stop watching a directory. Has no effect if the kernel has removed the watch."""
        _libc.inotify_rm_watch(self.fd, wd)

    def read(self) -> list[InotifyEvent]:
        """Return up to READ_SIZE bytes of queued events, possibly an empty list."""
        try:
            data = os.read(self.fd, READ_SIZE)
        except BlockingIOError:
            return []
        events = []
        at = 0
        while at < len(data):
            wd, mask, _, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            events.append(InotifyEvent(wd, mask, data[at : at + length].rstrip(b"\0")))
            at += length
        return events

    def close(self) -> None:
        os.close(self.fd)


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer


def is_limit(error: OSError) -> bool:
    """Return whether the limit on watches or descriptors was reached."""
    return error.errno in (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
