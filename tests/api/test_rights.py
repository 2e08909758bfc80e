"""Rights: which one each method requires, and which lists of rights allow it."""

import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import ALL, OPERATE, PREVIEW, VIEW, allows, check
from hawse.wire import HawseError
from tests.support.principals import VIEWER

VIEWING = {
    "recording.get",
    "recording.list",
    "recording.read",
    "recording.watch",
    "sandbox.list",
    "terminal.attach",
    "terminal.get",
    "terminal.history",
    "terminal.list",
    "terminal.presence",
    "terminal.screen",
    "terminal.wait",
}


def test_each_method_requires_the_right_that_was_decided() -> None:
    required = {name: spec.requires for name, spec in (METHODS | GATEWAY).items()}
    assert {name for name, right in required.items() if right == VIEW} == VIEWING
    assert {name for name, right in required.items() if right == PREVIEW} == {"port.connect"}
    assert {required[name] for name in required.keys() - VIEWING - {"port.connect"}} == {OPERATE}


@pytest.mark.parametrize("right", [VIEW, OPERATE, PREVIEW, ALL, "a right of a later version"])
def test_all_includes_every_right_and_each_right_itself(right: str) -> None:
    assert allows([ALL], right)
    assert allows([right], right)
    assert not allows([], right)


def test_operating_includes_previews_and_nothing_else_includes_another_right() -> None:
    rights = [VIEW, OPERATE, PREVIEW, "Operate", "operator", ""]
    included = [(held, right) for held in rights for right in (VIEW, OPERATE, PREVIEW, ALL) if allows([held], right)]
    assert included == [(VIEW, VIEW), (OPERATE, OPERATE), (OPERATE, PREVIEW), (PREVIEW, PREVIEW)]


def test_a_missing_right_is_forbidden_by_name() -> None:
    check(VIEWER, VIEW)
    with pytest.raises(HawseError, match=r"forbidden.*'operate'.*'viewer'"):
        check(VIEWER, OPERATE)
