"""The exceptions by cause: one class for each code that a call can end with."""

import copy
import errno
import pickle

import pytest

import hawse
from hawse.client.base.call_errors import CALL_ERRORS
from hawse.client.base.errors import BusyError, CommandError, GaveUpError, TruncatedError, fresh
from hawse.client.base.results import CommandResult
from hawse.wire import HawseError


@pytest.mark.parametrize("code", CALL_ERRORS)
def test_an_error_is_raised_as_the_class_of_its_code(code: str) -> None:
    received = HawseError(code, "why", admitted="unknown", details={"a": 1}, retryable=True)
    error = fresh(received)
    assert type(error) is CALL_ERRORS[code]
    assert error is not received
    assert (error.code, error.message, str(error)) == (code, "why", f"{code}: why")
    assert (error.admitted, error.details, error.retryable, error.status) == (
        "unknown",
        {"a": 1},
        True,
        received.status,
    )
    made = CALL_ERRORS[code]("why", admitted="yes")
    assert (made.code, str(made), made.admitted) == (code, f"{code}: why", "yes")
    assert getattr(hawse, type(made).__name__) is type(made)


def test_built_in_exceptions_of_the_same_meaning_are_caught_too() -> None:
    with pytest.raises(TimeoutError):
        raise fresh(HawseError("deadline_exceeded"))
    with pytest.raises(PermissionError):
        raise fresh(HawseError("permission_denied"))
    with pytest.raises(FileNotFoundError):
        raise fresh(HawseError("not_found"))
    with pytest.raises(OSError, match="full") as caught:
        raise fresh(HawseError("no_space", "full"))
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(hawse.ConflictError):
        raise BusyError


def test_a_code_of_a_newer_server_stays_a_plain_error() -> None:
    assert type(fresh(HawseError("new_code"))) is HawseError


@pytest.mark.parametrize(
    "error",
    [
        HawseError("not_found", "x", details={"a": 1}),
        hawse.NotFoundError("x"),
        hawse.DeadlineExceededError("x", admitted="yes"),
        TruncatedError("stdout", 5),
        GaveUpError("no"),
        CommandError(CommandResult(3, stdout=b"", stderr=b"bad")),
    ],
)
def test_errors_can_be_copied_and_sent_to_other_processes(error: HawseError) -> None:
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error)), fresh(error)):
        assert str(again) == str(error)
        assert vars(again) == vars(error)
