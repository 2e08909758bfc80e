"""Transfers of whole files between the local disk and a sandbox. Threads access the local disk."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from hawse.api.files import FileStatResult, FileTransferResult
from hawse.client.files.transfer_streams import FileReader, FileWriter

Progress = Callable[[int, int], object]  # bytes so far, bytes in all
CHUNK = 1 << 20  # bytes read from the local disk at a time


async def upload(local: Path, remote: FileWriter, progress: Progress | None) -> FileTransferResult:
    """Send a local file; `progress` is called after each chunk."""
    file = await asyncio.to_thread(open, local, "rb")
    try:
        size, sent = os.fstat(file.fileno()).st_size, 0
        async with remote:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                await remote.write(chunk)
                sent += len(chunk)
                if progress is not None:
                    progress(sent, size)
        return remote.result
    finally:
        file.close()


async def download(
    info: FileStatResult, open_read: Callable[[int], FileReader], local: Path, progress: Progress | None
) -> int:
    """Fetch a file; return its size.

    If this fails, the bytes received so far stay beside `local`, and the next download continues after them.

    Args:
        info: The version of the file to fetch.
        open_read: Opens the file at an offset.
        local: Where to put it.
        progress: Is called after each chunk.
    """
    part = local.with_name(f"{local.name}.{info.version}.part")
    file = await asyncio.to_thread(open, part, "ab")
    try:
        received = file.tell()
        async with open_read(received) as source:
            async for chunk in source:
                await asyncio.to_thread(file.write, chunk)
                received += len(chunk)
                if progress is not None:
                    progress(received, info.size)
    finally:
        await asyncio.to_thread(file.close)
    await asyncio.to_thread(os.replace, part, local)
    return received
