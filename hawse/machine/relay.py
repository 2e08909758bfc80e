"""Carries the link between the gateway and this machine's runtime, relaying between a WebSocket and a Unix socket.

The connection to the runtime is opened when the gateway sends the first bytes, because the runtime closes connections
that don't send `hello`. For backpressure, each direction waits for free buffer space before reading more.
"""

import asyncio
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from hawse.machine.own_runtime import CHUNK, OwnRuntime
from hawse.wire import RemoteProtocolError
from hawse.wire.join import FromGateway, Join, JoinAccepted, Leave, Quit, Refused, encode_join, parse_gateway

ANSWER_TIMEOUT: Final = 40.0  # timeout for `join`, in seconds; another gateway's lease may have to expire first


class Relay:
    """A WebSocket connection, from the `join` message until it closes. Call `join` once, then `run` once."""

    def __init__(self, websocket: ClientConnection, runtime: OwnRuntime) -> None:
        self._websocket = websocket
        self._runtime = runtime
        self._stopping = False  # whether the runtime is being stopped, while the WebSocket is still needed for `leave`

    async def join(self, sandbox: str | None, name: str) -> JoinAccepted | Refused:
        """Ask the gateway to accept this machine as the sandbox, and return its response.

        Raises:
            ConnectionClosed: The connection was closed without a message.
            TimeoutError: No message arrived in time.
            RemoteProtocolError: The message is not part of the protocol.
        """
        await self._websocket.send(encode_join(Join(runtime=self._runtime.id, sandbox=sandbox, name=name)))
        async with asyncio.timeout(ANSWER_TIMEOUT):
            answer = _message(await self._websocket.recv())
        if not isinstance(answer, JoinAccepted | Refused):
            raise RemoteProtocolError("the gateway has not answered `join`")
        return answer

    async def run(self, tasks: asyncio.TaskGroup) -> Quit | Refused | None:
        """Relay data until the connection ends or the gateway ends the sandbox.

        Args:
            tasks: The task group for the task that reads from the runtime.

        Returns:
            The gateway's last message; None if the connection is lost or the runtime is not accepting connections.

        Raises:
            RemoteProtocolError: The gateway violated the protocol.
        """
        writer: asyncio.StreamWriter | None = None
        upstream: asyncio.Task[None] | None = None
        try:
            async for message in self._websocket:
                if isinstance(message, str):
                    order = _message(message)
                    if isinstance(order, JoinAccepted):
                        raise RemoteProtocolError("a second `joined`")
                    return order
                if writer is None:
                    reader, writer = await self._runtime.connect()
                    upstream = tasks.create_task(self._upstream(reader))
                writer.write(message)
                await writer.drain()
        except (ConnectionClosed, OSError):  # the WebSocket or the connection to the runtime was closed
            pass
        finally:
            if upstream is not None:
                upstream.cancel()
            if writer is not None:
                writer.transport.abort()
        return None

    async def leave(self, reason: str) -> None:
        """Notify the gateway that all programs on this machine have exited, and close the connection."""
        with suppress(ConnectionClosed):
            await self._websocket.send(encode_join(Leave(reason=reason)))
        await self._websocket.close()

    def stopping(self) -> None:
        """Keep the WebSocket open when the runtime closes its connection."""
        self._stopping = True

    async def _upstream(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError, ConnectionClosed):
            while data := await reader.read(CHUNK):
                await self._websocket.send(data)
        if not self._stopping:
            await self._websocket.close()


def _message(message: str | bytes) -> FromGateway:
    if isinstance(message, bytes):
        raise RemoteProtocolError("received a binary message before the answer to `join`")
    return parse_gateway(message)
