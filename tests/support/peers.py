"""Programs that listen, for tests to run inside a sandbox: `python peers.py KIND` prints its port, then serves.

echo    sends back its input, and closes its half when the input ends
late    reads to the end, then sends the number of bytes and their SHA-256
flood   sends N bytes (the second argument) and closes, ignoring its input
deaf    accepts and never reads
reset   sends a line, then breaks the connection
quiet   listens and never accepts
Options: --host (127.0.0.1 by default), --port (0), --orphan: leave its parent and its session.
"""

import argparse
import asyncio
import hashlib
import os
import socket
import struct

BLOCK = bytes(range(256)) * 256


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()


async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    digest, size = hashlib.sha256(), 0
    while data := await reader.read(65_536):
        digest.update(data)
        size += len(data)
    writer.write(f"{size} {digest.hexdigest()}".encode())


async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int) -> None:
    for start in range(0, size, len(BLOCK)):
        writer.write(BLOCK[: size - start])
        await writer.drain()


async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    print("accepted", flush=True)
    await asyncio.Event().wait()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"a line\n")
    await writer.drain()
    await reader.readline()
    peer = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("size", type=int, nargs="?", default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--orphan", action="store_true")
    options = parser.parse_args()
    if options.orphan:
        leave()
    asyncio.run(run(options))


def leave() -> None:
    """Become a daemon: fork twice, in a new session."""
    for step in (os.setsid, lambda: None):
        if os.fork():
            os._exit(0)
        step()


async def run(options: argparse.Namespace) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kinds = {"echo": echo, "late": late, "deaf": deaf, "reset": reset}
        try:
            if options.kind == "flood":
                await flood(reader, writer, options.size)
            else:
                await kinds[options.kind](reader, writer)
        except ConnectionError:
            pass
        writer.close()

    if options.kind == "quiet":
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listener = socket.create_server((options.host, options.port), family=family, backlog=1)
        print(listener.getsockname()[1], flush=True)
        await asyncio.Event().wait()
    server = await asyncio.start_server(serve, options.host, options.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    main()
