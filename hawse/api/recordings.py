"""Recordings of terminals: the `recording.*` methods."""

from typing import Annotated, Literal, get_args

from msgspec import Meta

from hawse.api.files import FileOpened, FileTransferResult
from hawse.api.rights import VIEW
from hawse.api.spec import Nothing, Params, Reply, method
from hawse.api.types import Id, Offset

Title = Annotated[str, Meta(min_length=1, max_length=200)]
RecordingPart = Literal["cast", "screens", "index"]
PARTS: tuple[str, ...] = get_args(RecordingPart)
RecordingEndReason = Literal["stopped", "exited", "quota", "no_space", "io_error", "killed"]


# ---- values


class RecordingInfo(Reply, frozen=True, kw_only=True):
    """A recording: an asciicast v3 file of `size` bytes and `duration` seconds.

    `reason` and `message`: why it has ended. `truncated`: it holds less than happened; `lost`: bytes of output that a
    disk that stood still has cost. `screens` and `index`: bytes of its other parts.
    """

    id: str
    terminal: str
    instance: str
    title: str | None = None
    input: bool
    cols: int
    rows: int
    started: float
    state: Literal["recording", "finished"]
    reason: RecordingEndReason | None = None
    message: str
    duration: float
    size: int
    screens: int
    index: int
    markers: int
    lost: int
    truncated: bool


class RecordingListResult(Reply, frozen=True, kw_only=True):
    """Several of them."""

    recordings: list[RecordingInfo]


# ---- methods


@method("recording.start")
class RecordingStart(Params[RecordingInfo], kw_only=True):
    """Record a terminal from now on, beginning with what its screen shows.

    `input: true` keeps what is typed as well, passwords included.
    """

    terminal: Id
    id: Id | None = None
    input: bool = False
    title: Title | None = None


@method("recording.stop")
class RecordingStop(Params[RecordingInfo], kw_only=True):
    """End a recording; answers when all of it is on the disk. Again, it does nothing."""

    id: Id


@method("recording.mark")
class RecordingMark(Params[RecordingInfo], kw_only=True):
    """Set a marker at this moment of a recording."""

    id: Id
    label: Annotated[str, Meta(max_length=200)] = ""


@method("recording.list", safe=True, requires=VIEW)
class RecordingList(Params[RecordingListResult], kw_only=True):
    """All recordings, or those of one terminal, the newest first."""

    terminal: Id | None = None


@method("recording.get", safe=True, requires=VIEW)
class RecordingGet(Params[RecordingInfo], kw_only=True):
    """One recording, as far as it has come."""

    id: Id


@method("recording.delete")
class RecordingDelete(Params[Nothing], kw_only=True):
    """Delete a recording with its files; one that goes on is ended."""

    id: Id


@method("recording.read", events={"opened": FileOpened}, output=("output",), requires=VIEW)
class RecordingRead(Params[FileTransferResult], kw_only=True):
    """The bytes of a recording that are complete by now.

    `part`: the cast itself (whole lines of asciicast v3), the screens to begin at, or the index of both.
    """

    id: Id
    part: RecordingPart = "cast"
    offset: Offset | None = None
    length: Offset | None = None


@method("recording.watch", events={"recordings": RecordingListResult}, requires=VIEW)
class RecordingWatch(Params[Nothing], kw_only=True):
    """The recordings that go on, now and after every change, until it is cancelled."""

    terminal: Id | None = None
