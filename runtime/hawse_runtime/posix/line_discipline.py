"""Reads a PTY's line discipline modes: whether the kernel echoes input, and what kind of input a read returns."""

import termios
from typing import Literal

InputMode = Literal["echo", "hidden", "raw"]
InputKind = Literal["line", "secret", "key"]


def input_mode(fd: int) -> InputMode:
    """Return the current echo mode of the PTY `fd`.

    Returns:
        `echo`: the kernel echoes input immediately. `hidden`: nothing echoes input, because the program is asking for a
        password or all processes have closed the PTY. `raw`: the program receives each key and may echo it.
    """
    flags = _local_modes(fd)
    if flags & termios.ECHO:
        return "echo"
    return "hidden" if flags & termios.ICANON else "raw"


def input_kind(fd: int) -> InputKind:
    """Return the kind of input that a read from the PTY `fd` currently returns.

    Returns:
        `line`: a line that the kernel echoes. `secret`: a line without echo. `key`: single keys, with or without echo.
    """
    flags = _local_modes(fd)
    if not flags & termios.ICANON:
        return "key"
    return "line" if flags & termios.ECHO else "secret"


def _local_modes(fd: int) -> int:
    """Return the local modes (termios(3)). If they can't be read, return the modes of a line without echo."""
    try:
        flags: int = termios.tcgetattr(fd)[3]
    except termios.error:
        return termios.ICANON
    return flags
