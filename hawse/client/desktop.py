"""Desktops in a sandbox: start them, take screenshots, send input, and connect viewers."""

import builtins
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from hawse.api.desktops import (
    DESKTOP,
    DesktopAttach,
    DesktopClick,
    DesktopClipboard,
    DesktopDrag,
    DesktopInfo,
    DesktopKey,
    DesktopLaunch,
    DesktopLease,
    DesktopList,
    DesktopMove,
    DesktopOpened,
    DesktopResize,
    DesktopScreenshot,
    DesktopScreenshotResult,
    DesktopScroll,
    DesktopSize,
    DesktopStart,
    DesktopStartResult,
    DesktopStop,
    DesktopType,
    DesktopWindow,
    DesktopWindows,
    ImageFormat,
    MouseButton,
    Point,
    Region,
)
from hawse.api.people import LeaseAction, ViewerProfile, WriterLease
from hawse.api.processes import ProcessInfo
from hawse.client.base.environment import Env
from hawse.client.base.results import represent
from hawse.client.calls.byte_stream import ByteStream, ByteStreamCall
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.process.program import Command, program
from hawse.wire import Data, Event, Kind, RemoteProtocolError

if TYPE_CHECKING:
    from hawse.client.terminal.recording import Recording

IMAGE_MAX = 256 << 20  # maximum size of an image, in bytes; the largest desktop has 25 MB of pixels


class Screenshot(msgspec.Struct, frozen=True, kw_only=True):
    """A screenshot of a desktop."""

    data: bytes
    format: ImageFormat
    width: int  # pixels
    height: int
    __repr__ = represent


class ScreenshotCall(ClientCall):
    """A call to `desktop.screenshot`. If the connection is lost, the call ends with `interrupted`."""

    def __init__(self, params: DesktopScreenshot, *, sandbox: str, window: int, timeout: float | None) -> None:
        super().__init__(params, sandbox=sandbox, repeats=False, window=window, timeout=timeout)
        self.image = bytearray()

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT or data.offset != len(self.image):
            raise RemoteProtocolError(f"a data frame of kind {data.kind.name} at {data.offset} from desktop.screenshot")
        if len(self.image) + len(data.payload) > IMAGE_MAX:
            raise RemoteProtocolError(f"an image of more than {IMAGE_MAX} bytes")
        self.image += data.payload
        self.spend(len(data.payload))

    def finished(self, value: msgspec.Raw) -> Screenshot:
        done: DesktopScreenshotResult = super().finished(value)
        if done.size != len(self.image):
            raise RemoteProtocolError(f"{len(self.image)} of {done.size} bytes of an image were received")
        return Screenshot(data=bytes(self.image), format=done.format, width=done.width, height=done.height)


class DesktopAttachCall(ByteStreamCall):
    """A call to `desktop.attach`. If the connection is lost, the call ends with `interrupted`."""

    subject = "the desktop"

    def __init__(self, params: DesktopAttach, *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, window=window)
        self.info: DesktopOpened | None = None  # None until `opened` has arrived

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case DesktopOpened() as opened:
                self.info = opened
                self.mark_opened()
        self.spend(event_cost(event))


class DesktopConnection(ByteStream[DesktopAttachCall]):
    """`async with box.desktop.connect() as stream:` — the bytes of an RFB connection (RFC 6143), for VNC viewers.

    Entering raises `not_found` if the desktop does not exist. Iterating and writing raise `interrupted` if the client's
    connection is lost, and `protocol_error` after a message that viewers may not send.
    """

    @property
    def info(self) -> DesktopOpened:
        """The desktop and its viewers at the start of the connection."""
        assert self._call.info is not None
        return self._call.info


class Desktop(SandboxPart):
    """A desktop in a sandbox. The handle doesn't have to be closed.

    The methods that send input raise `not_found` if the desktop does not exist, `lease_held` if a viewer holds the
    writer lease, and `io_error` if the desktop does not respond.
    """

    def __init__(
        self, calls: CallTable, sandbox: str, *, window: int, id: str = DESKTOP, timeout: float | None = None
    ) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
            window: Number of bytes the server can send before the client reads them.
            id: The id of the desktop.
            timeout: Time limit for screenshots, in seconds; None means no limit.
        """
        super().__init__(calls, sandbox, window=window)
        self.id = id
        self._timeout = timeout

    def named(self, id: str) -> "Desktop":
        """Return a handle to another desktop in the same sandbox."""
        return Desktop(self._calls, self._sandbox, window=self._window, id=id, timeout=self._timeout)

    # ---- lifecycle

    async def start(self, *, width: int = 1280, height: int = 800, dpi: int = 96) -> DesktopStartResult:
        """Start the desktop. If it is already running, it is returned unchanged and `created` is false.

        Args:
            width: Width, in pixels.
            height: Height, in pixels.
            dpi: Resolution, in pixels per inch.

        Raises:
            HawseError: `unavailable` if programs are missing, with instructions for installing them; `limit_exceeded`,
                `invalid_params`.
        """
        return await self._request(DesktopStart(id=self.id, width=width, height=height, dpi=dpi))

    async def stop(self) -> None:
        """End the desktop and all programs started on it. Raises `not_found`."""
        await self._request(DesktopStop(id=self.id))

    async def list(self) -> builtins.list[DesktopInfo]:
        """Return the sandbox's running desktops."""
        return (await self._request(DesktopList())).desktops

    async def unavailable(self) -> str | None:
        """Return the reason why the sandbox cannot start a desktop, and how to install missing programs; None if it
        can.
        """
        return (await self._request(DesktopList())).problem

    async def record(self, *, title: str | None = None) -> "Recording":
        """Start recording the desktop's screen, about five times per second, for up to 4 hours.

        Args:
            title: The title of the recording.

        Raises:
            HawseError: `not_found` if the desktop does not exist, `limit_exceeded`, `no_space`.
        """
        from hawse.api.recordings import RecordingStart
        from hawse.client.terminal.recording import Recording

        name = f"r-{secrets.token_hex(6)}"
        await self._request(RecordingStart(desktop=self.id, id=name, title=title))
        return Recording(self._calls, self._sandbox, name)

    async def launch(self, command: Command, *, cwd: str | None = None, env: Env | None = None) -> ProcessInfo:
        """Start a program on the desktop; its process ends with the desktop.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            cwd: The working directory.
            env: Variables to add to the environment; None unsets a variable.

        Raises:
            HawseError: `not_found`, `spawn_failed`, `limit_exceeded`.
        """
        fields = program(command, cwd=cwd, env=env, timeout=None)
        return await self._request(DesktopLaunch(**fields, desktop=self.id))

    async def resize(self, width: int, height: int) -> DesktopSize:
        """Change the desktop's size, in pixels."""
        return await self._request(DesktopResize(id=self.id, width=width, height=height))

    # ---- output

    async def screenshot(
        self,
        *,
        format: ImageFormat = "png",
        quality: int = 80,
        region: tuple[int, int, int, int] | None = None,
    ) -> Screenshot:
        """Take a screenshot of the desktop, including the mouse pointer.

        Args:
            format: `png`, `jpeg` or `webp`.
            quality: Quality for `jpeg` and `webp`, from 1 to 100.
            region: The part to capture (x, y, width, height), in pixels; None means the whole desktop.

        Raises:
            HawseError: `not_found`; `unavailable` for `jpeg` and `webp` if the runtime lacks Pillow; `interrupted` if
                the connection is lost.
        """
        part = None if region is None else Region(x=region[0], y=region[1], width=region[2], height=region[3])
        params = DesktopScreenshot(id=self.id, format=format, quality=quality, region=part)
        call = ScreenshotCall(params, sandbox=self._sandbox, window=self._window, timeout=self._timeout)
        image: Screenshot = await self._calls.perform(call)
        return image

    async def windows(self) -> builtins.list[DesktopWindow]:
        """Return the program windows, in stacking order from bottom to top."""
        return (await self._request(DesktopWindows(id=self.id))).windows

    # ---- input

    async def move(self, x: int, y: int) -> None:
        """Move the mouse pointer."""
        await self._request(DesktopMove(id=self.id, x=x, y=y))

    async def click(self, x: int, y: int, *, button: MouseButton = "left", count: int = 1, hold: str = "") -> None:
        """Click at a pixel.

        Args:
            x: Pixels from the left edge.
            y: Pixels from the top edge.
            button: `left`, `middle` or `right`.
            count: Number of clicks; 2 is a double click.
            hold: Keys to hold down during the click, such as `ctrl+shift`.
        """
        await self._request(DesktopClick(id=self.id, x=x, y=y, button=button, count=count, hold=hold))

    async def drag(self, path: Iterable[tuple[int, int]], *, button: MouseButton = "left") -> None:
        """Drag with the mouse: press a button at the first point (x, y), move through the others, and release it at the
        last.
        """
        points = [Point(x=x, y=y) for x, y in path]
        await self._request(DesktopDrag(id=self.id, path=points, button=button))

    async def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> None:
        """Turn the wheel at a pixel: `dy` steps down and `dx` steps to the right; negative steps go up and to the
        left.
        """
        await self._request(DesktopScroll(id=self.id, x=x, y=y, dx=dx, dy=dy))

    async def type(self, text: str) -> None:
        """Type text into the active window. Raises `invalid_params` for control characters other than tab and line
        feed.
        """
        await self._request(DesktopType(id=self.id, text=text))

    async def key(self, keys: str, *, count: int = 1) -> None:
        """Press a key, or several at once, such as `ctrl+shift+t`. Raises `invalid_params` for an unknown name."""
        await self._request(DesktopKey(id=self.id, keys=keys, count=count))

    async def clipboard(self, text: str | None = None) -> str:
        """Set the clipboard's text unless `text` is None, and return its current text."""
        return (await self._request(DesktopClipboard(id=self.id, text=text))).text

    # ---- viewers

    async def lease(
        self, action: LeaseAction, *, viewer: str | None = None, to: str | None = None, epoch: int | None = None
    ) -> WriterLease:
        """Change which viewers may send input, as described for `desktop.lease` in docs/methods.md."""
        return await self._request(DesktopLease(id=self.id, action=action, viewer=viewer, to=to, epoch=epoch))

    def connect(self, *, viewer: ViewerProfile | None = None, read_only: bool = False) -> DesktopConnection:
        """Return an RFB connection for a viewer. See `DesktopConnection`.

        Args:
            viewer: The viewer's identity.
            read_only: Whether the viewer's input is dropped.
        """
        params = DesktopAttach(id=self.id, viewer=viewer, read_only=read_only)
        return DesktopConnection(self._calls, DesktopAttachCall(params, sandbox=self._sandbox, window=self._window))
