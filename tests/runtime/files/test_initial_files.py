"""The files of a template: written once into the workspace, whatever happens to them later."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.files.initial_files import InitialFiles
from hawse_runtime.files.rooted_path import PathResolver
from hawse_runtime.posix.environment import Environment
from tests.support.runtime import Client, Served

FILES = {"a/b/c.txt": "text\n", "d": "é"}


async def test_they_are_written_with_the_first_configuration_that_has_any(client: Client, served: Served) -> None:
    await client.ask("runtime.configure", revision=1)
    await client.ask("runtime.configure", revision=2, files=FILES)
    assert {path: (served.workspace / path).read_text() for path in FILES} == FILES
    (served.workspace / "d").unlink()
    await client.ask("runtime.configure", revision=3, files={**FILES, "e": "more"})
    assert not (served.workspace / "d").exists()
    assert not (served.workspace / "e").exists()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


async def test_a_later_runtime_does_not_write_them_again(tmp_path: Path, workspace: Path, pools: ThreadPools) -> None:
    private = Folder(tmp_path / "private")
    private.make()
    resolver = PathResolver(Environment(workspace))
    await InitialFiles(resolver, pools.disk, private).write(FILES)
    (workspace / "d").write_text("changed")
    await InitialFiles(resolver, pools.disk, private).write(FILES)
    assert (workspace / "d").read_text() == "changed"


async def test_what_cannot_be_written_is_an_error_and_is_tried_again(workspace: Path, pools: ThreadPools) -> None:
    (workspace / "d").mkdir()
    files = InitialFiles(PathResolver(Environment(workspace)), pools.disk, None)
    with pytest.raises(HawseError) as caught:
        await files.write(FILES)
    assert caught.value.code == "is_directory"
    (workspace / "d").rmdir()
    await files.write(FILES)
    assert (workspace / "d").read_text() == FILES["d"]
