"""Mounts: buckets, directories on the gateway's machine, and overlays on backups, mounted at paths in sandboxes."""

from typing import Annotated, Literal

from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Id, Path, matching

MountState = Literal["mounted", "waiting", "failed", "deleting"]
Bucket = Annotated[str, Meta(min_length=1, max_length=255)]
Prefix = Annotated[str, Meta(max_length=1000)]
Credential = Annotated[
    str, matching(r"^[!-~]+$(?!\n)", "printable ASCII without spaces", min_length=1, max_length=4096)
]

MOUNT_ERRORS = ("not_found", "conflict", "not_directory", "permission_denied", "io_error", "limit_exceeded", "no_space")


class MountCredentials(ParamsValue, kw_only=True):
    """Credentials for a bucket that is not in the gateway's settings. The gateway never sends them to the sandbox.

    Attributes:
        access_key_id: The access key id.
        secret_access_key: The secret access key.
        session_token: The session token, for temporary credentials.
        endpoint: The URL of the store; null means Amazon S3.
        region: The bucket's region.
    """

    access_key_id: Credential
    secret_access_key: Credential
    session_token: Credential | None = None
    endpoint: Annotated[str, Meta(max_length=600)] | None = None
    region: Annotated[str, matching(r"^[A-Za-z0-9-]+$(?!\n)", "letters, digits and '-'", max_length=64)] | None = None


class MountInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A mount.

    Attributes:
        id: Its id.
        sandbox: The sandbox.
        path: The mount point, relative to the workspace.
        bucket: Name of the bucket or directory; null for an overlay.
        backup: Id of the backup under the overlay (`backup.restore`); null for other mounts.
        prefix: Path of the mounted part, relative to the part of the bucket or directory that the gateway exposes.
        read_only: Whether the mount is read-only.
        owner: Id of the user that created it.
        created: When it was created, in seconds since 1970.
        state: `mounted`; `waiting` until the sandbox is running; `failed` until a retry succeeds; `deleting` while
            changes are uploaded.
        reason: Why it failed; null if it did not.
        pending: Number of files written but not uploaded yet.
    """

    id: str
    sandbox: str
    path: str
    bucket: str | None = None
    backup: str | None = None
    prefix: str = ""
    read_only: bool = False
    owner: str | None = None
    created: float = 0.0
    state: MountState = "waiting"
    reason: str | None = None
    pending: int = 0

    @property
    def source(self) -> str:
        """The backup or bucket path that is mounted, for display."""
        if self.bucket is None:
            return f"backup {self.backup}"
        return f"{self.bucket}/{self.prefix}" if self.prefix else self.bucket


class MountListResult(Reply, frozen=True, kw_only=True):
    """A sandbox's mounts.

    Attributes:
        mounts: The mounts, sorted by path.
    """

    mounts: list[MountInfo]


@method("mount.create", sandbox=False, target="sandbox", raises=MOUNT_ERRORS)
class MountCreate(Params[MountInfo], kw_only=True):
    """Mount a bucket or a directory on the gateway's machine in a sandbox, and return once the mount can be used.

    Until it is deleted, the mount is restored whenever the sandbox starts. A file is uploaded about a second after a
    program has written and closed it. While the store does not respond, programs get the error EIO.

    Args:
        sandbox: Id of the sandbox. It is started if it isn't running.
        bucket: Name of a bucket or directory in the gateway's settings, or of any bucket if `credentials` is set.
        path: An empty or new directory below the workspace.
        prefix: The root of the mount; only files below it are visible.
        read_only: Whether the mount is read-only.
        credentials: Credentials for a bucket in another store. Only users with every right may pass them.
    """

    sandbox: Id
    bucket: Bucket
    path: Path
    prefix: Prefix = ""
    read_only: bool = False
    credentials: MountCredentials | None = None


@method("mount.list", safe=True, sandbox=False, target="sandbox", raises=("not_found",))
class MountList(Params[MountListResult], kw_only=True):
    """List a sandbox's mounts without starting it.

    Args:
        sandbox: Id of the sandbox.
    """

    sandbox: Id


@method(
    "mount.delete",
    sandbox=False,
    target="sandbox",
    names="mount",
    ends=True,
    raises=("not_found", "conflict", "io_error"),
)
class MountDelete(Params[Nothing], kw_only=True):
    """Remove a mount from a sandbox, and return once all changes have been uploaded. The bucket's content is kept.

    For an overlay, the changes are deleted and the backup is kept. A sleeping sandbox is started first; if the sandbox
    is stopped or paused, the error is `stopped`.

    If the uploads take longer than `timeout`, the error is `unavailable`, with the number of remaining files in
    `details.pending`. The uploads continue, and the mount is deleted once they are complete.

    Args:
        sandbox: Id of the sandbox.
        mount: Id of the mount.
        force: Whether to remove the mount even if programs are using its files. If false, the error in that case is
            `conflict`.
        discard: Whether to discard changes that haven't been uploaded yet.
        timeout: Maximum number of seconds to wait for the uploads.
    """

    sandbox: Id
    mount: Id
    force: bool = False
    discard: bool = False
    timeout: Annotated[float, Meta(ge=0, le=3600)] = 60.0
