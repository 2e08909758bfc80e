"""Desktops: graphical screens in a sandbox that users watch and control, and that agents automate."""

from typing import Annotated, Literal

from msgspec import Meta

from hawse.api.people import (
    LeaseAction,
    Participant,
    ParticipantEvent,
    ParticipantLeft,
    ViewerKey,
    ViewerProfile,
    WriterLease,
    WriterLeaseEvent,
)
from hawse.api.processes import ProcessInfo, Program
from hawse.api.rights import VIEW, WRITE
from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import SPAWN_ERRORS, Id

# ---- values


DESKTOP = "main"  # the default id for desktops

ImageFormat = Literal["png", "jpeg", "webp"]
MouseButton = Literal["left", "middle", "right"]
DesktopSide = Annotated[int, Meta(ge=64, le=4096)]  # pixels
Dpi = Annotated[int, Meta(ge=48, le=480)]
Position = Annotated[int, Meta(ge=0, le=4095)]  # pixels
Steps = Annotated[int, Meta(ge=-100, le=100)]  # mouse wheel steps
Clicks = Annotated[int, Meta(ge=1, le=3)]
Quality = Annotated[int, Meta(ge=1, le=100)]
TypedText = Annotated[str, Meta(max_length=10_000)]
ClipboardText = Annotated[str, Meta(max_length=200_000)]
KeyNames = Annotated[str, Meta(min_length=1, max_length=100)]


class Point(ParamsValue):
    """A pixel on a desktop.

    Args:
        x: Distance from the left edge, in pixels.
        y: Distance from the top edge, in pixels.
    """

    x: Position
    y: Position


class Region(Point):
    """A rectangle on a desktop.

    Args:
        width: Width, in pixels.
        height: Height, in pixels.
    """

    width: Annotated[int, Meta(ge=1, le=4096)]
    height: Annotated[int, Meta(ge=1, le=4096)]


class DesktopInfo(Reply, frozen=True, kw_only=True):
    """A desktop.

    Attributes:
        id: Id of the desktop.
        instance: Unique id for this instance of the desktop; a desktop started later with the same `id` gets a new one.
        width: Width, in pixels.
        height: Height, in pixels.
        dpi: Resolution that programs see, in pixels per inch.
        display: Value of `DISPLAY` for programs that open windows on it.
        xauthority: Value of `XAUTHORITY` for these programs: the path of the file with the display's secret.
        started: When it was started, in seconds since 1970.
        viewers: Number of channels attached to it.
        window_manager: Whether its window manager is ready. If the window manager exits, it is restarted, at most 5
            times per minute. Without one, windows have no frames and cannot be moved.
    """

    id: str
    instance: str
    width: int
    height: int
    dpi: int
    display: str
    xauthority: str
    started: float
    viewers: int
    window_manager: bool = True


class DesktopStartResult(DesktopInfo, frozen=True, kw_only=True):
    """The desktop with the requested id.

    Attributes:
        created: Whether it was started by this call.
    """

    created: bool


class DesktopListResult(Reply, frozen=True, kw_only=True):
    """Desktops.

    Attributes:
        desktops: The running desktops.
        problem: Why desktops cannot be started, and how to install missing programs; null if they can be started.
    """

    desktops: list[DesktopInfo]
    problem: str | None = None


class DesktopSize(Reply, frozen=True, kw_only=True):
    """The size of a desktop.

    Attributes:
        width: Width, in pixels.
        height: Height, in pixels.
    """

    width: int
    height: int


class DesktopOpened(Reply, frozen=True, kw_only=True):
    """After this event, the channel carries the bytes of an RFB connection (RFC 6143) with the security type None.

    Attributes:
        desktop: The desktop.
        viewer: Public id of this viewer.
        read_only: Whether all input from this viewer is dropped.
        presence: All viewers.
        lease: The viewers that may send input.
    """

    desktop: DesktopInfo
    viewer: str
    read_only: bool
    presence: list[Participant]
    lease: WriterLease


class DesktopAttachResult(Reply, frozen=True, kw_only=True):
    """The desktop has ended.

    Attributes:
        sent: Number of bytes that the viewer sent.
        received: Number of bytes that were sent to the viewer.
    """

    sent: int
    received: int


class DesktopScreenshotResult(Reply, frozen=True, kw_only=True):
    """The whole image has been sent.

    Attributes:
        format: The image format.
        width: Image width, in pixels.
        height: Image height, in pixels.
        size: Size of the image, in bytes.
    """

    format: ImageFormat
    width: int
    height: int
    size: int


class DesktopWindow(Reply, frozen=True, kw_only=True):
    """A program's window.

    Attributes:
        id: The window's number on the X server.
        title: Its title, up to 256 characters.
        name: Name of the program, from `WM_CLASS`; can be empty.
        pid: Process id, as seen by the program; null if unknown.
        x: Distance from the desktop's left edge to the window's content, in pixels.
        y: Distance from the desktop's top edge to the window's content, in pixels.
        width: Width of the content, in pixels.
        height: Height of the content, in pixels.
        active: Whether it has the keyboard focus.
        minimized: Whether it is minimized.
    """

    id: int
    title: str
    name: str
    pid: int | None = None
    x: int
    y: int
    width: int
    height: int
    active: bool
    minimized: bool


class DesktopWindowsResult(Reply, frozen=True, kw_only=True):
    """Program windows on a desktop.

    Attributes:
        windows: At most 200 windows, in stacking order from bottom to top.
    """

    windows: list[DesktopWindow]


class DesktopClipboardResult(Reply, frozen=True, kw_only=True):
    """A desktop's clipboard.

    Attributes:
        text: Its text, possibly empty.
    """

    text: str


class Input(ParamsValue, kw_only=True):
    """Fields common to the methods that send input to a desktop.

    Args:
        id: Id of the desktop.
        viewer: Key of the viewer sending the input; required while any viewer holds the writer lease.
    """

    id: Id = DESKTOP
    viewer: ViewerKey | None = None


DRIVE_ERRORS = ("not_found", "lease_held", "io_error")


# ---- methods


@method("desktop.start", raises=("unavailable", "conflict", "io_error", *SPAWN_ERRORS))
class DesktopStart(Params[DesktopStartResult], kw_only=True):
    """Start a desktop: a virtual screen with a window manager. If one with this id is running, return it unchanged.

    The sandbox must have the programs `Xvnc` (from TigerVNC) and `openbox`. If they are missing, the error is
    `unavailable`, and its message explains how to install them. No network port is opened. If the desktop is already
    starting, the error is `conflict`. At most 4 desktops can run at a time (`limit_exceeded`), each with at most
    8,294,400 pixels.

    Args:
        id: Id of the desktop.
        width: Width, in pixels.
        height: Height, in pixels.
        dpi: Resolution in pixels per inch.
    """

    id: Id = DESKTOP
    width: DesktopSide = 1280
    height: DesktopSide = 800
    dpi: Dpi = 96


@method("desktop.stop", raises=("not_found", "permission_denied"))
class DesktopStop(Params[Nothing], kw_only=True):
    """End a desktop and all programs started on it.

    Args:
        id: Id of the desktop.
    """

    id: Id = DESKTOP


@method("desktop.list", safe=True, requires=VIEW)
class DesktopList(Params[DesktopListResult], kw_only=True):
    """List the running desktops, and report whether the sandbox has the programs needed to start one."""


@method(
    "desktop.attach",
    audit=False,
    requires=VIEW,
    events={
        "opened": DesktopOpened,
        "joined": ParticipantEvent,
        "presence": ParticipantEvent,
        "left": ParticipantLeft,
        "lease": WriterLeaseEvent,
    },
    output=("rfb",),
    input=True,
    raises=("not_found", "stale_handle", "limit_exceeded", "protocol_error", "input_gap", "io_error"),
)
class DesktopAttach(Params[DesktopAttachResult], kw_only=True):
    """Watch and use a desktop. The channel carries an RFB connection (RFC 6143) in both directions.

    All viewers share the desktop. The connection starts with the server's protocol version, and uses the security type
    None. Pointer, key, clipboard and size messages are dropped unless the viewer has the `write` right and the writer
    lease allows its input. A message that violates RFB ends the call with `protocol_error`. A lost connection cannot be
    resumed; attach again instead. At most 64 viewers can be attached (`limit_exceeded`).

    Args:
        id: Id of the desktop.
        instance: The expected instance. If the desktop has been replaced, the error is `stale_handle`. Null accepts any
            instance.
        viewer: The viewer's identity; null means a new viewer.
        read_only: Whether to drop this viewer's input even if the caller may send input.
    """

    id: Id = DESKTOP
    instance: str | None = None
    viewer: ViewerProfile | None = None
    read_only: bool = False


@method("desktop.lease", requires=WRITE, raises=("not_found", "conflict", "forbidden"))
class DesktopLease(Params[WriterLease], kw_only=True):
    """Change which viewers may send input to a desktop, as `terminal.lease` does for a terminal.

    Args:
        id: Id of the desktop.
        action: The action to take.
        viewer: Key of the viewer taking the action; can be null only for `release` and `free`.
        to: Public id of another viewer. For `give`, the next holder (required); for `keep`, the viewer whose request to
            refuse, or null to refuse all requests.
        epoch: The epoch that the lease must have; null means any.
    """

    id: Id = DESKTOP
    action: LeaseAction
    viewer: ViewerKey | None = None
    to: str | None = None
    epoch: int | None = None


@method(
    "desktop.screenshot",
    audit=False,
    requires=VIEW,
    output=("image",),
    raises=("not_found", "unavailable", "limit_exceeded", "io_error"),
)
class DesktopScreenshot(Params[DesktopScreenshotResult], kw_only=True):
    """Take a screenshot of a desktop, including the mouse pointer, and stream the image file.

    JPEG and WebP require the Python package Pillow in the runtime's environment; if it is missing, the error is
    `unavailable`. PNG does not require it. At most 16 screenshots of a desktop can be in progress (`limit_exceeded`).

    Args:
        id: Id of the desktop.
        format: The image format.
        quality: Quality of a JPEG or WebP image.
        region: The part of the desktop to capture, clipped to the desktop's edges. Null captures the whole desktop.
    """

    id: Id = DESKTOP
    format: ImageFormat = "png"
    quality: Quality = 80
    region: Region | None = None


@method("desktop.resize", requires=WRITE, raises=DRIVE_ERRORS)
class DesktopResize(Input, Params[DesktopSize], kw_only=True):
    """Change the size of a desktop.

    Args:
        width: Width, in pixels.
        height: Height, in pixels. A desktop can have at most 8,294,400 pixels in total.
    """

    width: DesktopSide
    height: DesktopSide


@method("desktop.move", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopMove(Input, Params[Nothing], kw_only=True):
    """Move the mouse pointer.

    Args:
        x: Distance from the left edge, in pixels.
        y: Distance from the top edge, in pixels.
    """

    x: Position
    y: Position


@method("desktop.click", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopClick(Input, Params[Nothing], kw_only=True):
    """Move the mouse pointer and press and release a button.

    Args:
        x: Distance from the left edge, in pixels.
        y: Distance from the top edge, in pixels.
        button: The button.
        count: Number of clicks; 2 is a double click.
        hold: Keys to hold down during the click, in the same notation as in `desktop.key`; can be empty.
    """

    x: Position
    y: Position
    button: MouseButton = "left"
    count: Clicks = 1
    hold: Annotated[str, Meta(max_length=100)] = ""


@method("desktop.drag", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopDrag(Input, Params[Nothing], kw_only=True):
    """Drag with the mouse: press a button at the first point, move through the others, and release it at the last.

    Args:
        path: The points.
        button: The button.
    """

    path: Annotated[list[Point], Meta(min_length=2, max_length=1000)]
    button: MouseButton = "left"


@method("desktop.scroll", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopScroll(Input, Params[Nothing], kw_only=True):
    """Move the mouse pointer and turn the wheel.

    Args:
        x: Distance from the left edge, in pixels.
        y: Distance from the top edge, in pixels.
        dx: Steps to the right, or to the left if negative.
        dy: Steps down, or up if negative.
    """

    x: Position
    y: Position
    dx: Steps = 0
    dy: Steps = 0


@method("desktop.type", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopType(Input, Params[Nothing], kw_only=True):
    """Type text into the active window. A line feed presses the Return key, and a tab the Tab key.

    Args:
        text: The text. For control characters other than tab and line feed, the error is `invalid_params`.
    """

    text: TypedText


@method("desktop.key", audit=False, requires=WRITE, raises=DRIVE_ERRORS)
class DesktopKey(Input, Params[Nothing], kw_only=True):
    """Press a key, or several at once, such as `ctrl+shift+t`.

    A key is named by its character, its X11 name (`Return`, `Page_Down`, `F5`) or a common name (`enter`, `esc`,
    `ctrl`, `cmd`), in upper or lower case. For an unknown name, the error is `invalid_params`.

    Args:
        keys: Key names joined with `+`; the `+` key itself is named `plus`.
        count: Number of times to press them.
    """

    keys: KeyNames
    count: Annotated[int, Meta(ge=1, le=100)] = 1


@method("desktop.windows", safe=True, requires=VIEW, raises=("not_found", "io_error"))
class DesktopWindows(Params[DesktopWindowsResult], kw_only=True):
    """List the program windows on a desktop.

    Args:
        id: Id of the desktop.
    """

    id: Id = DESKTOP


@method("desktop.launch", raises=("not_found", *SPAWN_ERRORS))
class DesktopLaunch(Program, Params[ProcessInfo], kw_only=True):
    """Start a program on a desktop, in the same way as `process.start`. The program ends when the desktop does.

    Args:
        desktop: Id of the desktop.
    """

    desktop: Id = DESKTOP


@method("desktop.clipboard", requires=WRITE, raises=DRIVE_ERRORS)
class DesktopClipboard(Input, Params[DesktopClipboardResult], kw_only=True):
    """Read or set a desktop's clipboard.

    Args:
        text: The new text, up to 200,000 characters; null leaves the clipboard unchanged.
    """

    text: ClipboardText | None = None
