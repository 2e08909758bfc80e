import stat
from pathlib import Path

import pytest

from hawse_gateway.providers.state_directory import StateDirectory, StateError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_directory_is_accessible_to_its_owner_only(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    assert mode(StateDirectory(tmp_path / "open").root) == 0o700
    assert mode(StateDirectory(tmp_path / "a" / "b").root) == 0o700


def test_the_token_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    token = StateDirectory(tmp_path).token()
    assert len(token) >= 43
    assert StateDirectory(tmp_path).token() == token
    assert mode(tmp_path / "token") == 0o600


def test_two_state_directories_have_different_tokens(tmp_path: Path) -> None:
    assert StateDirectory(tmp_path / "a").token() != StateDirectory(tmp_path / "b").token()


def test_an_empty_token_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    with pytest.raises(StateError, match="is empty"):
        StateDirectory(tmp_path).token()


def test_the_error_for_a_directory_that_cannot_be_created_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="--state "):
        StateDirectory(tmp_path / "file" / "state")


def test_each_sandbox_has_its_own_paths(tmp_path: Path) -> None:
    paths = StateDirectory(tmp_path).sandbox("local")
    paths.make()
    assert paths.workspace == tmp_path / "sandboxes" / "local" / "workspace"
    for place in (paths.home, paths.workspace, paths.run):
        assert mode(place) == 0o700
    assert paths.socket.parent == paths.home  # outside of what a sandbox sees
    assert list(paths.run.iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "../token", "-x", "a" * 65, "a\n", "ü"])
def test_an_invalid_sandbox_name_has_no_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="invalid sandbox id"):
        StateDirectory(tmp_path).sandbox(name)
