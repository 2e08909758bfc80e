"""The naive server: Starlette, uvicorn and `add_reader` on a PTY. It shows the minimum cost of a single hop, without
multiplexing, journal or replay.

Run `python -m bench.naive PORT`. Each WebSocket at /pty?command=… has a separate PTY.
"""

import asyncio
import os
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

READ = 65536


async def pty(websocket: WebSocket) -> None:
    await websocket.accept()
    master, slave = os.openpty()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", websocket.query_params["command"], stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    os.set_blocking(master, False)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(master, readable.set)

    async def send() -> None:
        while True:
            await readable.wait()
            readable.clear()
            try:
                while data := os.read(master, READ):
                    await websocket.send_bytes(data)
            except BlockingIOError:
                continue
            except (OSError, WebSocketDisconnect):
                return

    async def receive() -> None:
        while True:
            os.write(master, await websocket.receive_bytes())

    try:
        async with asyncio.TaskGroup() as tasks:
            sender = tasks.create_task(send())
            try:
                await receive()
            except (WebSocketDisconnect, OSError, KeyError):
                sender.cancel()
    finally:
        loop.remove_reader(master)
        os.close(master)
        if process.returncode is None:
            process.kill()
        await process.wait()


if __name__ == "__main__":
    app = Starlette(routes=[WebSocketRoute("/pty", pty)])
    uvicorn.run(
        app, host="127.0.0.1", port=int(sys.argv[1]), loop="uvloop", log_level="error", ws_per_message_deflate=False
    )
