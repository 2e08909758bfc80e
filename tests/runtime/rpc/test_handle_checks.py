"""The checks that calls on terminals and processes have in common."""

import signal
from types import SimpleNamespace

import pytest

from hawse.wire import HawseError
from hawse_runtime.rpc.handle_checks import check_running, signal_number

THING = SimpleNamespace(id="p", exit=None)


def test_an_ended_thing_is_refused_with_exited() -> None:
    check_running("process", THING)
    with pytest.raises(HawseError, match="exited: terminal t"):
        check_running("terminal", SimpleNamespace(id="t", exit=0))


@pytest.mark.parametrize("name", ["INT", "SIGINT", "int", 2])
def test_a_signal_is_given_by_name_or_number(name: str | int) -> None:
    assert signal_number(name) == signal.SIGINT


@pytest.mark.parametrize("name", ["", "NOPE", 0, 999, "SIG", "SIG_DFL"])
def test_an_unknown_signal_is_refused(name: str | int) -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        signal_number(name)
