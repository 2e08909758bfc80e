from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from gateway.static import IMMUTABLE, SecurityHeaders, pages


@pytest.fixture
def web(tmp_path: Path) -> Path:
    web = tmp_path / "_web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html>hawse")
    (web / "recording.html").write_text("<!doctype html>recording")
    (web / "assets" / "main-4f2a.js").write_text("let x")
    (web / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret").write_text("token")
    (web / "link").symlink_to(tmp_path / "secret")
    return web


@pytest.fixture
async def http(web: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=[Mount("/", pages(web))], middleware=[Middleware(SecurityHeaders)])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        yield client


async def test_the_page_is_revalidated_at_each_load(http: httpx.AsyncClient) -> None:
    answer = await http.get("/")
    assert (answer.status_code, answer.text) == (200, "<!doctype html>hawse")
    assert answer.headers["cache-control"] == "no-cache"
    again = await http.get("/", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("recording=r-1", "recording"),
        ("sandbox=local&recording=r-1", "recording"),
        ("recording=", "recording"),
        ("recordings=r-1", "hawse"),
        ("terminal=recording", "hawse"),
        ("x=recording=", "hawse"),
    ],
)
async def test_a_recording_has_its_own_document(http: httpx.AsyncClient, query: str, document: str) -> None:
    answer = await http.get(f"/?{query}")
    assert (answer.status_code, answer.text) == (200, f"<!doctype html>{document}")
    assert answer.headers["cache-control"] == "no-cache"


async def test_files_with_a_hash_in_their_name_are_cached_without_expiry(http: httpx.AsyncClient) -> None:
    answer = await http.get("/assets/main-4f2a.js")
    assert answer.headers["cache-control"] == IMMUTABLE
    assert "javascript" in answer.headers["content-type"]
    assert (await http.get("/icon.svg")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/%2e%2e/secret",
        "/assets/../../secret",
        "/assets/%2e%2e%2f%2e%2e%2fsecret",
        "/..%5csecret",
        "//etc/passwd",
        "/link",
        "/%00",
        "/" + "a" * 300,
        "/nope",
    ],
)
async def test_paths_outside_the_directory_are_not_served(web: Path, path: str) -> None:
    app = pages(web)
    sent = []
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": httpx.URL("http://x" + path).path,
        "headers": [],
        "root_path": "",
    }
    scope["raw_path"] = path.encode()

    async def send(message: dict) -> None:
        sent.append(message)

    try:
        await app(scope, None, send)  # type: ignore[arg-type]
    except Exception as error:
        assert getattr(error, "status_code", None) == 404  # noqa: PT017
    assert not any(message.get("status") == 200 for message in sent)


async def test_a_missing_file_is_answered_with_the_404_page_if_there_is_one(web: Path, http: httpx.AsyncClient) -> None:
    assert (await http.get("/nope")).status_code == 404
    (web / "404.html").write_text("<!doctype html>nothing")
    answer = await http.get("/nope")
    assert (answer.status_code, answer.text) == (404, "<!doctype html>nothing")


async def test_only_get_and_head_are_allowed(http: httpx.AsyncClient) -> None:
    assert (await http.post("/")).status_code == 405
    assert (await http.head("/")).status_code == 200


async def test_every_response_has_the_security_headers(http: httpx.AsyncClient) -> None:
    for path in ("/", "/assets/main-4f2a.js", "/nope"):
        headers = (await http.get(path)).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; ")
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
        assert "base-uri 'none'; form-action 'self'" in headers["content-security-policy"]
        assert "ws:" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-opener-policy"] == "same-origin-allow-popups"
        assert headers["cross-origin-resource-policy"] == "same-origin"


async def test_without_the_bundle_the_page_explains_how_to_build_it(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(pages(tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    assert "npm run build" in answer.text
