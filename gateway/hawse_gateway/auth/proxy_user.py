"""The user authenticated by a trusted proxy, and the sessions valid for this user only. No I/O."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

SCOPE_KEY: Final = "hawse.proxy_user"  # in the scope of requests from trusted proxies
_PREFIX: Final = "login-proxy-"


class ProxyUser(NamedTuple):
    """A user.

    Attributes:
        id: The user's id at the proxy.
        groups: The groups of the user.
    """

    id: str
    groups: tuple[str, ...] = ()


def login_id(user: ProxyUser) -> str:
    """Return the id of a user's login."""
    return _PREFIX + hashlib.sha256(user.id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def counts(scope: Mapping[str, Any], login: str) -> bool:
    """Return whether the request may use a session. One created through a proxy requires the same proxy user.

    Args:
        scope: The ASGI scope of the request.
        login: The id of the credential that the session belongs to.
    """
    if not login.startswith(_PREFIX):
        return True
    user = scope.get(SCOPE_KEY)
    return user is not None and login_id(user) == login
