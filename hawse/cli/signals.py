"""Signals that end a sub-command: the command cleans up, the terminal's modes are restored, and the signal ends the
process.

`hawse.client.run` does this for asynchronous code. Elsewhere, such as in a prompt for a token, the signal raises an
exception.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from hawse.client.signals import SIGNALS, SignalExit, die

if sys.platform != "win32":
    import termios


@contextmanager
def handled(*, reraised: bool) -> Iterator[None]:
    """Let signals raise `SignalExit` in the block.

    Args:
        reraised: Whether the signal, or SIGINT, ends the process after the block, so that the parent process sees it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    modes = _modes()
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, _raise)
        yield
    except (SignalExit, KeyboardInterrupt) as error:
        for number in SIGNALS:  # a second signal must not interrupt the clean-up
            signal.signal(number, signal.SIG_IGN)
        _restore(modes)
        if reraised:
            with suppress(OSError, ValueError, AttributeError):
                sys.stdout.flush()
            die(error.signal if isinstance(error, SignalExit) else signal.SIGINT)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, _: FrameType | None) -> None:
    raise SignalExit(number)


def _modes() -> list[Any] | None:
    """Return the modes of the terminal on standard input; None on Windows or if it is not a terminal."""
    if sys.platform != "win32":
        with suppress(termios.error):
            return termios.tcgetattr(0)
    return None


def _restore(modes: list[Any] | None) -> None:
    """Restore the terminal's modes, which a line editor in another thread may have changed."""
    if sys.platform != "win32" and modes is not None:
        with suppress(termios.error):
            termios.tcsetattr(0, termios.TCSANOW, modes)
