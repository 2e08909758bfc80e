"""The modes of a PTY's line discipline: whether the kernel echoes typed characters, and which input a read returns."""

import termios
from typing import Literal

InputMode = Literal["echo", "hidden", "raw"]
InputKind = Literal["line", "secret", "key"]


def input_mode(fd: int) -> InputMode:
    """Return the current echo mode of the PTY `fd`.

    Returns:
        `echo`: the kernel echoes input immediately. `hidden`: nothing echoes input, because the program is asking for a
        password or every process has closed the PTY. `raw`: the program receives each key and may echo it.
    """
    try:
        flags: int = termios.tcgetattr(fd)[3]
    except termios.error:
        return "hidden"
    if flags & termios.ECHO:
        return "echo"
    return "hidden" if flags & termios.ICANON else "raw"


def input_kind(fd: int) -> InputKind:
    """Return the input that a read of the PTY `fd` returns now.

    Returns:
        `line`: a whole line, echoed by the kernel. `secret`: a line without echo. `key`: single keys, echoed or not.
    """
    try:
        flags: int = termios.tcgetattr(fd)[3]
    except termios.error:
        return "secret"
    if not flags & termios.ICANON:
        return "key"
    return "line" if flags & termios.ECHO else "secret"
