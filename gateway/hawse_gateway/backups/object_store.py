"""Stores archives in S3-compatible object storage, using obstore. Multipart uploads are either completed or aborted.

The credentials, region and endpoint come from the usual environment variables (AWS_*). This module needs an optional
package, so it is only imported when needed.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, Final

import obstore
from obstore import exceptions
from obstore.store import S3Store

from hawse.wire import HawseError

log = logging.getLogger(__name__)

PART: Final = 8 << 20  # size of a part in bytes; an upload can have 10,000 parts, so at most 80 GB
PARTS_AT_ONCE: Final = 2
BLOCK: Final = 1 << 20  # bytes per read
RETRIES: Final = 4  # number of retries per request
RETRY_TIME: Final = 20.0  # maximum time for retrying a request, in seconds
REQUEST_TIME: Final = 60.0  # timeout of a request in seconds; long enough to transfer one part over a slow line
ABORT_TIME: Final = 10.0  # seconds to wait for the store to abort an upload
TEXT_MAX: Final = 300  # maximum length of a store's error message in the log, in characters
_REFUSED: Final = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError, exceptions.NotFoundError)


class ObjectStore:
    """A bucket, or the objects below a prefix in it.

    Args:
        url: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
        environment: Environment variables with the credentials. Default: this process's environment.
        retry_time: The maximum time to keep retrying a request, in seconds.

    Raises:
        ValueError: The URL or an environment variable is invalid.
    """

    def __init__(self, url: str, environment: dict[str, str] | None = None, *, retry_time: float = RETRY_TIME) -> None:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        if not url.startswith("s3://") or not bucket:
            raise ValueError(f"{url}: expected s3://BUCKET or s3://BUCKET/PREFIX")
        given = os.environ if environment is None else environment
        endpoint = given.get("AWS_ENDPOINT_URL_S3") or given.get("AWS_ENDPOINT_URL", "")
        options: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
        if environment is not None:
            options |= {
                "access_key_id": environment.get("AWS_ACCESS_KEY_ID", ""),
                "secret_access_key": environment.get("AWS_SECRET_ACCESS_KEY", ""),
                "region": environment.get("AWS_REGION", "us-east-1"),
            }
        try:
            self._store = S3Store(
                bucket,
                prefix=prefix.rstrip("/") or None,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "timeout": timedelta(seconds=REQUEST_TIME),
                },
                retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=retry_time)},
                **options,
            )
        except (exceptions.BaseError, ValueError) as error:
            raise ValueError(f"{url}: {_text(error)}") from error

    @asynccontextmanager
    async def writing(self, id: str) -> AsyncIterator["Upload"]:
        """Write an archive (see `BackupStore.writing`)."""
        failure: BaseException | None = None
        async with asyncio.TaskGroup() as tasks:
            upload = Upload()
            tasks.create_task(upload.run(self._store, id), name=f"upload {id}")
            try:
                yield upload
            except BaseException as error:  # raised later, because the task group would wrap the error in a group
                failure = error
            await upload.abandon()
        if failure is not None:
            raise failure

    async def read(self, id: str) -> AsyncGenerator[bytes, None]:
        """Read an archive (see `BackupStore.read`)."""
        with _errors():
            found = await obstore.get_async(self._store, id)
            blocks = aiter(found.stream(min_chunk_size=BLOCK))
        while True:
            with _errors():
                block = await anext(blocks, None)
            if block is None:
                return
            yield bytes(block)

    async def delete(self, id: str) -> None:
        """Delete an archive. It is not an error if it does not exist."""
        with _errors():
            try:
                await obstore.delete_async(self._store, id)
            except FileNotFoundError:
                pass


class _AbandonedError(Exception):
    """Raised by an abandoned upload's data source to make obstore abort the upload."""


class Upload:
    """The `BackupWriter` for an object store, which passes blocks to an upload task."""

    def __init__(self) -> None:
        self._block: bytes | None = None  # a block that the upload task has not taken yet
        self._complete = False
        self._abandoned = False
        self._ended = False
        self._error: Exception | None = None
        self._changed = asyncio.Condition()

    async def write(self, data: bytes) -> None:
        await self._until_taken()
        await self._set(block=data)

    async def commit(self) -> None:
        await self._until_taken()
        await self._set(complete=True)
        async with self._changed:
            await self._changed.wait_for(lambda: self._ended)
        self._check()

    async def abandon(self) -> None:
        """Wait for the upload to end. Abort it if it was not committed."""
        await self._set(abandoned=True)
        try:
            async with asyncio.timeout(ABORT_TIME), self._changed:
                await self._changed.wait_for(lambda: self._ended)
        except TimeoutError:
            log.warning("! the backup store does not abort an upload")

    async def run(self, store: S3Store, path: str) -> None:
        """Upload blocks as they are written, until the upload is complete or abandoned."""
        try:
            await obstore.put_async(
                store, path, self._blocks(), use_multipart=True, chunk_size=PART, max_concurrency=PARTS_AT_ONCE
            )
        except Exception as error:
            self._error = error
        finally:
            self._ended = True
            await self._set()

    async def _blocks(self) -> AsyncIterator[bytes]:
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._block is not None or self._complete or self._abandoned)
                if self._abandoned and not self._complete:
                    raise _AbandonedError
                block, self._block = self._block, None
                self._changed.notify_all()
            if block is None:
                return
            yield block

    async def _until_taken(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._block is None or self._ended)
        self._check()

    def _check(self) -> None:
        if self._error is not None:
            with _errors():
                raise self._error

    async def _set(self, *, block: bytes | None = None, complete: bool = False, abandoned: bool = False) -> None:
        async with self._changed:
            self._block = block if block is not None else self._block
            self._complete = self._complete or complete
            self._abandoned = self._abandoned or abandoned
            self._changed.notify_all()


@contextmanager
def _errors() -> Iterator[None]:
    """Convert an error from the store to a `HawseError`. The code is `io_error` if a retry cannot succeed.

    The store's message is only logged for the operator, because it may contain host names, keys and requests.
    """
    try:
        yield
    except (*_REFUSED, FileNotFoundError, PermissionError) as error:
        log.warning("! the backup store refused: %s", _text(error))
        raise HawseError("io_error", "the backup store refused the request", admitted="unknown") from error
    except (exceptions.BaseError, OSError, TimeoutError) as error:
        log.warning("! the backup store: %s", _text(error))
        raise HawseError("unavailable", "the backup store is unavailable", admitted="unknown") from error


def _text(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:TEXT_MAX]
