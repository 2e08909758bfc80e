"""Confines a process that handles data from hostile programs, before the process executes a system program.

The process keeps its open descriptors and can read the system's libraries. It has no network access, is limited in
memory and file sizes, and switches to a separate user if it was root. Landlock (landlock(7), Linux 5.13) blocks access
to all other files and processes. On kernels without Landlock, only the other restrictions apply.
"""

import ctypes
import errno
import os
import resource
import signal
import struct
from collections.abc import Sequence
from typing import Final

from hawse_gateway.core.system_calls import call, check, libc

SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64")  # paths that system programs read at startup
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITY_VERSION: Final = 0x20080522  # capset(2): two sets of 32 capabilities
# System call numbers, which are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION: Final = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH: Final = 1  # LANDLOCK_RULE_PATH_BENEATH
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_FILES: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1}  # LANDLOCK_ACCESS_FS_* flags by Landlock version
_ALL_FILES: Final = (1 << 15) - 1  # since version 3
_WITH_SCOPES: Final = 6  # the first version that can block sending signals to other processes
_SCOPES: Final = 3  # LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL
_NO_LANDLOCK: Final = (errno.ENOSYS, errno.EOPNOTSUPP)


def confine(
    *,
    user: int | None,
    memory: int,
    file_size: int,
    cpu: int | None = None,
    read: Sequence[int] = (),
    write: Sequence[int] = (),
) -> None:
    """Confine this process and its future children. The process must have a single thread.

    Args:
        user: The user and group to switch to if the process runs as root. None keeps the current user.
        memory: The maximum size of the address space, in bytes.
        file_size: The maximum size of files that it writes, in bytes.
        cpu: The maximum CPU time per process, in seconds. None means unlimited.
        read: Descriptors of files that may be reopened for reading.
        write: Descriptors of files that may be reopened for reading and writing.

    Raises:
        OSError: A system call failed.
    """
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CPU, resource.RLIM_INFINITY if cpu is None else cpu),
    ):
        resource.setrlimit(limit, (value, value))
    # Root can create these namespaces directly. Other users need a user namespace, which maps them to themselves.
    own, group = os.getuid(), os.getgid()
    check(libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC | (_CLONE_NEWUSER if own else 0)), "unshare")
    if own:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{own} {own} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    elif user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    nothing = struct.pack("=6I", *[0] * 6)
    check(libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), nothing), "capset")  # drops all capabilities
    check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _restrict_files(read, write)


def die_with(parent: int) -> None:
    """Make the kernel kill this process when the thread that started it ends. For use as `preexec_fn` in `Popen`.

    Args:
        parent: The parent's process id.
    """
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent has already exited, so the kernel won't send the signal
        os.kill(os.getpid(), signal.SIGKILL)


def _restrict_files(read: Sequence[int], write: Sequence[int]) -> None:
    """Allow access only to system files and the given files, if the kernel supports this. Raises `OSError`."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    if version < 0 and ctypes.get_errno() in _NO_LANDLOCK:
        return
    handled = _FILES.get(check(version, "landlock"), _ALL_FILES)
    attributes = struct.pack("=QQQ", handled, 0, _SCOPES) if version >= _WITH_SCOPES else struct.pack("=Q", handled)
    rules = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        for path in SYSTEM:
            try:
                directory = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            _allow(rules, directory, _EXECUTE | _READ_FILE | _READ_DIR)
            os.close(directory)
        for fd in read:
            _allow(rules, fd, _READ_FILE)
        for fd in write:
            _allow(rules, fd, handled & (_READ_FILE | _WRITE_FILE | _TRUNCATE))
        call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, fd: int, access: int) -> None:
    call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, fd), 0)
