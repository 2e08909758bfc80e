"""System calls that Python doesn't provide. Errors are raised as `OSError`."""

import ctypes
import os
from typing import Any, Final

libc: Final = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: Any) -> int:
    """Invoke a system call by number, and return its result. Raises `OSError`."""
    return check(libc.syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def check(result: int, what: str) -> int:
    """Return the result of a `libc` function. Raises `OSError`, with `what` in the message, if the result is
    negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
