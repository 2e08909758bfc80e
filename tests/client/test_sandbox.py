"""A sandbox's methods against a server, directly and over connections that break."""

from collections.abc import AsyncIterator

import pytest

import hawse
from hawse.wire import HawseError
from tests.support.client import QUICK
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy


async def test_commands_and_files_are_complete_although_every_connection_breaks(server: FakeServer) -> None:
    data = server.world.files["/numbers"]
    async with (
        CuttingProxy(server.port, seed=3, cut_after=(1000, 400_000), cuts_left=60) as proxy,
        hawse.connect(proxy.url, options=QUICK) as hw,
    ):
        box = hw.sandbox()
        while not proxy.spent.is_set():
            assert (await box.exec(["cat"], stdin=data)).stdout == data
            assert await box.files.read("/numbers") == data
            assert (await box.files.write("/copy", data)).bytes == len(data)
            assert server.world.files["/copy"] == data
    assert len(server.world.runs) == len(server.world.keyed)


async def test_a_file_can_be_written_from_bytes_to_come(hw: hawse.Client, server: FakeServer) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for n in range(100):
            yield b"%d\n" % n

    done = await hw.sandbox().files.write("/new", parts(), mode=0o755, parents=True)
    assert server.world.files["/new"] == b"".join(b"%d\n" % n for n in range(100))
    assert done.bytes == len(server.world.files["/new"])


async def test_a_file_that_is_too_large_to_hold_is_not_read(hw: hawse.Client) -> None:
    with pytest.raises(HawseError, match="too_large"):
        await hw.sandbox().files.read("/numbers", max_size=1000)
    assert len(await hw.sandbox().files.read("/numbers")) > 1000


async def test_a_file_is_described(hw: hawse.Client) -> None:
    stat = await hw.sandbox().files.stat("/numbers")
    assert (stat.type, stat.mode, stat.mtime) == ("file", 0o644, 1.5)
