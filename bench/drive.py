"""A fast client for both servers: a PTY over a WebSocket, with either raw bytes or hawse frames.

The same client measures both servers, so that all differences come from the servers. picows parses WebSocket frames in
C, so the client is not the bottleneck.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import msgspec
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from hawse.client.calls.receive_buffer import GRANT_STEP as GRANT
from hawse.wire import Error, Event, Result, Welcome
from hawse.wire.frames import HEADER, HEADER_SIZE
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import from_server

WINDOW = 512 << 10  # bytes; the default of hawse's clients

_INPUTS = itertools.count()

OnBytes = Callable[[bytes], None]


class Listener(WSListener):
    def __init__(self, on_text: OnBytes, on_bytes: OnBytes) -> None:
        self._on_text = on_text
        self._on_bytes = on_bytes

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.BINARY:
            self._on_bytes(frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.TEXT:
            self._on_text(frame.get_payload_as_bytes())


class Output:
    """The output of a PTY. Callers can wait for an amount of output or for a text."""

    def __init__(self) -> None:
        self.received = 0
        self.tail = b""  # the last `keep` bytes
        self.keep = 0
        self._goal = 0
        self._waiter: asyncio.Future[None] | None = None

    def put(self, data: bytes) -> None:
        self.received += len(data)
        if self.keep:
            self.tail = (self.tail + data)[-self.keep :]
        if self._waiter is not None and self.received >= self._goal:
            self._waiter.set_result(None)
            self._waiter = None

    async def until(self, goal: int) -> None:
        """Wait until `goal` bytes have been received since the start."""
        if self.received < goal:
            self._goal = goal
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def fail(self, error: Exception) -> None:
        """Make the current call of `until` raise `error`, because the output has ended."""
        if self._waiter is not None:
            self._waiter.set_exception(error)
            self._waiter = None

    async def until_ends_with(self, text: bytes) -> None:
        """Wait until the output ends with `text`, which has at most `keep` bytes."""
        while not self.tail.endswith(text):
            await self.until(self.received + 1)


class NaivePty:
    """A PTY of the naive server."""

    _transport: WSTransport

    def __init__(self) -> None:
        self.output = Output()

    @classmethod
    async def open(cls, port: int, command: str, *, keep: int = 0) -> "NaivePty":
        pty = cls()
        pty.output.keep = keep
        uri = f"ws://127.0.0.1:{port}/pty?command={quote(command)}"
        pty._transport, _ = await ws_connect(lambda: Listener(lambda text: None, pty.output.put), uri)
        return pty

    def send(self, data: bytes) -> None:
        self._transport.send(WSMsgType.BINARY, data)

    def close(self) -> None:
        self._transport.disconnect()


class HawseSocket:
    """A hawse connection with any number of terminals and calls, implemented from docs/wire.md alone."""

    _transport: WSTransport

    def __init__(self) -> None:
        self.outputs: dict[int, Output] = {}
        self._ch = 0
        self._unreturned: dict[int, int] = {}
        self._opened: dict[int, asyncio.Future[str]] = {}
        self._sent: dict[int, int] = {}
        self._results: dict[int, asyncio.Future[Any]] = {}
        self._welcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, port: int, token: str) -> "HawseSocket":
        hawse = cls()
        hawse._transport, _ = await ws_connect(
            lambda: Listener(hawse._text, hawse._data),
            f"ws://127.0.0.1:{port}/v1/connect",
            extra_headers={"Authorization": f"Bearer {token}", "Sec-WebSocket-Protocol": "hawse.v1"},
        )
        hawse._send_message({"type": "hello", "protocol": 1, "client": "bench", "window": WINDOW})
        await hawse._welcome
        return hawse

    def close(self) -> None:
        self._transport.disconnect()

    def call(self, method: str, params: dict[str, object]) -> asyncio.Future[Any]:
        self._ch += 1
        self._send_message({"type": "call", "ch": self._ch, "method": method, "sandbox": "local", "params": params})
        result = self._results[self._ch] = asyncio.get_running_loop().create_future()
        return result

    async def terminal(self, terminal_id: str, command: str, *, keep: int = 0) -> int:
        """Start a terminal and attach to it. Return the channel."""
        await self.call("terminal.create", {"id": terminal_id, "argv": ["/bin/sh", "-c", command]})
        return self.attach(terminal_id, keep=keep)

    def attach(self, terminal_id: str, *, keep: int = 0, since: int | None = None) -> int:
        """Attach to a terminal. Return the channel."""
        output = self.outputs[self._ch + 1] = Output()
        output.keep = keep
        self._opened[self._ch + 1] = asyncio.get_running_loop().create_future()
        params: dict[str, object] = {"id": terminal_id, "input": f"i-{next(_INPUTS)}", "emulator": True}
        self.call("terminal.attach", params if since is None else params | {"since": since})
        return self._ch

    async def opened(self, ch: int) -> str:
        """Return how an attach has started: "start", "resume" or "snapshot"."""
        return await self._opened[ch]

    async def ended(self) -> None:
        """Wait until all calls have ended, including attachments."""
        await asyncio.gather(*self._results.values())

    def stop_reading(self) -> None:
        self._transport.underlying_transport.pause_reading()

    def send(self, ch: int, data: bytes) -> None:
        offset = self._sent.get(ch, 0)
        self._sent[ch] = offset + len(data)
        self._transport.send(WSMsgType.BINARY, HEADER.pack(0, ch, offset) + data)

    def _data(self, frame: bytes) -> None:
        ch = int.from_bytes(frame[1:5], "big")
        self._count_read(ch, len(frame) - HEADER_SIZE)
        if frame[0] == 1 and ch in self.outputs:
            self.outputs[ch].put(frame[HEADER_SIZE:])

    def _text(self, text: bytes) -> None:
        match from_server.decode(text):
            case Event() as event:
                self._count_read(event.ch, len(event.value) + EVENT_OVERHEAD)
                if event.name == "opened" and event.ch in self._opened:
                    self._opened[event.ch].set_result(msgspec.json.decode(event.value)["start_at"])
            case Result() as result:
                self._results.pop(result.ch).set_result(msgspec.json.decode(result.value))
            case Error(ch=int(ch)) as error:
                exception = error.to_exception()
                self._results.pop(ch).set_exception(exception)
                if ch in self.outputs:
                    self.outputs[ch].fail(exception)
                    self._opened[ch].cancel()
            case Welcome():
                self._welcome.set_result(None)

    def _count_read(self, ch: int, size: int) -> None:
        """Count `size` bytes of the window as read, and return credit for them in steps of GRANT bytes."""
        unreturned = self._unreturned.get(ch, 0) + size
        if unreturned >= GRANT:
            self._send_message({"type": "credit", "ch": ch, "bytes": unreturned})
            unreturned = 0
        self._unreturned[ch] = unreturned

    def _send_message(self, message: dict[str, object]) -> None:
        self._transport.send(WSMsgType.TEXT, json.dumps(message).encode())
