"""Reads a desktop's windows from its X server, using a few X11 protocol requests.

The window properties are defined by the Extended Window Manager Hints. The X server is user code: each reply's size is
limited, and all replies together have a deadline. docs/decisions/0246 explains why python-xlib is not used.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from hawse.api.desktops import DesktopWindow
from hawse.wire import HawseError

T = TypeVar("T")

COOKIE_NAME: Final = b"MIT-MAGIC-COOKIE-1"
FAMILY_WILD: Final = 0xFFFF  # the family of an Xauthority entry that applies to any address
TIMEOUT: Final = 5.0  # timeout in seconds for reading all windows
ANSWER_STEP: Final = 0.01  # seconds between checks for the window manager's reply
ANSWER_LOOKS: Final = 5
WINDOWS_MAX: Final = 200
PROPERTY_MAX: Final = 4096  # maximum number of bytes read from a property
REPLY_MAX: Final = 64 << 10  # maximum size of a reply, in bytes
SETUP_MAX: Final = 256 << 10
TITLE_MAX: Final = 256  # maximum length of a title, in characters
MANAGES: Final = 0x180000  # the SubstructureRedirect and SubstructureNotify masks
CLIENT_MESSAGE: Final = 33
ATOMS: Final = (
    "_NET_CLIENT_LIST_STACKING",
    "_NET_ACTIVE_WINDOW",
    "_NET_WM_NAME",
    "_NET_WM_PID",
    "_NET_WM_STATE",
    "_NET_WM_STATE_HIDDEN",
    "WM_CLASS",
    "WM_NAME",
)


def authority(cookie: bytes) -> bytes:
    """Return the contents of an Xauthority file with one secret for all displays on all hosts."""
    return struct.pack(">HHHH", FAMILY_WILD, 0, 0, len(COOKIE_NAME)) + COOKIE_NAME + struct.pack(">H", 16) + cookie


async def list_windows(display: int, cookie: bytes) -> list[DesktopWindow]:
    """Return the window manager's visible windows, from bottom to top.

    Args:
        display: The display's number.
        cookie: The display's secret, 16 bytes long.

    Raises:
        HawseError: `io_error` if the X server doesn't answer correctly.
    """
    return await _asked(display, cookie, _windows)


async def window_manager_answers(display: int, cookie: bytes) -> bool:
    """Query the window manager. Return whether it answers within 50 ms.

    On startup, a window manager announces itself before it is ready (`_NET_SUPPORTING_WM_CHECK`). openbox then doesn't
    show windows until the next event, which this request provides. Arguments and errors are the same as for
    `list_windows`.
    """
    return await _asked(display, cookie, _answers)


async def _asked(display: int, cookie: bytes, ask: "Callable[[_Requests, _Screen], Awaitable[T]]") -> T:
    """Connect to the X server and return the result of `ask`."""
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_unix_connection(Path(f"/tmp/.X11-unix/X{display}"))
            try:
                return await ask(_Requests(reader, writer), await _setup(reader, writer, cookie))
            finally:
                writer.close()
    except (OSError, EOFError, ValueError, struct.error) as error:  # TimeoutError is a subclass of OSError
        raise HawseError("io_error", f"the X server is not responding: {error}") from None


@dataclass(frozen=True, slots=True)
class _Screen:
    root: int  # the first screen's root window
    first_id: int  # the lowest id for this connection's resources


class _Requests:
    """Sends requests in batches and reads the replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, requests: Sequence[bytes]) -> list[bytes | None]:
        """Return a reply for each request, or None if the request failed, for example because a window was closed."""
        self.write(*requests)
        return [await self._reply() for _ in requests]

    def write(self, *requests: bytes) -> None:
        """Send requests that have no replies. An error caused by one would be mistaken for the reply to a later
        request.
        """
        for request in requests:
            self._writer.write(request)

    async def _reply(self) -> bytes | None:
        while True:
            head = await self._reader.readexactly(32)
            kind = head[0] & 0x7F
            (more,) = struct.unpack_from("<I", head, 4)
            rest = b""
            if kind in (1, 35):  # a reply or a generic event, which can be longer
                if 4 * more > REPLY_MAX:
                    raise ValueError(f"a reply is too long: {4 * more} bytes")
                rest = await self._reader.readexactly(4 * more)
            if kind <= 1:
                return None if kind == 0 else head + rest


async def _setup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cookie: bytes) -> _Screen:
    """Authenticate with the X server."""
    writer.write(struct.pack("<cxHHHHxx", b"l", 11, 0, len(COOKIE_NAME), len(cookie)))
    writer.write(COOKIE_NAME + bytes(-len(COOKIE_NAME) % 4) + cookie + bytes(-len(cookie) % 4))
    status, size = struct.unpack("<B5xH", await reader.readexactly(8))
    body = await reader.readexactly(min(4 * size, SETUP_MAX))
    if status != 1:
        raise ValueError("the server refused the connection")
    vendor, formats = struct.unpack_from("<H", body, 16)[0], body[21]
    (root,) = struct.unpack_from("<I", body, 32 + vendor + -vendor % 4 + 8 * formats)
    return _Screen(root=root, first_id=struct.unpack_from("<I", body, 4)[0])


async def _answers(requests: _Requests, screen: _Screen) -> bool:
    """Request the frame width of a window that is never shown. Return whether the window manager answers."""
    atoms = await requests.send([_intern_atom("_NET_REQUEST_FRAME_EXTENTS"), _intern_atom("_NET_FRAME_EXTENTS")])
    asked, answer = (_u32(atom, 8) for atom in atoms)
    window = screen.first_id
    requests.write(_create_window(window, screen.root), _ask_window_manager(window, screen.root, asked))
    for _ in range(ANSWER_LOOKS):
        await asyncio.sleep(ANSWER_STEP)
        (found,) = await requests.send([_get_property(window, answer)])
        if _numbers(found):
            return True
    return False


async def _windows(requests: _Requests, screen: _Screen) -> list[DesktopWindow]:
    root = screen.root
    replies = await requests.send([_intern_atom(name) for name in ATOMS])
    atoms = {name: _u32(reply, 8) for name, reply in zip(ATOMS, replies, strict=True)}
    stack, active = await requests.send(
        [_get_property(root, atoms["_NET_CLIENT_LIST_STACKING"]), _get_property(root, atoms["_NET_ACTIVE_WINDOW"])]
    )
    ids = _numbers(stack)[-WINDOWS_MAX:]
    found = [await _window(requests, root, window, atoms, _numbers(active)[:1]) for window in ids]
    return [window for window in found if window is not None]


async def _window(
    requests: _Requests, root: int, window: int, atoms: dict[str, int], active: Iterable[int]
) -> DesktopWindow | None:
    """Return a window, or None if it has been closed."""
    wanted = ("_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID", "_NET_WM_STATE")
    properties = [_get_property(window, atoms[name]) for name in wanted]
    place = [struct.pack("<BxHI", 14, 2, window), struct.pack("<BxHIIhh", 40, 4, window, root, 0, 0)]
    geometry, position, *values = await requests.send([*place, *properties])
    if geometry is None or position is None:
        return None
    name, old_name, program, pid, state = values
    classes = _text(program).split("\0")
    width, height = struct.unpack_from("<HH", geometry, 16)
    x, y = struct.unpack_from("<hh", position, 12)
    return DesktopWindow(
        id=window,
        title=(_text(name) or _text(old_name, "latin-1"))[:TITLE_MAX],
        name=(classes[1] if len(classes) > 1 else classes[0])[:TITLE_MAX],
        pid=next(iter(_numbers(pid)), None),
        x=x,
        y=y,
        width=width,
        height=height,
        active=window in active,
        minimized=atoms["_NET_WM_STATE_HIDDEN"] in _numbers(state),
    )


def _intern_atom(name: str) -> bytes:
    data = name.encode()
    padding = -len(data) % 4
    return struct.pack("<BxHHxx", 16, 2 + (len(data) + padding) // 4, len(data)) + data + bytes(padding)


def _create_window(window: int, parent: int) -> bytes:
    """Create a one-pixel window that otherwise has its parent's properties."""
    return struct.pack("<BBHIIhhHHHHII", 1, 0, 8, window, parent, 0, 0, 1, 1, 0, 1, 0, 0)


def _ask_window_manager(window: int, root: int, kind: int) -> bytes:
    """Encode a message to the window manager about a window. `kind` is an atom."""
    message = struct.pack("<BBHII20x", CLIENT_MESSAGE, 32, 0, window, kind)
    return struct.pack("<BBHII", 25, 0, 11, root, MANAGES) + message


def _get_property(window: int, atom: int) -> bytes:
    return struct.pack("<BxHIIIII", 20, 6, window, atom, 0, 0, PROPERTY_MAX // 4)


def _u32(reply: bytes | None, at: int) -> int:
    return 0 if reply is None else int(struct.unpack_from("<I", reply, at)[0])


def _value(reply: bytes | None, width: int) -> bytes:
    """Return a property's bytes if its items are `width` bits wide; otherwise, b""."""
    if reply is None or reply[1] != width:
        return b""
    return reply[32 : 32 + _u32(reply, 16) * width // 8]


def _numbers(reply: bytes | None) -> tuple[int, ...]:
    data = _value(reply, 32)
    return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])


def _text(reply: bytes | None, encoding: str = "utf-8") -> str:
    return _value(reply, 8).decode(encoding, errors="replace").rstrip("\0")
