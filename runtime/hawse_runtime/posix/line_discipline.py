"""What the kernel's line discipline of a PTY does with input: whether it prints what is typed."""

import termios
from typing import Literal

InputMode = Literal["echo", "hidden", "raw"]


def input_mode(fd: int) -> InputMode:
    """Return how input of the PTY `fd` is printed now.

    Returns:
        `echo`: the kernel prints it at once. `hidden`: it is not printed, because the program asks for a password, or
        because nothing has the PTY open. `raw`: the program gets each key, and may print it.
    """
    try:
        flags: int = termios.tcgetattr(fd)[3]
    except termios.error:
        return "hidden"
    if flags & termios.ECHO:
        return "echo"
    return "hidden" if flags & termios.ICANON else "raw"
