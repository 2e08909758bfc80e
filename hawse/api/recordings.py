"""Recordings of terminals: the `recording.*` methods."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from hawse.api.files import FileOpened, FileTransferResult
from hawse.api.spec import Nothing, Reply, Spec
from hawse.api.types import Id, Offset

Title = Annotated[str, Meta(min_length=1, max_length=200)]
RecordingPart = Literal["cast", "screens", "index"]
PARTS: tuple[str, ...] = get_args(RecordingPart)
RecordingEndReason = Literal["stopped", "exited", "quota", "no_space", "io_error", "killed"]


class RecordingStart(msgspec.Struct):
    """Record a terminal from now on, beginning with what its screen shows.

    `input: true` keeps what is typed as well, passwords included.
    """

    terminal: Id
    id: Id | None = None
    input: bool = False
    title: Title | None = None


class RecordingStop(msgspec.Struct):
    """End a recording; answers when all of it is on the disk. Again, it does nothing."""

    id: Id


class RecordingMark(msgspec.Struct):
    """Set a marker at this moment of a recording."""

    id: Id
    label: Annotated[str, Meta(max_length=200)] = ""


class RecordingList(msgspec.Struct):
    """All recordings, or those of one terminal, the newest first."""

    terminal: Id | None = None


class RecordingGet(msgspec.Struct):
    """One recording, as far as it has come."""

    id: Id


class RecordingDelete(msgspec.Struct):
    """Delete a recording with its files; one that goes on is ended."""

    id: Id


class RecordingRead(msgspec.Struct):
    """The bytes of a recording that are complete by now.

    `part`: the cast itself (whole lines of asciicast v3), the screens to begin at, or the index of both.
    """

    id: Id
    part: RecordingPart = "cast"
    offset: Offset | None = None
    length: Offset | None = None


class RecordingWatch(msgspec.Struct):
    """The recordings that go on, now and after every change, until it is cancelled."""

    terminal: Id | None = None


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


METHODS = {
    "recording.start": Spec(RecordingStart, RecordingInfo),
    "recording.stop": Spec(RecordingStop, RecordingInfo),
    "recording.mark": Spec(RecordingMark, RecordingInfo),
    "recording.list": Spec(RecordingList, RecordingListResult, viewer=True),
    "recording.get": Spec(RecordingGet, RecordingInfo, viewer=True),
    "recording.delete": Spec(RecordingDelete, Nothing),
    "recording.read": Spec(RecordingRead, FileTransferResult, {"opened": FileOpened}, ("output",), viewer=True),
    "recording.watch": Spec(RecordingWatch, Nothing, {"recordings": RecordingListResult}, viewer=True),
}
