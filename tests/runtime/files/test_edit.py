"""`file.edit` changes all of what it is asked to, or nothing."""

import os
from pathlib import Path

import pytest

from tests.support.runtime import Client, Served, no_fd_leaked


@pytest.fixture
def file(served: Served) -> Path:
    path = Path(served.workspace) / "f"
    path.write_bytes(b"one two one\r\nthree\n")
    path.chmod(0o750)
    return path


def content(path: Path) -> bytes:
    return path.read_bytes()


async def test_texts_are_replaced_one_after_the_other(client: Client, file: Path) -> None:
    edits = [{"old": "two", "new": "one"}, {"old": "one", "new": "1", "all": True}, {"old": "\r\n", "new": "\n"}]
    done = await client.ask("file.edit", path="f", edits=edits)
    assert content(file) == b"1 1 1\nthree\n"
    assert os.stat(file).st_mode & 0o777 == 0o750
    assert (done["bytes"], done["replaced"]) == (12, 5)
    assert done["version"] == (await client.ask("file.stat", path="f"))["version"]


async def test_one_text_that_has_no_single_place_leaves_the_file_as_it_is(client: Client, file: Path) -> None:
    for old, found in (("one", 2), ("four", 0)):
        refused = await client.refused(
            "file.edit", path="f", edits=[{"old": "two", "new": ""}, {"old": old, "new": ""}]
        )
        assert (refused.code, refused.details) == ("conflict", {"edit": 1, "found": found})
    assert content(file) == b"one two one\r\nthree\n"


async def test_a_patch_is_applied(client: Client, file: Path) -> None:
    done = await client.ask("file.edit", path="f", patch="@@ -1,2 +1,2 @@\n one two one\r\n-three\n+3\n")
    assert (content(file), done["replaced"]) == (b"one two one\r\n3\n", 1)


async def test_a_version_that_is_not_the_files_is_a_conflict(client: Client, file: Path) -> None:
    version = (await client.ask("file.stat", path="f"))["version"]
    await client.ask("file.edit", path="f", edits=[{"old": "two", "new": "2"}], if_version=version)
    refused = await client.refused("file.edit", path="f", edits=[{"old": "2", "new": "3"}], if_version=version)
    assert refused.code == "conflict"
    assert content(file) == b"one 2 one\r\nthree\n"


async def test_what_cannot_be_edited_is_refused(client: Client, file: Path, served: Served) -> None:
    edits = [{"old": "a", "new": "b"}]
    os.mkfifo(f"{served.workspace}/fifo")
    os.mknod(f"{served.workspace}/large")
    os.truncate(f"{served.workspace}/large", (16 << 20) + 1)
    for path, code in (
        ("none", "not_found"),
        (".", "is_directory"),
        ("fifo", "invalid_params"),
        ("large", "too_large"),
    ):
        assert (await client.refused("file.edit", path=path, edits=edits)).code == code
    assert (await client.refused("file.edit", path="f")).code == "invalid_params"
    assert (await client.refused("file.edit", path="f", edits=edits, patch="x")).code == "invalid_params"
    assert (await client.refused("file.edit", path="../f", root=".", edits=edits)).code == "permission_denied"
    growing = [{"old": "e", "new": "e" * 10_000, "all": True}] * 4
    assert (await client.refused("file.edit", path="f", edits=growing)).code == "too_large"
    assert content(file) == b"one two one\r\nthree\n"
    assert sorted(os.listdir(served.workspace)) == ["f", "fifo", "large"], "no temporary file is left"


async def test_refusals_leak_no_descriptor(client: Client, served: Served, file: Path) -> None:
    with no_fd_leaked():
        for _ in range(20):
            await client.refused("file.edit", path="f", edits=[{"old": "none", "new": ""}])
