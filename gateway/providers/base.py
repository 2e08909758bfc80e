"""What the gateway needs of whoever makes sandboxes: a list, and the socket of one's runtime."""

from pathlib import Path
from typing import Protocol

from hawse.api.gateway import SandboxInfo


class Provider(Protocol):
    def sandboxes(self) -> list[SandboxInfo]: ...

    def knows(self, sandbox: str) -> bool: ...

    async def ensure(self, sandbox: str) -> Path:
        """Return the Unix socket of the sandbox's runtime, started if it was not running.

        Raises `HawseError`: `unavailable` with what is known of the reason.
        """
        ...
