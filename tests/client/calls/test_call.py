"""One call: its request and its outcome."""

import gc
import logging

import msgspec
import pytest

from hawse.api.files import FileMkdir, FileMkdirResult, FileStat
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.wire import Event, HawseError, RemoteProtocolError


async def test_a_key_makes_a_call_repeat() -> None:
    assert not ClientCall("x").repeats
    assert ClientCall("x", key=new_key()).repeats
    assert ClientCall("x", repeats=True).repeats


async def test_keys_are_not_guessed() -> None:
    assert len({new_key() for _ in range(1000)}) == 1000


async def test_parameters_that_are_none_are_left_out() -> None:
    assert ClientCall("x", {"a": None, "b": 0}).params() == {"b": 0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": ""},
        {"method": "m" * 129},
        {"sandbox": ""},
        {"key": "k" * 129},
        {"key": ""},
        {"timeout": 0},
        {"timeout": 2e9},
    ],
)
async def test_what_would_cost_the_connection_is_refused_here(wrong: dict[str, str]) -> None:
    with pytest.raises(HawseError) as caught:
        ClientCall(**{"method": "x", **wrong})  # type: ignore[arg-type]
    assert caught.value.code == "invalid_params"
    assert caught.value.details == {"path": next(iter(wrong))}


async def test_the_result_is_the_outcome() -> None:
    call = ClientCall("x")
    call.settle(msgspec.Raw(b'{"a":1}'))
    assert await call.done == {"a": 1}


async def test_the_first_outcome_counts() -> None:
    call = ClientCall("x")
    call.fail(HawseError("cancelled"))
    call.settle(msgspec.Raw(b"1"))
    with pytest.raises(HawseError, match="cancelled"):
        await call.done


async def test_an_unretrieved_failure_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    gc.collect()  # what other tests have left may be logged now
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        ClientCall("x").fail(HawseError("cancelled"))
        gc.collect()
    assert caplog.records == []


async def test_an_event_costs_its_value_and_a_little() -> None:
    assert event_cost(Event(ch=1, name="n", value=msgspec.Raw(b"[1,2]"))) == 5 + 64


async def test_the_parameters_of_a_declared_method_name_it_and_leave_defaults_out() -> None:
    call = ClientCall(FileMkdir(path="x", mode=0o700), sandbox="local")
    assert (call.method, msgspec.to_builtins(call.params())) == ("file.mkdir", {"path": "x", "mode": 0o700})
    assert call.key
    assert call.repeats
    asking = ClientCall(FileStat(path="x"), sandbox="local")
    assert (asking.key, asking.repeats) == (None, True)


async def test_the_result_of_a_declared_method_has_its_type() -> None:
    call = ClientCall(FileMkdir(path="x"))
    call.settle(msgspec.Raw(b'{"created": true}'))
    assert await call.done == FileMkdirResult(created=True)
    wrong = ClientCall(FileMkdir(path="x"))
    with pytest.raises(RemoteProtocolError, match="an invalid FileMkdirResult"):
        wrong.settle(msgspec.Raw(b'{"created": 1}'))
