"""Decoding of what servers send."""

import pytest

from hawse.api.processes import ProcessOpened, StreamOffsets
from hawse.api.terminals import TerminalKillResult, TerminalLive
from hawse.api.types import Exit
from hawse.client.calls.decode import parse
from hawse.wire import RemoteProtocolError


def test_unknown_fields_are_ignored() -> None:
    assert parse(b'{"offset": 3, "later": [1]}', TerminalLive).offset == 3


@pytest.mark.parametrize("raw", [b"{}", b'{"offset": "3"}', b"3", b"{", b"\xff"])
def test_what_is_not_as_promised_is_the_servers_error(raw: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        parse(raw, TerminalLive)


def test_from_is_spelled_as_on_the_wire() -> None:
    raw = b'{"id": "p", "instance": "i", "pid": 7, "from": {"stdout": 4}}'
    assert parse(raw, ProcessOpened).start == StreamOffsets(stdout=4)


def test_an_exit_may_leave_out_what_does_not_apply() -> None:
    assert parse(b'{"exit": {"signal": "SIGHUP"}}', TerminalKillResult).exit == Exit(None, "SIGHUP")
