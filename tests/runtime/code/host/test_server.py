"""The kernel host serves requests, and ends with its connection."""

import msgspec
import pytest

from hawse_runtime.code.host_protocol import Ask, ListLanguages, Stop
from tests.support.kernel_host import HostProcess
from tests.support.waiting import gone


async def test_kernels_end_with_the_connection_of_the_runtime() -> None:
    async with HostProcess() as host:
        kernel = await host.start(language="python")
    await gone(kernel.pid)


async def test_kernels_end_with_the_host_even_if_it_is_killed() -> None:
    async with HostProcess() as host:
        kernel = await host.start(language="python")
        host.process.kill()
        await gone(kernel.pid)
        for left in host.folder.iterdir():
            left.unlink()


async def test_requests_for_an_executor_that_does_not_exist_fail_or_do_nothing() -> None:
    async with HostProcess() as host:
        host.send(Stop(executor=9))
        host.send(Ask(request=5, executor=9, method="complete_request", content={}))
        reply = await host.reply()
        assert reply.request == 5
        assert reply.failure is not None
        assert reply.failure.code == "exited"


async def test_languages_are_listed() -> None:
    async with HostProcess() as host:
        host.send(ListLanguages(request=7))
        listed = msgspec.json.decode((await host.reply()).value)
    assert {"language": "python", "kernel": "python3", "title": "Python 3 (ipykernel)"} in listed


async def test_a_language_without_a_kernel_is_unavailable() -> None:
    async with HostProcess() as host:
        with pytest.raises(AssertionError, match="language_unavailable"):
            await host.start(language="cobol")
