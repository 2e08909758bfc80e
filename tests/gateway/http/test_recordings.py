from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from hawse_gateway.http.recordings import ByteRange, part_of
from tests.support.gateway import TOKEN, VIEWER_TOKEN, Gateway, Recorded, pattern
from tests.support.http_clients import http_client

SIZE = 3_000_000
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PATH = "/v1/sandboxes/local/recordings/r-1.cast"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        Recorded(tmp_path / "s", SIZE) as runtime,
        Gateway(runtime) as gateway,
        http_client(gateway.url) as http,
    ):
        yield http


async def test_a_recording_is_a_file_for_a_client_with_a_token(http: httpx.AsyncClient) -> None:
    answer = await http.get(PATH, headers=BEARER)
    assert answer.status_code == 200
    assert answer.content == b"".join(pattern(at, min(50_200, SIZE - at)) for at in range(0, SIZE, 50_200))
    assert answer.headers["content-type"] == "application/x-asciicast"
    assert answer.headers["content-disposition"] == 'attachment; filename="r-1.cast"'
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_head_returns_the_length_without_reading(http: httpx.AsyncClient) -> None:
    answer = await http.head(PATH, headers=BEARER)
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, str(SIZE), b"")


async def test_a_range_is_read_from_its_first_byte(http: httpx.AsyncClient) -> None:
    answer = await http.get(PATH, headers=BEARER | {"Range": "bytes=1000-1099"})
    assert (answer.status_code, answer.content) == (206, pattern(1000, 100))
    assert answer.headers["content-range"] == f"bytes 1000-1099/{SIZE}"
    answer = await http.get(PATH, headers=BEARER | {"Range": f"bytes={SIZE}-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{SIZE}")


async def test_a_ticket_is_valid_for_one_download(http: httpx.AsyncClient) -> None:
    ticket = (await http.post("/v1/tickets", headers=BEARER)).json()["ticket"]
    assert (await http.get(PATH, params={"ticket": ticket})).status_code == 200
    assert (await http.get(PATH, params={"ticket": ticket})).json()["code"] == "unauthenticated"


async def test_a_viewer_gets_an_error_and_not_an_empty_file(http: httpx.AsyncClient) -> None:
    """A viewer may see that a recording exists; its contents may be for the owner only."""
    answer = await http.get(PATH, headers={"Authorization": f"Bearer {VIEWER_TOKEN}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        (PATH, {}, 401, "unauthenticated"),
        (PATH, {"Authorization": "Bearer no"}, 401, "unauthenticated"),
        (PATH, BEARER | {"Origin": "http://evil.example"}, 403, "origin_denied"),
        (PATH, BEARER | {"Host": "evil.example"}, 403, "origin_denied"),
        (PATH.replace("r-1", "r-2"), BEARER, 404, "not_found"),
        (PATH.replace("local", "other"), BEARER, 404, "not_found"),
    ],
)
async def test_unauthorized_requests_are_refused(
    http: httpx.AsyncClient, path: str, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await http.get(path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("header", "part"),
    [
        (None, ByteRange(0, 100, 100, False)),
        ("bytes=0-", ByteRange(0, 100, 100, True)),
        ("bytes=10-19", ByteRange(10, 20, 100, True)),
        ("bytes=90-1000", ByteRange(90, 100, 100, True)),
        ("bytes=-10", ByteRange(90, 100, 100, True)),
        ("bytes=-1000", ByteRange(0, 100, 100, True)),
        ("bytes=-0", None),
        ("bytes=100-", None),
        ("bytes=20-10", ByteRange(0, 100, 100, False)),
        ("bytes=-", ByteRange(0, 100, 100, False)),
        ("bytes=0-1,3-4", ByteRange(0, 100, 100, False)),
        ("lines=1-2", ByteRange(0, 100, 100, False)),
    ],
)
def test_a_range_is_one_part_or_the_whole_file(header: str | None, part: ByteRange | None) -> None:
    assert part_of(100, header) == part
