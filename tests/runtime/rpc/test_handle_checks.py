"""What is checked before anything is done to what was started."""

import signal
from types import SimpleNamespace

import pytest

from hawse.wire import HawseError
from runtime.rpc.handle_checks import check_instance, check_running, signal_number

THING = SimpleNamespace(id="p", instance="i", exit=None)


def test_another_instance_is_stale() -> None:
    check_instance("process", THING, None)
    check_instance("process", THING, "i")
    with pytest.raises(HawseError, match="stale_handle: process p"):
        check_instance("process", THING, "j")


def test_what_has_ended_has_exited() -> None:
    check_running("process", THING)
    with pytest.raises(HawseError, match="exited: terminal t"):
        check_running("terminal", SimpleNamespace(id="t", instance="i", exit=0))


@pytest.mark.parametrize("name", ["INT", "SIGINT", "int", 2])
def test_a_signal_goes_by_name_or_number(name: str | int) -> None:
    assert signal_number(name) == signal.SIGINT


@pytest.mark.parametrize("name", ["", "NOPE", 0, 999, "SIG", "SIG_DFL"])
def test_what_is_no_signal_is_refused(name: str | int) -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        signal_number(name)
