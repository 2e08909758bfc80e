"""A sandbox's desktops, and the `desktop.*` methods."""

import logging
from typing import Final

import msgspec

from hawse.api.desktops import (
    DesktopAttach,
    DesktopClick,
    DesktopClipboard,
    DesktopClipboardResult,
    DesktopDrag,
    DesktopInfo,
    DesktopKey,
    DesktopLaunch,
    DesktopLease,
    DesktopList,
    DesktopListResult,
    DesktopMove,
    DesktopResize,
    DesktopScreenshot,
    DesktopScroll,
    DesktopSize,
    DesktopStart,
    DesktopStartResult,
    DesktopStop,
    DesktopType,
    DesktopWindows,
    DesktopWindowsResult,
    Input,
    Point,
)
from hawse.api.people import TerminalLease, WriterLease
from hawse.api.processes import ProcessInfo, ProcessStart
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.desktop import driver
from hawse_runtime.desktop.attach import DesktopViewer
from hawse_runtime.desktop.desktop import Desktop, check_programs, check_size
from hawse_runtime.desktop.keys import parse_keys
from hawse_runtime.desktop.rfb import CLIPBOARD_MAX, ScreenSize
from hawse_runtime.desktop.rfb_client import RfbClient
from hawse_runtime.desktop.screenshot import ScreenshotStream
from hawse_runtime.desktop.x11 import list_windows
from hawse_runtime.posix.environment import Environment
from hawse_runtime.process.launcher import Launcher
from hawse_runtime.process.methods import ProcessMethods

log = logging.getLogger(__name__)

RUNNING_LIMIT: Final = 4
VIEWERS_LIMIT: Final = 64  # maximum number of viewers per desktop; each costs 128 KiB and X server time
SCREENSHOTS_LIMIT: Final = 16  # maximum number of screenshots in progress per desktop; each holds an image


class DesktopMethods:
    """The desktops, keyed by id."""

    def __init__(
        self, environment: Environment, launcher: Launcher, processes: ProcessMethods, encoders: ThreadPool
    ) -> None:
        """Create the methods, without any desktops.

        Args:
            environment: Environment variables and directories for new programs.
            launcher: Starts X servers and window managers.
            processes: Starts programs for `desktop.launch`.
            encoders: The thread pool for encoding images.
        """
        self._environment = environment
        self._launcher = launcher
        self._processes = processes
        self._encoders = encoders
        self._tasks = launcher.context.tasks
        self.registry: Registry[Desktop] = Registry("desktop", limit=RUNNING_LIMIT, retention=Retention(0))
        self._screenshots: dict[str, int] = {}  # number of screenshots in progress, keyed by the desktop's instance

    def __len__(self) -> int:
        return len(self.registry)

    async def close(self) -> None:
        """End all desktops."""
        await self.registry.close(Desktop.close)

    # ---- lifetime

    @handles(DesktopStart)
    async def _start(self, params: DesktopStart) -> DesktopStartResult:
        """Start a desktop, or return it if it is already running. Fails with `conflict` while it is starting."""
        running = self.registry.find(params.id)
        created = running is None
        if running is None:
            with self.registry.reserve(params.id):
                running = await self._begin(params)
                self.registry.add(running)
            self._tasks.start(self._run(running))
        return DesktopStartResult(**msgspec.structs.asdict(running.describe()), created=created)

    async def _begin(self, params: DesktopStart) -> Desktop:
        check_programs(self._path())
        desktop = Desktop(params, self._launcher)
        try:
            await desktop.start()
        except BaseException:
            await desktop.close()
            raise
        return desktop

    async def _run(self, desktop: Desktop) -> None:
        """Wait until a desktop has ended, then end the programs started on it."""
        await desktop.run()
        if self.registry.find(desktop.id) is desktop:
            log.info("= the desktop %s has ended", desktop.id)
            await self._end(desktop)

    async def _end(self, desktop: Desktop) -> None:
        self.registry.drop(desktop)
        await desktop.close()

    @handles(DesktopStop)
    async def _stop(self, params: DesktopStop) -> Nothing:
        await self._end(self.registry.get(params.id))
        return Nothing()

    @handles(DesktopList)
    def _list(self, params: DesktopList) -> DesktopListResult:
        desktops = [info for desktop in self.registry if (info := _described(desktop))]
        return DesktopListResult(desktops=desktops, problem=self._problem())

    def _problem(self) -> str | None:
        """Return the reason why desktops are unavailable, or None if they are available."""
        try:
            check_programs(self._path())
        except HawseError as error:
            return error.message
        return None

    # ---- viewers

    @serves(DesktopAttach)
    def _attach(self, call: ServerCall, params: DesktopAttach) -> None:
        desktop = self.registry.get(params.id, params.instance)
        if len(desktop.viewers) >= VIEWERS_LIMIT:
            raise HawseError("limit_exceeded", f"viewer limit reached: {VIEWERS_LIMIT} viewers are attached")
        viewer = DesktopViewer(call, params, desktop, self._tasks, desktop.viewers.pop)
        desktop.viewers[viewer] = None
        call.serve(viewer)

    @handles(DesktopLease)
    def _lease(self, params: DesktopLease) -> WriterLease:
        change = TerminalLease(
            id=params.id, action=params.action, viewer=params.viewer, to=params.to, epoch=params.epoch
        )
        return self.registry.get(params.id).participants.set_lease(change)

    # ---- agents

    @serves(DesktopScreenshot)
    def _screenshot(self, call: ServerCall, params: DesktopScreenshot) -> None:
        desktop = self.registry.get(params.id)
        busy = self._screenshots.get(desktop.instance, 0)
        if busy >= SCREENSHOTS_LIMIT:
            raise HawseError("limit_exceeded", f"screenshot limit reached: {SCREENSHOTS_LIMIT} are in progress")
        self._screenshots[desktop.instance] = busy + 1

        def done(stream: ScreenshotStream) -> None:
            self._screenshots[desktop.instance] -= 1
            if not self._screenshots[desktop.instance]:
                del self._screenshots[desktop.instance]

        call.serve(ScreenshotStream(call, params, desktop, self._tasks, self._encoders, done))

    @handles(DesktopResize)
    async def _resize(self, params: DesktopResize) -> DesktopSize:
        size = ScreenSize(params.width, params.height)
        check_size(size)
        result = await self._writable(params).resize(size)
        return DesktopSize(width=result.width, height=result.height)

    @handles(DesktopMove)
    async def _move(self, params: DesktopMove) -> Nothing:
        await driver.move(self._writable(params), params.x, params.y)
        return Nothing()

    @handles(DesktopClick)
    async def _click(self, params: DesktopClick) -> Nothing:
        held = parse_keys(params.hold) if params.hold else []
        at = Point(x=params.x, y=params.y)
        await driver.click(self._writable(params), at, params.button, params.count, held)
        return Nothing()

    @handles(DesktopDrag)
    async def _drag(self, params: DesktopDrag) -> Nothing:
        await driver.drag(self._writable(params), params.path, params.button)
        return Nothing()

    @handles(DesktopScroll)
    async def _scroll(self, params: DesktopScroll) -> Nothing:
        await driver.scroll(self._writable(params), Point(x=params.x, y=params.y), params.dx, params.dy)
        return Nothing()

    @handles(DesktopType)
    async def _type(self, params: DesktopType) -> Nothing:
        await driver.type_text(self._writable(params), params.text)
        return Nothing()

    @handles(DesktopKey)
    async def _key(self, params: DesktopKey) -> Nothing:
        await driver.press(self._writable(params), parse_keys(params.keys), params.count)
        return Nothing()

    @handles(DesktopWindows)
    async def _windows(self, params: DesktopWindows) -> DesktopWindowsResult:
        desktop = self.registry.get(params.id)
        assert desktop.display is not None
        return DesktopWindowsResult(windows=await list_windows(desktop.display, desktop.cookie))

    @handles(DesktopLaunch)
    def _launch(self, params: DesktopLaunch) -> ProcessInfo:
        desktop = self.registry.get(params.desktop)
        fields = {name: getattr(params, name) for name in params.__struct_fields__ if name not in ("desktop", "env")}
        return self._processes.start(ProcessStart(**fields, env={**(params.env or {}), **desktop.variables()}))

    @handles(DesktopClipboard)
    async def _clipboard(self, params: DesktopClipboard) -> DesktopClipboardResult:
        client = self._writable(params)
        if params.text is None:
            return DesktopClipboardResult(text=await client.clipboard())
        size = len(params.text.replace("\n", "\r\n").encode(errors="replace"))
        if size >= CLIPBOARD_MAX:
            raise HawseError("invalid_params", f"the text has {size} bytes; it must have fewer than {CLIPBOARD_MAX}")
        client.set_clipboard(params.text)
        await client.drain()
        return DesktopClipboardResult(text=params.text)

    # ---- internals

    def _path(self) -> str:
        """The directories to search for programs, separated by colons."""
        return self._environment.build(None, cwd="/")["PATH"]

    def _writable(self, params: Input) -> RfbClient:
        """Return the connection to a desktop. Raises `not_found`, `lease_held`, `forbidden` or `io_error`."""
        desktop = self.registry.get(params.id)
        desktop.check_may_write(params.viewer)
        return desktop.client


def _described(desktop: Desktop) -> DesktopInfo | None:
    """Describe a desktop. Returns None if it has just ended."""
    try:
        return desktop.describe()
    except HawseError:
        return None
