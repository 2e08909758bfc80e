"""Users named by a proxy in headers: only trusted proxies count."""

from typing import Any

import pytest

from hawse_gateway.transport.proxy_user import ProxyUserHeaders, UserHeaders

PROXY = ("10.0.0.1", 5000)
NAMES = UserHeaders("X-Forwarded-User", "X-Forwarded-Groups")


async def seen(*headers: tuple[str, str], client: Any = PROXY, names: UserHeaders = NAMES) -> tuple[Any, list[bytes]]:
    """Return the user and the names of the headers that an application sees."""
    found: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope)

    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    wrapped = ProxyUserHeaders(app, ["10.0.0.0/8"], names, "user", lambda id, groups: (id, groups))
    await wrapped({"type": "http", "client": client, "headers": raw}, None, None)
    return found[0]["user"], [name for name, _ in found[0]["headers"]]


async def test_the_user_is_the_one_that_a_trusted_proxy_names() -> None:
    given = ("x-forwarded-user", "ada"), ("host", "x"), ("x-forwarded-groups", "staff, admins,")
    assert await seen(*given) == (("ada", ("staff", "admins")), [b"host"])
    assert await seen(given[0]) == (("ada", ()), [])
    assert await seen(*given, names=UserHeaders("X-Forwarded-User")) == (("ada", ()), [b"host", b"x-forwarded-groups"])


@pytest.mark.parametrize("client", [("192.0.2.1", 1), ("unix", 0), None])
async def test_the_headers_of_others_are_removed_and_do_not_count(client: Any) -> None:
    for name in ("x-forwarded-user", "X_Forwarded_User"):
        assert await seen((name, "ada"), ("x-forwarded-groups", "admins"), client=client) == (None, [])


async def test_a_header_that_is_missing_empty_or_repeated_names_no_user() -> None:
    assert await seen() == (None, [])
    assert await seen(("x-forwarded-user", " ")) == (None, [])
    assert await seen(("x-forwarded-user", "ada"), ("x_forwarded_user", "eve")) == (None, [])
    two = ("x-forwarded-groups", "a"), ("x-forwarded-groups", "admins")
    assert await seen(("x-forwarded-user", "ada"), *two) == (("ada", ()), [])
