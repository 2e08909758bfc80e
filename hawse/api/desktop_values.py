"""Values of desktops: what `desktop.*` takes and returns."""

from typing import Annotated, Literal

from msgspec import Meta

from hawse.api.people import Participant, ViewerKey, WriterLease
from hawse.api.spec import ParamsValue, Reply
from hawse.api.types import Id

DESKTOP = "main"  # the id of the desktop where a call names none

ImageFormat = Literal["png", "jpeg", "webp"]
MouseButton = Literal["left", "middle", "right"]
DesktopSide = Annotated[int, Meta(ge=64, le=4096)]  # pixels
Dpi = Annotated[int, Meta(ge=48, le=480)]
Position = Annotated[int, Meta(ge=0, le=4095)]  # pixels
Steps = Annotated[int, Meta(ge=-100, le=100)]  # of a mouse wheel
Clicks = Annotated[int, Meta(ge=1, le=3)]
Quality = Annotated[int, Meta(ge=1, le=100)]
TypedText = Annotated[str, Meta(max_length=10_000)]
ClipboardText = Annotated[str, Meta(max_length=200_000)]
KeyNames = Annotated[str, Meta(min_length=1, max_length=100)]


class Point(ParamsValue):
    """A pixel of a desktop.

    Args:
        x: Pixels from the left edge.
        y: Pixels from the top edge.
    """

    x: Position
    y: Position


class Region(Point):
    """A rectangle of a desktop.

    Args:
        width: Pixels.
        height: Pixels.
    """

    width: Annotated[int, Meta(ge=1, le=4096)]
    height: Annotated[int, Meta(ge=1, le=4096)]


class DesktopInfo(Reply, frozen=True, kw_only=True):
    """A desktop.

    Attributes:
        id: Id of the desktop.
        instance: Id of this start; a new one each time a desktop with this `id` is started.
        width: Pixels.
        height: Pixels.
        dpi: Resolution in pixels per inch that programs see.
        display: Value of `DISPLAY` for programs that show windows on it.
        xauthority: Value of `XAUTHORITY` for them: the file with the secret that the display asks for.
        started: When it was started, in seconds since 1970.
        viewers: Number of attached channels.
        window_manager: Whether its window manager is ready. One that ends is started again, at most 5 times in a
            minute; without it, windows have no frames and cannot be moved.
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
        created: Whether this call has started it.
    """

    created: bool


class DesktopListResult(Reply, frozen=True, kw_only=True):
    """Desktops.

    Attributes:
        desktops: Those that run.
        problem: Why none can be started, with how to install what is missing; null: one can.
    """

    desktops: list[DesktopInfo]
    problem: str | None = None


class DesktopSize(Reply, frozen=True, kw_only=True):
    """The size of a desktop.

    Attributes:
        width: Pixels.
        height: Pixels.
    """

    width: int
    height: int


class DesktopOpened(Reply, frozen=True, kw_only=True):
    """The channel carries the bytes of an RFB connection (RFC 6143) from now on, without security.

    Attributes:
        desktop: The desktop.
        viewer: Public id of this viewer.
        read_only: Whether input of this viewer is dropped in any case.
        presence: All viewers.
        lease: Which viewers may send input.
    """

    desktop: DesktopInfo
    viewer: str
    read_only: bool
    presence: list[Participant]
    lease: WriterLease


class DesktopAttachResult(Reply, frozen=True, kw_only=True):
    """The desktop has ended.

    Attributes:
        sent: Number of bytes that were taken from the viewer.
        received: Number of bytes that were sent to the viewer.
    """

    sent: int
    received: int


class DesktopScreenshotResult(Reply, frozen=True, kw_only=True):
    """The whole image was sent.

    Attributes:
        format: Format of the image.
        width: Pixels of the image.
        height: Pixels of the image.
        size: Bytes of the image.
    """

    format: ImageFormat
    width: int
    height: int
    size: int


class DesktopWindow(Reply, frozen=True, kw_only=True):
    """A window of a program.

    Attributes:
        id: Number of the window at the X server.
        title: Its title, up to 256 characters.
        name: Name of the program, from `WM_CLASS`; empty: none.
        pid: Process id, as the program sees it; null: not known.
        x: Pixels from the left edge of the desktop to its content.
        y: Pixels from the top edge.
        width: Pixels of its content.
        height: Pixels of its content.
        active: Whether it gets what is typed.
        minimized: Whether it is not shown.
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
    """Windows of programs.

    Attributes:
        windows: At most 200 windows, from the lowest to the uppermost.
    """

    windows: list[DesktopWindow]


class DesktopClipboardResult(Reply, frozen=True, kw_only=True):
    """The clipboard of a desktop.

    Attributes:
        text: Its text; empty if it has none.
    """

    text: str


class Input(ParamsValue, kw_only=True):
    """Where input goes, and for which viewer.

    Args:
        id: Id of the desktop.
        viewer: Key of the viewer that the caller is; it matters if a viewer holds the writer lease. Null: none.
    """

    id: Id = DESKTOP
    viewer: ViewerKey | None = None
