import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from hawse_gateway.http.static import IMMUTABLE, SecurityHeaders, accepted_encodings, pages

GZIP = gzip.compress(b"let x", mtime=0)  # without the time, which the processes of pytest-xdist would differ in


@pytest.fixture
def web(tmp_path: Path) -> Path:
    web = tmp_path / "_web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html>hawse")
    (web / "recording.html").write_text("<!doctype html>recording")
    (web / "home.html").write_text("<!doctype html>home")
    (web / "assets" / "main-4f2a.js").write_text("let x")
    (web / "assets" / "main-4f2a.js.br").write_bytes(b"brotli")
    (web / "assets" / "main-4f2a.js.gz").write_bytes(GZIP)
    (web / "assets" / "old-77.js").write_text("let y")
    (web / "assets" / "old-77.js.gz").write_bytes(GZIP)
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


async def test_the_page_of_all_sandboxes_needs_no_ending(http: httpx.AsyncClient) -> None:
    answer = await http.get("/home")
    assert (answer.status_code, answer.text) == (200, "<!doctype html>home")
    assert answer.headers["content-type"].startswith("text/html")
    assert (await http.get("/recordin")).status_code == 404


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


# httpx would decode the content, so these read the raw bytes.
async def _fetch(
    http: httpx.AsyncClient, path: str, method: str = "GET", **headers: str
) -> tuple[httpx.Response, bytes]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    async with http.stream(method, path, headers=names) as answer:
        return answer, b"".join([chunk async for chunk in answer.aiter_raw()])


@pytest.mark.parametrize(
    ("accept", "encoding", "content"),
    [
        ("gzip, deflate, br, zstd", "br", b"brotli"),
        ("gzip", "gzip", GZIP),
        ("GZIP;q=0.5", "gzip", GZIP),
        ("*", "br", b"brotli"),
        ("br;q=0, *", "gzip", GZIP),
        ("br;q=0, gzip;q=0", None, b"let x"),
        ("identity", None, b"let x"),
        ("", None, b"let x"),
        ("br;q=nan, ;;, gzip;q=", None, b"let x"),
    ],
)
async def test_a_file_is_sent_in_the_best_encoding_that_the_client_accepts(
    http: httpx.AsyncClient, accept: str, encoding: str | None, content: bytes
) -> None:
    answer, raw = await _fetch(http, "/assets/main-4f2a.js", accept_encoding=accept)
    assert (answer.status_code, raw) == (200, content)
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["content-length"] == str(len(content))
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["cache-control"] == IMMUTABLE
    assert "javascript" in answer.headers["content-type"]


async def test_an_encoding_that_the_build_has_not_written_is_not_used(http: httpx.AsyncClient) -> None:
    answer, raw = await _fetch(http, "/assets/old-77.js", accept_encoding="br, gzip")
    assert (answer.headers["content-encoding"], raw) == ("gzip", GZIP)
    answer, raw = await _fetch(http, "/icon.svg", accept_encoding="br, gzip")
    assert ("content-encoding" in answer.headers, raw) == (False, b"<svg/>")


async def test_each_encoding_has_its_own_etag(http: httpx.AsyncClient) -> None:
    path = "/assets/main-4f2a.js"
    tags = [(await _fetch(http, path, accept_encoding=accept))[0].headers["etag"] for accept in ("br", "gzip", "")]
    assert len(set(tags)) == 3
    answer, raw = await _fetch(http, path, accept_encoding="br", if_none_match=tags[0])
    assert (answer.status_code, raw, answer.headers["vary"]) == (304, b"", "Accept-Encoding")
    assert answer.headers["etag"] == tags[0]
    assert (await _fetch(http, path, accept_encoding="gzip", if_none_match=tags[0]))[0].status_code == 200


async def test_head_describes_the_response_to_get(http: httpx.AsyncClient) -> None:
    got, _ = await _fetch(http, "/assets/main-4f2a.js", accept_encoding="br")
    head, raw = await _fetch(http, "/assets/main-4f2a.js", "HEAD", accept_encoding="br")
    assert (head.status_code, raw, dict(head.headers)) == (200, b"", dict(got.headers))


async def test_a_range_is_one_of_the_plain_file(http: httpx.AsyncClient) -> None:
    answer, raw = await _fetch(http, "/assets/main-4f2a.js", accept_encoding="br", range="bytes=0-2")
    assert (answer.status_code, raw) == (206, b"let")
    assert answer.headers["content-range"] == "bytes 0-2/5"
    assert "content-encoding" not in answer.headers
    # The client has a part of the compressed file, so it needs all of the plain one.
    tag = (await _fetch(http, "/assets/main-4f2a.js", accept_encoding="br"))[0].headers["etag"]
    answer, raw = await _fetch(http, "/assets/main-4f2a.js", accept_encoding="br", range="bytes=0-2", if_range=tag)
    assert (answer.status_code, raw) == (200, b"let x")


@pytest.mark.parametrize("path", ["/assets/main-4f2a.js.br", "/assets/main-4f2a.js.gz"])
async def test_encoded_files_have_no_separate_addresses(http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == 404


def test_accepted_encodings_are_read_from_several_values_with_weights() -> None:
    assert accepted_encodings(["gzip;q=0.5 , BR", "zstd;q=0"]) == {"gzip", "br", "!zstd"}
    assert accepted_encodings([]) == frozenset()
    assert accepted_encodings(["a" * 10_000 + ";q=" + "9" * 10_000]) == {"!" + "a" * 10_000}


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


@pytest.mark.parametrize(("host", "sources"), [(None, "'self'"), ("p.example.org", "'self' *.p.example.org:*")])
async def test_our_pages_embed_only_ours_and_previews(host: str | None, sources: str) -> None:
    app = SecurityHeaders(PlainTextResponse("page"), ["https://app.example"], host)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        policy = (await client.get("/")).headers["content-security-policy"].split("; ")
    assert f"frame-src {sources}" in policy
    assert "frame-ancestors 'self' https://app.example" in policy


async def test_without_the_bundle_the_page_explains_how_to_build_it(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(pages(tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/")
    assert answer.status_code == 200
    assert "npm run build" in answer.text


async def test_the_page_for_output_of_code_is_sandboxed_without_network(web: Path) -> None:
    (web / "output.html").write_text("<!doctype html>")
    app = SecurityHeaders(pages(web), ["https://app.example"], "p.example.org")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answer = await client.get("/output.html")
        found = answer.headers.get_list("content-security-policy")
        again = await client.get("/output.html", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.headers.get_list("content-security-policy")) == (304, found)
        assert len((await client.get("/")).headers.get_list("content-security-policy")) == 1
    assert len(found) == 1
    rules = found[0].split("; ")
    assert {"sandbox allow-scripts", "default-src 'none'", "frame-ancestors 'self' https://app.example"} <= {*rules}
    assert not any("allow-same-origin" in rule or rule.startswith("connect-src") for rule in rules)
    assert "script-src 'unsafe-inline' 'unsafe-eval'" in rules
