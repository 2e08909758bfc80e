"""The modes of a real PTY."""

import os
import termios

from hawse_runtime.posix.line_discipline import input_kind, input_mode


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


def test_the_kind_is_the_input_that_a_read_returns() -> None:
    ours, theirs = os.openpty()
    try:
        kinds = [input_kind(ours)]
        for flag in (termios.ECHO, termios.ICANON):
            mode = termios.tcgetattr(theirs)
            mode[3] &= ~flag
            termios.tcsetattr(theirs, termios.TCSANOW, mode)
            kinds.append(input_kind(ours))
        mode[3] |= termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
        assert [*kinds, input_kind(ours)] == ["line", "secret", "key", "key"]
    finally:
        os.close(theirs)
        os.close(ours)
