"""A sandbox's mounts: buckets and directories from the gateway's machine, mounted at paths in the sandbox."""

import builtins

import msgspec

from hawse.api.mounts import MountCreate, MountCredentials, MountDelete, MountInfo, MountList
from hawse.api.paths import from_text
from hawse.client.calls.call_table import CallTable
from hawse.client.files.changes import PathLike, wire_path


class Mounts:
    """A sandbox's mounts. The handle doesn't have to be closed.

    Methods raise `HawseError`: `unavailable` if the gateway or the sandbox does not support mounts.
    """

    def __init__(self, calls: CallTable, sandbox: str) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
        """
        self._calls = calls
        self._sandbox = sandbox

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of sandbox {self._sandbox!r}>"

    async def create(
        self,
        bucket: str,
        path: PathLike,
        *,
        prefix: str = "",
        read_only: bool = False,
        credentials: MountCredentials | None = None,
    ) -> MountInfo:
        """Mount a bucket or a directory from the gateway's machine. The mount is restored whenever the sandbox starts.

        Args:
            bucket: A name in the gateway's settings; with `credentials`, the name of any bucket.
            path: An empty or new directory below the workspace.
            prefix: The root of the mount; only files below it are visible.
            read_only: Whether the mount is read-only.
            credentials: Credentials for a bucket in another store. Only users with every right may pass them.

        Raises:
            HawseError: `not_found` if the caller may not mount the bucket, `conflict` if the directory is not empty,
                `io_error` if the store refuses the credentials or does not respond, `limit_exceeded`.
        """
        params = MountCreate(
            sandbox=self._sandbox,
            bucket=bucket,
            path=wire_path(path),
            prefix=prefix,
            read_only=read_only,
            credentials=credentials,
        )
        return _decoded(await self._calls.request(params, sandbox=None))

    async def list(self) -> builtins.list[MountInfo]:
        """Return the mounts, sorted by path."""
        found = await self._calls.request(MountList(sandbox=self._sandbox), sandbox=None)
        return [_decoded(info) for info in found.mounts]

    async def delete(self, mount: str, *, force: bool = False, discard: bool = False, timeout: float = 60.0) -> None:
        """Wait until all changes have been uploaded, and remove a mount. The bucket's content is kept.

        Args:
            mount: The id of the mount.
            force: Whether to remove the mount even if programs are using its files.
            discard: Whether to discard changes that haven't been uploaded yet.
            timeout: Maximum number of seconds to wait for the uploads.

        Raises:
            HawseError: `conflict` if programs are using its files; `unavailable` if the uploads take longer than
                `timeout`. `details["pending"]` files are then still uploaded before the mount is deleted.
        """
        params = MountDelete(sandbox=self._sandbox, mount=mount, force=force, discard=discard, timeout=timeout)
        await self._calls.request(params, sandbox=None)


def _decoded(info: MountInfo) -> MountInfo:
    return msgspec.structs.replace(info, path=from_text(info.path))
