"""What the gateway needs of whoever makes sandboxes: a list, and the socket of one's runtime."""

from pathlib import Path
from typing import Literal, Protocol

import msgspec

State = Literal["running", "stopped", "failed"]
Isolation = Literal["bubblewrap", "none"]


class Sandbox(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sandbox as `sandbox.list` shows it (docs/wire.md section 9)."""

    id: str
    state: State
    isolation: Isolation | None = None


class Provider(Protocol):
    def sandboxes(self) -> list[Sandbox]: ...

    def knows(self, sandbox: str) -> bool: ...

    async def ensure(self, sandbox: str) -> Path:
        """Return the Unix socket of the sandbox's runtime, started if it was not running.

        Raises `HawseError`: `unavailable` with what is known of the reason.
        """
        ...
