"""Fuzzes `file.archive`: trees with odd names, types, times and modes, whose files change while they are read.

A case is JSON: entries, and events between the steps. In every case, another reader finds the archive complete and
well-formed, its counts match, and no name in it leads out of the target directory.
"""

import io
import json
import os
import random
import socket
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hawse.api.files import FileArchive, FileArchiveResult
from hawse_runtime.files.archive import BLOCK, archive
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.rpc.generator_stream import StreamEvent
from tests.fuzz.target import Run, Target

FORMATS = ("tar", "tar.gz", "zip")
NAMES = (
    *(
        "a",
        "b",
        "c d",
        "-rf",
        "--checkpoint=1",
        ".hidden",
        "...",
        "\\",
        "C:",
        "a:b",
        "*",
        "%41",
        "\x01\x7f",
        "\n",
        "\u202e",
    ),
    *(
        "x" * 255,
        "é" * 127,
        "\udcff\udcfe",
        "e\u0301",
        "con",
        "a\\..\\b",
        "~",
        "汉" * 85,
        "y" * 99,
        "z" * 100,
        "w" * 101,
    ),
)
TIMES = (0, 1, -1, -(10**9), 315_532_799, 2**31, 2**32, 2**33 + 1, 4_354_819_199, 10**10, 1.9999)
SIZES = (0, 0, 1, 1, 5, 100, 511, 512, 513, 10_000, 10_000, 10_000, BLOCK + 1)
KINDS = ("file", "file", "file", "directory", "directory", "link", "fifo", "socket", "sparse")
EVENTS = ("truncate", "grow", "remove", "replace", "directory")


def make(rng: random.Random) -> bytes:
    folders = [""]
    entries: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 12)):
        path = os.path.join(rng.choice(folders), rng.choice(NAMES))
        kind = rng.choice(KINDS)
        if kind == "directory":
            folders.append(path)
        target = rng.choice(("..", "/absent/outside", "a", "", "x" * 300, "\udcff")) or "."
        entry = {
            "path": path,
            "kind": kind,
            "size": rng.choice(SIZES),
            "mode": rng.choice((0o644, 0o0, 0o7777, 0o2755)),
        }
        entries.append(entry | {"mtime": rng.choice(TIMES), "target": target})
    events = [[rng.randrange(8), rng.choice(EVENTS), rng.randrange(12)] for _ in range(rng.randint(0, 4))]
    return json.dumps({"format": rng.choice(FORMATS), "entries": entries, "events": events}).encode()


def plant(top: Path, entry: dict[str, Any]) -> None:
    path = top / entry["path"]
    match entry["kind"]:
        case "directory":
            path.mkdir()
        case "link":
            path.symlink_to(entry["target"])
        case "fifo":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
        case "sparse":
            with path.open("xb") as file:
                file.truncate(entry["size"])
        case _:
            with path.open("xb") as file:
                file.write(b"x" * entry["size"])
    if entry["kind"] != "link":
        path.chmod(entry["mode"] | (0o700 if entry["kind"] == "directory" else 0))
        os.utime(path, (0, entry["mtime"]))


def happen(top: Path, event: str, path: Path) -> None:
    """Change a file while the archive is written. Links are never followed: nothing outside `top` may change."""
    match event:
        case "truncate" | "grow":
            # O_NONBLOCK: opening a FIFO would wait for a reader.
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if event == "truncate":
                    os.ftruncate(fd, 0)
                else:
                    os.write(fd, b"y" * 1000)
            finally:
                os.close(fd)
        case "remove":
            path.unlink()
        case "replace":
            path.unlink()
            path.symlink_to("/absent/outside")
        case "directory":
            path.unlink()
            path.mkdir()


@contextmanager
def opened() -> Iterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        count = 0

        def run(case: bytes) -> None:
            nonlocal count
            count += 1
            top = Path(folder, str(count))
            top.mkdir()
            check(top, json.loads(case))

        yield run


def check(top: Path, given: dict[str, Any]) -> None:
    """Check one case. Raises `AssertionError`, or the product's exception."""
    planted = []
    for entry in given["entries"]:
        with suppress(OSError, ValueError):  # the file system refuses the name, or it already exists
            plant(top, entry)
            planted.append(top / entry["path"])
    data, result = archived(top, given["format"], given["events"], planted)
    assert result.bytes == len(data)
    names = read_zip(data) if given["format"] == "zip" else read_tar(data)
    assert len(names) == result.files
    for name in names:
        assert not name.startswith("/")
        assert ".." not in name.split("/")


def archived(top: Path, format_: Any, events: list[Any], planted: list[Path]) -> tuple[bytes, FileArchiveResult]:
    work = archive(RootedPath(str(top)), FileArchive(path="x", format=format_))
    data, step = b"", 0
    while True:
        for at, event, number in events:
            if at == step and planted:
                with suppress(OSError):
                    happen(top, event, planted[number % len(planted)])
        try:
            item = next(work)
        except StopIteration as end:
            return data, end.value
        step += 1
        data += b"" if item is None or isinstance(item, StreamEvent) else item


def read_tar(data: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(data), errorlevel=2) as tar:
        for member in tar:
            if member.isreg():
                content = tar.extractfile(member)
                assert content is not None
                assert len(content.read()) == member.size
        return tar.getnames()


def read_zip(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as zip_:
        assert zip_.testzip() is None
        return zip_.namelist()


TARGET = Target("archives", make, opened, cases=60)
