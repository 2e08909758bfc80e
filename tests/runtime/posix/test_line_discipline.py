"""The modes of a real PTY."""

import os
import termios

from hawse_runtime.posix.line_discipline import input_mode


def test_the_mode_is_that_of_the_program() -> None:
    ours, theirs = os.openpty()
    try:
        assert input_mode(ours) == "echo"
        mode = termios.tcgetattr(theirs)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
        assert input_mode(ours) == "hidden"
        mode[3] &= ~termios.ICANON
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
        assert input_mode(ours) == "raw"
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_pipe_prints_nothing() -> None:
    reading, writing = os.pipe()
    try:
        assert input_mode(reading) == "hidden"
    finally:
        os.close(reading)
        os.close(writing)
