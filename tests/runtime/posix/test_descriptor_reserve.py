"""The descriptors that are held back."""

import os

import pytest

from hawse_runtime.posix.descriptor_reserve import DescriptorReserve
from tests.support.runtime import open_fds


def test_the_reserve_is_free_while_it_is_used() -> None:
    before = len(open_fds())
    reserve = DescriptorReserve(3)
    assert len(open_fds()) == before + 3
    with reserve.released():
        with reserve.released():
            assert len(open_fds()) == before
        assert len(open_fds()) == before, "another user is there"
    assert len(open_fds()) == before + 3
    reserve.close()
    assert len(open_fds()) == before


def test_a_reserve_that_cannot_be_filled_is_filled_after_the_next_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: int) -> int:
        raise OSError(24, "Too many open files")

    before = len(open_fds())
    with monkeypatch.context() as exhausted:
        exhausted.setattr(os, "eventfd", none_left)
        reserve = DescriptorReserve(3)
        with reserve.released():
            pass
        assert len(open_fds()) == before
    with reserve.released():
        pass
    assert len(open_fds()) == before + 3
    reserve.close()
