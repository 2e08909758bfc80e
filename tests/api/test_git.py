"""The types of `git.*`."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.git import GitClone, GitCredentials, GitStatus
from hawse.api.rights import VIEW

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("git.")}


def test_credentials_do_not_show_when_they_are_printed() -> None:
    params = GitClone(url="https://host/x", credentials=GitCredentials(username="ann", password="secret"))
    assert "secret" not in repr(params)
    assert "ann" not in repr(params)
    assert b"secret" in msgspec.json.encode(params)


def test_only_a_clone_is_a_stream_and_nothing_is_for_viewers() -> None:
    assert [name for name, spec in OURS.items() if spec.stream] == ["git.clone"]
    assert not any(spec.requires == VIEW for spec in OURS.values())


@pytest.mark.parametrize("filter", ["blob:none", "blob:limit=10k", "tree:0"])
def test_a_filter_is_one_of_those_that_only_leave_something_out(filter: str) -> None:
    assert msgspec.convert({"url": "x", "filter": filter}, GitClone).filter == filter


@pytest.mark.parametrize("filter", ["blob:none\n", "sparse:path=/etc", "combine:blob:none", "--upload-pack=x"])
def test_another_filter_is_refused(filter: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"url": "x", "filter": filter}, GitClone)


def test_the_repository_is_the_workspace_unless_one_says() -> None:
    assert msgspec.json.decode(b"{}", type=GitStatus).path == "."
