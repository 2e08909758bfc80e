"""A sandbox's methods against a server, directly and over connections that break."""

import os
from collections.abc import AsyncIterator

import pytest

import hawse
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.wire import HawseError
from tests.support.client import QUICK
from tests.support.fake_server import NUMBERS, FakeServer
from tests.support.proxy import CuttingProxy
from tests.support.sync_bridge import Connect


async def test_commands_and_files_are_complete_although_every_connection_breaks(
    server: FakeServer, connect: Connect
) -> None:
    data, rounds = NUMBERS, 0
    async with (
        CuttingProxy(server.port, seed=3, cut_after=(1000, 400_000), cuts_left=60) as proxy,
        connect(proxy.url, options=QUICK) as hw,
    ):
        box = hw.sandbox()
        while not proxy.spent.is_set():
            assert (await box.exec(["cat"], stdin=data)).stdout == data
            assert await box.files.read("numbers") == data
            assert (await box.files.write("copy", data)).bytes == len(data)
            assert (server.root / "copy").read_bytes() == data
            rounds += 1
    assert rounds == len(server.launcher.started) == len(server.keys("exec")) == len(server.keys("file.write"))


async def test_a_file_can_be_written_from_bytes_to_come(hw: hawse.Client, server: FakeServer) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for n in range(100):
            yield b"%d\n" % n

    done = await hw.sandbox().files.write("new", parts(), mode=0o755, parents=True)
    content = (server.root / "new").read_bytes()
    assert content == b"".join(b"%d\n" % n for n in range(100))
    assert done.bytes == len(content)


async def test_a_file_that_is_too_large_to_hold_is_not_read(hw: hawse.Client) -> None:
    with pytest.raises(HawseError, match="too_large"):
        await hw.sandbox().files.read("numbers", max_size=1000)
    assert len(await hw.sandbox().files.read("numbers")) > 1000


async def test_a_file_is_described(hw: hawse.Client, server: FakeServer) -> None:
    (server.root / "numbers").chmod(0o644)
    os.utime(server.root / "numbers", (1.5, 1.5))
    stat = await hw.sandbox().files.stat("numbers")
    assert (stat.type, stat.mode, stat.mtime) == ("file", 0o644, 1.5)


def test_a_handle_is_shown_with_its_id() -> None:
    options = Options()
    assert repr(hawse.client.Sandbox(CallTable(options), "a", options)) == "<Sandbox 'a'>"


@pytest.mark.async_only("the bridge has different representations")
async def test_what_a_sandbox_has_is_shown_with_the_sandbox(hw: hawse.Client) -> None:
    box = hw.sandbox("a")
    names = "processes sessions code terminals recordings files backups mounts egress git watches ports tunnels desktop"
    for name in names.split():
        shown = repr(getattr(box, name))
        assert "of sandbox 'a'>" in shown
        assert "0x" not in shown
    for handle in (
        *(box.sessions.create("one"), box.code.create(id="one"), box.terminals.attach("one")),
        *(box.recordings.attach("one"), await box.processes.start(["cat"], id="one")),
    ):
        assert f"<{type(handle).__name__} 'one' in sandbox 'a'>" in repr(handle)
