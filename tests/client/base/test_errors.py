"""The tree of errors."""

import pytest

import hawse.client as client
from hawse.client.base.errors import (
    BusyError,
    ClientClosedError,
    CommandError,
    CommandTimeoutError,
    GaveUpError,
    RefusedError,
    TruncatedError,
    fresh,
    refused,
)
from hawse.client.base.results import CommandResult
from hawse.wire import HawseError, RemoteProtocolError

ALL = [
    HawseError("interrupted", "cut", admitted="unknown"),
    RemoteProtocolError("nonsense", close_code=1009),
    ClientClosedError(admitted="unknown"),
    RefusedError("protocol_error", "no"),
    refused("unauthenticated", "no"),
    GaveUpError("too long"),
    BusyError(),
    TruncatedError("stdout", 7),
    CommandError(CommandResult(3)),
    CommandError.of(CommandResult(None, "SIGKILL", timed_out=True)),
]


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_one_except_catches_them_all(error: HawseError) -> None:
    with pytest.raises(HawseError):
        raise error


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_a_fresh_copy_is_equal_in_everything_but_the_traceback(error: HawseError) -> None:
    with pytest.raises(HawseError):
        raise error
    twin = fresh(error)
    assert isinstance(twin, type(error))
    assert twin is not error
    assert str(twin) == str(error)
    assert twin.__dict__ == error.__dict__
    assert twin.__traceback__ is None


def test_a_refused_connection_is_also_an_error_of_its_cause() -> None:
    assert isinstance(refused("unauthenticated", "no"), client.UnauthenticatedError)
    error = refused("forbidden", "no", details={"a": 1})
    assert isinstance(error, client.ForbiddenError)
    assert isinstance(error, RefusedError)
    assert (error.code, error.message, error.details) == ("forbidden", "no", {"a": 1})
    assert type(refused("protocol_error", "no")) is RefusedError


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (CommandResult(2, stderr=b"x\nno such file\n"), "command_failed: the command exited with 2: x\nno such file"),
        (CommandResult(None, "SIGKILL"), "command_failed: the command was ended by SIGKILL"),
        (CommandResult(124, timed_out=True), "command_failed: the command timed out"),
    ],
)
def test_the_error_of_a_command_names_its_end_and_its_stderr(result: CommandResult, message: str) -> None:
    assert str(CommandError(result)) == message


def test_the_error_of_a_command_that_ran_too_long_is_a_timeout() -> None:
    error = CommandError.of(CommandResult(None, "SIGKILL", timed_out=True))
    assert isinstance(error, CommandTimeoutError)
    assert isinstance(error, TimeoutError)
    assert (error.code, error.admitted) == ("command_failed", "yes")
    assert not isinstance(CommandError.of(CommandResult(3)), TimeoutError)


def test_every_error_of_the_tree_is_exported() -> None:
    caught_as_others = {"RemoteProtocolError", "RefusedTokenError"}
    assert {type(error).__name__ for error in ALL} - caught_as_others <= {*client.__all__}
