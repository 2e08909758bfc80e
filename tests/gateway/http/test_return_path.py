"""Valid return pages after a login. Sessions are tested in tests/gateway/sign_on/oidc/test_login.py."""

import pytest

from hawse_gateway.http.return_path import RETURN_MAX, valid_proof, valid_return

PAGES = ["/", "/home.html", "/?sandbox=a.b&terminal=x%20y", "/hawse/", "/a/b-c/home.html?x=/../p/", "/pt/"]
PROGRAMS = [
    "/p/box/token/",
    "/t/shop/",
    "/t/",
    "/a/p/box/token/",
    "/a/../p/box/token/",
    "/./t/x/",
    "/%70/x/y/",
    "/%2e%2e/",
]


@pytest.mark.parametrize("path", [*PAGES, "/?" + "x" * (RETURN_MAX - 2)])
def test_a_page_of_this_host_is_valid(path: str) -> None:
    assert valid_return(path)


@pytest.mark.parametrize(
    "path",
    ["", "a", "/a", "//b.example", "/\\b.example", "https://b.example", "/#b", "/?a b", "/?ü", "/?" + "x" * RETURN_MAX],
)
def test_anything_else_is_not(path: str) -> None:
    assert not valid_return(path)


@pytest.mark.parametrize("path", PROGRAMS)
def test_an_address_of_a_program_in_a_sandbox_is_not_returned_to(path: str) -> None:
    """It could read the key of the session from the fragment."""
    assert not valid_return(path)


def test_a_proof_is_random_text_of_a_bounded_length() -> None:
    assert valid_proof("a" * 16)
    assert valid_proof("-_" * 32)
    for proof in ("", "a" * 15, "a" * 65, "a" * 16 + ".", "a" * 16 + "\n"):
        assert not valid_proof(proof)
