"""Opens the WebSocket, and recognizes failures that make a retry pointless (docs/wire.md sections 1 and 7)."""

import errno
import os
import socket
import ssl
import sys
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit, urlunsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

import hawse
from hawse.client.base.errors import RefusedError, refused
from hawse.client.connection.liveness import CountingConnection
from hawse.wire import HawseError, Limits
from hawse.wire.frames import HEADER_SIZE
from hawse.wire.limits import SUBPROTOCOL

PATH = "/v1/connect"
WRITE_LIMIT = 64 * 1024  # bytes the transport can buffer; data on any channel waits behind them
SLACK = 64 * 1024  # headroom above the text limit in bytes, so that the protocol itself reports oversized messages
CLOSE_TIMEOUT = 2.0  # timeout for the closing handshake, in seconds
NOTSENT_LOWAT = 128 * 1024  # unsent bytes the kernel can queue; by default, 3 MB of an upload would wait there
RETRIED = frozenset({408, 425, 429})  # HTTP statuses below 500 that make another attempt worthwhile

FINAL_CLOSES = {
    1007: "invalid_message",
    1008: "protocol_error",
    1009: "too_large",
    4401: "unauthenticated",
    4403: "forbidden",
}

Authorities = str | Path | ssl.SSLContext | None  # the authorities used to verify a gateway's certificate


class DialError(Exception):
    """The attempt failed, but another one could succeed."""


def address(url: str, path: str = PATH) -> str:
    """Return the WebSocket URL for a route at `http(s)://` or `ws(s)://host[:port][/prefix]`. Raises `ValueError`."""
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}.get(parts.scheme)
    if scheme is None or not parts.hostname or parts.port == 0:
        raise ValueError(f"{url!r} is not a gateway URL, such as http://127.0.0.1:8080")
    before = parts.path.rstrip("/")
    return urlunsplit((scheme, parts.netloc, before if before.endswith(path) else before + path, "", ""))


def base(uri: str) -> str:
    """Return the gateway's HTTP URL without a trailing slash, for a WebSocket URL from `address`."""
    parts = urlsplit(uri)
    scheme = "https" if parts.scheme == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, parts.path.removesuffix(PATH), "", ""))


def token_in(url: str) -> str | None:
    """Return the token in a URL such as `http://127.0.0.1:8080/#token=…`, as printed by `hawse serve`; None if there is
    none.
    """
    return next(iter(parse_qs(urlsplit(url).fragment).get("token", [])), None)


def client_name() -> str:
    return f"hawse-python/{hawse.__version__}"


def trust(ca: Authorities) -> ssl.SSLContext | None:
    """Return the context for verifying the gateway's certificate; None means the system's trusted authorities.

    Args:
        ca: A file with PEM certificates to trust instead of the system's, such as a private authority's, or a complete
            `ssl.SSLContext`.

    Raises:
        ValueError: `ca` does not contain PEM certificates.
    """
    if ca is None or isinstance(ca, ssl.SSLContext):
        return ca
    try:
        return ssl.create_default_context(cafile=str(Path(ca).expanduser()))
    except OSError as error:  # includes ssl.SSLError, a subclass
        raise ValueError(f"{str(ca)!r} does not contain PEM certificates: {error.strerror or error}") from error


async def dial(
    uri: str,
    *,
    token: str | None,
    timeout: float,
    tls: ssl.SSLContext | None = None,
    subprotocol: str = SUBPROTOCOL,
    ping: float | None = None,
) -> ClientConnection:
    """Open the WebSocket. The caller sends `hello`.

    Args:
        uri: The WebSocket URL, from `address`.
        token: The bearer token; None means none is sent.
        timeout: Time limit in seconds.
        tls: The context for verifying the gateway's certificate. None means the system's trusted authorities.
        subprotocol: The WebSocket subprotocol.
        ping: Seconds between WebSocket pings, which is also how long to wait for each pong. None if the protocol has
            its own pings.

    Raises:
        RefusedError: The server refused the connection, and would refuse a retry as well.
        DialError: Connecting failed, but another attempt could succeed.
    """
    if token is not None and not token.isprintable():  # the library's error message would contain the token
        raise refused("unauthenticated", "the token contains a line feed or another invalid character")
    try:
        websocket = await connect(
            uri,
            subprotocols=[Subprotocol(subprotocol)],
            compression=None,
            additional_headers={"Authorization": f"Bearer {token}"} if token else None,
            user_agent_header=client_name(),
            open_timeout=timeout,
            ping_interval=ping,
            ping_timeout=ping,
            close_timeout=CLOSE_TIMEOUT,
            max_size=Limits().text + HEADER_SIZE + SLACK,
            write_limit=WRITE_LIMIT,
            create_connection=CountingConnection,
            proxy=_proxy(),
            ssl=(tls or True) if uri.startswith("wss:") else None,
        )
    except InvalidStatus as error:
        raise _refusal(error) from error
    except (InvalidURI, UnicodeError) as error:
        raise refused("invalid_params", str(error)) from error
    except (OSError, TimeoutError, EOFError, InvalidHandshake) as error:
        raise DialError(_reason(error, urlsplit(uri).netloc)) from error
    _keep_kernel_queue_small(websocket)
    return websocket


def _proxy() -> Literal[True] | None:
    """Return whether to look for a proxy. Looking for one loads modules, which takes 10 ms. On Linux, proxies are only
    configured by environment variables.
    """
    named = sys.platform != "linux" or any(name.lower().endswith("_proxy") for name in os.environ)
    return True if named else None


def _reason(error: Exception, address: str) -> str:
    """Describe an error in words instead of by its number."""
    text = str(error)
    if f"[Errno {errno.ECONNREFUSED}]" in text:  # one address's error, or the combined error for all of them
        return f"the connection to {address} was refused"
    if isinstance(error, socket.gaierror):
        return f"{address}: {error.strerror}"
    return text or type(error).__name__


def refusal_of_close(code: int | None, reason: str, sent: HawseError | None) -> RefusedError | None:
    """Return the error for a close that makes retries pointless; None if a retry could succeed.

    Args:
        code: The WebSocket close code.
        reason: The close reason.
        sent: The `error` without a channel that the server sent before closing, if any.
    """
    if code not in FINAL_CLOSES:
        return None
    if sent is None:
        return refused(FINAL_CLOSES[code], reason or f"closed with {code}")
    return refused(sent.code, sent.message, details=sent.details)


def _refusal(error: InvalidStatus) -> RefusedError | DialError:
    response = error.response
    status = response.status_code
    if status in RETRIED or not 400 <= status < 500:
        return DialError(f"HTTP {status}")
    try:
        body = msgspec.json.decode(response.body or b"")
        return refused(str(body["code"]), str(body.get("message", "")))
    except (ValueError, KeyError, TypeError, AttributeError):
        code = {401: "unauthenticated", 403: "forbidden", 404: "not_found"}.get(status, "protocol_error")
        text = f"HTTP {status} without a reason: this may not be the address of a gateway"
        return refused(code, text)


def _keep_kernel_queue_small(websocket: ClientConnection) -> None:
    raw = websocket.transport.get_extra_info("socket")
    option = getattr(socket, "TCP_NOTSENT_LOWAT", 25)  # the constant was added in Python 3.13; its value is 25 on Linux
    if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
        try:
            raw.setsockopt(socket.IPPROTO_TCP, option, NOTSENT_LOWAT)
        except OSError:  # not supported on this system, so interrupts take longer during uploads
            pass
