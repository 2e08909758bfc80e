"""Relays a WebSocket to a previewed program, including subprotocols, close codes and refused upgrades.

The sans-I/O protocol of `websockets` handles the program's side over the tunnel, and uvicorn handles the browser's
side. ASGI doesn't support fragments, so each message is buffered as a whole, up to a size limit.
"""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import Receive, Scope, Send
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHeader
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN, SEND_EOF
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.preview.addresses import PreviewTarget
from hawse_gateway.preview.headers import STATUS_MAX, Pairs, PublicAddress, request_headers, response_headers
from hawse_gateway.upstream.port_connection import PortTunnel

MESSAGE_SIZE: Final = 4 << 20  # maximum size of a message from a program, in bytes
FRAGMENTS: Final = 1024  # maximum number of fragments per message, because empty fragments don't add to its size
FRAMES_PER_TURN: Final = 64  # number of frames handled before yielding to other connections
HANDSHAKE_TIME: Final = 30.0  # seconds to wait for a program to respond to an upgrade
CLOSE_TIME: Final = 5.0  # seconds to wait for a program to respond to a close frame

SWITCHING: Final = 101
OK: Final = 200  # lowest status of a final response
SILENT: Final = (CloseCode.NO_STATUS_RCVD, CloseCode.ABNORMAL_CLOSURE)  # close codes that must not be sent
OWN: Final = (b"sec-websocket-", b"content-length")  # not relayed, because these headers apply to only one connection


class WebSocketRelay:
    """Relays messages between a browser's WebSocket and a program's. Call `run` only once."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        tunnel: PortTunnel,
        target: PreviewTarget,
        public: PublicAddress,
        access_policy: AccessPolicy,
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._tunnel = tunnel
        self._target = target
        self._public = public
        self._access_policy = access_policy
        offered = [Subprotocol(name) for name in scope["subprotocols"]]
        uri = parse_uri(f"ws://localhost:{public.port}/")
        self._program = ClientProtocol(uri, subprotocols=offered or None, max_size=MESSAGE_SIZE)
        self._parts: list[bytes] = []  # parts of the message being received
        self._text = False  # whether the message being received is text
        self._early: list[Frame] = []  # frames that arrived together with the response to the upgrade
        self._left = False  # whether the browser has sent or received a close frame
        self._deadline: asyncio.Timeout  # timer for the program's response to a close frame

    async def run(self) -> None:
        """Relay until either side closes. The caller must already have received `websocket.connect`.

        Raises:
            HawseError: The program did not respond to the upgrade.
        """
        response = await self._ask()
        if response is None:
            return
        if response.status_code != SWITCHING:
            await self._refuse(response)
            return
        await self._accept(response)
        try:
            async with asyncio.timeout(None) as self._deadline, asyncio.TaskGroup() as tasks:
                up = tasks.create_task(self._up(), name="preview socket")
                await self._down()
                up.cancel()
        except* OSError:
            pass  # the browser disconnected, or the program did not respond to the browser's close in time
        except* HawseError as errors:
            await self._end(errors)

    async def _end(self, errors: ExceptionGroup[HawseError]) -> None:
        error = errors.exceptions[0]
        code = error.code if isinstance(error, HawseError) else "internal"
        with suppress(OSError):
            await self._close(CloseCode.INTERNAL_ERROR, code)

    # ---- the handshake

    async def _ask(self) -> Response | None:
        """Perform the handshake with the program. Return None if the browser disconnects first."""
        response: Response | None = None
        trouble: BaseException | None = None
        try:
            async with asyncio.timeout(HANDSHAKE_TIME), asyncio.TaskGroup() as tasks:
                watch = tasks.create_task(self._watch(), name="preview socket")
                response = await self._shake_hands()
                watch.cancel()
        except* TimeoutError:
            trouble = HawseError(
                "interrupted", f"the program did not answer the upgrade within {HANDSHAKE_TIME:g} s", admitted="unknown"
            )
        except* HawseError as errors:
            trouble = errors.exceptions[0]
        except* ConnectionResetError:
            pass
        if trouble is not None:
            raise trouble from None
        return response

    async def _watch(self) -> None:
        """Wait until the browser disconnects, and raise `OSError`. There are no messages to read, because browsers
        can't send any before the upgrade is accepted.
        """
        await self._receive()
        raise ConnectionResetError

    async def _shake_hands(self) -> Response:
        """Return the program's response, which is an upgrade or a refusal. Raises `HawseError` if the response is
        invalid."""
        request = self._program.connect()
        request.path = (self._target.path or b"/").decode("latin-1")
        del request.headers["Host"]
        try:
            for name, value in request_headers(self._scope["headers"], self._target, self._public, self._access_policy):
                if not name.startswith(OWN):
                    request.headers[name.decode("latin-1")] = value.decode("latin-1")
        except InvalidHeader as error:
            raise HawseError("invalid_params", f"this request cannot be forwarded: {error}") from None
        self._program.send_request(request)
        await self._flush()
        while True:
            events = self._program.events_received()
            response = events[0] if events else None
            if isinstance(response, Response):
                if self._program.handshake_exc is not None and response.status_code == SWITCHING:
                    break
                self._early = [event for event in events[1:] if isinstance(event, Frame)]  # can include a close frame
                return response
            if self._program.handshake_exc is not None:
                break
            await self._feed()
        raise HawseError("interrupted", f"not a WebSocket: {self._program.handshake_exc}", admitted="unknown")

    async def _accept(self, response: Response) -> None:
        headers = [(name, value) for name, value in self._answered(response) if name == b"set-cookie"]
        await self._send(
            {"type": "websocket.accept", "subprotocol": self._program.subprotocol, "headers": headers},
        )

    async def _refuse(self, response: Response) -> None:
        if not OK <= response.status_code <= STATUS_MAX:
            raise HawseError(
                "interrupted", f"not a WebSocket: the program answered {response.status_code}", admitted="unknown"
            )
        headers = [(name, value) for name, value in self._answered(response) if not name.startswith(OWN)]
        await self._send(
            {"type": "websocket.http.response.start", "status": response.status_code, "headers": headers},
        )
        await self._send({"type": "websocket.http.response.body", "body": bytes(response.body or b"")})

    def _answered(self, response: Response) -> Pairs:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.raw_items()]
        return response_headers(raw, self._target, self._public)

    # ---- browser to program

    async def _up(self) -> None:
        while (message := await self._receive())["type"] == "websocket.receive":
            if self._program.state is not OPEN:
                continue  # the program is closing, but its earlier messages are still being relayed
            if (text := message.get("text")) is not None:
                self._program.send_text(text.encode())
            else:
                self._program.send_binary(message["bytes"])
            with suppress(HawseError):  # `_down` handles the loss of the connection
                await self._flush()
            await self._tunnel.keep_pace()
        code, reason = message.get("code", CloseCode.NO_STATUS_RCVD), message.get("reason") or ""
        if self._program.state is OPEN:
            if code in SILENT:
                self._program.send_close()
            else:
                self._program.send_close(code, reason)
            with suppress(HawseError):
                await self._flush()
        self._left = True
        self._deadline.reschedule(asyncio.get_running_loop().time() + CLOSE_TIME)

    # ---- program to browser

    async def _down(self) -> None:
        """Relay frames to the browser until the program closes. If the program sends no close frame, close the
        WebSocket with code 1011."""
        frames = self._early
        while True:
            for count, frame in enumerate(frames, 1):
                if count % FRAMES_PER_TURN == 0:
                    await asyncio.sleep(0)
                if frame.opcode is Opcode.CLOSE:
                    await self._close_as_the_program()
                    return
                await self._pass_on(frame)
            if self._program.parser_exc is not None:
                await self._close(CloseCode.INTERNAL_ERROR, "the program broke the connection")
                return
            await self._feed()
            frames = [event for event in self._program.events_received() if isinstance(event, Frame)]

    async def _pass_on(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._text, self._parts = frame.opcode is Opcode.TEXT, []
        elif frame.opcode is not Opcode.CONT:
            return  # the `websockets` library answers pings
        self._parts.append(bytes(frame.data))
        if len(self._parts) > FRAGMENTS:
            raise HawseError("too_large", f"a message has more than {FRAGMENTS} fragments", admitted="yes")
        if not frame.fin or self._left:
            return
        data, self._parts = b"".join(self._parts), []
        if not self._text:
            await self._send({"type": "websocket.send", "bytes": data})
            return
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise HawseError("invalid_message", "a text message is not valid UTF-8", admitted="yes") from None
        await self._send({"type": "websocket.send", "text": text})

    async def _close_as_the_program(self) -> None:
        close = self._program.close_rcvd
        if close is None or close.code in SILENT:
            await self._close(CloseCode.NORMAL_CLOSURE, "")
        else:
            await self._close(close.code, close.reason)

    async def _close(self, code: int, reason: str) -> None:
        if not self._left:
            self._left = True
            await self._send({"type": "websocket.close", "code": int(code), "reason": reason})

    # ---- the tunnel

    async def _feed(self) -> None:
        data = await self._tunnel.read()
        if data:
            self._program.receive_data(data)
        else:
            self._program.receive_eof()
        await self._flush()

    async def _flush(self) -> None:
        """Send pending bytes to the program.

        If the program no longer reads, the bytes are dropped. Data from the program is still read, because it shows why
        the program closed the connection.
        """
        parts = self._program.data_to_send()
        with suppress(HawseError):
            await self._tunnel.write(*parts)
            if parts and parts[-1] == SEND_EOF:
                self._tunnel.end()
