import os
import stat
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation import host_user
from hawse_gateway.providers.isolation.host_user import COUNT, FIRST, assigned, choose, give

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only the superuser can change owners")


def test_a_sandbox_keeps_its_user(tmp_path: Path) -> None:
    file = tmp_path / "uid"
    uid = choose(file, [])
    assert FIRST <= uid < FIRST + COUNT
    assert choose(file, []) == assigned(file) == uid
    assert list(tmp_path.iterdir()) == [file]


def test_no_two_sandboxes_have_the_same_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_user, "COUNT", 2)
    files = [tmp_path / name for name in "ab"]
    assert {choose(file, files) for file in files} == {FIRST, FIRST + 1}
    with pytest.raises(OSError, match="no user id is free"):
        choose(tmp_path / "c", files)


@pytest.mark.parametrize("text", ["", "0", "1000", "-1", "root", str(FIRST + COUNT)])
def test_a_file_with_other_content_is_replaced(tmp_path: Path, text: str) -> None:
    """Never the uid of another user of the host, whatever the file contains."""
    file = tmp_path / "uid"
    file.write_text(text)
    assert assigned(file) is None
    assert choose(file, []) >= FIRST


@as_root
def test_all_of_a_directory_is_given_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch()
    given = tmp_path / "given"
    (given / "a" / "b").mkdir(parents=True)
    (given / "a" / "b" / "file").touch()
    (given / "a" / "link").symlink_to(outside)
    (given / "program").touch()
    (given / "program").chmod(0o4755)
    give(given, FIRST)
    found = {path.lstat().st_uid for path in (given, *given.rglob("*"))}
    assert found == {FIRST}
    assert outside.stat().st_uid == 0
    assert stat.S_IMODE((given / "program").stat().st_mode) == 0o755


@as_root
def test_a_directory_of_that_user_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.chown(tmp_path, FIRST, FIRST)
    give(tmp_path, FIRST)
    assert (tmp_path / "file").stat().st_uid == 0


def test_processes_outside_have_users_that_no_sandbox_has() -> None:
    users = [host_user.of_process(f"m-{number}") for number in range(1000)]
    assert len(set(users)) > 990
    assert all(host_user.FIRST + host_user.COUNT <= user < 2**31 for user in users)
    assert host_user.of_process("m-1") == users[1]
