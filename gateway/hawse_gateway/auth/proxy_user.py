"""The user authenticated by a trusted proxy, and a check that a session belongs to this user. No I/O."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

SCOPE_KEY: Final = "hawse.proxy_user"  # the user's key in the ASGI scope of requests from trusted proxies
_PREFIX: Final = "login-proxy-"


class ProxyUser(NamedTuple):
    """A user authenticated by a proxy.

    Attributes:
        id: The user's id at the proxy.
        groups: The user's groups.
    """

    id: str
    groups: tuple[str, ...] = ()


def login_id(user: ProxyUser) -> str:
    """Return the id of the user's login."""
    return _PREFIX + hashlib.sha256(user.id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def counts(scope: Mapping[str, Any], login: str) -> bool:
    """Return whether a request may use a session. A session created through a proxy can only be used by the same proxy
    user.

    Args:
        scope: The ASGI scope of the request.
        login: The id of the session's parent credential.
    """
    if not login.startswith(_PREFIX):
        return True
    user = scope.get(SCOPE_KEY)
    return user is not None and login_id(user) == login
