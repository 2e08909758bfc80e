"""The input mode of a PTY's line discipline: whether the kernel echoes typed characters."""

import termios
from typing import Literal

InputMode = Literal["echo", "hidden", "raw"]


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
