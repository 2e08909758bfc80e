"""The MIME type of a file, and whether it is text."""

import os
from pathlib import Path

import pytest

from hawse_runtime.files.content_type import READ, detected
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import no_fd_leaked


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"text", ("text/plain", False)),
        ("a.html", "é".encode(), ("text/html", False)),
        ("a.json", b"{}", ("application/json", False)),
        ("README", b"", ("text/plain", False)),
        ("README", "é".encode(), ("text/plain", False)),
        ("README", b"caf\xe9 or so", ("application/octet-stream", True)),
        ("a.txt", b"a\0b", ("text/plain", True)),
        ("picture", b"\x89PNG\r\n\x1a\n\0", ("image/png", True)),
        ("picture.png", b"", ("image/png", False)),
        ("a.tar.gz", b"\x1f\x8b\x08", ("application/gzip", True)),
        ("long", b"x" * (READ - 1) + "é".encode() + b"x", ("text/plain", False)),
        ("cut", b"x" * 10 + "é".encode()[:1], ("application/octet-stream", True)),
    ],
)
def test_the_name_decides_or_else_the_content(
    tmp_path: Path, name: str, content: bytes, expected: tuple[str, bool]
) -> None:
    (tmp_path / name).write_bytes(content)
    with no_fd_leaked():
        assert detected(RootedPath(str(tmp_path / name))) == expected


def test_a_name_that_is_not_utf_8_has_a_type(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"\xff.html")
    with open(path, "w") as file:
        file.write("x")
    assert detected(RootedPath(os.fsdecode(path))) == ("text/html", False)
