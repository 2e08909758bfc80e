"""`watch.*`: what changes in a directory, as it happens or since a version."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, method
from hawse.api.types import Id, Path

Glob = Annotated[str, Meta(min_length=1, max_length=1000)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Version = Annotated[str, Meta(min_length=1, max_length=200)]  # opaque to clients
ChangeType = Literal["added", "modified", "deleted"]
RescanReason = Literal["overflow", "behind", "expired", "restarted"]

DEFAULT_EXCLUDE = (".git", ".hawse", ".hawse-*")  # Git's own files, and ours: recordings, uploads under way


# ---- values


class WatchTarget(ParamsValue, kw_only=True):
    """What is watched. The same again is the same watch."""

    path: Path
    recursive: bool = True
    include: Globs | None = None  # none: everything
    exclude: Globs | None = None  # none: DEFAULT_EXCLUDE


class WatchStarted(msgspec.Struct, kw_only=True):
    """It is live: what changes from here on is told."""

    id: Id
    path: str
    version: Version


class WatchedChange(msgspec.Struct, frozen=True):
    """Something at `path` (absolute). A directory that is deleted or added stands for what it held or holds too."""

    type: ChangeType
    path: str
    directory: bool = False


class WatchedChanges(msgspec.Struct, kw_only=True):
    """In order; of each path the sum of what happened."""

    version: Version
    changes: list[WatchedChange]


class WatchRescan(msgspec.Struct, kw_only=True):
    """Changes up to `version` are not known: look at the directory itself."""

    version: Version
    reason: RescanReason


class WatchStartResult(msgspec.Struct):
    """`watch.stop` was called."""

    reason: Literal["stopped"] = "stopped"


class WatchChangesResult(msgspec.Struct, kw_only=True):
    """What has changed: all of it unless `more`, and then the rest is what changed since this `version`."""

    id: Id
    status: Literal["unchanged", "changed", "rescan"]
    version: Version
    changes: list[WatchedChange] = []
    more: bool = False
    reason: RescanReason | None = None  # of `rescan`


# ---- methods


@method("watch.start", events={"watching": WatchStarted, "changes": WatchedChanges, "rescan": WatchRescan})
class WatchStart(WatchTarget, Params[WatchStartResult], kw_only=True):
    """Tells the changes in a directory, as they happen.

    `since`: a version that this or another call gave; what has changed since then comes first.
    """

    since: Version | None = None


@method("watch.changes", safe=True)
class WatchChanges(WatchTarget, Params[WatchChangesResult], kw_only=True):
    """Answers what has changed in a directory since a version.

    Without `since` it begins to watch. A watch that nobody asks is kept for 10 minutes.
    """

    since: Version | None = None


@method("watch.stop")
class WatchStop(Params[Nothing], kw_only=True):
    """Ends a watch for everybody. One that is gone already is no error."""

    id: Id
