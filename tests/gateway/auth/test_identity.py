"""A caller's rights in one sandbox."""

import pytest
from hypothesis import given, strategies as st

from hawse.api.rights import ROLES, Right, allows, covers, in_sandbox
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.identity import principal_in
from hawse_gateway.auth.principals import OWNER
from tests.support.principals import VIEWER

RIGHTS = st.builds(
    Right,
    st.sampled_from(["*", "access", "operate", "write", "view", "preview", "later"]),
    st.sampled_from([None, "a", "b", "~"]),
    st.sampled_from([None, "main", "other", "x/y"]),
)


def caller(*rights: str) -> Principal:
    return Principal(id="u", name="", kind="user", rights=rights)


def test_rights_in_all_sandboxes_are_rights_in_each() -> None:
    assert principal_in(OWNER, "any") is OWNER
    assert principal_in(VIEWER, "any") is VIEWER


def test_rights_in_other_sandboxes_are_not_passed_on() -> None:
    assert principal_in(caller("view", "operate/a", "write/b@main"), "b").rights == ("view", "write@main")
    assert principal_in(caller("operate/~", "view/a"), "a").rights == ("view",)
    assert principal_in(caller("operate/~", "view/a"), "a", own=True).rights == ("operate", "view")


def test_a_sandbox_without_a_right_does_not_exist_for_the_caller() -> None:
    for rights in [(), ("operate/a",), ("view/~",), ("*/a",)]:
        with pytest.raises(HawseError, match=r"^not_found: unknown sandbox 'b'$"):
            principal_in(caller(*rights), "b")


@given(RIGHTS)
def test_the_text_of_a_right_is_parsed_to_the_same_right(right: Right) -> None:
    assert Right.parse(str(right)) == right


@given(st.lists(RIGHTS), st.sampled_from(["a", "b", "c"]), st.booleans())
def test_rights_in_other_sandboxes_are_ignored(rights: list[Right], sandbox: str, own: bool) -> None:
    here = in_sandbox(map(str, rights), sandbox, own=own)
    places = {None, sandbox} | ({"~"} if own else set())
    for required in ("access", "operate", "write", "view"):
        for terminal in (None, "main"):
            expected = any(
                right.sandbox in places and right.terminal in (None, terminal) and allows((right.name,), required)
                for right in rights
            )
            assert allows(here, required, terminal) == expected


@given(st.lists(RIGHTS), RIGHTS, st.sampled_from(["a", "b"]), st.sampled_from([None, "main"]), st.booleans())
def test_a_right_that_is_covered_gives_nothing_new(
    mine: list[Right], given_away: Right, sandbox: str, terminal: str | None, own: bool
) -> None:
    texts = [str(right) for right in mine]
    if not covers(texts, str(given_away)):
        return
    for required in ("access", "operate", "write", "view"):
        theirs = allows(in_sandbox([str(given_away)], sandbox, own=own), required, terminal)
        assert not theirs or allows(in_sandbox(texts, sandbox, own=own), required, terminal)


def test_each_role_covers_those_below_it() -> None:
    order = ["owner", "operator", "writer", "viewer"]
    for index, above in enumerate(order):
        for below in order[index:]:
            assert all(covers(ROLES[above], right) for right in ROLES[below])  # type: ignore[index]
        for other in order[:index]:
            assert not all(covers(ROLES[above], right) for right in ROLES[other])  # type: ignore[index]
