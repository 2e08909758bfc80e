"""The parameters of `token.*`, `share.*` and `audit.*`, and the rights they require."""

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.access import PAGE_MAX, SANDBOXES_MAX, AuditList, ShareCreate, TokenCreate, TokenRevoke
from hawse.api.rights import ACCESS


def test_every_method_about_access_requires_the_right_to_give_access() -> None:
    found = {name: spec.requires for name, spec in GATEWAY.items() if name.partition(".")[0] in ("token", "share")}
    assert set(found.values()) == {ACCESS}
    assert len(found) == 6


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (TokenCreate, '{"sandboxes": []}'),
        (TokenCreate, '{"sandboxes": ["~"]}'),
        (TokenCreate, '{"sandboxes": ["a@main"]}'),
        (TokenCreate, '{"sandboxes": ["a/b"]}'),
        (TokenCreate, '{"role": "root"}'),
        (TokenCreate, '{"user": ""}'),
        (TokenCreate, '{"expires_in": 0}'),
        (ShareCreate, '{"sandbox": "*"}'),
        (ShareCreate, '{"terminal": ""}'),
        (TokenRevoke, "{}"),
    ],
)
def test_values_that_could_widen_a_right_are_refused(type_: type, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=type_)


def test_a_token_is_for_a_bounded_number_of_sandboxes() -> None:
    names = [f"s{number}" for number in range(SANDBOXES_MAX)]
    assert msgspec.convert({"sandboxes": names}, TokenCreate).sandboxes == names
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandboxes": [*names, "more"]}, TokenCreate)


ALL = GATEWAY | METHODS


def test_a_method_that_changes_something_is_audited_unless_it_is_input_or_a_frequent_read() -> None:
    unaudited = {name for name, spec in ALL.items() if not spec.audited and not spec.safe and not spec.passive}
    assert unaudited == {
        *("file.list", "file.read", "file.search", "process.wait", "recording.read", "terminal.wait"),
        *("terminal.send", "terminal.resize", "terminal.presence"),
        *("port.accept", "port.connect", "egress.watch", "sandbox.watch", "watch.stop"),
        *("desktop.attach", "desktop.screenshot", "desktop.move", "desktop.click", "desktop.drag"),
        *("desktop.scroll", "desktop.type", "desktop.key"),
        *("backup.pack", "backup.unpack"),  # parts of calls that are audited
    }


@pytest.mark.parametrize(
    "text", ['{"before": "1"}', '{"after": "a:b"}', '{"limit": 0}', f'{{"limit": {PAGE_MAX + 1}}}']
)
def test_positions_and_limits_are_checked(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=AuditList)
