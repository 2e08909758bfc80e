"""Rights: which one each method requires, and which lists of rights allow it."""

import pytest
from hypothesis import given, strategies as st

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import (
    ACCESS,
    ALL,
    CONTROL,
    OPERATE,
    OWN,
    PREVIEW,
    ROLES,
    VIEW,
    WRITE,
    Right,
    allows,
    allows_somewhere,
    check,
    check_somewhere,
    covers,
    in_sandbox,
    limited,
    role_of,
)
from hawse.api.spec import SELECTED
from hawse.wire import HawseError, Principal
from tests.support.principals import VIEWER

VIEWING = {
    "recording.get",
    "recording.list",
    "recording.read",
    "recording.watch",
    "sandbox.get",
    "sandbox.list",
    "sandbox.watch",
    "terminal.attach",
    "terminal.get",
    "terminal.history",
    "terminal.list",
    "terminal.viewers",
    "terminal.presence",
    "terminal.screen",
    "terminal.wait",
    "terminal.watch",
}
ASKING = {"terminal.answer", "terminal.ask", "terminal.claim", "terminal.questions", "terminal.refuse"}
WRITING = {"terminal.lease", "terminal.resize", "terminal.send", "terminal.signal", *ASKING}
DRIVING = {
    f"desktop.{name}" for name in ("click", "clipboard", "drag", "key", "lease", "move", "resize", "scroll", "type")
}
AT_A_TERMINAL = {"terminal.attach", "terminal.get", "terminal.history", "terminal.presence", "terminal.screen"} | {
    "terminal.wait",
    *(WRITING - {"terminal.questions"}),
}
LISTS = {"recording.get", "recording.list", "recording.read", "recording.watch", "terminal.list"}
LISTS |= {"terminal.questions", "terminal.viewers", "terminal.watch"}


def test_each_method_requires_the_right_that_was_decided() -> None:
    required = {name: spec.requires for name, spec in (METHODS | GATEWAY).items()}
    files = {name for name in required if name.partition(".")[0] in ("file", "watch")}
    assert {name for name, right in required.items() if right == VIEW} >= VIEWING
    assert {name for name, right in required.items() if right == WRITE} == WRITING | DRIVING | files
    assert {name for name, right in required.items() if right == PREVIEW} == {"port.connect"}
    controls = {"runtime.activity", "runtime.configure", "backup.pack", "backup.unpack"}
    assert {name for name, right in required.items() if right == CONTROL} == controls


def test_only_gateways_have_the_right_to_control_a_runtime() -> None:
    assert not allows([ALL, OPERATE], CONTROL)
    assert allows([CONTROL], CONTROL)
    assert not allows([CONTROL], OPERATE)


def test_rights_at_a_terminal_concern_the_methods_of_that_terminal() -> None:
    assert {name for name, spec in METHODS.items() if spec.terminal == "id"} == AT_A_TERMINAL
    assert {name for name, spec in METHODS.items() if spec.terminal == SELECTED} == LISTS
    assert all(spec.terminal in (None, "id", SELECTED) for spec in METHODS.values())


@pytest.mark.parametrize("right", [VIEW, WRITE, OPERATE, PREVIEW, ALL, "a right of a later version"])
def test_all_includes_every_right_and_each_right_itself(right: str) -> None:
    assert allows([ALL], right)
    assert allows([right], right)
    assert not allows([], right)
    assert allows([ALL], right, "main")


def test_operating_includes_writing_and_previews_and_writing_includes_viewing() -> None:
    rights = [VIEW, WRITE, OPERATE, PREVIEW, "Operate", "operator", ""]
    included = {
        (held, right)
        for held in rights
        for right in (VIEW, WRITE, OPERATE, PREVIEW, ALL)
        if held != right and allows([held], right)
    }
    assert included == {(WRITE, VIEW), (OPERATE, VIEW), (OPERATE, WRITE), (OPERATE, PREVIEW)}


def test_a_right_at_one_terminal_is_no_right_at_another_or_in_the_sandbox() -> None:
    rights = [limited(WRITE, "main")]
    assert allows(rights, VIEW, "main")
    assert allows(rights, WRITE, "main")
    assert not allows(rights, OPERATE, "main")
    assert not allows(rights, VIEW, "other")
    assert not allows(rights, VIEW)
    assert allows_somewhere(rights, VIEW)
    assert not allows_somewhere(rights, OPERATE)


def test_a_terminal_named_like_a_right_gives_nothing_else() -> None:
    assert not allows([limited(VIEW, "*")], VIEW, "main")
    assert not allows([limited(VIEW, "*")], VIEW)
    assert not allows(["@main"], VIEW, "main")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_recognized_by_its_rights(role: str) -> None:
    assert role_of(ROLES[role]) == role  # type: ignore[index]


def test_the_role_of_rights_at_a_terminal_is_that_of_the_rights() -> None:
    assert role_of([limited(WRITE, "main")]) == "writer"
    assert role_of([limited(VIEW, "main")]) == "viewer"
    assert role_of([]) == "viewer"


def test_a_missing_right_is_forbidden_by_name() -> None:
    check(VIEWER, VIEW)
    with pytest.raises(HawseError, match=r"forbidden.*'operate'.*these credentials of 'viewer'"):
        check(VIEWER, OPERATE)
    guest = Principal(id="g", name="", kind="guest", rights=(limited(VIEW, "main"),))
    check(guest, VIEW, "main")
    check_somewhere(guest, VIEW)
    with pytest.raises(HawseError, match="forbidden"):
        check(guest, VIEW, "other")
    with pytest.raises(HawseError, match="forbidden"):
        check_somewhere(guest, WRITE)


NAMES = st.sampled_from([ALL, OPERATE, WRITE, VIEW, PREVIEW, ACCESS, CONTROL, "later"])
SANDBOXES = st.sampled_from(["a", "b"])
TERMINALS = st.sampled_from([None, "main", "other"])
RIGHTS = st.lists(st.builds(Right, NAMES, SANDBOXES | st.sampled_from([None, OWN]), TERMINALS).map(str), max_size=4)


@given(RIGHTS, st.builds(Right, NAMES, SANDBOXES | st.just(OWN), TERMINALS), SANDBOXES, st.booleans(), NAMES, TERMINALS)
def test_a_right_that_may_be_given_allows_nothing_that_its_giver_may_not_do(
    rights: list[str], given_right: Right, sandbox: str, own: bool, required: str, terminal: str | None
) -> None:
    if covers(rights, str(given_right)) and allows(
        in_sandbox([str(given_right)], sandbox, own=own), required, terminal
    ):
        assert allows(in_sandbox(rights, sandbox, own=own), required, terminal)


@given(RIGHTS, SANDBOXES, st.booleans(), NAMES, TERMINALS)
def test_rights_in_a_sandbox_are_those_that_name_it_and_no_others(
    rights: list[str], sandbox: str, own: bool, required: str, terminal: str | None
) -> None:
    parsed = [Right.parse(text) for text in rights]
    assert [str(right) for right in parsed] == rights
    there = [one for one in parsed if one.sandbox in (None, sandbox) or (own and one.sandbox == OWN)]
    alone = [(in_sandbox([str(one)], sandbox, own=own), one) for one in parsed]
    assert all(bool(projected) == (one in there) for projected, one in alone)
    together = allows(in_sandbox(rights, sandbox, own=own), required, terminal)
    assert together == any(allows(projected, required, terminal) for projected, _ in alone)
    if together and not own:
        assert allows(in_sandbox(rights, sandbox, own=True), required, terminal)  # owning takes nothing away
    if together and terminal is None:
        assert allows(in_sandbox(rights, sandbox, own=own), required, "main")  # the sandbox includes its terminals


@given(RIGHTS)
def test_the_right_to_control_a_runtime_is_given_by_itself_only(rights: list[str]) -> None:
    assert allows(in_sandbox(rights, "a", own=True), CONTROL) == any(
        Right.parse(text)[:2] in [(CONTROL, None), (CONTROL, "a"), (CONTROL, OWN)] and "@" not in text
        for text in rights
    )
