"""Checks shared by calls on terminals and processes."""

import signal as signals
from typing import Any, Protocol

from hawse.wire import HawseError


class Started(Protocol):
    """A terminal or a process. `exit` is None while the program is running."""

    id: str
    exit: Any


def check_running(kind: str, thing: Started) -> None:
    """Raise `exited` if the terminal or process has ended. `kind` names it in the message."""
    if thing.exit is not None:
        raise HawseError("exited", f"{kind} {thing.id} has ended")


def signal_number(signal: str | int) -> int:
    """Return the number of a signal given as a number, or as a name with or without SIG. Raises `invalid_params`."""
    try:
        if isinstance(signal, int):
            return int(signals.Signals(signal))
        name = signal.upper()
        return int(signals.Signals[name if name.startswith("SIG") else f"SIG{name}"])
    except (ValueError, KeyError):
        raise HawseError(
            "invalid_params", f"{signal!r} is not a valid signal number or name", details={"path": "$.signal"}
        ) from None
