import signal
import subprocess
import sys
import threading

import pytest

from hawse.client.signals import SignalExit, run

PROGRAM = """if True:
    import asyncio, os, signal, sys
    from hawse.client.signals import run

    async def main():
        try:
            print("started", flush=True)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            print("cleaned up", flush=True)

    {before}
    run(main())
"""


def start(before: str = "", *, stdin: bool = False) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", PROGRAM.format(before=before)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE if stdin else None, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_cancels_the_work_and_sets_the_exit_code(number: signal.Signals) -> None:
    with start() as process:
        process.send_signal(number)
        process.send_signal(number)  # as `timeout` does
        assert process.stdout is not None
        assert (process.stdout.read(), process.wait()) == ("cleaned up\n", 128 + number)


def test_a_signal_after_the_cleanup_does_not_change_the_exit_code() -> None:
    with start(
        "import atexit; atexit.register(lambda: print('leaving', flush=True) or input())", stdin=True
    ) as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["cleaned up\n", "leaving\n"]
        process.send_signal(signal.SIGTERM)
        process.communicate("\n")
        assert process.returncode == 128 + signal.SIGTERM


def test_an_ignored_signal_stays_ignored() -> None:
    with start("signal.signal(signal.SIGHUP, signal.SIG_IGN)") as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 128 + signal.SIGTERM


def test_a_thread_that_still_reads_does_not_delay_the_end() -> None:
    program = """if True:
        import asyncio, os
        from hawse.client.signals import SignalExit, run

        async def main():
            read, _ = os.pipe()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(asyncio.to_thread(os.read, read, 1))
                print("started", flush=True)

        try:
            run(main())
        except SignalExit as ended:
            print(ended.signal.name, flush=True)
            os._exit(0)
    """
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.terminate()
        assert (process.stdout.read(), process.wait()) == ("SIGTERM\n", 0)


def test_results_and_exceptions_are_passed_on_and_handlers_restored() -> None:
    async def answer() -> int:
        return 42

    async def fail() -> None:
        raise LookupError("of the program")

    before = signal.getsignal(signal.SIGTERM)
    assert run(answer()) == 42
    with pytest.raises(LookupError):
        run(fail())
    assert signal.getsignal(signal.SIGTERM) is before


def test_in_another_thread_it_runs_without_handlers() -> None:
    found: list[int] = []

    async def answer() -> None:
        found.append(42)

    thread = threading.Thread(target=lambda: run(answer()))
    thread.start()
    thread.join()
    assert found == [42]


def test_the_exit_has_the_signal() -> None:
    ended = SignalExit(signal.SIGTERM)
    assert (ended.code, ended.signal) == (143, signal.SIGTERM)
