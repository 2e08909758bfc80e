"""Linux system calls that are missing from Python 3.11: namespaces, mounts, capabilities, keyrings and seccomp.

`unshare`, `setns`, `drop_capabilities` and `filter_system_calls` affect only the calling thread.
"""

import ctypes
import os
import signal
from typing import Final

CLONE_FS: Final = 0x200
CLONE_NEWNS: Final = 0x20000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 0x1
MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_NOEXEC: Final = 0x8
MS_REMOUNT: Final = 0x20
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x40000
SEALED: Final = MS_NOSUID | MS_NODEV | MS_NOEXEC

_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_SECCOMP: Final = 22
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
_SECCOMP_MODE_FILTER: Final = 2
_CAPABILITY_VERSION_3: Final = 0x20080522
_KEYCTL_JOIN_SESSION_KEYRING: Final = 1
_SYS_KEYCTL: Final = {"x86_64": 250, "aarch64": 219}
_INSTRUCTION: Final = 8  # size of a BPF instruction in bytes

_libc = ctypes.CDLL(None, use_errno=True)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def unshare(flags: int) -> None:
    """Stop sharing namespaces or, with CLONE_FS, the working directory. Raises `OSError`."""
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, kind: int) -> None:
    """Enter a namespace of type `kind`. `fd` is a pidfd or a file in /proc/PID/ns. Raises `OSError`."""
    _check(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system (mount(2)).

    Args:
        source: The device or directory. For file systems without a device, any name will do.
        target: The mount point.
        kind: The file system type; None for a bind mount or a change of flags.
        flags: MS_* values.
        options: Mount options specific to the file system.

    Raises:
        OSError: The kernel refused the mount.
    """
    arguments = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _check(_libc.mount(*arguments[:3], ctypes.c_ulong(flags), arguments[3]), f"mount {target}")


def deny_dumps() -> None:
    """Prevent other processes of the same user from reading this process's memory and environment (prctl(2))."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def allow_dumps() -> None:
    """Undo `deny_dumps`. Children inherit the setting."""
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process as soon as the thread that started it exits (prctl(2))."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def drop_capabilities() -> None:
    """Drop all capabilities for this thread and its future children. Raises `OSError`."""
    capability = 0
    # Fails after the last capability, or without CAP_SETPCAP.
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    _check(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear ambient capabilities")
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(ctypes.byref(header), ctypes.byref((_CapabilitySets * 2)())), "capset")


def forbid_new_privileges() -> None:
    """Make this thread's future children ignore set-user-id bits and file capabilities. Raises `OSError`."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def filter_system_calls(program: bytes) -> None:
    """Install a seccomp filter for this thread and its children (seccomp(2)). Raises `OSError`.

    Args:
        program: BPF instructions.
    """
    filter_ = _Program(len(program) // _INSTRUCTION, program)
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0), "seccomp")


def new_session_keyring() -> None:
    """Give this thread a session keyring separate from its parent's. Has no effect on a kernel without keyrings."""
    number = _SYS_KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(ctypes.c_long(number), ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING), None)


def keep_heap_compact() -> None:
    """Make glibc return freed memory to the kernel: mmap blocks of 128 KiB and up, and use two heaps for the rest.

    By default, glibc raises the mmap threshold to the size of any freed block, up to 32 MiB (mallopt(3)). Large buffers
    then end up between small ones, and freeing them leaves holes that stay resident.
    """
    if hasattr(_libc, "mallopt"):  # musl has no mallopt
        _libc.mallopt(_M_MMAP_THRESHOLD, 128 << 10)
        _libc.mallopt(_M_ARENA_MAX, 2)


def is_single_threaded() -> bool:
    return len(os.listdir("/proc/self/task")) == 1


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
