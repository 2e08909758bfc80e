"""An archive in a bucket is visible completely or not at all, and no upload is left open."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from hawse.wire import HawseError
from hawse_gateway.backups.object_store import PART, ObjectStore
from tests.support.s3_server import S3Server, s3_server


@pytest_asyncio.fixture
async def s3() -> AsyncIterator[S3Server]:
    async with s3_server() as server:
        yield server


def store_of(s3: S3Server, url: str = "s3://bucket/some/prefix/") -> ObjectStore:
    return ObjectStore(url, s3.environment, retry_time=0.1)


async def content(store: ObjectStore, id: str) -> bytes:
    return b"".join([data async for data in store.read(id)])


@pytest.mark.parametrize("size", [0, 10, 2 * PART + 1000])
async def test_a_committed_archive_can_be_read_and_deleted(s3: S3Server, size: int) -> None:
    store, data = store_of(s3), os.urandom(size)
    async with store.writing("x") as upload:
        for at in range(0, size, 300_000):
            await upload.write(data[at : at + 300_000])
        await upload.commit()
    assert s3.objects == {"some/prefix/x": data}
    assert await content(store, "x") == data
    await store.delete("x")
    await store.delete("x")
    assert (s3.objects, s3.uploads) == ({}, {})
    with pytest.raises(HawseError, match="io_error"):
        await content(store, "x")


async def test_an_uncommitted_upload_is_aborted(s3: S3Server) -> None:
    store = store_of(s3, "s3://bucket")
    with pytest.raises(ValueError):
        async with store.writing("x") as upload:
            await upload.write(bytes(PART + 1))
            await upload.write(bytes(PART + 1))
            raise ValueError
    async with store.writing("y"):
        pass
    assert (s3.objects, s3.uploads) == ({}, {})
    assert s3.aborted >= 1


async def test_a_cancelled_upload_is_aborted(s3: S3Server) -> None:
    begun = asyncio.Event()

    async def write() -> None:
        async with store_of(s3).writing("x") as upload:
            await upload.write(bytes(PART + 1))
            await upload.write(b"x")
            begun.set()
            await asyncio.Event().wait()

    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(write())
        await begun.wait()
        writing.cancel()
    assert (s3.objects, s3.uploads) == ({}, {})


@pytest.mark.parametrize(("status", "code"), [(403, "io_error"), (500, "unavailable")])
@pytest.mark.parametrize("operation", ["begin", "part", "complete"])
async def test_a_store_that_fails_at_any_step_is_reported(s3: S3Server, operation: str, status: int, code: str) -> None:
    s3.fails, s3.status = {operation}, status
    with pytest.raises(HawseError, match=code):
        async with store_of(s3).writing("x") as upload:
            for _ in range(4):
                await upload.write(bytes(PART))
            await upload.commit()
    assert s3.objects == {}


@pytest.mark.parametrize(("status", "code"), [(403, "io_error"), (500, "unavailable")])
async def test_reading_and_deleting_are_reported(s3: S3Server, status: int, code: str) -> None:
    s3.fails, s3.status = {"get", "delete"}, status
    with pytest.raises(HawseError, match=code):
        await content(store_of(s3), "x")
    with pytest.raises(HawseError, match=code):
        await store_of(s3).delete("x")


async def test_a_missing_bucket_and_an_unreachable_server_are_reported(s3: S3Server) -> None:
    hidden = ("127.0.0.1", "bucket", "some/prefix", s3.url)
    for store, code in (
        (store_of(s3, "s3://other"), "io_error"),
        (ObjectStore("s3://bucket", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, retry_time=0.1), "unavailable"),
    ):
        with pytest.raises(HawseError, match=code) as caught:
            async with store.writing("x") as upload:
                await upload.write(b"x")
                await upload.commit()
        assert not any(text in caught.value.message for text in hidden), "only the log has the text of the store"


@pytest.mark.parametrize("url", ["s3://", "s3:///x", "gs://bucket", "bucket"])
def test_another_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected s3://BUCKET"):
        ObjectStore(url, {})
