"""The values of the `git.*` methods."""

import msgspec

from hawse.api.git import GitClone
from hawse.api.git_values import GitCredentials


def test_the_repr_of_credentials_does_not_contain_them() -> None:
    params = GitClone(url="https://host/x", credentials=GitCredentials(username="ann", password="secret"))
    assert "secret" not in repr(params)
    assert "ann" not in repr(params)
    assert b"secret" in msgspec.json.encode(params)
