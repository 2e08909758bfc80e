"""Every exception becomes an error that may be sent, with a code that fits."""

import os
from types import SimpleNamespace

import pytest

from hawse.rpc import from_oserror, subject_of, typed
from hawse.wire import HawseError


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (2, "not_found"),
        (13, "permission_denied"),
        (1, "permission_denied"),
        (21, "is_directory"),
        (20, "not_directory"),
        (17, "conflict"),
        (28, "no_space"),
        (122, "no_space"),
        (5, "io_error"),
        (24, "limit_exceeded"),  # EMFILE
        (23, "limit_exceeded"),  # ENFILE
        (12, "limit_exceeded"),  # ENOMEM
        (11, "limit_exceeded"),  # EAGAIN
        (36, "invalid_params"),  # ENAMETOOLONG
        (40, "invalid_params"),  # ELOOP
    ],
)
def test_an_error_of_the_system_is_typed(number: int, code: str) -> None:
    error = typed(OSError(number, os.strerror(number)))
    assert error.code == code == from_oserror(OSError(number, "x")).code
    assert error.details == {"errno": number}
    assert error.retryable is (code in ("no_space", "limit_exceeded"))


def test_a_lack_of_memory_is_a_limit() -> None:
    error = typed(MemoryError())
    assert (error.code, error.retryable) == ("limit_exceeded", True)


def test_a_typed_error_stays_as_it_is() -> None:
    error = HawseError("conflict", "x")
    assert typed(error) is error


def test_the_message_names_the_path_of_the_caller() -> None:
    error = OSError(2, "No such file or directory", "/proc/self/fd/7")
    assert typed(error, "a/b").message == "a/b: No such file or directory"
    assert typed(error).message == "No such file or directory"


def test_parameters_name_one_path_or_both_of_a_copy() -> None:
    assert subject_of(SimpleNamespace(path="a")) == "a"
    assert subject_of(SimpleNamespace(path="a", to="b")) == "a to b"
    assert subject_of(SimpleNamespace(argv=["a"])) is None
    assert subject_of(None) is None
