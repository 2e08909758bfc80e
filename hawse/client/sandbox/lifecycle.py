"""A sandbox's lifecycle: a base class of `Sandbox` with methods such as `stop`.

The methods are loaded on first use, so that programs start fast.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hawse.api import Params
from hawse.client.calls.call_table import CallTable, R

if TYPE_CHECKING:
    from hawse.api.backups import BackupInfo
    from hawse.api.sandboxes import SandboxInfo


class Lifecycle:
    """Starts, stops, changes and deletes a sandbox."""

    id: str
    _calls: CallTable

    async def info(self) -> "SandboxInfo":
        """Return the gateway's description of the sandbox, without starting it. Raises `not_found`."""
        from hawse.api.sandboxes import SandboxGet

        return await self._manage(SandboxGet(id=self.id))

    async def wake(self) -> "SandboxInfo":
        """Start the sandbox, even if it was stopped. A sleeping sandbox does not need this, because any call starts it.

        Raises:
            HawseError: `not_found`, `capacity_exceeded`, `cleanup_pending`, `unavailable`.
        """
        from hawse.api.sandboxes import SandboxStart

        return await self._manage(SandboxStart(id=self.id))

    async def stop(self) -> "SandboxInfo":
        """End all programs in the sandbox, and refuse calls until `wake`. Its files are kept.

        Raises:
            HawseError: `cleanup_pending` if a program hasn't exited yet; the gateway keeps trying.
        """
        from hawse.api.sandboxes import SandboxStop

        return await self._manage(SandboxStop(id=self.id))

    async def pause(self) -> "SandboxInfo":
        """Suspend all programs in the sandbox, and refuse calls until `resume`.

        Raises:
            HawseError: `invalid_params` if its provider does not support it, `stopped` if the sandbox is not running.
        """
        from hawse.api.sandboxes import SandboxPause

        return await self._manage(SandboxPause(id=self.id))

    async def resume(self) -> "SandboxInfo":
        """Resume a paused sandbox."""
        from hawse.api.sandboxes import SandboxResume

        return await self._manage(SandboxResume(id=self.id))

    async def update(
        self,
        *,
        env: Mapping[str, str | None] | None = None,
        labels: Mapping[str, str | None] | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        keep_alive: bool | None = None,
    ) -> "SandboxInfo":
        """Change the sandbox. Settings that are omitted stay the same.

        Args:
            env: Variables to set for programs started after the call; None removes a variable.
            labels: Labels to set; None removes a label.
            timeout: Seconds until the sandbox is deleted, counted from now. This can only extend its lifetime.
            idle_timeout: Seconds of inactivity until the sandbox sleeps.
            keep_alive: Whether it never sleeps; False restores its previous `idle_timeout`.
        """
        from hawse.api.sandboxes import SandboxUpdate

        return await self._manage(
            SandboxUpdate(
                id=self.id,
                env=dict(env or {}),
                labels=dict(labels or {}),
                timeout=timeout,
                idle_timeout=idle_timeout,
                keep_alive=keep_alive,
            )
        )

    async def snapshot(self, *, name: str | None = None, ttl: float | None = None) -> "BackupInfo":
        """Back up the workspace. `hw.sandboxes.create(snapshot=…)` creates other sandboxes from it.

        Args:
            name: A display name.
            ttl: Seconds until the backup is deleted; None means never.

        Raises:
            HawseError: The same errors as `hw.backups.create`.
        """
        from hawse.client.backups import take_snapshot

        return await take_snapshot(self._calls, self.id, name, ttl)

    async def delete(self) -> None:
        """End all programs in the sandbox, and remove its files.

        Raises:
            HawseError: `not_found`; `cleanup_pending` if a program hasn't exited yet; the gateway keeps trying.
        """
        from hawse.api.sandboxes import SandboxDelete

        await self._manage(SandboxDelete(id=self.id))

    async def _manage(self, params: Params[R]) -> R:
        """Call one of the gateway's methods."""
        return await self._calls.request(params, sandbox=None)
