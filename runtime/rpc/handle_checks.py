"""What every call on something that was started checks first, be it a terminal or a process."""

import signal as signals
from typing import Any, Protocol

from hawse.wire import HawseError


class Started(Protocol):
    """A terminal or a process: `instance` is new each time one of its id is started."""

    id: str
    instance: str
    exit: Any


def check_instance(kind: str, thing: Started, instance: str | None) -> None:
    """Raises `stale_handle` if another one was meant."""
    if instance is not None and instance != thing.instance:
        raise HawseError("stale_handle", f"{kind} {thing.id} was started anew")


def check_running(kind: str, thing: Started) -> None:
    """Raises `exited`."""
    if thing.exit is not None:
        raise HawseError("exited", f"{kind} {thing.id} has ended")


def signal_number(signal: str | int) -> int:
    """A signal by number or name, with or without SIG. Raises `invalid_params`."""
    try:
        if isinstance(signal, int):
            return int(signals.Signals(signal))
        name = signal.upper()
        return int(signals.Signals[name if name.startswith("SIG") else f"SIG{name}"])
    except (ValueError, KeyError):
        raise HawseError("invalid_params", f"no signal {signal!r}", details={"path": "$.signal"}) from None
