"""A port in the sandbox that leads to the client, against a real gateway and runtime."""

import asyncio
from pathlib import Path

import pytest

import hawse
from hawse.api.ports import PortIncoming
from hawse.client import Options
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack, free_port


async def test_programs_of_the_sandbox_reach_the_client_and_reach_it_again_after_a_cut(tmp_path: Path) -> None:
    port = free_port()
    ask = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        " s.sendall(b'ping'); s.shutdown(1); print(s.makefile().read(), end='')"
    )
    async with (
        Stack(tmp_path / "state") as stack,
        CuttingProxy(stack.port) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=Options(backoff_cap=0.1)) as hw,
        hw.sandbox().ports.listen(port) as listener,
    ):
        box = hw.sandbox()
        assert (listener.port, listener.address) == (port, "127.0.0.1")
        found = aiter(listener)
        for cut in (False, True, True):
            if cut:
                proxy.cut()
                await box.exec("true")  # reconnected, and `port.listen` was sent first
            async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
                asking = tasks.create_task(box.exec(["python3", "-c", ask, str(port)]))
                async with box.ports.accept(await anext(found)) as stream:
                    assert await stream.read() == b"ping"
                    await stream.write(b"pong")
                    await stream.close()
                assert (await asking).stdout == b"pong"


async def test_a_port_that_is_taken_is_an_error(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        with pytest.raises(hawse.HawseError, match="conflict"):
            async with hw.sandbox().ports.listen(stack.port):
                pass
        with pytest.raises(hawse.HawseError, match="not_found"):
            async with hw.sandbox().ports.accept(PortIncoming(connection="unknown", address="")):
                pass
