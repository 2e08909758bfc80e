"""`run`: like `asyncio.run`, but it also cancels the program on SIGTERM, SIGHUP and SIGQUIT.

By default, these signals end a program immediately, while its commands in a sandbox keep running and wait for the
client to return. If the program is cancelled instead, its commands are ended.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

# The signals available on this system; Windows only has SIGTERM. asyncio handles SIGINT.
SIGNALS: Final = tuple(signal.Signals[name] for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
CLEANUP_TIMEOUT: Final = 9.0  # maximum seconds to clean up after a signal; supervisors wait 10 s or more


class SignalExit(SystemExit):
    """A signal ended the program. The exit code is 128 plus the signal number.

    Attributes:
        signal: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like `asyncio.run`, and cancel it on SIGTERM, SIGHUP or SIGQUIT as well.

    Context managers exit and `finally` blocks run, so commands started in a sandbox are ended. If this takes
    longer than 9 seconds, the signal ends the program. Further signals have no effect until the program has ended. An
    ignored signal, such as SIGHUP after `nohup`, remains ignored. Outside the main thread, this function is the same as
    `asyncio.run`.

    Args:
        main: The coroutine.

    Raises:
        SignalExit: A signal has arrived. It is a `SystemExit`.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    runner = asyncio.Runner()
    loop = runner.get_loop()
    ending = _Ending(loop)
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                with suppress(NotImplementedError):  # not available on Windows
                    loop.add_signal_handler(number, ending.begin, number)
        try:
            result = runner.run(ending.watch(main))
        except BaseException:
            if ending.signal is None:
                raise
        if ending.signal is not None:
            loop.run_until_complete(loop.shutdown_asyncgens())
            raise SignalExit(ending.signal)
        return result
    finally:
        if ending.signal is None:
            runner.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        else:
            _close_for_good(loop)


def die(number: int) -> None:
    """End this process with a signal, as if the signal were not handled."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _close_for_good(loop: asyncio.AbstractEventLoop) -> None:
    """Close the event loop at the end of the program, and then ignore signals, because programs such as `timeout` send
    two of them.
    """
    mask = getattr(signal, "pthread_sigmask", None)  # not available on Windows
    if mask is not None:
        mask(signal.SIG_BLOCK, SIGNALS)
    loop.close()  # restores the signals' default actions; doesn't wait for threads, which may be reading the terminal
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if mask is not None:
        mask(signal.SIG_UNBLOCK, SIGNALS)


class _Ending:
    """Cancels the main task on the first signal.

    Attributes:
        signal: The signal received; None if there hasn't been one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.signal: int | None = None
        self._loop = loop
        self._cancel: Callable[[], object] = bool

    async def watch(self, main: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._cancel = task.cancel
        if self.signal is not None:
            task.cancel()
        return await main

    def begin(self, number: int) -> None:
        if self.signal is None:
            self.signal = number
            self._loop.call_later(CLEANUP_TIMEOUT, die, number)
            self._cancel()
