"""System calls by number and by name."""

import errno

import pytest

from hawse_gateway.core.system_calls import call, check, libc


def test_the_result_of_a_call_is_returned() -> None:
    assert check(libc.dup2(1, 1), "dup2") == 1


def test_an_error_says_which_call_has_failed() -> None:
    with pytest.raises(OSError, match="close a file: Bad file descriptor") as raised:
        check(libc.close(-1), "close a file")
    assert raised.value.errno == errno.EBADF
    with pytest.raises(OSError, match="system call 999999: Function not implemented") as raised:
        call(999_999)
    assert raised.value.errno == errno.ENOSYS
