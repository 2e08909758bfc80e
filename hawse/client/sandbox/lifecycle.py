"""The lifecycle of one sandbox: a base class of `Sandbox`, for `await box.stop()`.

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
    """Starts, stops, changes and deletes one sandbox."""

    id: str
    _calls: CallTable

    async def info(self) -> "SandboxInfo":
        """Return the sandbox as the gateway knows it. It is not started. Raises `not_found`."""
        from hawse.api.sandboxes import SandboxGet

        return await self._manage(SandboxGet(id=self.id))

    async def wake(self) -> "SandboxInfo":
        """Start the sandbox, even if it was stopped. A sleeping one is started by any call.

        Raises:
            HawseError: `not_found`, `capacity_exceeded`, `cleanup_pending`, `unavailable`.
        """
        from hawse.api.sandboxes import SandboxStart

        return await self._manage(SandboxStart(id=self.id))

    async def stop(self) -> "SandboxInfo":
        """End everything that runs in it, and refuse calls until `wake`. Its files remain.

        Raises:
            HawseError: `cleanup_pending` if something has not ended; the gateway keeps trying.
        """
        from hawse.api.sandboxes import SandboxStop

        return await self._manage(SandboxStop(id=self.id))

    async def pause(self) -> "SandboxInfo":
        """Suspend everything that runs in it, and refuse calls until `resume`.

        Raises:
            HawseError: `invalid_params` if its provider cannot, `stopped` if it does not run.
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
        """Change the sandbox. Omitted settings remain unchanged.

        Args:
            env: Variables to set, for programs that are started later; None removes one.
            labels: Labels to set; None removes one.
            timeout: Seconds from now until it is deleted. A later end is kept.
            idle_timeout: Seconds of inactivity until it sleeps.
            keep_alive: Whether it never sleeps. With False, it sleeps after the `idle_timeout` that it had before.
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
            name: A name for people.
            ttl: Seconds until it is deleted; None means it is kept.

        Raises:
            HawseError: The same errors as `hw.backups.create`.
        """
        from hawse.client.backups import take_snapshot

        return await take_snapshot(self._calls, self.id, name, ttl)

    async def delete(self) -> None:
        """End everything that runs in it, and remove its files.

        Raises:
            HawseError: `not_found`; `cleanup_pending` if something has not ended; the gateway keeps trying.
        """
        from hawse.api.sandboxes import SandboxDelete

        await self._manage(SandboxDelete(id=self.id))

    async def _manage(self, params: Params[R]) -> R:
        """Call a method of the gateway."""
        return await self._calls.request(params, sandbox=None)
