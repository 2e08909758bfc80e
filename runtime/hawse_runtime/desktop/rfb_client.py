"""The runtime's connection to a desktop's X server, used for screenshots and for agents' input.

The X server is user code: each size that it sends is checked against the request, and each reply has a deadline.
"""

import asyncio
import logging
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from hawse.wire import HawseError
from hawse_runtime.desktop import rfb
from hawse_runtime.desktop.rfb import Rect, ScreenSize
from hawse_runtime.desktop.server_socket import connected

log = logging.getLogger(__name__)

TIMEOUT: Final = 10.0  # timeout in seconds for the handshake and for each reply
CLIPBOARD_TIMEOUT: Final = 2.0  # seconds to wait for the clipboard's text; the program that owns it may not answer
READ_AHEAD: Final = 512 << 10  # maximum number of bytes to buffer
CHUNK: Final = 256 << 10  # number of bytes of pixel data to copy at a time
NAME_MAX: Final = 4096  # maximum length of a desktop's name, in bytes
RECTS_MAX: Final = 65535
ENCODINGS: Final = (rfb.RAW, rfb.DESKTOP_SIZE, rfb.EXTENDED_DESKTOP_SIZE, rfb.EXTENDED_CLIPBOARD)


class Capture:
    """A screenshot being received, with four bytes per pixel (red, green, blue, unused)."""

    def __init__(self, region: Rect) -> None:
        self.region = region
        self.pixels = bytearray(4 * region.width * region.height)
        self.left = region.width * region.height  # number of pixels not received yet
        self.resized = False  # whether the desktop's size has changed, so that missing pixels may never arrive


class RfbClient:
    """A connection to the X server. `run` reads from it until it ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: ScreenSize) -> None:
        self.size = size
        self._reader = reader
        self._writer = writer
        self._capture: Capture | None = None
        self._patches: list[tuple[Rect, bytes]] | None = None  # changes being received
        self._room = 0  # number of pixels that can still be added to `_patches`
        self._updates = 0  # number of received updates
        self._turn = asyncio.Lock()  # serializes captures and size changes
        self._changes: set[Callable[[], None]] = set()
        self._offered: str | None = None  # clipboard text set by this client; None once another program has set it
        self._answers = 0  # number of received clipboard texts
        self._clipboard = ""  # the most recently received clipboard text
        self._available = False  # whether another program offers text on the clipboard
        self._clipboard_caps = False  # whether the server supports the extended clipboard
        self._failure: HawseError | None = None  # why the connection ended

    @classmethod
    async def connect(cls, path: str) -> "RfbClient":
        """Connect to the Unix socket at `path`. Raises `HawseError` (`io_error`)."""
        try:
            async with asyncio.timeout(TIMEOUT):
                reader, writer = await connected(lambda: asyncio.open_unix_connection(path, limit=READ_AHEAD))
                try:
                    size = await _handshake(reader, writer)
                except BaseException:
                    writer.close()
                    raise
        except (OSError, EOFError, ValueError) as error:  # TimeoutError is a subclass of OSError
            raise HawseError("io_error", f"the desktop is not responding: {error}") from None
        return cls(reader, writer, size)

    async def run(self) -> None:
        """Handle the server's messages until the connection ends. Never raises."""
        try:
            while True:
                await self._receive()
        except (OSError, EOFError, ValueError) as error:
            self._failure = HawseError("io_error", f"the connection to the desktop has ended: {error}")
        finally:
            self.close()
            self._changed()

    @property
    def ended(self) -> bool:
        return self._failure is not None

    def close(self) -> None:
        if self._failure is None:
            self._failure = HawseError("io_error", "the connection to the desktop was closed")
        self._writer.close()

    # ---- requests

    def key(self, keysym: int, *, down: bool) -> None:
        self._writer.write(rfb.key_event(keysym, down=down))

    def pointer(self, x: int, y: int, buttons: int) -> None:
        self._writer.write(rfb.pointer_event(x, y, buttons))

    async def drain(self) -> None:
        """Wait for the send buffer to be empty. Raises `HawseError` (`io_error`)."""
        self._check()
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._writer.drain()
        except OSError as error:
            raise HawseError("io_error", f"the desktop is not reading its input: {error}", admitted="yes") from None

    async def capture(self, region: Rect | None) -> tuple[Rect, bytearray]:
        """Return the pixels of a region, or of the whole screen.

        Returns:
            The part of the region that is on the screen, and its pixels, in four bytes each: red, green, blue, and an
            unused one.

        Raises:
            HawseError: `invalid_params` if no part of the region is on the screen, or `io_error`.
        """
        async with self._turn:
            while True:
                self._check()  # writing requires an open connection
                whole = Rect(0, 0, *self.size)
                part = whole if region is None else region.within(self.size)
                if part is None:
                    size = f"{self.size.width} × {self.size.height}"
                    raise HawseError("invalid_params", f"the region is outside the desktop, which has {size} pixels")
                capture = self._capture = Capture(part)
                try:
                    self._writer.write(rfb.update_request(part, incremental=False))
                    await self._until(lambda: capture.left <= 0 or capture.resized)  # noqa: B023  # awaited here
                finally:
                    self._capture = None
                if capture.left <= 0:
                    return part, capture.pixels

    async def changes(self) -> list[tuple[Rect, bytes]]:
        """Wait for the screen or its size to change, without a time limit.

        Returns:
            The rectangles that changed, each a few rows high, with four bytes per pixel as in `capture`. Empty only if
            the size has changed. In that case, changes have been lost, and the whole screen must be captured.

        Raises:
            HawseError: `io_error` if the connection ends.
        """
        async with self._turn:
            size = self.size
            patches: list[tuple[Rect, bytes]] = []
            self._patches = patches
            # Number of pixels to accept; a server usually sends most of them once and a few twice.
            self._room = 2 * size.width * size.height
            try:
                while not patches:
                    self._check()
                    before = self._updates
                    self._writer.write(rfb.update_request(Rect(0, 0, *size), incremental=True))
                    await self._until(lambda: self._updates > before, None)  # noqa: B023  # awaited here
                    if self.size != size:
                        return []
                return patches
            finally:
                self._patches = None

    async def resize(self, size: ScreenSize) -> ScreenSize:
        """Change the desktop's size and return the resulting size. Raises `HawseError` (`io_error`)."""
        async with self._turn:
            if self.size != size:
                self._writer.write(rfb.set_desktop_size(size))
                self._writer.write(rfb.update_request(Rect(0, 0, 1, 1), incremental=True))
                await self._until(lambda: self.size == size)
            return self.size

    def set_clipboard(self, text: str) -> None:
        """Offer `text` to the desktop's programs, which request the text when a user pastes."""
        self._offered = text
        self._writer.write(rfb.clipboard_message(rfb.NOTIFY | rfb.TEXT))

    async def clipboard(self) -> str:
        """Return the clipboard's text. Raises `HawseError` (`io_error`)."""
        if self._asks():
            before = self._answers
            self._writer.write(rfb.clipboard_message(rfb.REQUEST | rfb.TEXT))
            await self._until(lambda: self._answers > before or not self._asks(), CLIPBOARD_TIMEOUT)
        return self._clipboard if self._offered is None else self._offered

    def _asks(self) -> bool:
        """Return whether another program owns the clipboard's text."""
        return self._offered is None and self._available

    # ---- internals

    async def _until(self, done: Callable[[], bool], timeout: float | None = TIMEOUT) -> None:
        """Wait until `done` returns True.

        Args:
            done: The condition to wait for.
            timeout: The time limit in seconds; None means no limit.

        Raises:
            HawseError: `io_error` if the connection ends first, or after `timeout` seconds.
        """
        with self._following() as changed:
            try:
                async with asyncio.timeout(timeout):
                    while self._failure is None and not done():
                        changed.clear()
                        await changed.wait()
            except TimeoutError:
                raise HawseError("io_error", f"the desktop has not answered for {timeout:g} s") from None
        self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _following(self) -> Iterator[asyncio.Event]:
        changed = asyncio.Event()
        self._changes.add(changed.set)
        try:
            yield changed
        finally:
            self._changes.discard(changed.set)

    def _changed(self) -> None:
        for change in self._changes:
            change()

    async def _receive(self) -> None:
        """Handle one message. Raises `ValueError` if the message is invalid."""
        kind = (await self._reader.readexactly(1))[0]
        if kind == rfb.FRAMEBUFFER_UPDATE:
            (count,) = struct.unpack(">xH", await self._reader.readexactly(3))
            before = self._capture.left if self._capture is not None else 0
            for _ in range(count):
                await self._receive_rect()
            self._updates += 1
            capture = self._capture
            if capture is not None and capture.left == before:
                # TigerVNC answers the first request with only the desktop's size, and the next one with the pixels.
                self._writer.write(rfb.update_request(capture.region, incremental=True))
        elif kind == rfb.SERVER_CUT_TEXT:
            (length,) = struct.unpack(">3xi", await self._reader.readexactly(7))
            if abs(length) > rfb.CUT_TEXT_MAX:
                raise ValueError(f"a clipboard message is too long: {abs(length)} bytes")
            data = await self._reader.readexactly(abs(length))
            if length < -3:
                self._receive_clipboard(int.from_bytes(data[:4], "big"), data[4:])
        elif kind != rfb.BELL:
            raise ValueError(f"unexpected message type {kind}")
        self._changed()

    async def _receive_rect(self) -> None:
        head = struct.unpack(">4Hi", await self._reader.readexactly(12))
        rect, encoding = Rect(*head[:4]), head[4]
        if encoding == rfb.RAW:
            await self._receive_pixels(rect)
        elif encoding in (rfb.DESKTOP_SIZE, rfb.EXTENDED_DESKTOP_SIZE):
            failed = False
            if encoding == rfb.EXTENDED_DESKTOP_SIZE:
                (screens,) = struct.unpack(">B3x", await self._reader.readexactly(4))
                await self._reader.readexactly(16 * screens)
                failed = rect.x == 1 and rect.y != 0  # the reply to a refused size change
            if not failed and (rect.width, rect.height) != self.size:
                self.size = _allowed(rect.width, rect.height)
                if self._capture is not None:
                    self._capture.resized = True
        else:
            raise ValueError(f"unexpected encoding {encoding}")

    async def _receive_pixels(self, rect: Rect) -> None:
        """Copy a rectangle's pixels, a few rows at a time, to the capture that requested them."""
        capture = self._capture
        if capture is not None and not capture.region.contains(rect):
            capture = None  # these pixels were requested by an earlier capture, which failed
        if rect.x + rect.width > self.size.width or rect.y + rect.height > self.size.height:
            raise ValueError(f"invalid rectangle: {rect.width} × {rect.height} pixels at {rect.x},{rect.y}")
        if self._patches is not None:
            self._room -= rect.width * rect.height
            if self._room < 0:
                raise ValueError("the server sent too many pixels")
        stride = 4 * rect.width
        rows = max(1, CHUNK // max(1, stride))
        for top in range(0, rect.height, rows):
            here = min(rows, rect.height - top)
            data = await self._reader.readexactly(stride * here)
            if capture is not None:
                _copy(data, rect._replace(y=rect.y + top, height=here), capture)
            if self._patches is not None and data:
                self._patches.append((rect._replace(y=rect.y + top, height=here), data))
        if capture is not None:
            capture.left -= rect.width * rect.height

    def _receive_clipboard(self, flags: int, data: bytes) -> None:
        if flags & rfb.CAPS:
            if not self._clipboard_caps:
                self._clipboard_caps = True
                self._writer.write(rfb.clipboard_caps())
        elif flags & rfb.NOTIFY:
            self._available = bool(flags & rfb.TEXT)
            self._offered, self._clipboard = None, ""
        elif flags & rfb.REQUEST and self._offered is not None:
            self._writer.write(rfb.provide_text(self._offered))
        elif flags & rfb.PROVIDE and flags & rfb.TEXT:
            self._clipboard = rfb.provided_text(data)
            self._answers += 1
        elif flags & rfb.PEEK:
            offered = rfb.TEXT if self._offered is not None else 0
            self._writer.write(rfb.clipboard_message(rfb.NOTIFY | offered))


def _copy(data: bytes, rect: Rect, capture: Capture) -> None:
    region, stride = capture.region, 4 * rect.width
    target = 4 * ((rect.y - region.y) * region.width + rect.x - region.x)
    if rect.width == region.width:
        capture.pixels[target : target + len(data)] = data
        return
    for start in range(0, len(data), stride):
        capture.pixels[target : target + stride] = data[start : start + stride]
        target += 4 * region.width


async def _handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> ScreenSize:
    """Negotiate RFB 3.8 without security, along with the pixel format. Return the desktop's size."""
    if await reader.readexactly(len(rfb.VERSION)) != rfb.VERSION:
        raise ValueError("the server does not support RFB 3.8")
    writer.write(rfb.VERSION)
    kinds = await reader.readexactly((await reader.readexactly(1))[0])
    if rfb.NO_SECURITY not in kinds:
        raise ValueError("the server requires a password")
    writer.write(bytes((rfb.NO_SECURITY,)))
    if await reader.readexactly(4) != bytes(4):
        raise ValueError("the server refused the connection")
    writer.write(b"\x01")  # shared
    head = struct.unpack(">HH16xI", await reader.readexactly(24))
    if head[2] > NAME_MAX:
        raise ValueError(f"the name is too long: {head[2]} bytes")
    await reader.readexactly(head[2])
    writer.write(rfb.set_pixel_format() + rfb.set_encodings(ENCODINGS))
    return _allowed(head[0], head[1])


def _allowed(width: int, height: int) -> ScreenSize:
    """Return a size sent by the server. Raises `ValueError` if the screen is larger than the runtime supports."""
    if not 0 < width * height <= rfb.PIXELS_MAX:
        raise ValueError(f"unsupported size: {width} × {height} pixels")
    return ScreenSize(width, height)
