"""Opening the WebSocket: the address, the headers, and which failures are final (docs/wire.md sections 1 and 7)."""

import json
import socket
from urllib.parse import parse_qs, urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

import hawse
from hawse.client.base.errors import RefusedError
from hawse.wire import HawseError, Limits
from hawse.wire.frames import HEADER_SIZE
from hawse.wire.limits import SUBPROTOCOL

PATH = "/v1/connect"
WRITE_LIMIT = 64 * 1024  # bytes the socket may hold back: more would make every channel wait behind it
SLACK = 64 * 1024  # bytes beyond the text limit, so that a server's own limit is what is met first
CLOSE_TIMEOUT = 2.0  # seconds for the closing handshake
NOTSENT_LOWAT = 128 * 1024  # bytes the kernel may queue unsent: without it an upload hides 3 MB from the writer
PASSING = frozenset({408, 425, 429})  # HTTP statuses below 500 that may pass

FINAL_CLOSES = {
    1007: "invalid_message",
    1008: "protocol_error",
    1009: "too_large",
    4401: "unauthenticated",
    4403: "forbidden",
}


class DialError(Exception):
    """No connection this time; another attempt may succeed."""


def address(url: str) -> str:
    """The WebSocket address for `http(s)://` or `ws(s)://host[:port][/prefix]`. Raises `ValueError`."""
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.port == 0:
        raise ValueError(f"not an address of a gateway: {url!r}; such as http://127.0.0.1:8080")
    path = parts.path.rstrip("/")
    return urlunsplit((scheme, parts.netloc, path if path.endswith(PATH) else path + PATH, "", ""))


def base(uri: str) -> str:
    """The gateway's address for HTTP, without a slash at its end, of what `address` returned."""
    parts = urlsplit(uri)
    scheme = "https" if parts.scheme == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, parts.path.removesuffix(PATH), "", ""))


def token_in(url: str) -> str | None:
    """The token in an address as `hawse serve` prints it: `http://127.0.0.1:8080/#token=…`."""
    return next(iter(parse_qs(urlsplit(url).fragment).get("token", [])), None)


def client_name() -> str:
    return f"hawse-python/{hawse.__version__}"


async def dial(uri: str, *, token: str | None, timeout: float) -> ClientConnection:
    """Connect, without `hello` yet. Raises `RefusedError` if no retry can help, else `DialError`."""
    try:
        websocket = await connect(
            uri,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            additional_headers={"Authorization": f"Bearer {token}"} if token else None,
            user_agent_header=client_name(),
            open_timeout=timeout,
            ping_interval=None,  # the protocol's own `ping` measures what people feel
            close_timeout=CLOSE_TIMEOUT,
            max_size=Limits().text + HEADER_SIZE + SLACK,
            write_limit=WRITE_LIMIT,
        )
    except InvalidStatus as error:
        raise _refusal(error) from error
    except (InvalidURI, UnicodeError) as error:
        raise RefusedError("invalid_params", str(error)) from error
    except (OSError, TimeoutError, EOFError, InvalidHandshake) as error:
        raise DialError(str(error) or type(error).__name__) from error
    _keep_kernel_queue_small(websocket)
    return websocket


def refusal_of_close(code: int | None, reason: str, last: HawseError | None) -> RefusedError | None:
    """What a close code says, if it is final. `last` is the `error` that the server sent before it."""
    if code not in FINAL_CLOSES:
        return None
    if last is None:
        return RefusedError(FINAL_CLOSES[code], reason or f"closed with {code}")
    return RefusedError(last.code, last.message, details=last.details)


def _refusal(error: InvalidStatus) -> RefusedError | DialError:
    response = error.response
    status = response.status_code
    if status in PASSING or not 400 <= status < 500:
        return DialError(f"HTTP {status}")
    try:
        body = json.loads(response.body or b"")
        return RefusedError(str(body["code"]), str(body.get("message", "")))
    except (ValueError, KeyError, TypeError, AttributeError):
        code = {401: "unauthenticated", 403: "forbidden", 404: "not_found"}.get(status, "protocol_error")
        return RefusedError(code, f"HTTP {status}")


def _keep_kernel_queue_small(websocket: ClientConnection) -> None:
    raw = websocket.transport.get_extra_info("socket")
    option = getattr(socket, "TCP_NOTSENT_LOWAT", 25)  # named since Python 3.13; 25 on Linux
    if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
        try:
            raw.setsockopt(socket.IPPROTO_TCP, option, NOTSENT_LOWAT)
        except OSError:  # no Linux: slower interrupts during uploads, nothing worse
            pass
