"""Requests for previews are recognized."""

from typing import Any

import pytest

from hawse_gateway.preview.addresses import PreviewAddresses, PreviewTarget
from hawse_gateway.transport.uvicorn_http import EMPTY_QUERY

TOKEN = "abcdefghijklmnopqrstuvwxyz0123ef"


def scope(host: str | None, path: str, query: str = "") -> dict[str, Any]:
    headers = [] if host is None else [(b"host", host.encode())]
    return {"headers": headers, "raw_path": path.encode(), "path": path, "query_string": query.encode()}


def find(host: str | None, path: str, query: str = "", *, below: str | None = "localhost") -> PreviewTarget | None:
    return PreviewAddresses(below).find(scope(host, path, query))


def test_by_path() -> None:
    target = find("h:80", f"/p/box.1/{TOKEN}/a%20b/../c", "x=%2F")
    assert target == PreviewTarget("box.1", TOKEN, b"/a%20b/../c?x=%2F", f"/p/box.1/{TOKEN}", None, "h:80")
    assert target.by_path
    bare = find("h", f"/p/box/{TOKEN}", "q")
    assert bare is not None
    assert bare.path == b"?q"


def test_an_empty_query_is_kept() -> None:
    empty = scope("h", f"/p/box/{TOKEN}/q") | {"extensions": {EMPTY_QUERY: {}}}
    target = PreviewAddresses(None).find(empty)
    assert target is not None
    assert target.path == b"/q?"


def test_by_name() -> None:
    name = f"5173-my-box-{TOKEN}.localhost:8080"
    assert find(name, "/a", "b") == PreviewTarget("my-box", TOKEN, b"/a?b", "", 5173, name)
    assert find(name.upper(), f"/p/local/{TOKEN}/x") == PreviewTarget(
        "my-box", TOKEN, f"/p/local/{TOKEN}/x".encode(), "", 5173, name.upper()
    ), "for any path"
    assert find(f"1-b-{TOKEN}.previews.example.org", "/", below="Previews.Example.org") is not None


def test_a_tunnel_by_path() -> None:
    target = find("h:80", "/t/my-shop/a%20b", "x=%2F")
    assert target == PreviewTarget("", "my-shop", b"/a%20b?x=%2F", "/t/my-shop", None, "h:80", tunnel=True)
    assert target.by_path
    bare = find("h", "/t/shop", "q")
    assert bare is not None
    assert bare.path == b"?q"


def test_a_tunnel_by_name() -> None:
    assert find("t-shop.localhost:8080", "/a", "b") == PreviewTarget(
        "", "shop", b"/a?b", "", None, "t-shop.localhost:8080", tunnel=True
    )
    assert find("t-shop.localhost", "/t/other/") == PreviewTarget(
        "", "shop", b"/t/other/", "", None, "t-shop.localhost", tunnel=True
    ), "for any path"
    assert find("t-shop.localhost", "/", below=None) is None


@pytest.mark.parametrize("path", ["/t", "/t/", "/t/A/", "/t/a.b/", f"/t/{'a' * 41}/", "/tx/a/"])
def test_other_paths_are_not_tunnels(path: str) -> None:
    assert find("h", path) is None


def test_each_address_by_path_has_its_own_cookie_names() -> None:
    targets = [find("h", path) for path in ("/t/project-a/", "/t/project-b/", f"/p/box/{TOKEN}/", "/t/abcdefgh/")]
    assert len({target.mark for target in targets if target is not None}) == 4


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "t-.localhost",
        "t-shop.example.org",
        "t-shop.evil.localhost",
        "shop.localhost",
        ".localhost",
        f"5173-box-{TOKEN}.localhost.",
        f"5173-box-{TOKEN}.example.org",
        f"5173-box-{TOKEN}.evil.localhost",
        f"05-box-{TOKEN}.localhost",
        f"box-{TOKEN}.localhost",
        f"5173-{TOKEN}.localhost",
        "5173-box-short.localhost",
        f"5173-{'b' * 30}-{TOKEN}.localhost",
        "",
        None,
        "a@b",
    ],
)
def test_other_host_names_are_not_previews(host: str | None) -> None:
    assert find(host, "/") is None


def test_without_a_preview_host_no_host_name_is_a_preview() -> None:
    assert find(f"5173-box-{TOKEN}.localhost", "/", below=None) is None


@pytest.mark.parametrize(
    "path", ["/", "/p", "/p/", "/p/box", "/p/box/", "/p/box/TOKEN/", "/p/-box/abc/", "/q/box/abc/"]
)
def test_other_paths_are_not_previews(path: str) -> None:
    assert find("localhost", path) is None


def test_a_request_with_two_host_headers_is_not_a_preview() -> None:
    request = scope(f"5173-box-{TOKEN}.localhost", "/")
    request["headers"] *= 2
    assert PreviewAddresses("localhost").find(request) is None
