"""The errors: one table, and exceptions that distinguish local mistakes from violations by the other end."""

import pickle
import re

import pytest

from hawse.wire import ERRORS, HawseError, LocalProtocolError, RemoteProtocolError
from hawse.wire.errors import UNKNOWN_KIND, ErrorKind
from tests.support import wire as kit


def test_section_8_documents_every_error() -> None:
    documented = {}
    for names, status, retryable, text in kit.table("8. Errors", "code"):
        codes = re.findall(r"`(\w+)`", names)
        meanings = text.split("; ") if len(codes) > 1 else [text]
        for code, meaning in zip(codes, meanings, strict=True):
            documented[code] = ErrorKind(int(status), {"yes": True, "no": False}[retryable], meaning)
    assert documented == ERRORS
    assert list(documented) == list(ERRORS)  # in the same order too: the page is read beside the code


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_takes_its_status_and_its_retryable_from_the_table(code: str) -> None:
    error = HawseError(code)
    assert (error.status, error.retryable) == ERRORS[code][:2]
    assert (error.admitted, error.details, error.message) == ("no", None, "")


def test_an_unknown_code_is_an_error_that_is_not_retryable() -> None:
    error = HawseError("out_of_cheese", "+++")
    assert (error.status, error.retryable) == UNKNOWN_KIND[:2]
    assert str(error) == "out_of_cheese: +++"


def test_retryable_as_received_overrides_the_table() -> None:
    assert HawseError("internal", retryable=True).retryable is True
    assert HawseError("unavailable", retryable=False).retryable is False


def test_a_remote_error_has_a_code_to_send_and_a_local_error_has_none() -> None:
    theirs = RemoteProtocolError("a second `hello`")
    assert isinstance(theirs, HawseError)
    assert (theirs.code, theirs.close_code) == ("protocol_error", 1008)
    assert not issubclass(LocalProtocolError, HawseError)


def test_errors_can_be_sent_to_other_processes() -> None:
    for error in (
        HawseError("conflict", "taken", admitted="yes", details={"a": 1}, retryable=True),
        RemoteProtocolError("wrong", close_code=1007),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
