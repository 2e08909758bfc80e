"""Paths, rights and limits of mounts. Their effects are tested in tests/integration/test_mounts.py."""

import pytest

from hawse.wire import HawseError
from hawse_gateway.mounts.methods import mount_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data", "data"),
        ("./a//b/", "a/b"),
        ("/workspace/a b", "a b"),
        ("ü", "ü"),
        ("..a", "..a"),
    ],
)
def test_a_path_is_below_the_workspace(path: str, expected: str) -> None:
    assert mount_path(path) == expected


@pytest.mark.parametrize(
    "path",
    [
        *(".", "..", "a/../..", "a/..", "/", "/workspace", "/workspace/", "/workspace/../etc", "/etc", "/workspace2/x"),
        *("a\nb", "a\0b", "caf\0e9", "x" * 256, "/".join("abcdefghijklmnopqr")),
    ],
)
def test_no_other_path_is_mounted_at(path: str) -> None:
    with pytest.raises(HawseError) as raised:
        mount_path(path)
    assert (raised.value.code, raised.value.details) == ("invalid_params", {"path": "$.path"})
