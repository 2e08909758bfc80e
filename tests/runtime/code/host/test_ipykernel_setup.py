"""The changes to ipykernel: the output of programs is complete when a run ends, and no message is dropped."""

import os

import pytest

from hawse_runtime.code.host import ipykernel_setup
from hawse_runtime.code.host_protocol import STDERR, STDOUT
from tests.support.kernel_host import HostProcess

KILLED = """
import os, sys
print("out", flush=True)
print("err", file=sys.stderr, flush=True)
os.kill(os.getpid(), 9)
"""
FORK = """
import os
if not (pid := os.fork()):
    print("child", flush=True)
    os._exit(0)
_ = os.waitpid(pid, 0)
"""


async def test_the_output_of_programs_is_complete_at_the_end_of_each_run() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        for number in range(1, 31):
            received = await host.run(f"import os; _ = os.system('echo {number}; echo e{number} >&2')", run=number)
            found = {
                kind: b"".join(e[2] for e in received if isinstance(e, tuple) and e[:2] == (kind, number))
                for kind in (STDOUT, STDERR)
            }
            assert found == {STDOUT: b"%d\n" % number, STDERR: b"e%d\n" % number}
        text = "é" * 40_000
        received = await host.run("_ = os.system('printf \\'%0.sé\\' $(seq 40000)')", run=99)
        assert b"".join(e[2] for e in received if isinstance(e, tuple)).decode() == text
        assert (await host.run("sorted(name for name in dir() if 'setup' in name.lower())", run=100))[-1].ok


async def test_what_was_flushed_before_a_crash_is_received() -> None:
    async with HostProcess() as host:
        for number in range(1, 9):
            await host.start(executor=number, language="python")
            received = await host.run(KILLED, executor=number, run=number)
            assert [each for each in received if isinstance(each, tuple)] == [
                (STDOUT, number, b"out\n"),
                (STDERR, number, b"err\n"),
            ]
            assert received[-1].signal == 9


async def test_a_forked_process_can_flush() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        received = await host.run(FORK)
        assert b"child\n" in b"".join(each[2] for each in received if isinstance(each, tuple))
        assert received[-1].ok


class FakeStream:
    """The attributes of `OutStream` that are used."""

    name = "stdout"

    def __init__(self) -> None:
        self._fid, self.input = os.pipe()
        self._original_stdstream_fd = self.input
        self._should_watch = True
        self.written: list[str] = []
        self.watch_fd_thread = self

    def join(self, timeout: float) -> None:
        assert os.read(self._fid, 1) == b"\0"

    def write(self, text: str) -> None:
        self.written.append(text)


def test_what_was_written_is_passed_on_by_the_time_drain_returns() -> None:
    stream = FakeStream()
    watcher = ipykernel_setup.Watcher(stream)
    for part in ("é".encode()[:1], "é".encode()[1:], b"\xff"):
        os.write(stream.input, part)
        watcher.drain()
    assert "".join(stream.written) == "é\udcff"
    assert not vars(stream)["_should_watch"]


def test_a_kernel_that_is_not_ipykernel_is_not_changed() -> None:
    with pytest.raises(AttributeError):
        ipykernel_setup.set_up(object())  # caught by the caller
