"""URLs of Redis servers, and a change of the primary."""

import asyncio
from pathlib import Path

import pytest

from hawse_gateway.store.base import Put, StoreError
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.store.redis_client import open_redis, parse_sentinel_url
from tests.support.redis import sentinel_group
from tests.support.waiting import TIMEOUT


def test_a_url_names_sentinels_a_group_and_a_database() -> None:
    parsed = parse_sentinel_url("redis+sentinel://me:p%40ss@a,b:1,[::1]:2/rows/3?sentinel_password=q")
    assert parsed.sentinels == [("a", 26379), ("b", 1), ("::1", 2)]
    assert parsed.name == "rows"
    assert parsed.server == {"username": "me", "password": "p@ss", "db": 3}
    assert parsed.sentinel == {"password": "q"}
    least = parse_sentinel_url("redis+sentinel://a/rows")
    assert least.server == {"username": None, "password": None, "db": 0}
    assert least.sentinel == {}


@pytest.mark.parametrize(
    "rest",
    ["", "a", "a/", "/rows", "a,/rows", "a:x/rows", "a:70000/rows", "a/rows/x", "a/rows/\u0661", "a/r?b=1", "[/r"],
)
def test_a_url_with_an_error_is_refused(rest: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_sentinel_url(f"redis+sentinel://{rest}")
    assert "secret" not in str(caught.value)


def test_the_library_parses_other_urls(tmp_path: Path) -> None:
    for url in ("redis://h:1/2", "rediss://h", f"unix://{tmp_path}/s"):
        assert open_redis(url, connections=3, timeout=4.0).connection_pool.max_connections == 3
    with pytest.raises(ValueError, match="Port"):
        open_redis("redis://h:x", connections=1, timeout=1.0)


async def written(store: RedisStore, key: str) -> bool:
    try:
        await store.write(Put("t", key, b"1"))
    except StoreError:
        return False
    return True


async def test_operations_go_to_the_server_that_was_promoted(tmp_path: Path) -> None:
    async with sentinel_group(tmp_path) as group:
        store = RedisStore(group.url, timeout=1.0)
        first = await store.write(Put("t", "a", b"1"))
        await group.replicated()
        await group.kill_primary()
        async with asyncio.timeout(TIMEOUT):
            while not await written(store, "b"):  # noqa: ASYNC110  # until the Sentinel names the other one
                await asyncio.sleep(0.05)
        assert await store.get("t", "a") == (b"1", first)
        await store.close()


async def test_a_sentinel_that_is_not_there_is_an_error_of_the_store() -> None:
    store = RedisStore("redis+sentinel://127.0.0.1:1/rows", timeout=1.0)
    with pytest.raises(StoreError, match="No master found for 'rows'"):
        await store.get("t", "a")
    await store.close()
