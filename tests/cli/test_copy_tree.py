import asyncio
import os
from pathlib import Path

import click
import pytest

from hawse.cli.copy_tree import (
    Entry,
    Tree,
    below,
    gather,
    local_destination,
    local_tree,
    make_local_directories,
    make_local_links,
    remote_path,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("box:dir/file", ("box", "dir/file")),
        (":file", ("", "file")),
        ("box:", ("box", ".")),
        ("file", None),
        ("./a:b", None),
        ("/a:b", None),
        ("-", None),
    ],
)
def test_a_path_in_a_sandbox_has_a_colon_before_any_slash(text: str, expected: tuple[str, str] | None) -> None:
    assert remote_path(text) == expected


def test_a_tree_has_files_directories_and_symlinks(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "f").write_bytes(b"four")
    (tmp_path / "d" / "f").chmod(0o640)
    (tmp_path / "to-d").symlink_to("d")
    os.mkfifo(tmp_path / "fifo")
    tree = local_tree(tmp_path)
    assert tree.name == tmp_path.name
    assert tree.files == [Entry("d/f", 4, 0o640)]
    assert sorted(tree.directories) == ["", "d", "d/e"]
    assert tree.links == [("to-d", "d")]


def test_a_source_that_is_a_symlink_is_followed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"four")
    (tmp_path / "link").symlink_to("f")
    assert [each.size for each in local_tree(tmp_path / "link").files] == [4]


def test_nothing_is_written_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "target"
    target.mkdir()
    make_local_links(target, Tree("t", links=[("out", str(tmp_path / "elsewhere"))]))
    with pytest.raises(click.ClickException, match="is a symlink"):
        below(target, "out/file")
    with pytest.raises(click.ClickException, match="is a symlink"):
        make_local_directories(target, Tree("t", directories=["", "out/deep"]))
    with pytest.raises(click.ClickException, match="is a symlink"):
        make_local_links(target, Tree("t", links=[("out/link", "x")]))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert below(target, "out") == target / "out"


def test_a_destination_that_is_a_directory_gets_the_name(tmp_path: Path) -> None:
    assert local_destination(str(tmp_path), "n") == tmp_path / "n"
    assert local_destination(f"{tmp_path}/new/", "n") == tmp_path / "new" / "n"
    assert local_destination(f"{tmp_path}/new", "n") == tmp_path / "new"


async def test_a_few_are_awaited_at_once() -> None:
    running, most = 0, 0

    async def one() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    await gather(one() for _ in range(100))
    assert most == 8
