"""Shows the machine's limits: a WebSocket server in C that only echoes or pushes, and a loop that only reads a PTY.

`python -m bench.limits PORT` serves ws://…/echo and /push. `python -m bench.limits pty COMMAND` runs COMMAND on a PTY,
reads all its output, and prints MB/s and CPU seconds per 100 MB. `python -m bench.limits code SOURCE COUNT` runs SOURCE
in a Python kernel with jupyter_client only, and prints the milliseconds of each run.
"""

import asyncio
import os
import pty
import select
import sys
import time

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_create_server

FRAME = bytes(64 << 10)
PUSHED = 200_000_000  # bytes


class Echo(WSListener):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.BINARY:
            transport.send(WSMsgType.BINARY, frame.get_payload_as_bytes())


class Push(WSListener):
    """Sends PUSHED bytes as fast as the client reads them."""

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._transport = transport
        self._left = PUSHED
        self._paused = False
        asyncio.get_running_loop().call_soon(self.resume_writing)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        while self._left > 0 and not self._paused:
            self._transport.send(WSMsgType.BINARY, FRAME)
            self._left -= len(FRAME)


async def serve(port: int) -> None:
    def listener(request: WSUpgradeRequest) -> WSListener:
        return Echo() if request.path == b"/echo" else Push()

    server = await ws_create_server(listener, "127.0.0.1", port)
    await server.serve_forever()


def read_pty(command: str) -> tuple[float, float]:
    """Return (MB/s, CPU seconds per 100 MB) of a process that only reads, from the first to the last byte."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv("/bin/sh", ["sh", "-c", command])
    os.set_blocking(fd, False)
    total, start, cpu = 0, 0.0, 0.0
    while True:
        select.select([fd], [], [])
        if not total:
            start, cpu = time.perf_counter(), time.process_time()
        try:
            while data := os.read(fd, 1 << 16):
                total += len(data)
        except BlockingIOError:
            continue
        except OSError:
            break
    took, spent = time.perf_counter() - start, time.process_time() - cpu
    os.close(fd)
    os.waitpid(pid, 0)
    return total / 1e6 / took, spent / total * 1e8


async def run_code(source: str, count: int) -> list[float]:
    """Return the milliseconds of each run. Uses the kernel client in the same way as jupyter_client's examples."""
    from jupyter_client.manager import AsyncKernelManager

    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel()
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        request = client.execute(source)
        while True:
            message = await client.get_iopub_msg()
            idle = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
            if idle and message["parent_header"].get("msg_id") == request:
                break
        await client.get_shell_msg()
        times.append((time.perf_counter() - start) * 1e3)
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    return times


if __name__ == "__main__":
    if sys.argv[1] == "pty":
        print(*read_pty(sys.argv[2]))
    elif sys.argv[1] == "code":
        print(*asyncio.run(run_code(sys.argv[2], int(sys.argv[3]))))
    else:
        uvloop.run(serve(int(sys.argv[1])))
