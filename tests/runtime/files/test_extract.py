"""`file.extract` writes what the archive holds, and nothing outside its directory, whatever the archive says."""

import io
import os
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from hawse.api.files import FileExtract
from hawse.wire import HawseError
from hawse_runtime.files.extract import extract
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.rooted_path import RootedPath
from tests.support.runtime import Client, Served, no_fd_leaked
from tests.support.trees import finished, plant, seen, trees


def extracted(archive: Path, target: Path, quota: int | None = None, **params: Any) -> Any:
    params = {"overwrite": False, **params}
    place, to = RootedPath(str(archive)), RootedPath(str(target))
    return finished(extract(place, to, FileExtract(path="x", **params), Quota(str(target), quota)))


def tar(path: Path, *members: tuple[str, dict[str, Any], bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as file:  # type: ignore[call-overload]
        for name, fields, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            file.addfile(info, io.BytesIO(content))
    return path


def link(target: str, kind: bytes = tarfile.SYMTYPE) -> dict[str, Any]:
    return {"type": kind, "linkname": target}


@given(trees)
@settings(deadline=None, max_examples=30)
def test_what_gnu_tar_packs_is_extracted_unchanged(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        source, archive, target = (Path(folder, name) for name in ("s", "a", "t"))
        plant(source, tree)
        subprocess.run(["tar", "cf", archive, "-C", source, "."], check=True)
        done = extracted(archive, target)
        expected = {path: fields for path, fields in seen(source).items() if not stat.S_ISFIFO(fields[0])}
        assert seen(target) == expected
        assert done.skipped == len(seen(source)) - len(expected)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_files_modes_times_and_links_are_restored(tmp_path: Path, mode: str) -> None:
    content = os.urandom(700_000)
    archive = tar(
        tmp_path / "a",
        ("top/", {"type": tarfile.DIRTYPE, "mode": 0o750, "mtime": 7}, b""),
        ("top/run", {"mode": 0o4755, "mtime": 5}, content),
        ("top/same", link("top/run", tarfile.LNKTYPE), b""),
        ("top/soft", link("../top/run"), b""),
        ("./deep/er/f", {}, b"x" * 300_000),
        mode=mode,
    )
    done = extracted(archive, tmp_path / "t")
    assert (done.entries, done.bytes, done.skipped) == (5, 1_000_000, 0)
    run = tmp_path / "t/top/run"
    assert run.read_bytes() == content
    assert (run.stat().st_mode & 0o7777, run.stat().st_mtime, run.stat().st_nlink) == (0o755, 5, 2)
    assert (tmp_path / "t/top/soft").read_bytes() == content
    assert ((tmp_path / "t/top").stat().st_mode & 0o7777, (tmp_path / "t/top").stat().st_mtime) == (0o750, 7)


def test_a_zip_is_extracted_with_its_modes_and_symlinks(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("d/", b"")
        plain = zipfile.ZipInfo("d/f")
        plain.external_attr = 0o100750 << 16
        file.writestr(plain, b"content" * 100_000)
        soft = zipfile.ZipInfo("d/l")
        soft.external_attr = 0o120777 << 16
        file.writestr(soft, "f")
    assert extracted(tmp_path / "a", tmp_path / "t").entries == 3
    assert (tmp_path / "t/d/l").read_bytes() == b"content" * 100_000
    assert (tmp_path / "t/d/l").is_symlink()
    assert (tmp_path / "t/d/f").stat().st_mode & 0o777 == 0o750


def test_leading_components_are_removed(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a", ("repo-1/f", {}, b"f"), ("repo-1/g", link("repo-1/f", tarfile.LNKTYPE), b""))
    assert extracted(archive, tmp_path / "t", strip=1).entries == 2
    assert sorted(os.listdir(tmp_path / "t")) == ["f", "g"]


HOSTILE: dict[str, list[tuple[str, dict[str, Any], bytes]]] = {
    "dots": [("../out", {}, b"x")],
    "dots inside": [("a/../../out", {}, b"x")],
    "absolute": [("/tmp/out", {}, b"x")],
    "absolute symlink": [("l", link("/etc"), b"")],
    "symlink with dots": [("a/l", link("../../x"), b"")],
    "file through a symlink": [("l", link("."), b""), ("l/../../out", {}, b"x")],
    "symlinks that leave together": [
        ("a/b/up", link("../.."), b""),
        ("esc", link("a/b/up/.."), b""),
    ],
    "link outside": [("l", link("../outside", tarfile.LNKTYPE), b"")],
    "link to a symlink": [("s", link("missing"), b""), ("l", link("s", tarfile.LNKTYPE), b"")],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_leaves_the_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").write_text("untouched")
    archive = tar(tmp_path / "a", *HOSTILE[name])
    with no_fd_leaked(), pytest.raises(HawseError, match="permission_denied") as caught:
        extracted(archive, tmp_path / "t")
    assert caught.value.details["entry"]
    assert sorted(os.listdir(tmp_path)) == ["a", "outside", "t"]
    for path in (tmp_path / "t").rglob("*"):
        assert path.resolve().is_relative_to(tmp_path / "t"), "no symlink that leaves it is left"


def test_a_directory_that_is_a_symlink_already_is_not_followed_outside(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/d").symlink_to(tmp_path)
    with pytest.raises(HawseError, match="permission_denied"):
        extracted(tar(tmp_path / "a", ("d/out", {}, b"x")), tmp_path / "t")
    assert sorted(os.listdir(tmp_path)) == ["a", "t"]


def test_a_symlink_that_leaves_through_another_one_does_not_stay_after_an_error(tmp_path: Path) -> None:
    archive = tar(
        tmp_path / "a",
        ("p/q/up", link("../.."), b""),
        ("p/q/up/out", link("../../../tmp"), b""),
        ("p/same", {}, b""),
        ("p", {}, b"a file"),
    )
    with pytest.raises(HawseError, match="conflict"):
        extracted(archive, tmp_path / "t")
    assert (tmp_path / "t/p/q/up").is_symlink()
    assert not (tmp_path / "t/out").is_symlink()


def test_a_time_that_is_not_a_number_is_not_an_error(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a", ("f", {"pax_headers": {"mtime": "nan"}}, b"x"))
    extracted(archive, tmp_path / "t")
    assert (tmp_path / "t/f").stat().st_mtime == 0


def test_devices_are_left_out(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a", ("null", {"type": tarfile.CHRTYPE}, b""), ("p", {"type": tarfile.FIFOTYPE}, b""))
    assert extracted(archive, tmp_path / "t").skipped == 2
    assert os.listdir(tmp_path / "t") == []


def test_existing_files_are_replaced_only_if_that_is_asked_for(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a", ("f", {}, b"new"))
    (tmp_path / "t").mkdir()
    (tmp_path / "outside").write_text("old")
    (tmp_path / "t/f").symlink_to(tmp_path / "outside")
    with pytest.raises(HawseError, match="conflict") as caught:
        extracted(archive, tmp_path / "t")
    assert caught.value.details == {"entry": "f"}
    extracted(archive, tmp_path / "t", overwrite=True)
    assert (tmp_path / "t/f").read_text() == "new"
    assert (tmp_path / "outside").read_text() == "old", "a symlink is replaced, not followed"


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_of_entries_with_the_same_name_the_last_one_stays_as_with_tar(tmp_path: Path, mode: str) -> None:
    archive = tar(
        tmp_path / "a",
        ("f", {"mode": 0o600}, b"old"),
        ("other", link("f", tarfile.LNKTYPE), b""),
        ("d", {"type": tarfile.DIRTYPE, "mode": 0o700}, b""),
        ("s", link("f"), b""),
        ("was a file", {}, b"x"),
        ("f", {"mode": 0o640}, b"new"),
        ("other", link("other", tarfile.LNKTYPE), b""),
        ("s", {}, b"a file now"),
        ("d", {"type": tarfile.DIRTYPE, "mode": 0o750}, b""),
        ("was a file", {"type": tarfile.DIRTYPE, "mode": 0o755}, b""),
        ("was a file/g", {}, b"g"),
        mode=mode,
    )
    assert extracted(archive, tmp_path / "t").entries == 11
    (tmp_path / "expected").mkdir()
    subprocess.run(["tar", "xpf", archive, "-C", tmp_path / "expected"], check=True)
    assert seen(tmp_path / "t") == seen(tmp_path / "expected")


def test_a_file_that_was_there_before_is_not_replaced_by_any_of_them(tmp_path: Path) -> None:
    archive = tar(tmp_path / "a", ("f", {}, b"old"), ("f", {}, b"new"))
    (tmp_path / "t").mkdir()
    (tmp_path / "t/f").write_text("mine")
    with pytest.raises(HawseError, match="conflict"):
        extracted(archive, tmp_path / "t")
    assert (tmp_path / "t/f").read_text() == "mine"


def test_an_entry_below_a_file_is_a_conflict(tmp_path: Path) -> None:
    for kind in ({}, {"type": tarfile.DIRTYPE}, link("x"), link("f", tarfile.LNKTYPE)):
        archive = tar(tmp_path / "a", ("f", {}, b"x"), ("f/below", kind, b""))
        with no_fd_leaked(), pytest.raises(HawseError, match="conflict: f/below is below") as caught:
            extracted(archive, tmp_path / "t", overwrite=True)
        assert caught.value.details == {"entry": "f/below"}


def test_a_link_to_an_entry_that_is_missing_is_not_valid(tmp_path: Path) -> None:
    for target in ("missing", "d/missing"):
        archive = tar(tmp_path / "a", ("l", link(target, tarfile.LNKTYPE), b""))
        with no_fd_leaked(), pytest.raises(HawseError, match="invalid_params"):
            extracted(archive, tmp_path / "t")


def bomb_of_zeros(path: Path) -> Path:
    return tar(path, ("zeros", {}, bytes(50_000_000)), mode="w:gz")


def bomb_of_entries(path: Path) -> Path:
    return tar(path, *((str(number), {}, b"") for number in range(200)))


def bomb_of_headers(path: Path) -> Path:
    return tar(path, ("f", {"pax_headers": {"comment": "x" * 3_000_000}}, b""))


@pytest.mark.parametrize("make", [bomb_of_zeros, bomb_of_entries, bomb_of_headers])
def test_bombs_end_with_an_error(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with no_fd_leaked(), pytest.raises(HawseError, match="too_large"):
        extracted(make(tmp_path / "a"), tmp_path / "t", max_entries=100, max_bytes=1_000_000)
    assert sum(path.stat().st_size for path in (tmp_path / "t").iterdir()) <= 1_000_000


def test_the_quota_is_kept(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="no_space"):
        extracted(tar(tmp_path / "a", ("f", {}, bytes(100_000))), tmp_path / "t", quota=50_000)
    assert os.listdir(tmp_path / "t") == []


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_damaged_archive_is_refused(tmp_path: Path, mode: str) -> None:
    whole = tar(tmp_path / "a", ("f", {}, os.urandom(100_000)), mode=mode).read_bytes()
    for data in (whole[: len(whole) // 2], whole[:50] + os.urandom(len(whole) - 50), b"", b"not an archive" * 100):
        (tmp_path / "a").write_bytes(data)
        with no_fd_leaked(), pytest.raises(HawseError, match="invalid_params"):
            extracted(tmp_path / "a", tmp_path / "t", overwrite=True)


async def test_it_reports_progress_and_its_result(client: Client, served: Served) -> None:
    tar(served.workspace / "a.tar.gz", ("d/f", {}, b"content"), mode="w:gz")
    call = client.call("file.extract", {"path": "a.tar.gz", "to": "out/here"})
    assert await call.result() == {"entries": 1, "bytes": 7, "skipped": 0}
    assert os.listdir(served.workspace / "out/here/d") == ["f"]
    assert (await client.refused("file.extract", path="a.tar.gz", to="../x", root=".")).code == "permission_denied"
    assert (await client.refused("file.extract", path="none")).code == "not_found"
    assert (await client.refused("file.extract", path=".")).code == "is_directory"
