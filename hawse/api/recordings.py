"""Recordings of terminals: the `recording.*` methods."""

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from hawse.api.files import FileDone, FileOpened
from hawse.api.spec import Nothing, Reply, Spec
from hawse.api.types import Id, Offset

Title = Annotated[str, Meta(min_length=1, max_length=200)]
Part = Literal["cast", "screens", "index"]
PARTS: tuple[str, ...] = get_args(Part)
Reason = Literal["stopped", "exited", "quota", "no_space", "io_error", "killed"]


class StartRecording(msgspec.Struct):
    """Record a terminal from now on, beginning with what its screen shows.

    `input: true` keeps what is typed as well, passwords included.
    """

    terminal: Id
    id: Id | None = None
    input: bool = False
    title: Title | None = None


class StopRecording(msgspec.Struct):
    """End a recording; answers when all of it is on the disk. Again, it does nothing."""

    id: Id


class MarkRecording(msgspec.Struct):
    """Set a marker at this moment of a recording."""

    id: Id
    label: Annotated[str, Meta(max_length=200)] = ""


class ListRecordings(msgspec.Struct):
    """All recordings, or those of one terminal, the newest first."""

    terminal: Id | None = None


class GetRecording(msgspec.Struct):
    """One recording, as far as it has come."""

    id: Id


class DeleteRecording(msgspec.Struct):
    """Delete a recording with its files; one that goes on is ended."""

    id: Id


class ReadRecording(msgspec.Struct):
    """The bytes of a recording that are complete by now.

    `part`: the cast itself (whole lines of asciicast v3), the screens to begin at, or the index of both.
    """

    id: Id
    part: Part = "cast"
    offset: Offset | None = None
    length: Offset | None = None


class WatchRecordings(msgspec.Struct):
    """The recordings that go on, now and after every change, until it is cancelled."""

    terminal: Id | None = None


class Recording(Reply, frozen=True, kw_only=True):
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
    reason: Reason | None = None
    message: str
    duration: float
    size: int
    screens: int
    index: int
    markers: int
    lost: int
    truncated: bool


class Recordings(Reply, frozen=True, kw_only=True):
    """Several of them."""

    recordings: list[Recording]


METHODS = {
    "recording.start": Spec(StartRecording, Recording),
    "recording.stop": Spec(StopRecording, Recording),
    "recording.mark": Spec(MarkRecording, Recording),
    "recording.list": Spec(ListRecordings, Recordings, viewer=True),
    "recording.get": Spec(GetRecording, Recording, viewer=True),
    "recording.delete": Spec(DeleteRecording, Nothing),
    "recording.read": Spec(ReadRecording, FileDone, {"opened": FileOpened}, ("output",), viewer=True),
    "recording.watch": Spec(WatchRecordings, Nothing, {"recordings": Recordings}, viewer=True),
}
