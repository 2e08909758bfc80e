import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress

import pytest

from hawse.sync.background import DEFAULT, BackgroundLoop, EnteredContext


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    made = BackgroundLoop()
    yield made
    made.stop()


async def fail() -> None:
    raise ValueError("of the coroutine")


def test_results_and_exceptions_come_back(loop: BackgroundLoop) -> None:
    async def answer() -> int:
        return 42

    assert loop.run(answer()) == 42
    assert loop.call(threading.get_ident) != threading.get_ident()
    with pytest.raises(ValueError, match="of the coroutine"):
        loop.run(fail())


def test_many_threads_share_the_loop(loop: BackgroundLoop) -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    found: list[int] = []
    threads = [threading.Thread(target=lambda n=n: found.append(loop.run(double(n)))) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [2 * number for number in range(50)]


class Finalized:
    def __init__(self, threads: list[int]) -> None:
        self.threads = threads

    def __del__(self) -> None:
        self.threads.append(threading.get_ident())


def test_finalizers_run_in_the_thread_of_the_loop(loop: BackgroundLoop) -> None:
    threads: list[int] = []
    loop.release([Finalized(threads)])
    assert threads == [loop.call(threading.get_ident)]
    loop.stop()
    loop.release([Finalized(threads)])
    assert threads[1:] == [threading.get_ident()]


def test_the_loop_cannot_wait_for_itself(loop: BackgroundLoop) -> None:
    with pytest.raises(RuntimeError, match="callback"):
        loop.call(lambda: loop.run(fail()))


def test_a_stopped_loop_is_refused(loop: BackgroundLoop) -> None:
    loop.stop()
    with pytest.raises(RuntimeError, match="connect again"):
        loop.run(fail())


def test_stopping_cancels_what_runs(loop: BackgroundLoop) -> None:
    started, cancelled = threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    def run() -> None:
        with pytest.raises(CancelledError):
            loop.run(wait())

    waiting = threading.Thread(target=run)
    waiting.start()
    started.wait(30)
    loop.stop()
    assert cancelled.wait(30)
    waiting.join(30)


def test_work_that_the_loop_has_not_begun_when_it_stops_is_not_waited_for(loop: BackgroundLoop) -> None:
    """The loop runs what is scheduled before its stop in one turn, and nothing that is scheduled after it."""
    entered, scheduled = threading.Event(), threading.Event()
    ran: list[str] = []

    async def block() -> None:
        entered.set()
        scheduled.wait(30)

    async def never() -> None:
        ran.append("never")

    def late() -> None:
        with pytest.raises((RuntimeError, CancelledError)):
            loop.run(never())

    blocking = threading.Thread(target=lambda: loop.run(block()))
    blocking.start()
    entered.wait(30)
    stopping = threading.Thread(target=loop.stop)
    waiting = threading.Thread(target=late)
    stopping.start()
    waiting.start()
    scheduled.set()
    for thread in (blocking, stopping, waiting):
        thread.join(30)
        assert not thread.is_alive()
    assert ran in ([], ["never"])
    assert not loop.usable


def test_threads_that_call_while_the_loop_stops_all_return() -> None:
    for _ in range(20):
        loop = BackgroundLoop()
        begun = threading.Barrier(9)

        def call(loop: BackgroundLoop = loop, begun: threading.Barrier = begun) -> None:
            begun.wait(30)
            with suppress(RuntimeError, CancelledError):
                while True:
                    loop.run(asyncio.sleep(0))

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        begun.wait(30)
        loop.stop()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()


def test_work_that_ignores_its_cancellation_is_not_waited_for(
    loop: BackgroundLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse.sync.background.EXIT_TIMEOUT", 0.01)
    started = threading.Event()

    async def deaf() -> None:
        for _ in range(3):
            started.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    def run() -> None:
        with pytest.raises(RuntimeError, match="connect again"):
            loop.run(deaf())

    waiting = threading.Thread(target=run)
    waiting.start()
    started.wait(30)
    loop.stop()
    waiting.join(30)
    assert not waiting.is_alive()


def test_ctrl_c_cancels_the_coroutine() -> None:
    program = """if True:
        import asyncio, os, signal, threading
        from hawse.sync.background import DEFAULT
        cancelled = threading.Event()
        async def work():
            try:
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
        try:
            DEFAULT.get().run(work())
        except KeyboardInterrupt:
            print(cancelled.wait(30))
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (run.stdout, run.stderr) == ("True\n", "")


def test_a_program_ends_although_work_is_in_progress() -> None:
    program = """if True:
        import asyncio, threading
        from concurrent.futures import CancelledError
        from hawse.sync.background import DEFAULT
        started = threading.Event()
        async def work():
            started.set()
            await asyncio.Event().wait()
        def wait():
            try:
                DEFAULT.get().run(work())
            except CancelledError:
                pass
        threading.Thread(target=wait, daemon=True).start()
        started.wait()
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_task_that_another_one_starts_at_its_end_is_ended_too() -> None:
    program = """if True:
        import asyncio
        from hawse.sync.background import DEFAULT
        loop = DEFAULT.get()
        async def forever(then):
            try:
                await asyncio.Event().wait()
            finally:
                if then:
                    asyncio.create_task(forever(then - 1))
        async def start():
            asyncio.create_task(forever(2))
            await asyncio.sleep(0)
        loop.run(start())
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_forked_process_gets_a_loop_of_its_own_and_cannot_use_the_old_one() -> None:
    program = """if True:
        import os
        from hawse.sync.background import DEFAULT
        async def answer():
            return 42
        old = DEFAULT.get()
        old.run(answer())
        if (child := os.fork()) == 0:
            try:
                old.run(answer())
            except RuntimeError as error:
                print(error, DEFAULT.get().run(answer()), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(old.run(answer()))
    """
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout.endswith("connect again 42\n42\n"), run.stderr


def test_the_loop_of_the_process_is_one() -> None:
    assert DEFAULT.get() is DEFAULT.get()
    assert os.getpid()


# ---- contexts


class Log:
    def __init__(self) -> None:
        self.steps: list[str] = []
        self.tasks: list[object] = []

    @asynccontextmanager
    async def context(self, *, swallow: bool = False) -> AsyncIterator[str]:
        self.tasks.append(asyncio.current_task())
        try:
            yield "value"
        except ValueError as error:
            self.steps.append(f"saw {error}")
            if not swallow:
                raise
        finally:
            self.tasks.append(asyncio.current_task())
            self.steps.append("left")


def test_a_context_is_entered_and_left_in_one_task(loop: BackgroundLoop) -> None:
    log = Log()
    entered = EnteredContext(loop, log.context())
    assert entered.enter() == "value"
    assert entered.leave(None) is False
    assert log.steps == ["left"]
    assert log.tasks[0] is log.tasks[1]


def test_the_context_sees_the_exception_and_decides(loop: BackgroundLoop) -> None:
    for swallow in (False, True):
        log = Log()
        entered = EnteredContext(loop, log.context(swallow=swallow))
        entered.enter()
        assert entered.leave(ValueError("mine")) is swallow
        assert log.steps == ["saw mine", "left"]


def test_an_exception_of_entering_or_leaving_is_raised(loop: BackgroundLoop) -> None:
    @asynccontextmanager
    async def failing(when: str) -> AsyncIterator[None]:
        if when == "enter":
            await fail()
        yield
        await fail()

    with pytest.raises(ValueError, match="of the coroutine"):
        EnteredContext(loop, failing("enter")).enter()
    entered = EnteredContext(loop, failing("leave"))
    entered.enter()
    with pytest.raises(ValueError, match="of the coroutine"):
        entered.leave(None)


def test_stopping_ends_what_runs_and_then_leaves_the_contexts_that_are_entered_the_last_one_first(
    loop: BackgroundLoop,
) -> None:
    steps: list[str] = []
    started = threading.Event()

    @asynccontextmanager
    async def context(name: str) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.sleep(0)  # it still can wait
            steps.append(name)

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            steps.append("work")

    def run() -> None:
        with pytest.raises(CancelledError):
            loop.run(wait())

    for name in ("client", "process"):
        EnteredContext(loop, context(name)).enter()
    waiting = threading.Thread(target=run)
    waiting.start()
    started.wait(30)
    loop.stop()
    waiting.join(30)
    assert steps == ["work", "process", "client"]


def test_a_thread_that_waits_at_the_end_of_the_program_prints_nothing() -> None:
    program = """if True:
        import asyncio, threading
        from hawse.sync.background import DEFAULT
        begun = threading.Semaphore(0)
        loop = DEFAULT.get()

        async def wait():
            begun.release()
            try:
                await asyncio.sleep(1000)
            finally:
                print("cancelled")

        def call_again_and_again():
            while True:
                loop.call(begun.release)

        for function in (lambda: loop.run(wait()), call_again_and_again):
            threading.Thread(target=function, daemon=True).start()
        begun.acquire()
        begun.acquire()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
