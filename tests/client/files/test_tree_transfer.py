import errno
from pathlib import Path
from typing import Any, cast

import pytest

from hawse.client.base.call_errors import NoSpaceError, NotFoundError
from hawse.client.base.errors import ClientClosedError
from hawse.client.files.endpoints import LocalEndpoint, RemoteEndpoint
from hawse.client.files.tree_transfer import TreeTransfer

# Whole copies are tested in tests/integration/test_copying.py and tests/cli/commands/test_copy.py.


class Files:
    """Files of a sandbox that accept everything but the uploads of some names."""

    def __init__(self, **errors: Exception) -> None:
        self.errors = errors
        self.uploaded: list[str] = []
        self.finished: list[str] = []

    async def mkdir(self, path: str, **options: Any) -> bool:
        return True

    async def utime(self, path: str, mtime_ns: int, **options: Any) -> None:
        self.finished.append(path)

    async def upload(self, local: Path, remote: str, **options: Any) -> None:
        if (error := self.errors.get(local.name)) is not None:
            raise error
        options["progress"](3, 3)
        self.uploaded.append(remote)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "d" / "e").mkdir(parents=True)
    for name in ("a", "d/b", "d/e/c"):
        (tmp_path / name).write_bytes(b"abc")
    return tmp_path


async def test_an_error_of_a_path_is_reported_and_the_rest_is_copied(source: Path) -> None:
    files = Files(a=NotFoundError("it is gone"), b=OSError(errno.EIO, "bad disk"))
    failed: list[str] = []
    ends = LocalEndpoint(source), RemoteEndpoint(cast(Any, files), "t")
    transfer = TreeTransfer(*ends, on_error=lambda path, error: failed.append(f"{path}: {error}"))
    result = await transfer.run()
    assert sorted(failed) == ["a: not_found: it is gone", "d/b: [Errno 5] bad disk"]
    assert sorted(result.failed) == ["a", "d/b"]
    assert files.uploaded == ["t/d/e/c"]
    assert files.finished == ["t/d/e", "t/d", "t"]
    assert (result.files, result.bytes) == (1, 3)


@pytest.mark.parametrize(
    "error", [NoSpaceError("full"), OSError(errno.ENOSPC, "full"), ClientClosedError("closed"), NotFoundError("gone")]
)
async def test_an_error_of_more_than_a_path_or_without_a_callback_ends_the_copy(source: Path, error: Exception) -> None:
    ends = LocalEndpoint(source), RemoteEndpoint(cast(Any, Files(a=error)), "t")
    report = None if isinstance(error, NotFoundError) else lambda path, error: None
    with pytest.raises(type(error)):
        await TreeTransfer(*ends, on_error=report).run()


async def test_progress_has_the_bytes_so_far_and_in_all(source: Path) -> None:
    seen: list[tuple[int, int]] = []
    ends = LocalEndpoint(source), RemoteEndpoint(cast(Any, Files()), "t")
    await TreeTransfer(*ends, progress=lambda done, whole: seen.append((done, whole))).run()
    assert seen == [(0, 9), (3, 9), (6, 9), (9, 9)]
