"""Where a browser may be sent after a login."""

import pytest

from gateway.http.return_path import RETURN_MAX, valid_return


@pytest.mark.parametrize("path", ["/", "/?sandbox=a.b&terminal=x%20y", "/" + "x" * (RETURN_MAX - 1)])
def test_a_path_of_this_host_is_valid(path: str) -> None:
    assert valid_return(path)


@pytest.mark.parametrize(
    "path", ["", "a", "//b.example", "/\\b.example", "https://b.example", "/a#b", "/a b", "/ü", "/" + "x" * RETURN_MAX]
)
def test_anything_else_is_not(path: str) -> None:
    assert not valid_return(path)
