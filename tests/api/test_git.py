"""The `git.*` methods."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.git import GitClone, GitCredentials, GitStatus
from hawse.api.rights import VIEW

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("git.")}


def test_only_git_clone_is_a_stream_and_all_methods_require_operate() -> None:
    assert [name for name, spec in OURS.items() if spec.stream] == ["git.clone"]
    assert not any(spec.requires == VIEW for spec in OURS.values())


@pytest.mark.parametrize("filter", ["blob:none", "blob:limit=10k", "tree:0"])
def test_filters_for_partial_clones_are_accepted(filter: str) -> None:
    assert msgspec.convert({"url": "x", "filter": filter}, GitClone).filter == filter


@pytest.mark.parametrize("filter", ["blob:none\n", "sparse:path=/etc", "combine:blob:none", "--upload-pack=x"])
def test_another_filter_is_refused(filter: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": "x", "filter": filter}, GitClone)


def test_the_repository_is_the_workspace_by_default() -> None:
    assert msgspec.json.decode(b"{}", type=GitStatus).path == "."


def test_the_repr_of_credentials_does_not_contain_them() -> None:
    params = GitClone(url="https://host/x", credentials=GitCredentials(username="ann", password="secret"))
    assert "secret" not in repr(params)
    assert "ann" not in repr(params)
    assert b"secret" in msgspec.json.encode(params)
