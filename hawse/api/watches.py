"""Watches: the changes in a directory, as they happen or since a version."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.rights import WRITE
from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import PATH_ERRORS, Id, Path

Glob = Annotated[str, Meta(min_length=1, max_length=1000)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Version = Annotated[str, Meta(min_length=1, max_length=200)]  # opaque to clients
ChangeType = Literal["added", "modified", "deleted"]
RescanReason = Literal["overflow", "behind", "expired", "restarted"]

DEFAULT_EXCLUDE = (".git", ".hawse", ".hawse-*")  # Git's and hawse's own files, such as recordings


# ---- values


class WatchTarget(ParamsValue, kw_only=True):
    """Parameters of a watch. Calls with the same values share one watch.

    Args:
        path: The directory, relative to the workspace unless it is absolute.
        recursive: Whether to watch subdirectories as well.
        include: Globs for paths to report. A glob without a slash matches names at any depth. Null includes everything.
        exclude: Globs for paths to exclude, including everything below them. Null means `.git`, `.hawse` and
            `.hawse-*`.
    """

    path: Path
    recursive: bool = True
    include: Globs | None = None
    exclude: Globs | None = None  # null means DEFAULT_EXCLUDE


class WatchStarted(msgspec.Struct, kw_only=True):
    """The watch is live: every later change is reported.

    Attributes:
        id: Id of the watch.
        path: Absolute path of the directory being watched.
        version: Opaque position in the sequence of changes, to pass as `since`.
    """

    id: Id
    path: str
    version: Version


class WatchedChange(msgspec.Struct, frozen=True):
    """A change to one path.

    A rename is reported as `deleted` and `added`. For a deleted or moved directory, a single change covers all its
    content.

    Attributes:
        type: Kind of change; `modified` refers to content, mode or timestamps.
        path: The absolute path.
        directory: Whether it is, or was, a directory.
    """

    type: ChangeType
    path: str
    directory: bool = False


class WatchedChanges(msgspec.Struct, kw_only=True):
    """Changes in chronological order.

    Several changes to the same path within 50 ms are reported as one.

    Attributes:
        version: Opaque position after these changes, to pass as `since`.
        changes: The changes.
    """

    version: Version
    changes: list[WatchedChange]


class WatchRescan(msgspec.Struct, kw_only=True):
    """Changes before `version` are unavailable, so the client must read the directory itself.

    Attributes:
        version: Opaque position after these changes, to pass as `since`.
        reason: The cause: `overflow` of the kernel's queue, a client that fell `behind`, a watch that `expired`, or a
            runtime that `restarted`.
    """

    version: Version
    reason: RescanReason


class WatchStartResult(msgspec.Struct):
    """The watch was ended with `watch.stop`.

    Attributes:
        reason: Always `stopped`.
    """

    reason: Literal["stopped"] = "stopped"


class WatchChangesResult(msgspec.Struct, kw_only=True):
    """The changes in a directory since a version.

    Attributes:
        id: Id of the watch.
        status: Whether there are changes; `rescan` if the changes are unavailable and the directory must be read again.
        version: Opaque position after these changes, to pass as `since`.
        changes: The changes, in chronological order.
        more: Whether there are more changes. To get them, pass this `version` as `since`.
        reason: Why the changes are unavailable, as in `rescan` events; null for any other `status`.
    """

    id: Id
    status: Literal["unchanged", "changed", "rescan"]
    version: Version
    changes: list[WatchedChange] = []
    more: bool = False
    reason: RescanReason | None = None


# ---- methods


@method(
    "watch.start",
    requires=WRITE,
    events={"watching": WatchStarted, "changes": WatchedChanges, "rescan": WatchRescan},
    passive=True,
    raises=(*PATH_ERRORS, "limit_exceeded"),
)
class WatchStart(WatchTarget, Params[WatchStartResult], kw_only=True):
    """Report the changes in a directory as they happen, until the call is cancelled.

    Symlinks are not followed. A client that reads too slowly gets `rescan`. The error is `not_found` if the directory
    does not exist or disappears later; `limit_exceeded` if more than 64 watches have readers, if a watch has more than
    65,536 directories, or if a kernel limit is reached.

    Args:
        since: Version of this watch; only later changes are reported. Null reports changes from now on.
    """

    since: Version | None = None


@method("watch.changes", requires=WRITE, safe=True, raises=(*PATH_ERRORS, "limit_exceeded"))
class WatchChanges(WatchTarget, Params[WatchChangesResult], kw_only=True):
    """Return the changes in a directory since a version, up to the time of the call.

    The watch continues for 10 minutes after the last call. The last 10,000 changes are kept.

    Args:
        since: Version of this watch; only later changes are reported. Null starts a new watch.
    """

    since: Version | None = None


@method("watch.stop", audit=False, requires=WRITE)
class WatchStop(Params[Nothing], kw_only=True):
    """End a watch for all clients. It is not an error if the watch does not exist.

    Args:
        id: Id of the watch.
    """

    id: Id
