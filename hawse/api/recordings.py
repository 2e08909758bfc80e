"""Recordings of terminals and desktops: the `recording.*` methods."""

from typing import Annotated, Literal, get_args

from msgspec import Meta

from hawse.api.files import FileOpened, FileTransferResult
from hawse.api.rights import VIEW
from hawse.api.spec import SELECTED, Nothing, Params, Reply, method
from hawse.api.types import Id, Offset

Title = Annotated[str, Meta(min_length=1, max_length=200)]
RecordingPart = Literal["cast", "screens", "index"]
PARTS: tuple[str, ...] = get_args(RecordingPart)
RecordingEndReason = Literal["stopped", "exited", "quota", "no_space", "io_error", "killed"]


# ---- values


class RecordingInfo(Reply, frozen=True, kw_only=True):
    """A recording: an asciicast v3 file, snapshots where playback can start, and an index of both.

    Attributes:
        id: Id of the recording.
        terminal: Id of the recorded terminal; empty for a desktop.
        desktop: Id of the recorded desktop; null for a terminal.
        instance: Instance of the recorded terminal or desktop.
        title: Title, if any.
        input: Whether it contains input, which can include passwords.
        cols: Number of columns when it was started, or a desktop's width in pixels.
        rows: Number of rows when it was started, or a desktop's height in pixels.
        started: When it was started, in seconds since 1970.
        state: Whether it is in progress.
        reason: Why it ended: `exited` if the program ended, `killed` if the runtime ended. Null while in progress.
        message: Human-readable details of the reason; can be empty.
        duration: Length of the recording, in seconds.
        size: Size of the asciicast file, in bytes.
        screens: Size of the snapshots, in bytes.
        index: Size of the index, in bytes.
        markers: Number of markers, at most 1,000.
        lost: Number of bytes of output lost because the disk did not respond for 30 seconds.
        truncated: Whether part of it is missing.
    """

    id: str
    terminal: str
    desktop: str | None = None
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
    """Recordings.

    Attributes:
        recordings: The recordings; `recording.list` sorts them newest first.
    """

    recordings: list[RecordingInfo]


# ---- methods


@method(
    "recording.start",
    raises=("not_found", "exited", "conflict", "limit_exceeded", "no_space", "permission_denied", "io_error"),
)
class RecordingStart(Params[RecordingInfo], kw_only=True):
    """Start recording a terminal or a desktop. The recording starts with the current screen.

    If the id is in use, the error is `conflict`; if the disk is full, `no_space`; if there are too many recordings,
    `limit_exceeded`. The recording ends when the terminal or desktop does. A desktop recording ends after at most 4
    hours.

    Args:
        terminal: Id of the terminal to record; null to record a desktop.
        desktop: Id of the desktop to record; null to record a terminal.
        id: Id of the recording; null lets the server choose one.
        input: Whether to record the terminal's input as well, including passwords.
        title: Title, if any.
    """

    terminal: Id | None = None
    desktop: Id | None = None
    id: Id | None = None
    input: bool = False
    title: Title | None = None


@method("recording.stop", raises=("not_found",))
class RecordingStop(Params[RecordingInfo], kw_only=True):
    """End a recording, and return once all of it is on disk.

    A recording that has already ended is returned unchanged.

    Args:
        id: Id of the recording.
    """

    id: Id


@method("recording.mark", raises=("not_found", "exited", "limit_exceeded"))
class RecordingMark(Params[RecordingInfo], kw_only=True):
    """Set a marker at the current time of a recording.

    Args:
        id: Id of the recording.
        label: The marker's text; can be empty.
    """

    id: Id
    label: Annotated[str, Meta(max_length=200)] = ""


@method("recording.list", safe=True, requires=VIEW, terminal=SELECTED)
class RecordingList(Params[RecordingListResult], kw_only=True):
    """List recordings, newest first.

    Args:
        terminal: Only recordings of the terminal with this id; null means all.
    """

    terminal: Id | None = None


@method("recording.get", safe=True, requires=VIEW, terminal=SELECTED, raises=("not_found",))
class RecordingGet(Params[RecordingInfo], kw_only=True):
    """Describe one recording. For a recording in progress, the values are current.

    Args:
        id: Id of the recording.
    """

    id: Id


@method("recording.delete", raises=("not_found", "permission_denied", "io_error"))
class RecordingDelete(Params[Nothing], kw_only=True):
    """Delete a recording and its files. A recording in progress is ended first.

    Args:
        id: Id of the recording.
    """

    id: Id


@method(
    "recording.read",
    audit=False,
    events={"opened": FileOpened},
    output=("output",),
    requires=VIEW,
    terminal=SELECTED,
    raises=("not_found", "forbidden", "conflict", "permission_denied", "io_error"),
)
class RecordingRead(Params[FileTransferResult], kw_only=True):
    """Stream one of a recording's files, as far as it has been written.

    Recordings with input require the `operate` right (`forbidden`). If the recording is deleted or changed during the
    call, the error is `conflict`.

    Args:
        id: Id of the recording.
        part: The file: `cast` for asciicast v3 (whole lines only), `screens` for the snapshots, or `index` for the
            index (docs/wire.md, section 9).
        offset: Offset of the first byte to read; null means 0.
        length: Number of bytes to read; null means all.
    """

    id: Id
    part: RecordingPart = "cast"
    offset: Offset | None = None
    length: Offset | None = None


@method(
    "recording.watch",
    events={"recordings": RecordingListResult},
    requires=VIEW,
    terminal=SELECTED,
    passive=True,
)
class RecordingWatch(Params[Nothing], kw_only=True):
    """Report the recordings in progress, now and after every change, until the call is cancelled.

    Changes that a slow client hasn't read yet are merged into one event.

    Args:
        terminal: Only recordings of the terminal with this id; null means all.
    """

    terminal: Id | None = None
