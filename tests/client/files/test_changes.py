"""Changes of files through a real gateway."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hawse.client import ConflictError, Sandbox, TextEdit
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect


@pytest.fixture
async def box(tmp_path: Path, connect: Connect) -> AsyncIterator[Sandbox]:
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


async def test_a_file_is_edited_by_texts_and_by_a_patch(box: Sandbox) -> None:
    written = await box.files.write_text("f", "a = 1\nb = 2\nb = 3\n")
    done = await box.files.edit("f", "a = 1", "a = 10", if_version=written.version)
    assert (done.replaced, done.bytes) == (1, 19)
    with pytest.raises(ConflictError) as caught:
        await box.files.edit("f", "b = ", "c = ")
    assert caught.value.details == {"edit": 0, "found": 2}
    with pytest.raises(ConflictError, match="the file has changed"):
        await box.files.edit("f", "a = 10", "a = 1", if_version=written.version)
    with pytest.raises(ConflictError, match="the file has changed"):
        await box.files.write_text("f", "lost", if_version=written.version)
    await box.files.edit("f", edits=[TextEdit(old="b = ", new="c = ", all=True), TextEdit(old="c = 3", new="d = 3")])
    await box.files.edit("f", patch="@@ -3 +3,2 @@\n-d = 3\n+d = 4\n+e = 5\n")
    assert await box.files.read_text("f") == "a = 10\nc = 2\nd = 4\ne = 5\n"


async def test_an_archive_is_extracted(box: Sandbox) -> None:
    await box.files.write_text("src/a", "1")
    await box.files.write_text("src/b", "2")
    packed = b"".join([part async for part in box.files.archive("src")])
    await box.files.write("a.tar.gz", packed)
    done = await box.files.extract("a.tar.gz", "out", on_progress=lambda progress: None)
    assert (done.entries, done.bytes) == (2, 2)
    assert await box.files.read_text("out/b") == "2"
    with pytest.raises(ConflictError):
        await box.files.extract("a.tar.gz", "out")
    await box.files.extract("a.tar.gz", "out", overwrite=True)


async def test_exactly_one_kind_of_edit_is_given(box: Sandbox) -> None:
    given: list[dict[str, Any]] = [{}, {"old": "a"}, {"old": "a", "new": "b", "patch": "c"}]
    for arguments in given:
        with pytest.raises(ValueError, match="exactly one"):
            await box.files.edit("f", **arguments)
