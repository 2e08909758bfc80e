"""The values of `exec` and the `process.*` methods."""

import msgspec

from hawse.api.process_values import ExecResult, ProcessInfo, ProcessOpened, StreamOffsets, StreamTruncated
from hawse.api.types import Exit


def test_the_beginning_of_output_is_encoded_as_from() -> None:
    opened = ProcessOpened(id="p", instance="i", pid=7, start=StreamOffsets(stdout=4))
    assert msgspec.to_builtins(opened)["from"] == {"stdout": 4, "stderr": 0}
    assert msgspec.to_builtins(StreamTruncated(stream="stderr", start=9)) == {"stream": "stderr", "from": 9}


def test_fields_of_an_exit_have_defaults() -> None:
    end = msgspec.json.decode(b'{"signal": "SIGKILL", "stdout": 1, "stderr": 2, "later": 3}', type=ExecResult)
    assert (end.code, end.signal, end.timed_out, end.oom) == (None, "SIGKILL", False, None)
    info = msgspec.json.decode(b'{"id": "p", "instance": "i", "pid": 7, "exit": {"code": 0}}', type=ProcessInfo)
    assert info.exit == Exit(0)
