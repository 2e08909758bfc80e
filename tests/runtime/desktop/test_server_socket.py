"""An X server whose queue of new connections is full."""

import asyncio
import socket
from pathlib import Path

from hawse.link.sockets import accepts_connections
from hawse_runtime.desktop.server_socket import connected


async def test_who_connects_waits_for_room_in_the_queue(tmp_path: Path) -> None:
    path = str(tmp_path / "rfb")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        server.listen(0)
        assert accepts_connections(Path(path))
        full = asyncio.Event()

        async def connect() -> asyncio.StreamWriter:
            try:
                return (await asyncio.open_unix_connection(path))[1]
            except BlockingIOError:
                full.set()
                raise

        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(connected(connect))
            await full.wait()
            server.accept()[0].close()
        waiting.result().close()
