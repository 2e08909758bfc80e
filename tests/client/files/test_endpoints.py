from pathlib import Path

import pytest

from hawse.client.base.call_errors import PermissionDeniedError
from hawse.client.files.endpoints import LocalEndpoint
from hawse.client.files.tree import Link, TreeEntry

# Places in a sandbox are tested in tests/integration/test_copying.py.


def directory(path: str, mode: int = 0o755) -> TreeEntry:
    return TreeEntry(path, 0, mode, 7_000_000_001)


async def test_nothing_is_written_through_a_symlink(tmp_path: Path) -> None:
    elsewhere, target = tmp_path / "elsewhere", tmp_path / "target"
    elsewhere.mkdir(mode=0o711)
    place = LocalEndpoint(target)
    assert await place.make_directory(directory(""))
    await place.make_link(Link("out", str(elsewhere), 5))
    assert (target / "out").lstat().st_mtime_ns == 5
    with pytest.raises(PermissionDeniedError, match="is a symlink"):
        place.below("out/file")
    with pytest.raises(PermissionDeniedError, match="is a symlink"):
        await place.make_directory(directory("out/deep"))
    with pytest.raises(PermissionDeniedError, match="is a symlink"):
        await place.make_link(Link("out/link", "x", None))
    with pytest.raises(FileExistsError):
        await place.make_directory(directory("out"))
    with pytest.raises(NotADirectoryError):
        await place.finish_directory(directory("out"), created=False)
    assert list(elsewhere.iterdir()) == []
    assert elsewhere.stat().st_mode & 0o777 == 0o711
    assert place.below("out") == target / "out"


async def test_a_directory_can_be_filled_before_it_gets_its_mode(tmp_path: Path) -> None:
    place = LocalEndpoint(tmp_path / "new" / "target")
    assert await place.make_directory(directory("", 0o4500))
    assert place.path.stat().st_mode & 0o777 == 0o700
    assert not await place.make_directory(directory("", 0o4500))
    await place.finish_directory(directory("", 0o7500), created=True)
    assert place.path.stat().st_mode & 0o7777 == 0o3500
    assert place.path.stat().st_mtime_ns == 7_000_000_001
    place.path.chmod(0o700)
