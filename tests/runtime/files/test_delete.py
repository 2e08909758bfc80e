"""Deletion: all that is in the tree and nothing that is not."""

import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from hawse.api.files import FileDelete
from hawse.wire import HawseError
from hawse_runtime.files.delete import delete
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import Client, Served, no_fd_leaked
from tests.support.trees import finished, plant, seen, trees


def deleted(path: Path, *, recursive: bool = True) -> Any:
    return finished(delete(RootedPath(str(path)), FileDelete(path="x", recursive=recursive)))


@given(trees)
@settings(deadline=None, max_examples=50)
def test_a_tree_is_deleted_completely_and_its_siblings_stay(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        plant(Path(folder, "t"), tree)
        Path(folder, "other").write_text("")
        count = len(seen(Path(folder, "t")))
        assert deleted(Path(folder, "t")).deleted == count + 1
        assert os.listdir(folder) == ["other"]


async def test_a_directory_is_deleted_only_on_request(client: Client, served: Served) -> None:
    (served.workspace / "d").mkdir()
    (served.workspace / "f").write_text("")
    (served.workspace / "link").symlink_to("d")
    assert (await client.refused("file.delete", path="d")).code == "is_directory"
    assert (await client.refused("file.delete", path="none")).code == "not_found"
    assert await client.ask("file.delete", path="link", recursive=True) == {"deleted": 1}
    assert await client.ask("file.delete", path="f") == {"deleted": 1}
    assert (served.workspace / "d").is_dir()
    assert await client.ask("file.delete", path="d", recursive=True) == {"deleted": 1}
    assert (await client.refused("file.delete", path="/", recursive=True)).code == "permission_denied"


def test_symlinks_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/f").write_text("")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/link").symlink_to("../out")
    deleted(tmp_path / "d")
    assert (tmp_path / "out/f").exists()


def test_the_error_names_the_entry_that_cannot_be_deleted(tmp_path: Path) -> None:
    os.makedirs(tmp_path / "d" / "/".join("x" * 300))
    with pytest.raises(HawseError, match="levels of directories") as caught:
        deleted(tmp_path / "d")
    assert caught.value.details["path"].count("/") == 256


def test_a_directory_replaced_by_a_symlink_meanwhile_deletes_no_file_outside(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for number in range(50):
        (tmp_path / f"out/{number}").write_text("")
    stop = threading.Event()

    def swap() -> None:
        """Where `d/e` was a directory there is a symlink now, and then again a directory."""
        while not stop.is_set():
            with suppress(OSError):
                os.symlink("../out", tmp_path / "link")
            for source, target in (("d/e", "away"), ("link", "d/e"), ("d/e", "link"), ("away", "d/e")):
                with suppress(OSError):
                    os.rename(tmp_path / source, tmp_path / target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(100):
            with suppress(OSError):
                (tmp_path / "d/e").mkdir(parents=True)
            with suppress(OSError, HawseError):
                deleted(tmp_path / "d")
    finally:
        stop.set()
        swapper.join()
    assert len(os.listdir(tmp_path / "out")) == 50
