"""One kernel: how it starts, what it sends, and how it ends. With real kernels and with specifications that fail."""

import json
import signal
from pathlib import Path

import psutil

from hawse_runtime.code.host_protocol import (
    STDERR,
    STDOUT,
    AnswerInput,
    Execute,
    Exited,
    Interrupt,
    Pause,
    Resume,
    RunDone,
    RunEvent,
)
from tests.support import fake_kernel
from tests.support.kernel_host import HostProcess, Received


def output(received: list[Received], kind: int = STDOUT, run: int = 1) -> bytes:
    """The bytes of one stream."""
    return b"".join(each[2] for each in received if isinstance(each, tuple) and each[:2] == (kind, run))


async def test_a_run_sends_its_output_its_value_and_its_end() -> None:
    async with HostProcess() as host:
        kernel = await host.start(language="python")
        assert kernel.kernel == "python3"
        assert kernel.memory > 10 << 20
        assert psutil.pid_exists(kernel.pid)
        received = await host.run(
            "import os, sys\nprint('a\\udcff')\nprint('e', file=sys.stderr)\nos.system('echo child'); 7"
        )
        assert (output(received), output(received, STDERR)) == (b"a\xff\nchild\n", b"e\n")
        (event,) = [each for each in received if isinstance(each, RunEvent)]
        assert (event.name, json.loads(bytes(event.value))["data"]) == ("value", {"text/plain": "7"})
        end = received[-1]
        assert isinstance(end, RunDone)
        assert (end.ok, end.execution_count, end.error) == (True, 1, None)

        threads = "import threading\nthreading.Timer(0.05, print, ['late']).start()"
        assert output(await host.run(threads, run=2), run=2) == b""
        waited = await host.run("import time; time.sleep(0.2); print('mine')", run=3)
        assert output(waited, run=3).splitlines()[-1] == b"mine"


async def test_an_interrupt_reaches_only_the_run_that_it_is_for() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        host.send(Execute(executor=1, run=1, source="print('begun', flush=True)\nwhile True: pass"))
        await host.until(lambda each: isinstance(each, tuple))
        host.send(Interrupt(executor=1, run=99))
        host.send(Interrupt(executor=1, run=1))
        end = (await host.until(lambda each: isinstance(each, RunDone)))[-1]
        assert end.error[0] == "KeyboardInterrupt"
        host.send(Interrupt(executor=1, run=1))
        assert (await host.run("1", run=2))[-1].ok


async def test_input_is_asked_for_and_answered() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        source = "import getpass\nprint(input('name? ') + getpass.getpass('secret? '))"
        host.send(Execute(executor=1, run=1, source=source, stdin=True))
        asked = (await host.until(lambda each: isinstance(each, RunEvent)))[-1]
        assert (asked.name, json.loads(bytes(asked.value))) == ("input", {"prompt": "name? ", "password": False})
        host.send(AnswerInput(executor=1, run=1, value="ann"))
        asked = (await host.until(lambda each: isinstance(each, RunEvent)))[-1]
        assert json.loads(bytes(asked.value)) == {"prompt": "secret? ", "password": True}
        host.send(AnswerInput(executor=1, run=1, value="x"))
        assert output(await host.until(lambda each: isinstance(each, RunDone))) == b"annx\n"
        refused = await host.run("input()", run=2)
        assert refused[-1].error[0] == "StdinNotImplementedError"


async def test_a_kernel_that_is_slow_to_take_questions_has_started_when_it_can_ask(tmp_path: Path) -> None:
    """A kernel drops a question to a socket that is not connected yet."""
    fake_kernel.install(tmp_path)
    async with HostProcess({"JUPYTER_PATH": str(tmp_path), "STDIN_AFTER": "0.5"}) as host:
        await host.start(language="fake")
        host.send(Execute(executor=1, run=1, source="ask", stdin=True))
        asked = (await host.until(lambda each: isinstance(each, RunEvent)))[-1]
        assert asked.name == "input"
        host.send(AnswerInput(executor=1, run=1, value="ann"))
        assert output(await host.until(lambda each: isinstance(each, RunDone))) == b"ann"


async def test_no_display_of_a_flood_is_lost_and_a_pause_holds_them_back() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        host.send(Pause(executor=1))
        count = 2500  # more than ZeroMQ queues by default at both ends
        host.send(Execute(executor=1, run=1, source=f"for n in range({count}): display(n)"))
        host.send(Resume(executor=1))
        received = await host.until(lambda each: isinstance(each, RunDone))
        shown = [json.loads(bytes(each.value))["data"]["text/plain"] for each in received if isinstance(each, RunEvent)]
        assert shown == [str(n) for n in range(count)]


async def test_the_end_of_a_kernel_is_reported_at_once() -> None:
    async with HostProcess() as host:
        for executor, (source, code, signum) in enumerate(
            (("import os; os._exit(3)", 3, None), ("import ctypes; ctypes.string_at(0)", None, signal.SIGSEGV))
        ):
            await host.start(executor, language="python")
            end = (await host.run(source, executor))[-1]
            assert isinstance(end, Exited)
            assert (end.executor, end.code, end.signal) == (executor, code, signum)
