"""A desktop: the X server `Xvnc`, a window manager, and the runtime's connection to the X server.

All of a desktop's processes have its mark in their environment (`HAWSE_DESKTOP`), which is used to end them.
"""

import asyncio
import logging
import secrets
import signal
import time
from collections import deque
from pathlib import Path
from typing import Final, Protocol

from hawse.api.desktops import DesktopInfo, DesktopStart
from hawse.api.processes import Program
from hawse.link.sockets import accepts_connections
from hawse.wire import HawseError
from hawse_runtime.core.private_tempdir import PrivateTempDir
from hawse_runtime.desktop.rfb import PIXELS_MAX, ScreenSize
from hawse_runtime.desktop.rfb_client import RfbClient
from hawse_runtime.desktop.window_manager import CONFIGURATION, OPENBOX
from hawse_runtime.desktop.x11 import authority, window_manager_answers
from hawse_runtime.people.participants import Participants
from hawse_runtime.posix.process_table import DESKTOP_MARK
from hawse_runtime.posix.process_tree import NO_ROOT
from hawse_runtime.posix.spawn import find_program
from hawse_runtime.process.launcher import Launcher
from hawse_runtime.process.process import Process

log = logging.getLogger(__name__)

XVNC: Final = "Xvnc"
START_TIMEOUT: Final = 20.0  # seconds to wait for the X server and the window manager to be ready
READY_STEP: Final = 0.01  # seconds between readiness checks
END_GRACE: Final = 1.0  # seconds from SIGTERM to SIGKILL
# Bytes of an X server's output included in the error if it doesn't start.
REPORTED: Final = 2000
DISPLAYS: Final = range(1, 100)
RESTARTS: Final = 5  # maximum number of window manager restarts within `RESTART_WINDOW`; after that, none is started
RESTART_WINDOW: Final = 60.0  # in seconds
ACTIVE: Final = "already active"  # the message from an X server whose display is in use
INSTALL: Final = "install them in the sandbox (on Debian: apt-get install tigervnc-standalone-server openbox)"
# Startup parameters for Xvnc (docs/decisions/0245).
PARAMETERS: Final = (
    *("-rfbport", "-1", "-rfbunixmode", "0600", "-SecurityTypes", "None", "-AlwaysShared"),
    *("-nolisten", "tcp", "-nolisten", "local", "-noreset", "-depth", "24", "-SendPrimary=0", "-UseBlacklist=0"),
)


class Wakeable(Protocol):
    """A stream attached to a desktop."""

    def wake(self) -> None:
        """Check for a new event and for the end of the desktop."""
        ...


class Desktop:
    """A desktop, from its start to its end."""

    def __init__(self, params: DesktopStart, launcher: Launcher) -> None:
        """Create a desktop without starting it.

        Raises:
            HawseError: `invalid_params` if the desktop is too large, `unavailable` if a program is missing.
            OSError: The desktop's directory can't be created.
        """
        check_size(ScreenSize(params.width, params.height))
        self._launcher = launcher
        self.id = params.id
        self.instance = secrets.token_hex(8)
        self.dpi = params.dpi
        self.started = time.time()
        self.cookie = secrets.token_bytes(16)
        self.display: int | None = None  # the display number; set once the desktop is ready
        self.ended = asyncio.Event()  # set once the X server has exited or is being ended
        self.participants = Participants(self._size_in_cells, lambda cols, rows: None, self._wake, self._wake)
        self.viewers: dict[Wakeable, None] = {}
        self._geometry = f"{params.width}x{params.height}"
        self._client: RfbClient | None = None
        self._server: Process | None = None  # set once the X server is ready
        self._manager: Process | None = None  # the window manager; set once it has been ready for the first time
        self._running: set[Process] = set()  # the programs that have not been reaped yet
        self._managed = False  # whether the window manager is ready
        self._restarts: deque[float] = deque(maxlen=RESTARTS)  # times of the latest window manager restarts
        self._closing = asyncio.Lock()
        self._closed = False
        self._folder = PrivateTempDir()

    # ---- lifetime

    async def start(self) -> None:
        """Start the programs. If this raises an error, call `close` to end any that were started.

        Raises:
            HawseError: `unavailable` if the X server doesn't become ready; `spawn_failed`, `limit_exceeded` or
                `io_error`.
        """
        self._write("authority", authority(self.cookie))
        self._write("openbox.xml", CONFIGURATION.encode())
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._start()
        except TimeoutError:
            raise HawseError(
                "unavailable", f"the desktop was not ready within {START_TIMEOUT:g} s", admitted="yes"
            ) from None

    async def _start(self) -> None:
        argv = [XVNC, *PARAMETERS, "-geometry", self._geometry, "-dpi", str(self.dpi), "-desktop", self.id]
        argv += ["-rfbunixpath", str(self.socket), "-auth", self.xauthority]
        display = await self._start_server(argv)
        self._client = await RfbClient.connect(str(self.socket))
        manager = self._spawn(self._manager_argv())
        while not await self._answers(display):
            if manager.exit is not None:
                raise _failed(manager)
        self._manager = manager
        self._managed = manager.exit is None

    async def _start_server(self, argv: list[str]) -> int:
        """Start the X server on the first free display and return the display's number.

        Xvnc's own search (`-displayfd`) uses no lock and may take a display that is already in use.
        """
        for display in DISPLAYS:
            server = self._spawn([argv[0], f":{display}", *argv[1:]])
            # The only sign that the server is ready is that it accepts connections.
            while server.exit is None and not accepts_connections(self.socket):  # noqa: ASYNC110
                await asyncio.sleep(READY_STEP)
            if server.exit is None:
                self._server, self.display = server, display
                return display
            if ACTIVE not in _errors(server):  # ACTIVE: another server took the display in the meantime
                raise _failed(server)
        raise HawseError("limit_exceeded", f"all displays from :{DISPLAYS[0]} to :{DISPLAYS[-1]} are in use")

    async def run(self) -> None:
        """Read the X server's messages until the desktop or the connection ends."""
        if self._client is not None:
            await self._client.run()
        self._gone()

    async def close(self) -> None:
        """End all of the desktop's programs. A concurrent call waits for the first one to finish.

        Raises:
            HawseError: `permission_denied` if a program survives SIGKILL.
        """
        self._gone()
        async with self._closing:
            if not self._closed:
                self._closed = True
                await self._close()

    async def _close(self) -> None:
        if self._client is not None:
            self._client.close()
        self.participants.close()
        try:
            await self._launcher.context.trees.end(NO_ROOT, signal.SIGTERM, END_GRACE, self._reaped, mark=self.mark)
        finally:
            self._folder.close()

    # ---- description

    @property
    def client(self) -> RfbClient:
        """The runtime's connection to the X server. Raises `HawseError` (`io_error`) if it has ended."""
        if self._client is None or self.ended.is_set():
            raise HawseError("io_error", f"desktop {self.id} has ended")
        return self._client

    @property
    def mark(self) -> str:
        return f"{DESKTOP_MARK}={self.instance}"

    @property
    def socket(self) -> Path:
        """The Unix socket that viewers connect to."""
        return self._folder.path / "rfb"

    @property
    def xauthority(self) -> str:
        return str(self._folder.path / "authority")

    def variables(self) -> dict[str, str]:
        """Return the environment variables for programs started on this desktop."""
        variables = {"XAUTHORITY": self.xauthority, DESKTOP_MARK: self.instance}
        return variables if self.display is None else {**variables, "DISPLAY": f":{self.display}"}

    def describe(self) -> DesktopInfo:
        """Describe the desktop. Raises `HawseError` (`io_error`) if it has ended."""
        size = self.client.size
        return DesktopInfo(
            id=self.id,
            instance=self.instance,
            width=size.width,
            height=size.height,
            dpi=self.dpi,
            display=f":{self.display}",
            xauthority=self.xauthority,
            started=self.started,
            viewers=len(self.viewers),
            window_manager=self._managed,
        )

    def check_may_write(self, viewer: str | None) -> None:
        """Raise `lease_held` unless the viewer with this key may send input. If the key is None, check a caller without
        a viewer.
        """
        participant = None if viewer is None else self.participants.find(viewer)
        if participant is not None and participant.read_only:
            raise HawseError("forbidden", "this viewer is read-only")
        self.participants.check_may_write(participant, 0)

    # ---- internals

    def _spawn(self, argv: list[str]) -> Process:
        program = Program(argv=argv, env=dict(self.variables()))
        process = self._launcher.spawn(f"desktop-{self.id}-{argv[0]}", program, self._exited)
        self._running.add(process)
        return process

    def _exited(self, process: Process) -> None:
        self._running.discard(process)
        if process is self._server:
            self._gone()
        elif process is self._manager and not self.ended.is_set():
            self._managed = False
            log.warning("! the window manager of desktop %s has ended: %s", self.id, process.exit)
            self._restart_manager()

    def _restart_manager(self) -> None:
        """Restart the window manager unless it has exited too often. Without one, programs keep their windows."""
        now = time.monotonic()
        if len(self._restarts) == RESTARTS and now - self._restarts[0] < RESTART_WINDOW:
            log.error("! the window manager of desktop %s keeps ending; not restarting it", self.id)
            return
        self._restarts.append(now)
        try:
            self._manager = self._spawn(self._manager_argv())
        except (HawseError, OSError) as error:
            log.error("! cannot restart the window manager of desktop %s: %s", self.id, error)
        else:
            self._launcher.context.tasks.start(self._await_manager(self._manager))

    async def _await_manager(self, manager: Process) -> None:
        """Query a restarted window manager until it answers, because it may not show windows before that."""
        assert self.display is not None
        try:
            async with asyncio.timeout(START_TIMEOUT):
                while not await self._answers(self.display):
                    if self._manager is not manager or manager.exit is not None or self.ended.is_set():
                        return
        except TimeoutError:
            log.warning("! the window manager of desktop %s is not responding", self.id)
            return
        if self._manager is manager and manager.exit is None:
            self._managed = True

    async def _answers(self, display: int) -> bool:
        try:
            return await window_manager_answers(display, self.cookie)
        except HawseError:  # the X server is busy or has ended
            await asyncio.sleep(READY_STEP)
            return False

    def _manager_argv(self) -> list[str]:
        # Use --replace, because openbox would exit if the X server has not noticed the end of the previous window
        # manager.
        return [OPENBOX, "--replace", "--sm-disable", "--config-file", str(self._folder.path / "openbox.xml")]

    def _gone(self) -> None:
        if not self.ended.is_set():
            self.ended.set()
            self._wake()

    def _wake(self) -> None:
        for viewer in list(self.viewers):
            viewer.wake()

    def _reaped(self) -> bool:
        return not self._running

    def _size_in_cells(self) -> tuple[int, int]:
        return 80, 24  # a desktop's viewers have no size in cells

    def _write(self, name: str, content: bytes) -> None:
        path = self._folder.path / name
        path.touch(mode=0o600)
        path.write_bytes(content)


def check_size(size: ScreenSize) -> None:
    """Raise `HawseError` (`invalid_params`) if a size has too many pixels."""
    if size.width * size.height > PIXELS_MAX:
        raise HawseError("invalid_params", f"{size.width} × {size.height} exceeds the limit of {PIXELS_MAX} pixels")


def check_programs(path: str) -> None:
    """Raise `HawseError` (`unavailable`) if a required program is missing.

    Args:
        path: The directories to search, separated by colons.
    """
    missing = [name for name in (XVNC, OPENBOX) if find_program(name, path) is None]
    if missing:
        needed = " and ".join(missing)
        raise HawseError(
            "unavailable", f"a desktop requires the programs {needed}: {INSTALL}", admitted="yes", retryable=False
        )


def _failed(process: Process) -> HawseError:
    """Return the error for a program that has ended, including the end of its output."""
    message = f"{process.argv[0]} failed to start: {_errors(process).strip()}"
    return HawseError("unavailable", message, admitted="yes")


def _errors(process: Process) -> str:
    """Return the end of a program's stderr."""
    errors = process.stderr.journal
    return errors.copy(max(errors.start, errors.end - REPORTED), errors.end).decode(errors="replace")
