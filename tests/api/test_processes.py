"""`exec` and the `process.*` methods."""

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


def test_all_parameters_of_a_command_are_decoded() -> None:
    raw = b'{"command": "ls", "env": {"A": null}, "since": {"stdout": 3}, "timeout": 1.5, "stdin": true}'
    assert msgspec.json.decode(raw, type=Exec) == Exec(
        command="ls", env={"A": None}, since=Since(stdout=3), timeout=1.5, stdin=True
    )


@pytest.mark.parametrize("name", OURS)
def test_every_result_has_a_json_schema(name: str) -> None:
    schema = msgspec.json.schema(METHODS[name].result)
    assert schema["$defs"]


def test_the_beginning_of_output_is_encoded_as_from() -> None:
    opened = ProcessOpened(id="p", instance="i", pid=7, start=StreamOffsets(stdout=4))
    assert msgspec.to_builtins(opened)["from"] == {"stdout": 4, "stderr": 0}
    assert msgspec.to_builtins(StreamTruncated(stream="stderr", start=9)) == {"stream": "stderr", "from": 9}


def test_fields_of_an_exit_have_defaults() -> None:
    end = msgspec.json.decode(b'{"signal": "SIGKILL", "stdout": 1, "stderr": 2, "later": 3}', type=ExecResult)
    assert (end.code, end.signal, end.timed_out, end.oom) == (None, "SIGKILL", False, None)
    info = msgspec.json.decode(b'{"id": "p", "instance": "i", "pid": 7, "exit": {"code": 0}}', type=ProcessInfo)
    assert info.exit == Exit(0)
