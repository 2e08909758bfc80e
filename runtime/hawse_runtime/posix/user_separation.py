"""Runs programs as a different user from the runtime, in containers that can't create namespaces (docs/decisions/0096).

The process starts as the container's superuser with three capabilities (CHOWN, SETGID, SETUID), prepares its files, and
drops the capabilities. After that:

- its real and saved users are the runtime's user, so programs can neither signal nor trace it (kill(2), ptrace(2));
- its effective user is the one that programs run as, so it can use and create files as that user, and signal programs;
- its exclusive group gives it access to its private directory.

Programs are started through `setpriv`, which drops the runtime's user. The thread that runs `setpriv` doesn't have the
runtime's group.
"""

import ctypes
import errno
import os
import socket
from pathlib import Path
from typing import Final

import msgspec

from hawse.link.sockets import socket_address
from hawse_runtime.posix import linux
from hawse_runtime.posix.seccomp import system_call_filters
from hawse_runtime.posix.spawn_thread import SpawnThread

BACKLOG: Final = 128  # maximum number of pending connections; a gateway opens only a few
_SYS_SETGROUPS: Final = {"x86_64": 116, "aarch64": 159}


class Users(msgspec.Struct, frozen=True):
    """The two users. Each has a group with the same number and no other members.

    Attributes:
        runtime: The runtime's user id.
        programs: The id of the user that programs run as.
    """

    runtime: int
    programs: int

    @classmethod
    def parse(cls, text: str) -> "Users":
        """Parse `RUNTIME:PROGRAMS`. Raises `ValueError`."""
        runtime, programs = map(int, text.split(":"))
        if runtime == programs or min(runtime, programs) < 1:
            raise ValueError("the two users must differ, and neither can be the superuser")
        return cls(runtime, programs)


def separate(users: Users, *, private: Path, socket_path: Path, workspace: Path) -> tuple[SpawnThread, socket.socket]:
    """Switch to the runtime's user. Return the thread that starts programs, and the listening socket.

    Args:
        users: The two user ids.
        private: The directory for the runtime's private files. The runtime's user becomes its owner.
        socket_path: The path where the socket is created, in a directory that belongs to the runtime's user.
        workspace: The workspace. If it belongs to the superuser, the user that programs run as becomes its owner.

    Raises:
        OSError: The process is not the superuser with the three capabilities, or it has several threads.
    """
    if not linux.is_single_threaded():
        raise OSError("only a single-threaded process can separate users")
    os.setgroups([users.runtime])
    _own(private, users.runtime, 0o770)
    _own(workspace, users.programs, 0o755)
    listener = _listen(users, socket_path)
    os.setresgid(users.programs, users.programs, users.programs)
    filters = system_call_filters()

    def prepare() -> None:
        _leave_groups()
        linux.forbid_new_privileges()
        for filter_ in filters:
            linux.filter_system_calls(filter_)

    thread = SpawnThread(prepare)
    os.setresuid(users.runtime, users.programs, users.runtime)  # applies to all threads; drops all capabilities
    linux.deny_dumps()  # changing the user re-enabled dumps
    return thread, listener


def use_files_of_runtime(users: Users) -> None:
    """Give this thread access to the runtime's files instead of the programs'. This thread must not start programs.

    Raises:
        OSError: The kernel refused the change.
    """
    libc = ctypes.CDLL(None)
    libc.setfsuid(users.runtime)  # applies to this thread only; setfsuid(2) reports no errors
    if libc.setfsuid(-1) != users.runtime:
        raise OSError(errno.EPERM, "setfsuid")
    linux.deny_dumps()  # changing the user re-enabled dumps


def _own(path: Path, user: int, mode: int) -> None:
    """Change the owner of a new directory created by the superuser, and set its mode."""
    if path.stat().st_uid == 0:
        path.chmod(mode)
        os.chown(path, user, user)


def _listen(users: Users, path: Path) -> socket.socket:
    """Create the socket as the runtime's user. The gateway verifies that user (SO_PEERCRED, unix(7))."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    before = os.umask(0o177)
    os.seteuid(users.runtime)
    try:
        path.unlink(missing_ok=True)  # a killed runtime left the socket behind
        with socket_address(path) as address:
            listener.bind(address)
        listener.listen(BACKLOG)
    finally:
        os.seteuid(0)
        os.umask(before)
    return listener


def _leave_groups() -> None:
    """Drop this thread's supplementary groups. The C library's setgroups(3) would change all threads."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = _SYS_SETGROUPS[os.uname().machine]
    if libc.syscall(ctypes.c_long(number), ctypes.c_size_t(0), None) != 0:
        raise OSError(ctypes.get_errno(), "setgroups")
