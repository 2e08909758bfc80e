"""Commands and processes as types."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.processes import (
    Exec,
    ExecResult,
    ProcessInfo,
    ProcessOpened,
    Since,
    StreamOffsets,
    StreamTruncated,
)
from hawse.api.types import Exit

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("process.") or name == "exec"}


def test_what_a_command_is_given_is_decoded_whole() -> None:
    raw = b'{"command": "ls", "env": {"A": null}, "since": {"stdout": 3}, "timeout": 1.5, "stdin": true}'
    assert msgspec.json.decode(raw, type=Exec) == Exec(
        command="ls", env={"A": None}, since=Since(stdout=3), timeout=1.5, stdin=True
    )


@pytest.mark.parametrize("name", OURS)
def test_every_result_survives_the_wire(name: str) -> None:
    schema = msgspec.json.schema(METHODS[name].result)
    assert schema["$defs"]


def test_where_output_begins_is_spelled_from() -> None:
    opened = ProcessOpened(id="p", instance="i", pid=7, start=StreamOffsets(stdout=4))
    assert msgspec.to_builtins(opened)["from"] == {"stdout": 4, "stderr": 0}
    assert msgspec.to_builtins(StreamTruncated(stream="stderr", start=9)) == {"stream": "stderr", "from": 9}


def test_an_end_that_leaves_out_what_does_not_apply_is_understood() -> None:
    end = msgspec.json.decode(b'{"signal": "SIGKILL", "stdout": 1, "stderr": 2, "later": 3}', type=ExecResult)
    assert (end.code, end.signal, end.timed_out, end.oom) == (None, "SIGKILL", False, None)
    info = msgspec.json.decode(b'{"id": "p", "instance": "i", "pid": 7, "exit": {"code": 0}}', type=ProcessInfo)
    assert info.exit == Exit(0)
