"""Reads: at exact offsets, of one version, and never held up by what is no file."""

import os
from typing import Any

import pytest

from hawse_runtime.rpc import stream_slots
from hawse_runtime.watch.inotify import Inotify
from tests.support.runtime import Channel, Client, Served, eventually

IN_OPEN = 0x20  # inotify(7): a file was opened, other than with O_PATH
DATA = b"".join(b"%07d\n" % n for n in range(100_000))


async def read(client: Client, **params: Any) -> tuple[bytes, Any]:
    call = client.call("file.read", params)
    result = await call.result()
    return bytes(call.output), result


async def write(client: Client, data: bytes, *, key: str | None = None, **params: Any) -> Any:
    call = client.call("file.write", {"input": "i", **params}, key=key)
    await call.type(data)
    call.end()
    return await call.result()


async def test_a_file_is_read_completely(client: Client, served: Served) -> None:
    (served.workspace / "f").write_bytes(DATA)
    call = client.call("file.read", {"path": "f"})
    opened = await call.event("opened")
    result = await call.result()
    assert call.output == DATA
    assert result == {"bytes": len(DATA), "version": opened["version"]}
    assert opened["size"] == len(DATA)
    assert opened["mode"] == 0o644


@pytest.mark.parametrize(
    ("offset", "length", "expected"),
    [
        (0, None, slice(0, None)),
        (7, 100, slice(7, 107)),
        (300_000, 300_001, slice(300_000, 600_001)),
        (len(DATA) - 5, 100, slice(-5, None)),
        (len(DATA), None, slice(0, 0)),
        (10**12, None, slice(0, 0)),
        (5, 0, slice(0, 0)),
    ],
)
async def test_a_range_has_its_offsets_in_the_file(
    client: Client, served: Served, offset: int, length: int | None, expected: slice
) -> None:
    (served.workspace / "f").write_bytes(DATA)
    call = client.call("file.read", {"path": "f", "offset": offset, "length": length})
    result = await call.result()
    assert call.output == DATA[expected]
    assert result["bytes"] == len(call.output)
    assert not call.frames or call.frames[0][1] == offset


async def test_a_slow_reader_holds_one_block_in_memory(client: Client, served: Served) -> None:
    (served.workspace / "f").write_bytes(DATA)
    call = client.call("file.read", {"path": "f"}, generous=False)
    await call.until(lambda: len(call.output) > 700_000 or call.closed)
    while len(call.output) < len(DATA):
        call.grant(10_000)
        before = len(call.output)
        await call.until(lambda: len(call.output) > before)  # noqa: B023
    await call.result()
    assert call.output == DATA


async def test_a_result_needs_no_credit(client: Client, served: Served) -> None:
    (served.workspace / "f").write_bytes(DATA * 2)
    call = client.call("file.read", {"path": "f"}, generous=False)
    await call.until(lambda: not client.connection.channels[call.ch].receive_window)
    call.grant(len(DATA) * 2 - len(call.output))
    assert (await call.result())["bytes"] == len(DATA) * 2


async def test_another_version_is_a_conflict(client: Client, served: Served) -> None:
    file = served.workspace / "f"
    file.write_text("one")
    version = (await client.ask("file.stat", path="f"))["version"]
    assert (await read(client, path="f", version=version))[0] == b"one"
    await write(client, b"two", path="f")
    conflict = await client.refused("file.read", path="f", version=version)
    assert conflict.code == "conflict"
    assert conflict.details == {"version": (await client.ask("file.stat", path="f"))["version"]}


async def test_a_file_that_is_cut_short_meanwhile_is_a_conflict(client: Client, served: Served) -> None:
    file = served.workspace / "f"
    file.write_bytes(bytes(3_000_000))
    call = client.call("file.read", {"path": "f"}, generous=False)
    await call.until(lambda: len(call.output) > 500_000)
    os.truncate(file, 10)
    call.grant(3_000_000)
    assert (await call.refusal()).code == "conflict"


async def test_an_invalid_read_is_a_typed_error(client: Client) -> None:
    write_only = "/proc/sys/vm/compact_memory"  # that even root may not read
    assert (await client.refused("file.read", path=write_only)).code == "permission_denied"


async def test_reading_takes_no_input(client: Client, served: Served) -> None:
    (served.workspace / "f").write_bytes(DATA)
    call: Channel = client.call("file.read", {"path": "f"}, generous=False)
    call.send(b"x")
    assert (await call.refusal()).code == "protocol_error"


async def test_a_file_without_a_size_is_read_to_its_end(client: Client) -> None:
    content, result = await read(client, path="/proc/self/status")
    assert b"Threads:" in content
    assert result["bytes"] == len(content)
    assert (await read(client, path="/proc/self/status", offset=6, length=4))[0] == content[6:10]


async def test_a_file_that_grows_meanwhile_is_read_to_its_first_size(client: Client, served: Served) -> None:
    file = served.workspace / "f"
    file.write_bytes(bytes(3_000_000))
    call = client.call("file.read", {"path": "f"}, generous=False)
    await call.until(lambda: len(call.output) > 500_000)
    os.truncate(file, 4_000_000)
    call.grant(4_000_000)
    assert (await call.result())["bytes"] == 3_000_000


async def test_the_holes_of_a_sparse_file_are_read_as_zeros(client: Client, served: Served) -> None:
    file = served.workspace / "f"
    file.touch()
    os.truncate(file, 1 << 40)
    content, _ = await read(client, path="f", offset=(1 << 40) - 10)
    assert content == bytes(10)


async def test_a_lost_connection_leaves_no_descriptor_open(served: Served) -> None:
    (served.workspace / "f").write_bytes(DATA * 10)
    before = served.runtime.info()["open_fds"]
    async with served.client(window=10_000) as client:
        calls = [client.call("file.read", {"path": "f"}, generous=False) for _ in range(10)]
        for call in calls:
            await call.until(lambda: call.output)  # noqa: B023
        calls[0].cancel()
    await eventually(lambda: served.runtime.info()["open_fds"] <= before)  # a thread closes them, without an event


async def test_a_fifo_is_never_opened_since_its_writer_would_die_when_the_reader_leaves(
    client: Client, served: Served
) -> None:
    os.mkfifo(served.workspace / "fifo")
    inotify = Inotify()
    inotify.add(bytes(served.workspace), IN_OPEN)
    try:
        for method in ("file.read", "file.archive", "file.search"):
            more = {"pattern": "x"} if method == "file.search" else {}
            assert (await client.refused(method, path="fifo", **more)).code == "invalid_params"
        await client.ask("file.copy", path="fifo", to="copy")
        assert b"fifo" not in {event.name for event in inotify.read()}
    finally:
        inotify.close()


async def test_reads_beyond_the_slots_wait_and_unread_ones_give_way(
    client: Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_slots, "STALLED", 0.01)
    (served.workspace / "f").write_bytes(DATA)
    async with served.client(window=1000) as slow:
        unread = [slow.call("file.read", {"path": "f"}, generous=False) for _ in range(stream_slots.SLOTS)]
        assert (await read(client, path="f"))[0] == DATA
        ended = [call for call in unread if call.closed]
        assert {(await call.refusal()).code for call in ended} == {"limit_exceeded"}
