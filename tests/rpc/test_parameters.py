"""Parameters: unknown ones are a client's mistake at the first server, and belong to a later version at the next."""

from typing import Any

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from hawse.api.code import CodeRun
from hawse.api.desktops import DesktopDrag
from hawse.api.files import FileEdit
from hawse.api.processes import ProcessAttach
from hawse.api.terminals import TerminalCreate
from hawse.rpc.parameters import decode, refuse_unknown
from hawse.wire import HawseError
from hawse.wire.messages import to_raw

LATER = {"later": {"nested": [1]}}  # a parameter of a later version
POINT = {"x": 1, "y": 2}


def test_params_become_their_shape() -> None:
    create = decode(to_raw({"id": "a", "cols": 100, "env": {"A": "1", "B": None}}), TerminalCreate)
    assert (create.id, create.cols, create.env) == ("a", 100, {"A": "1", "B": None})
    assert decode(msgspec.Raw(b"{}"), TerminalCreate) == TerminalCreate()


def test_optional_parameters_may_be_null() -> None:
    nothing = dict.fromkeys(("id", "argv", "cwd", "env", "cols", "rows"))
    assert decode(to_raw(nothing), TerminalCreate) == TerminalCreate()
    attach = decode(to_raw({"id": "a", "since": {"stdout": None}, "lossless": None}), ProcessAttach)
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


def test_the_path_of_a_long_unknown_parameter_is_cut() -> None:
    with pytest.raises(HawseError) as refused:
        decode(to_raw({"x" * 500_000: 1}), TerminalCreate)
    assert len(refused.value.details["path"]) < 5000


@pytest.mark.parametrize(
    ("params", "path"),
    [({"id": "t", "colls": 80}, "$.colls"), ({"id": "t", "record": {"inputs": True}}, "$.record.inputs")],
)
def test_an_unknown_parameter_is_refused_by_its_path(params: Any, path: str) -> None:
    with pytest.raises(HawseError) as refused:
        decode(to_raw(params), TerminalCreate)
    assert (refused.value.code, refused.value.details) == ("invalid_params", {"path": path})


@pytest.mark.parametrize("method", [*METHODS, *GATEWAY])
def test_a_gateway_refuses_unknown_parameters_and_the_runtime_ignores_them(method: str) -> None:
    shape = (METHODS | GATEWAY)[method].params
    with pytest.raises(HawseError, match="unknown field `later`"):
        refuse_unknown(to_raw(LATER), shape)
    assert outcome(LATER, shape, checked=True) == outcome({}, shape)


@pytest.mark.parametrize(
    ("params", "later", "shape"),
    [
        ({"context": "c", "source": "1", "since": {"events": 1}}, {"since": {"events": 1, **LATER}}, CodeRun),
        (
            {"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
            {"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4, **LATER}]},
            DesktopDrag,
        ),
        ({"path": "p", "edits": [{"old": "a", "new": "b"}]}, {"edits": [{"old": "a", "new": "b", **LATER}]}, FileEdit),
        ({"env": {"later": "1"}, "cols": 90}, {"env": {"later": "1"}, **LATER}, TerminalCreate),
        ({"record": {"input": True}}, {"record": {"input": True, **LATER}, **LATER}, TerminalCreate),
    ],
)
def test_unknown_parameters_inside_others_are_ignored(params: Any, later: Any, shape: Any) -> None:
    with pytest.raises(HawseError, match="unknown field `later`"):
        refuse_unknown(to_raw(params | later), shape)
    assert decode(to_raw(params | later), shape, checked=True) == decode(to_raw(params), shape)


def test_a_gateway_leaves_wrong_values_to_a_runtime_which_can_be_newer() -> None:
    refuse_unknown(to_raw({"cols": "later"}), TerminalCreate)
    with pytest.raises(HawseError, match="invalid_params"):
        decode(to_raw({"cols": "later", **LATER}), TerminalCreate, checked=True)


def test_an_unknown_parameter_nested_too_deep_is_refused() -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        decode(msgspec.Raw(b'{"later":' + b"[" * 500_000 + b"]" * 500_000 + b"}"), TerminalCreate, checked=True)


def outcome(params: Any, shape: Any, *, checked: bool = False) -> Any:
    try:
        return decode(to_raw(params), shape, checked=checked)
    except HawseError as error:
        return str(error)
