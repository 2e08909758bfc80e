"""Clients of a Redis server: of one address, or of the primary that Redis Sentinel names."""

import socket
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool

SENTINEL: Final = "redis+sentinel://"
SENTINEL_PORT: Final = 26379
FORM: Final = "redis+sentinel://[[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/NAME[/DB][?sentinel_password=PASSWORD]"
# A machine that is gone closes no connection: the kernel notices that after 25 s, also while nothing is sent.
KEEPALIVE: Final = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


class SentinelUrl(NamedTuple):
    """What a `redis+sentinel://` URL names.

    Attributes:
        sentinels: The addresses of Sentinels: one that answers is enough.
        name: What they call the group of servers.
        server: The options of connections to a server.
        sentinel: The options of connections to a Sentinel.
    """

    sentinels: list[tuple[str, int]]
    name: str
    server: dict[str, Any]
    sentinel: dict[str, Any]


class SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the primary. Operations wait for one if there are too many at once."""

    async def aclose(self) -> None:
        await super().aclose()
        for each in self.sentinel_manager.sentinels:
            await each.aclose()


def open_redis(url: str, *, connections: int, timeout: float) -> Redis:
    """Return a client for operations. Nothing is connected yet.

    Args:
        url: `redis://`, `rediss://`, `unix://`, or of `FORM`.
        connections: How many operations may be made at once; more wait for `timeout`.
        timeout: Seconds for the server to answer.

    Raises:
        ValueError: The URL has an error.
    """
    options: dict[str, Any] = {"max_connections": connections, "timeout": timeout, "socket_timeout": timeout}
    return _open(url, options, timeout)


def open_subscriber(url: str, *, timeout: float) -> Redis:
    """Return a client for a subscription, which may be silent for as long as the server is there."""
    return _open(url, {"max_connections": 2, "timeout": timeout}, timeout)


def _open(url: str, options: dict[str, Any], timeout: float) -> Redis:
    options["socket_connect_timeout"] = timeout
    if url.startswith("unix://"):
        return Redis.from_pool(BlockingConnectionPool.from_url(url, **options))
    options |= {"socket_keepalive": True, "socket_keepalive_options": KEEPALIVE}
    if not url.startswith(SENTINEL):
        return Redis.from_pool(BlockingConnectionPool.from_url(url, **options))
    parsed = parse_sentinel_url(url)
    asked = parsed.sentinel | {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    manager = Sentinel(parsed.sentinels, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
    pool = SentinelPool(parsed.name, manager, **options, **parsed.server)  # type: ignore[no-untyped-call]
    return Redis.from_pool(pool)


def parse_sentinel_url(url: str) -> SentinelUrl:
    """Parse a URL of `FORM`. Raises `ValueError`."""
    # By hand: later versions of urlsplit refuse an IPv6 address that is not the only host.
    rest, _, parameters = url.removeprefix(SENTINEL).partition("?")
    place, _, path = rest.partition("/")
    credentials, _, hosts = place.rpartition("@")
    user, _, password = credentials.partition(":")
    name, _, database = path.partition("/")
    query = parse_qs(parameters, keep_blank_values=True)
    unknown = query.keys() - {"sentinel_password"}
    sentinels = [_address(host) for host in hosts.split(",")]
    if unknown or not name or (database and not (database.isascii() and database.isdigit())):
        raise ValueError(f"expected {FORM}")
    server = {"username": unquote(user) or None, "password": unquote(password) or None, "db": int(database or "0")}
    sentinel = {"password": query["sentinel_password"][-1]} if query else {}
    return SentinelUrl(sentinels, unquote(name), server, sentinel)


def _address(text: str) -> tuple[str, int]:
    """Return the address of a Sentinel; an IPv6 address is in brackets."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{text!r} is not the address of a Sentinel: {error}") from error
    if not host or parts.path or parts.username is not None:
        raise ValueError(f"{text!r} is not the address of a Sentinel: expected HOST or HOST:PORT")
    return host, SENTINEL_PORT if port is None else port
