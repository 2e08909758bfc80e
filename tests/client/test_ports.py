"""Ports against a real gateway and runtime, and the URLs of previews."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

import hawse
from hawse.api.ports import ExposedPort
from hawse.client import Sandbox
from hawse.client.ports import by_name
from tests.support import peers
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
EXPOSED = ExposedPort(port=5173, token="a" * 32)
SOME = bytes(range(251)) * 20_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("ports") / "state") as stack:
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def box(stack: Stack, connect: Connect) -> AsyncIterator[Sandbox]:
    async with connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


def program(*words: str) -> list[str]:
    return [sys.executable, peers.__file__, *words]


async def test_opened_and_closed_ports_are_reported(box: Sandbox) -> None:
    await box.runtime()  # starts the sandbox: a stream that only watches does not
    async with asyncio.timeout(20), box.ports.watch() as watch:
        states = aiter(watch)
        assert await anext(states) == []
        async with box.processes.start(program("quiet")):
            (found,) = await anext(states)
            assert (found.addresses, found.exposed) == (["127.0.0.1"], False)
            assert await box.ports.list() == [found]
        assert await anext(states) == []


async def test_a_connection_carries_bytes_both_ways_and_each_end(box: Sandbox) -> None:
    async with box.processes.start(program("echo")) as process:
        port = await _port(process)
        async with asyncio.timeout(20), box.ports.connect(port) as stream, asyncio.TaskGroup() as tasks:

            async def send() -> None:
                await stream.write(SOME)
                await stream.end()

            tasks.create_task(send())
            assert b"".join([chunk async for chunk in stream]) == SOME
            assert await stream.read() == b""
        async with box.ports.connect(port) as stream:
            await stream.write(b"x")
            await stream.flush()
            assert await stream.read() == b"x"
            await stream.close()


async def test_an_unreachable_port_is_an_error_with_its_reason(box: Sandbox, stack: Stack) -> None:
    for port, code in ((1, "unavailable"), (stack.port, "forbidden")):
        with pytest.raises(hawse.HawseError, match=code):
            async with box.ports.connect(port):
                pass


async def test_a_preview_has_two_addresses_and_is_taken_back(box: Sandbox, stack: Stack) -> None:
    preview = await box.ports.expose(5173, name="web")
    assert preview.url == f"http://5173-local-{preview.token}.localhost:{stack.port}/"
    assert preview.path_url == f"{stack.base}/p/local/{preview.token}/"
    assert await box.ports.expose(5173) == preview
    assert await box.ports.exposed() == [preview]
    await box.ports.unexpose(5173)
    await box.ports.unexpose(5173)
    assert await box.ports.exposed() == []
    with pytest.raises(hawse.HawseError, match="not_found"):
        async with box.ports.connect(token=preview.token):
            pass


@pytest.mark.parametrize(
    ("gateway", "host", "sandbox", "expected"),
    [
        ("http://127.0.0.1:8080", "localhost", "my-box", f"http://5173-my-box-{'a' * 32}.localhost:8080/"),
        ("http://[::1]", "localhost", "b", f"http://5173-b-{'a' * 32}.localhost/"),
        ("https://gw.example:444/x", "p.example", "b", f"https://5173-b-{'a' * 32}.p.example:444/"),
        ("http://gw.example:8080", "localhost", "b", None),
        ("http://localhost", None, "b", None),
        ("http://localhost", "localhost", "Upper", None),
        ("http://localhost", "localhost", "dot.ted", None),
        ("http://localhost", "localhost", "b" * 30, None),
    ],
)
async def test_a_name_where_there_can_be_one(
    gateway: str, host: str | None, sandbox: str, expected: str | None
) -> None:
    assert by_name(gateway, host, sandbox, EXPOSED) == expected


async def _port(process: hawse.Process) -> int:
    async for connection in process.stdout:
        return int(connection)
    raise AssertionError("it printed nothing")
