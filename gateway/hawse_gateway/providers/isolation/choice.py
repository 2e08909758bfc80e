"""Chooses how sandboxes are isolated on this machine."""

from typing import NamedTuple

from hawse.api.sandboxes import Isolation, Network
from hawse_gateway.providers.isolation import bubblewrap, check, remedies
from hawse_gateway.providers.settings import RequestedIsolation
from hawse_gateway.providers.state_directory import StateError


class ChosenIsolation(NamedTuple):
    """The chosen isolation.

    Attributes:
        isolation: The isolation to use.
        reason: The reason why the isolation is not stronger. None if it is the strongest.
        system_calls: Whether programs' system calls are filtered.
    """

    isolation: Isolation
    reason: str | None = None
    system_calls: bool = False


def choose_isolation(requested: RequestedIsolation, network: Network = "private") -> ChosenIsolation:
    """Choose the isolation based on the request and this machine's capabilities.

    Args:
        requested: The requested isolation.
        network: The network that sandboxes will use.

    Raises:
        StateError: `requested` is not available.
    """
    if requested == "none":
        return ChosenIsolation("none", "requested by --isolation none")
    bwrap = bubblewrap.find()
    found = (
        check.IsolationCheck(reason="bwrap is not installed: apt install bubblewrap")
        if bwrap is None
        else check.check(bwrap, network)
    )
    if found.reason is None:
        return ChosenIsolation("bubblewrap", system_calls=found.seccomp)
    reason = found.reason
    if bwrap is not None and (remedy := remedies.remedy()) is not None:
        reason = f"{reason}; {remedy}"
    if requested == "bubblewrap":
        raise StateError(f"--isolation bubblewrap: {reason}")
    return ChosenIsolation("none", reason)
