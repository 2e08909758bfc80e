"""What a call's params may be, and what it grants back."""

from typing import Any

import msgspec
import pytest

from hawse.api.processes import ProcessAttach as AttachProcess
from hawse.api.terminals import TerminalCreate
from hawse.wire import HawseError
from hawse.wire.messages import to_raw
from runtime.rpc.call import decode
from tests.support.runtime import Client, eventually


def test_params_become_their_shape() -> None:
    create = decode(to_raw({"id": "a", "cols": 100, "env": {"A": "1", "B": None}, "unknown": [1]}), TerminalCreate)
    assert (create.id, create.cols, create.env) == ("a", 100, {"A": "1", "B": None})
    assert decode(msgspec.Raw(b"{}"), TerminalCreate) == TerminalCreate()


def test_what_may_be_left_out_may_be_null() -> None:
    nothing = dict.fromkeys(("id", "argv", "cwd", "env", "cols", "rows"))
    assert decode(to_raw(nothing), TerminalCreate) == TerminalCreate()
    attach = decode(to_raw({"id": "a", "since": {"stdout": None}, "lossless": None}), AttachProcess)
    assert attach.since is not None
    assert attach.since.stdout is None


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"cols": 0}, "$.cols"),
        ({"cols": -1}, "$.cols"),
        ({"cols": 10**9}, "$.cols"),
        ({"cols": 10**30}, "$.cols"),
        ({"cols": "80"}, "$.cols"),
        ({"cols": 80.5}, "$.cols"),
        ({"cols": True}, "$.cols"),
        ({"rows": [24]}, "$.rows"),
        ({"argv": []}, "$.argv"),
        ({"argv": ["sh", 1]}, "$.argv[1]"),
        ({"env": {"A": 1}}, "$.env[...]"),
        ({"id": ""}, "$.id"),
        ({"id": "../../etc"}, "$.id"),
        ({"id": "x" * 65}, "$.id"),
        ([], None),
        ("text", None),
    ],
)
def test_wrong_params_say_where(params: Any, path: str | None) -> None:
    with pytest.raises(HawseError) as refused:
        decode(to_raw(params), TerminalCreate)
    assert refused.value.code == "invalid_params"
    assert refused.value.details == {"path": path}


def test_params_nested_a_million_deep_are_refused() -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        decode(msgspec.Raw(b'{"x":' + b"[" * 500_000), TerminalCreate)


async def test_input_is_granted_back_to_the_byte_soon_after_it_is_applied(client: Client) -> None:
    call = client.execute("cat >/dev/null", stdin=True, input="i")
    for size in (1, 70_000, 5, 200_000):
        await call.type(b"x" * size)
        await eventually(lambda: call.granted == call.sent)
    call.end()
    await call.result()
