import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from hawse.cli.signals import handled
from hawse.client.signals import SignalExit

HAWSE = [sys.executable, "-m", "hawse.cli"]


def test_a_signal_is_an_exception_in_the_block_only() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SignalExit) as caught, handled(reraised=False):
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.signal is signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with handled(reraised=False):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_a_token_that_is_asked_for_leaves_the_echo_on_and_the_signal_ends_the_process(number: signal.Signals) -> None:
    emulator, program = pty.openpty()
    try:
        before = termios.tcgetattr(program)
        argv = [*HAWSE, "login", "http://127.0.0.1:1"]
        with subprocess.Popen(
            argv, stdin=program, stdout=program, stderr=program, start_new_session=True, close_fds=True
        ) as process:
            shown = b""
            while b"Token: " not in shown:
                shown += os.read(emulator, 1000)
            process.send_signal(number)
            assert process.wait() == -number
        assert termios.tcgetattr(program) == before
    finally:
        os.close(emulator)
        os.close(program)
