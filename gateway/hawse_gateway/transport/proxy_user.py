"""Determines from request headers which user a trusted proxy has authenticated. No I/O."""

import ipaddress
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class UserHeaders(NamedTuple):
    """The names of the headers that identify the user.

    Attributes:
        user: The header that contains the user's id.
        groups: The header that contains the user's groups, separated by commas, or None.
    """

    user: str
    groups: str | None = None


class ProxyUserHeaders:
    """ASGI middleware that accepts user headers from trusted proxies. Must run before the client address is replaced.

    These headers are removed from all requests, so that inner applications never see forged values.
    """

    def __init__(
        self,
        app: Any,
        proxies: Sequence[str],
        names: UserHeaders,
        key: str,
        make: Callable[[str, tuple[str, ...]], object],
    ) -> None:
        """Wrap an ASGI application.

        Args:
            app: The application to wrap.
            proxies: The IP addresses and networks of trusted proxies.
            names: The header names.
            key: The scope key for the user. In requests without a user, the scope contains None under this key.
            make: Creates the user from an id and groups.
        """
        self._app = app
        self._trusted = [ipaddress.ip_network(proxy) for proxy in proxies]
        self._user = _written(names.user)
        self._groups = None if names.groups is None else _written(names.groups)
        self._key = key
        self._make = make

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        ours: dict[bytes, list[str]] = {self._user: []}
        if self._groups is not None:
            ours[self._groups] = []
        others = []
        for name, value in scope["headers"]:
            # Programs that use CGI can't distinguish `_` from `-`, and proxies can forward both, so both spellings are
            # removed.
            known = ours.get(name.lower().replace(b"_", b"-"))
            if known is None:
                others.append((name, value))
            else:
                known.append(value.decode("latin-1").strip())
        user = self._make_user(ours) if self._trusts(scope) else None
        await self._app({**scope, "headers": others, self._key: user}, receive, send)

    def _make_user(self, ours: dict[bytes, list[str]]) -> object:
        """Return the user, or None if the header is missing, empty or repeated. A repeated header may be forged."""
        ids = ours[self._user]
        if len(ids) != 1 or not ids[0]:
            return None
        given = [] if self._groups is None else ours[self._groups]
        groups = given[0].split(",") if len(given) == 1 else []
        return self._make(ids[0], tuple(group.strip() for group in groups if group.strip()))

    def _trusts(self, scope: Any) -> bool:
        try:
            address = ipaddress.ip_address((scope.get("client") or ("",))[0])
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


def _written(name: str) -> bytes:
    return name.lower().replace("_", "-").encode("latin-1")
