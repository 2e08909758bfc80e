"""Clients for a Redis server at a fixed address or for the primary reported by Redis Sentinel."""

import socket
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool

SENTINEL: Final = "redis+sentinel://"
SENTINEL_PORT: Final = 26379
FORM: Final = "redis+sentinel://[[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/NAME[/DB][?sentinel_password=PASSWORD]"
# If a machine disappears without closing its connections, keepalive probes detect it after 25 s, even on idle
# connections.
KEEPALIVE: Final = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


class SentinelUrl(NamedTuple):
    """The parts of a `redis+sentinel://` URL.

    Attributes:
        sentinels: The Sentinels' addresses. At least one of them must respond.
        name: The name of the monitored group of servers.
        server: Options for connections to a server.
        sentinel: Options for connections to a Sentinel.
    """

    sentinels: list[tuple[str, int]]
    name: str
    server: dict[str, Any]
    sentinel: dict[str, Any]


class SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """A pool of connections to the primary. Operations wait for a free connection."""

    async def aclose(self) -> None:
        await super().aclose()
        for each in self.sentinel_manager.sentinels:
            await each.aclose()


def open_redis(url: str, *, connections: int, timeout: float) -> Redis:
    """Return a client for operations. The client connects on first use.

    Args:
        url: `redis://`, `rediss://`, `unix://`, or a URL of the form `FORM`.
        connections: The maximum number of concurrent operations. Further operations wait up to `timeout`.
        timeout: Seconds to wait for a response from the server.

    Raises:
        ValueError: The URL is invalid.
    """
    options: dict[str, Any] = {"max_connections": connections, "timeout": timeout, "socket_timeout": timeout}
    return _open(url, options, timeout)


def open_subscriber(url: str, *, timeout: float) -> Redis:
    """Return a client for a subscription, with no time limit between messages."""
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
    """Parse a URL of the form `FORM`. Raises `ValueError`."""
    # Newer versions of urlsplit reject a host list that contains an IPv6 address.
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
    """Parse a Sentinel's address. IPv6 addresses must be in brackets."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{text!r} is not the address of a Sentinel: {error}") from error
    if not host or parts.path or parts.username is not None:
        raise ValueError(f"{text!r} is not the address of a Sentinel: expected HOST or HOST:PORT")
    return host, SENTINEL_PORT if port is None else port
