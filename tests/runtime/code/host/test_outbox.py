"""Output is sent in chunks, and not while its kernel is paused."""

import asyncio
import socket

from hawse_runtime.code.host.outbox import Outbox
from hawse_runtime.code.host_protocol import CHUNK, MESSAGE_LIMIT, STDOUT, Pause, from_runtime, split
from hawse_runtime.core.framing import FrameDecoder


async def test_output_waits_for_its_kernel_and_messages_do_not() -> None:
    ours, theirs = socket.socketpair()
    reader, _own = await asyncio.open_unix_connection(sock=ours)
    _, writer = await asyncio.open_unix_connection(sock=theirs)
    outbox = Outbox(writer, lambda work: None)
    flowing = asyncio.Event()
    data = b"x" * (2 * CHUNK + 1)
    async with asyncio.TaskGroup() as group:
        group.create_task(outbox.send_output(STDOUT, 7, data, flowing))
        await asyncio.sleep(0)
        await outbox.send(Pause(executor=3))
        decoder = FrameDecoder(MESSAGE_LIMIT)
        received = list(decoder.feed(await reader.read(1 << 16)))
        assert [from_runtime.decode(split(body)[2]) for body in received] == [Pause(executor=3)]
        flowing.set()
        chunks: list[bytes] = []
        while sum(map(len, chunks)) < len(data):
            for kind, run, body in map(split, decoder.feed(await reader.read(1 << 16))):
                assert (kind, run) == (STDOUT, 7)
                chunks.append(body)
    assert [len(chunk) for chunk in chunks] == [CHUNK, CHUNK, 1]
    writer.close()
    _own.close()
