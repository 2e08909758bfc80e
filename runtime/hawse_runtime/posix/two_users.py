"""Run programs as a different user than the runtime, in containers that cannot create namespaces (docs/decisions/0096).

The process starts as the container's superuser with three capabilities (CHOWN, SETGID, SETUID), prepares its files, and
drops them. From then on

- its real and saved user are the runtime's, so a program can neither signal nor trace it (kill(2), ptrace(2));
- its effective user is the programs' user, so it can use their files, signal them, and create files for them;
- the runtime's exclusive group gives access to its private directory.

Programs are started by `setpriv`, which drops the runtime's user. The thread that starts them does not have the
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

BACKLOG: Final = 128  # waiting connections; a gateway opens few
_SYS_SETGROUPS: Final = {"x86_64": 116, "aarch64": 159}


class Users(msgspec.Struct, frozen=True):
    """The two users. Each has an exclusive group with the same number.

    Attributes:
        runtime: The user of the runtime.
        programs: The user of the programs.
    """

    runtime: int
    programs: int

    @classmethod
    def parse(cls, text: str) -> "Users":
        """Read `RUNTIME:PROGRAMS`. Raises `ValueError`."""
        runtime, programs = map(int, text.split(":"))
        if runtime == programs or min(runtime, programs) < 1:
            raise ValueError("the users must be different, and not the superuser")
        return cls(runtime, programs)


def separate(users: Users, *, private: Path, socket_path: Path, workspace: Path) -> tuple[SpawnThread, socket.socket]:
    """Become the runtime's user, and return the thread that starts programs and the listening socket.

    Args:
        users: The users.
        private: The directory of the runtime's own files; its owner becomes the runtime's user.
        socket_path: The path of the socket to create. Its directory belongs to the runtime's user.
        workspace: The workspace; its owner becomes the programs' user if it is the superuser.

    Raises:
        OSError: This process is not the superuser with the three capabilities, or has several threads.
    """
    if not linux.is_single_threaded():
        raise OSError("users can be separated in a single-threaded process only")
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
    os.setresuid(users.runtime, users.programs, users.runtime)  # of all threads; without uid 0, no capability is left
    linux.deny_dumps()  # changing the user has allowed them
    return thread, listener


def use_files_of_runtime(users: Users) -> None:
    """Give this thread access to the runtime's files instead of the programs'. It must not start programs.

    Raises:
        OSError: The kernel refused it.
    """
    libc = ctypes.CDLL(None)
    libc.setfsuid(users.runtime)  # of this thread only; it reports no error (setfsuid(2))
    if libc.setfsuid(-1) != users.runtime:
        raise OSError(errno.EPERM, "setfsuid")
    linux.deny_dumps()  # changing the user has allowed them


def _own(path: Path, user: int, mode: int) -> None:
    """Change the owner of a new directory from the superuser to a user."""
    if path.stat().st_uid == 0:
        path.chmod(mode)
        os.chown(path, user, user)


def _listen(users: Users, path: Path) -> socket.socket:
    """Create the socket as the runtime's user, which the gateway checks (SO_PEERCRED, unix(7))."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    before = os.umask(0o177)
    os.seteuid(users.runtime)
    try:
        path.unlink(missing_ok=True)  # left by a killed runtime
        with socket_address(path) as address:
            listener.bind(address)
        listener.listen(BACKLOG)
    finally:
        os.seteuid(0)
        os.umask(before)
    return listener


def _leave_groups() -> None:
    """Drop all supplementary groups in this thread only; the C library's setgroups(3) affects all threads."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = _SYS_SETGROUPS[os.uname().machine]
    if libc.syscall(ctypes.c_long(number), ctypes.c_size_t(0), None) != 0:
        raise OSError(ctypes.get_errno(), "setgroups")
