"""Backups of directories: the gateway's `backup.*` methods, and the methods they call in a sandbox."""

from typing import Annotated, Literal

from msgspec import Meta

from hawse.api.files import Globs
from hawse.api.rights import CONTROL
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import PATH_ERRORS, Id, Path, matching
from hawse.wire.frames import OFFSET_MAX

BackupCompression = Literal["none", "gzip", "zstd"]
BackupFormat = Literal["tar", "tar.gz", "tar.zst"]
BackupPhase = Literal["packing", "unpacking", "storing", "reading", "converting"]
RestoreMode = Literal["copy", "overlay"]
Lifetime = Annotated[float, Meta(gt=0, le=10**9)]  # seconds
BackupName = Annotated[str, Meta(min_length=1, max_length=255)]
Count = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
Digest = Annotated[str, matching(r"^[0-9a-f]{64}$(?!\n)", "a SHA-256 in 64 hexadecimal digits")]


class BackupProgress(Reply, frozen=True, kw_only=True):
    """Progress of a backup or restore, sent at the start and then a few times per second.

    Attributes:
        phase: The current step. `packing` and `unpacking` happen in the sandbox; `converting` creates the image for
            overlays.
        entries: Number of files, directories and other entries packed or unpacked so far.
        bytes: Number of bytes processed so far: file content or, while the archive is being stored or read, bytes of
            the archive.
    """

    phase: BackupPhase
    entries: Count = 0
    bytes: Count = 0


class BackupInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A backup.

    Attributes:
        id: Its id.
        sandbox: The sandbox that was backed up.
        path: The directory that was backed up.
        name: Display name.
        owner: Id of the user who created it.
        format: Its storage format: `tar`, `tar.gz` or `tar.zst`.
        size: Size of the archive, in bytes.
        sha256: SHA-256 of the archive, in hexadecimal.
        entries: Number of files, directories and other entries in it.
        bytes: Total size of its files, in bytes, excluding holes.
        changed: Number of files that changed while they were being read. Their archived content can be a mix of
            versions.
        skipped: Number of devices and sockets, which are not archived.
        created: When it was created, in seconds since 1970.
        expires: When it will be deleted, in seconds since 1970; null means never.
    """

    id: str
    sandbox: str
    path: str
    name: str | None = None
    owner: str | None = None
    format: str = "tar"
    size: int = 0
    sha256: str = ""
    entries: int = 0
    bytes: int = 0
    changed: int = 0
    skipped: int = 0
    created: float = 0.0
    expires: float | None = None


class BackupListResult(Reply, frozen=True, kw_only=True):
    """Backups on a gateway.

    Attributes:
        backups: The backups that the caller may use, newest first.
    """

    backups: list[BackupInfo]


class BackupUsageResult(Reply, frozen=True, kw_only=True):
    """A user's usage of the backup store.

    Attributes:
        backups: Number of backups.
        bytes: Total size of their archives, in bytes, including space reserved for backups in progress.
        max_backups: Maximum number of backups; null means no limit.
        max_bytes: Maximum total size, in bytes, as long as other users' backups leave enough space.
    """

    backups: int
    bytes: int
    max_backups: int | None
    max_bytes: int


class BackupRestoreResult(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A backup was restored.

    Attributes:
        entries: Number of files, directories and other entries that were restored.
        bytes: Total size of the files written, in bytes; 0 for an overlay.
        skipped: Number of file attributes not restored because the sandbox is not allowed to set them, such as
            capabilities.
        mount: For an overlay, the id of its mount, to pass to `mount.delete`.
    """

    entries: Count
    bytes: Count
    skipped: Count = 0
    mount: str | None = None


class BackupPackResult(Reply, frozen=True, kw_only=True):
    """A directory was packed, and all bytes of the archive were sent.

    Attributes:
        format: `tar`, `tar.gz` or `tar.zst`.
        size: Size of the archive, in bytes.
        sha256: SHA-256 of the archive, in hexadecimal.
        entries: Number of files, directories and other entries in it.
        bytes: Total size of its files, in bytes, excluding holes.
        changed: Number of files that changed while they were being read.
        skipped: Number of devices and sockets, which are not archived.
    """

    format: str
    size: Count
    sha256: str
    entries: Count
    bytes: Count
    changed: Count
    skipped: Count


class BackupSource(ParamsValue, kw_only=True):
    """Fields common to the methods that create an archive.

    Attributes:
        path: The directory.
        exclude: Globs for files and directories to exclude. They match names at any depth or, if they contain a slash,
            paths.
        gitignore: Whether to exclude files that git ignores, if the directory is in a repository.
        compression: How the archive is compressed; null means `zstd` if the sandbox has it, otherwise `gzip`.
    """

    path: Path = "."
    exclude: Globs | None = None
    gitignore: bool = False
    compression: BackupCompression | None = None


class BackupTarget(ParamsValue, kw_only=True):
    """Fields common to the methods that act on a single backup.

    Attributes:
        backup: Id of the backup.
    """

    backup: Id


# ---- gateway methods

PACK_ERRORS = (*PATH_ERRORS, "too_large", "limit_exceeded", "spawn_failed")
UNPACK_ERRORS = (*PATH_ERRORS, "conflict", "no_space", "too_large")
JOB_ERRORS = ("capacity_exceeded", "deadline_exceeded", "cancelled")
CREATE_ERRORS = (*PACK_ERRORS, "no_space", *JOB_ERRORS)


@method(
    "backup.create",
    events={"progress": BackupProgress},
    sandbox=False,
    target="sandbox",
    raises=CREATE_ERRORS,
)
class BackupCreate(BackupSource, Params[BackupInfo], kw_only=True):
    """Back up a directory in a sandbox to the gateway's store.

    File names with arbitrary bytes, modes, owners, times, symlinks, hard links, extended attributes, FIFOs and holes
    are preserved. If a file cannot be read, the call fails and nothing is stored. Files that change during the backup
    are counted in `changed`.

    With an idempotency key, the call continues for 60 seconds after its connection is lost, and a repeated call with
    the same key returns its outcome.

    Args:
        sandbox: Id of the sandbox.
        name: Display name.
        ttl: Seconds until the backup is deleted, counted from its creation; null means never.
        overlay: Whether to create the image for overlays right away, so that the first restore with the mode `overlay`
            is instant.
    """

    sandbox: Id
    name: BackupName | None = None
    ttl: Lifetime | None = None
    overlay: bool = False


@method(
    "sandbox.snapshot",
    events={"progress": BackupProgress},
    sandbox=False,
    target="id",
    raises=CREATE_ERRORS,
)
class SandboxSnapshot(Params[BackupInfo], kw_only=True):
    """Back up a sandbox's workspace. `sandbox.create` can create other sandboxes from it.

    The result is the same as for `backup.create`. Programs and files outside the workspace are not included.

    Args:
        id: Id of the sandbox.
        name: Display name.
        ttl: Seconds until the backup is deleted, counted from its creation; null means never.
    """

    id: Id
    name: BackupName | None = None
    ttl: Lifetime | None = None


@method(
    "backup.restore",
    events={"progress": BackupProgress},
    terminal=SELECTED,
    sandbox=False,
    raises=(*UNPACK_ERRORS, *JOB_ERRORS, "limit_exceeded"),
)
class BackupRestore(BackupTarget, Params[BackupRestoreResult], kw_only=True):
    """Restore a directory in a sandbox from a backup. The backup replaces the directory's current content.

    Before replacing anything, the call unpacks the backup beside the directory and verifies its checksum. If the
    restore fails or is cancelled, nothing changes.

    The mode `overlay` copies nothing: the backup appears in the directory, which must be empty or missing. Changes made
    by programs are kept in the sandbox. The first time this mode is used, the backup is converted to an image. The
    overlay is a mount: `mount.list` lists it, it is remounted whenever the sandbox starts, and `mount.delete` removes
    it along with all changes. If the sandbox does not support mounts, the error is `unavailable`.

    Args:
        sandbox: Id of the sandbox to restore into, which can be a different one; null means the sandbox that was backed
            up.
        path: The directory, which is created if it is missing; null means the directory that was backed up.
        mode: `copy` copies the files; `overlay` reads them from the backup on demand.
    """

    sandbox: Id | None = None
    path: Path | None = None
    mode: RestoreMode = "copy"


@method("backup.list", safe=True, terminal=SELECTED, sandbox=False)
class BackupList(Params[BackupListResult], kw_only=True):
    """List the caller's backups, and the backups of sandboxes where the caller has the `operate` right.

    Args:
        sandbox: Only backups of this sandbox; null means all.
    """

    sandbox: Id | None = None


@method("backup.usage", safe=True, terminal=SELECTED, sandbox=False)
class BackupUsage(Params[BackupUsageResult], kw_only=True):
    """Return the caller's backup store usage and limits."""


@method("backup.get", safe=True, terminal=SELECTED, sandbox=False, raises=("not_found",))
class BackupGet(BackupTarget, Params[BackupInfo], kw_only=True):
    """Return a backup."""


@method("backup.delete", terminal=SELECTED, sandbox=False, names="backup", ends=True, raises=("not_found",))
class BackupDelete(BackupTarget, Params[Nothing], kw_only=True):
    """Delete a backup."""


@method("backup.cancel", terminal=SELECTED, sandbox=False)
class BackupCancel(Params[Nothing], kw_only=True):
    """Cancel a `backup.create` or `backup.restore` call by its key.

    It is not an error if the call is unknown or has ended.

    Args:
        key: The idempotency key of the call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


# ---- sandbox methods, which the gateway calls


@method(
    "backup.pack",
    audit=False,
    requires=CONTROL,
    events={"progress": BackupProgress},
    output=("archive",),
    raises=PACK_ERRORS,
)
class BackupPack(BackupSource, Params[BackupPackResult], kw_only=True):
    """Stream a directory as an archive. `backup.create` calls this."""


@method("backup.unpack", audit=False, requires=CONTROL, events={"progress": BackupProgress}, raises=UNPACK_ERRORS)
class BackupUnpack(Params[BackupRestoreResult], kw_only=True):
    """Replace a directory's content with an archive from `backup.pack`. `backup.restore` calls this.

    Args:
        archive: The archive, a file in the sandbox.
        sha256: The expected SHA-256 of the archive, in hexadecimal. If it differs, the error is `io_error` and nothing
            changes.
        path: The directory, which is created if it is missing.
    """

    archive: Path
    sha256: Digest
    path: Path = "."
