"""Which methods are audited, and the parameters of `audit.list`."""

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.audit import PAGE_MAX, AuditList

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
