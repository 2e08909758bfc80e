"""Stores the audit log as JSON lines in numbered segment files, and deletes the oldest files. All functions block.

All gateways that share a state directory append to the newest segment. A lock on the directory (flock(2)) keeps their
entries in order and ensures that no gateway writes to a deleted segment.

An entry's position is the `SEGMENT:OFFSET` of its first byte. It stays valid as long as the segment exists.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

SEGMENT_BYTES: Final = 16 << 20  # size of a segment in bytes: about 50,000 entries
SEGMENTS: Final = 16  # number of segments to keep (256 MiB in total)
BLOCK: Final = 64 << 10  # bytes per read, which is also the maximum length of a line
_NAME = re.compile(r"audit-([0-9]{9})\.jsonl")


class Position(NamedTuple):
    """The position where an entry's line starts."""

    segment: int
    offset: int

    @classmethod
    def parse(cls, text: str) -> "Position":
        segment, _, offset = text.partition(":")
        return cls(int(segment), int(offset))

    def __str__(self) -> str:
        return f"{self.segment}:{self.offset}"


class AuditFiles:
    """The segments in one directory. Call `append` and `close` from a single thread. The other methods are
    thread-safe."""

    def __init__(self, directory: Path, *, segment_bytes: int = SEGMENT_BYTES, segments: int = SEGMENTS) -> None:
        """Store segments in a directory, which is created by the first `append`.

        Args:
            directory: The directory for the segments.
            segment_bytes: Once a segment reaches this size in bytes, the next entry starts a new segment.
            segments: The number of segments to keep.
        """
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._segments = segments
        self._fd: int | None = None
        self._number = 0

    def append(self, lines: bytes) -> None:
        """Append complete lines. Some of them may have been written even if `OSError` is raised."""
        with self._locked():
            newest = max(self.numbers(), default=1)
            if self._fd is None or self._number != newest:  # first write, or another gateway has started a new segment
                self._open(newest)
            size = self._end_line()
            if size and size + len(lines) > self._segment_bytes:
                self._open(newest + 1)
                self._delete_old()
            assert self._fd is not None
            try:
                rest = memoryview(lines)
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except OSError:
                self.close()
                raise

    def close(self) -> None:
        """Close the current segment."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def numbers(self) -> list[int]:
        """Return the segment numbers, oldest first. Raises `OSError`."""
        try:
            names = map(_NAME.fullmatch, os.listdir(self._directory))
        except FileNotFoundError:
            return []
        return sorted(int(name[1]) for name in names if name)

    def size(self, number: int) -> int:
        """Return the size of a segment in bytes, or 0 if it has been deleted."""
        try:
            return self._path(number).stat().st_size
        except FileNotFoundError:
            return 0

    def lines_before(self, number: int, end: int) -> tuple[list[tuple[Position, bytes]], int]:
        """Return the last block of lines before `end`, and the offset of its first line.

        Args:
            number: The number of the segment.
            end: The offset where the block ends, which must be the start of a line or the end of the segment.
        """
        start = max(0, end - BLOCK)
        try:
            with open(self._path(number), "rb") as file:
                file.seek(start)
                block = file.read(end - start)
        except FileNotFoundError:
            return [], 0
        if start:
            cut = block.find(b"\n") + 1  # skip the first line, which may be incomplete
            start += cut
            block = block[cut:]
        return list(_split(number, start, block)), start if block else max(0, end - BLOCK)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Create the directory, and lock it so that no other gateway writes to it."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)

    def _open(self, number: int) -> None:
        self.close()
        self._fd = os.open(self._path(number), os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._number = number

    def _end_line(self) -> int:
        """Terminate an incomplete line that a gateway may have left behind. Return the segment's size in bytes."""
        assert self._fd is not None
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            size += os.write(self._fd, b"\n")
        return size

    def _delete_old(self) -> None:
        for number in self.numbers()[: -self._segments]:
            self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._directory / f"audit-{number:09}.jsonl"


def _split(number: int, offset: int, block: bytes) -> Iterator[tuple[Position, bytes]]:
    """Yield the complete lines in a block, each with its position."""
    for line in block.splitlines(keepends=True):
        if line.endswith(b"\n"):
            yield Position(number, offset), line
        offset += len(line)
