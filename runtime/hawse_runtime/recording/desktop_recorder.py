"""Records a desktop through a separate viewer. Writes changed rectangles to disk several times a second.

The recorder requests changes only once it has written the previous ones, so a slow disk costs frames rather than
memory. It also drops frames if the screen keeps changing, as during a film, so that the size limit isn't reached
before the time limit.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from hawse.api.recordings import RecordingEndReason
from hawse.wire import HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.desktop.desktop import Desktop
from hawse_runtime.desktop.rfb import ScreenSize
from hawse_runtime.desktop.rfb_client import RfbClient
from hawse_runtime.recording.cast_writer import CastEvent, CastWriter
from hawse_runtime.recording.failure import describe_failure
from hawse_runtime.recording.rectangles import Patch, bands, encode

log = logging.getLogger(__name__)

INTERVAL: Final = 0.2  # minimum number of seconds between frames
LONGEST: Final = 4 * 3600.0  # maximum length of a recording in seconds
EVERY: Final = 4 << 20  # minimum bytes of changes between whole screens; to seek, a player reads those since the last
SHARE: Final = 4  # a whole screen is written once its size is at most 1/4 of the changes since the previous one
SLOW: Final = 1.0  # maximum number of seconds between frames; after a longer gap, the recording counts as incomplete
SLOWED: Final = "frames are missing, because the screen changed faster than a recording can grow"
END_TIMEOUT: Final = 5.0  # seconds to wait for the desktop to end after its connection has ended
LAST_TIMEOUT: Final = 5.0  # seconds to wait for the last frame; the X server is user code and may not answer


class DesktopRecorder:
    """Records a desktop. Await `run` once. Has all attributes and methods of `Recorder` that its owner uses."""

    def __init__(
        self,
        desktop: Desktop,
        file: CastWriter,
        header: Callable[[int, int], bytes],
        disk: ThreadPool,
        encoders: ThreadPool,
        tasks: Tasks,
        *,
        longest: float = LONGEST,
        every: int = EVERY,
    ) -> None:
        """Create a recorder.

        Args:
            desktop: The desktop to record.
            file: The recording's file, which `run` opens and closes.
            header: Encodes the header line for a width and height in pixels.

            disk: The thread pool for accessing `file`.
            encoders: The thread pool for compressing rectangles.
            tasks: Owns tasks that read the connection and write markers.
            longest: The maximum duration in seconds.
            every: The number of bytes of changes between whole screens.
        """
        loop = asyncio.get_running_loop()
        self.file = file
        self.reason: RecordingEndReason | None = None  # why the recording ended; None while recording
        self.message = ""
        self.lost = 0  # always 0, because a slow disk costs frames, not recorded bytes
        self.opened: asyncio.Future[None] = loop.create_future()  # done once the file is open or could not be opened
        self.incomplete = False  # whether frames are missing because the screen changed too fast
        self.done = asyncio.Event()  # set by the owner once the recording is complete
        self._desktop = desktop
        self._header = header
        self._disk = disk
        self._encoders = encoders
        self._tasks = tasks
        self._longest = longest
        self._every = every
        self._clock = loop.time
        self._start = loop.time()
        self._client: RfbClient | None = None
        self._waiting: asyncio.Timeout | None = None  # the timeout for waiting for changes
        self._hang: asyncio.TimerHandle | None = None  # the timer for giving up on the last frame
        self._stopped = asyncio.Event()
        self._writing = asyncio.Lock()  # serializes access to the file
        self._closed = False

    @property
    def elapsed(self) -> float:
        """The number of seconds since the recording started."""
        return self._clock() - self._start

    def mark(self, label: str) -> None:
        """Add a marker at the current time."""
        self._tasks.start(self._mark(CastEvent(self.elapsed, "m", label)))

    def stop(self) -> None:
        """End the recording. Has no effect if it is already ending."""
        self._end("stopped")

    async def run(self) -> None:
        """Write the file until the recording ends. Failures are reported in `reason`, `message` and `opened`."""
        limit = asyncio.get_running_loop().call_later(self._longest, self._too_long)
        try:
            client = self._client = await RfbClient.connect(str(self._desktop.socket))
            self._tasks.start(client.run())
            size = client.size
            await self._disk.run(partial(self.file.open, self._header(*size), *size))
            self.opened.set_result(None)
            await self._record(client, size)
        except HawseError as error:
            self._fail_to_open(error)
            await self._disconnected(error)
        except Exception as error:  # a failure ends the recording, but nothing else
            self._end(*describe_failure(error))
            self._fail_to_open(error)
        finally:
            limit.cancel()
            if self._hang is not None:
                self._hang.cancel()
            if self._client is not None:
                self._client.close()
            if self.incomplete and not self.message:
                self.message = SLOWED
            async with self._writing:
                self._closed = True
                await self._disk.run(self._close)

    async def _record(self, client: RfbClient, size: ScreenSize) -> None:
        """Write frames until the recording is stopped. The last frame is a whole screen.

        Raises `HawseError` when the connection has ended.

        Args:
            client: The connection to the desktop.
            size: The screen size in the header line.
        """
        whole, behind, largest = True, 0, 0
        last = False
        while not last:
            last = self.reason is not None
            now = size
            if whole := whole or last:
                part, pixels = await client.capture(None)
                now = ScreenSize(part.width, part.height)
                patches = bands(now, pixels)
            else:
                patches = await self._changes(client)
                if not patches or client.size != size:
                    whole = True  # the size has changed or recording stops, so the next frame contains everything
                    continue
            at = self.elapsed
            before = self.file.sizes["cast"]
            events = await self._encoders.run(partial(encode, patches))
            await self._write(at, events, whole=whole, size=now if now != size else None)
            written = self.file.sizes["cast"] - before
            behind, largest = (0, written) if whole else (behind + written, largest)
            whole = behind >= max(self._every, SHARE * largest)
            size = now
            await self._pause()

    async def _changes(self, client: RfbClient) -> list[Patch]:
        """Wait for changes. Returns an empty list if the screen's size has changed or the recording is stopped."""
        try:
            async with asyncio.timeout(None) as self._waiting:
                return [Patch(*patch) for patch in await client.changes()]
        except TimeoutError:
            return []
        finally:
            self._waiting = None

    async def _write(self, at: float, events: list[str], *, whole: bool, size: ScreenSize | None) -> None:
        """Write a frame.

        Args:
            at: The frame's time in seconds.
            events: The encoded rectangles.
            whole: Whether the rectangles cover the whole screen, so that players can start here.
            size: The new screen size; None if it hasn't changed.
        """

        def write() -> None:
            if size is not None:
                self.file.write([CastEvent(at, "r", f"{size.width}x{size.height}")])
            if whole:
                # Advances the cast to the time that the index states for this frame.
                self.file.write([CastEvent(at, "o", "")])
                self.file.write_start()
            self.file.write([CastEvent(at, "o", event) for event in events])

        async with self._writing:
            await self._disk.run(write)

    async def _mark(self, event: CastEvent) -> None:
        async with self._writing:
            if self._closed or not self.opened.done():
                return
            try:
                await self._disk.run(partial(self.file.write, [event]))
            except Exception as error:
                self._end(*describe_failure(error))

    async def _pause(self) -> None:
        """Wait until the next frame is due or the recording is stopped.

        The size allowed for the file grows with the square root of time, and reaches the limit at the maximum duration.
        A short recording of a film therefore has many frames, and a long one doesn't end early.
        """
        due = self._longest * (self.file.size / self.file.limit) ** 2
        pause = max(INTERVAL, due - self.elapsed)
        self.incomplete |= pause > SLOW
        try:
            async with asyncio.timeout(pause):
                await self._stopped.wait()
        except TimeoutError:
            pass

    async def _disconnected(self, error: HawseError) -> None:
        """Determine why the connection ended."""
        if self.reason is not None:
            return
        try:
            async with asyncio.timeout(END_TIMEOUT):
                await self._desktop.ended.wait()
        except TimeoutError:
            self._end("io_error", error.message)
        else:
            self._end("exited")

    def _fail_to_open(self, error: Exception) -> None:
        if not self.opened.done():
            self.opened.set_exception(error)
            self.opened.exception()  # mark the exception as retrieved; it is also reported in the recording's state

    def _too_long(self) -> None:
        self._end("quota", f"a desktop recording can have at most {self._longest / 3600:g} hours")

    def _end(self, reason: RecordingEndReason, message: str = "") -> None:
        """End the recording with a reason. Has no effect if it is already ending."""
        if self.reason is not None:
            return
        self.reason, self.message = reason, message
        self._stopped.set()
        loop = asyncio.get_running_loop()
        if self._waiting is not None:
            self._waiting.reschedule(loop.time())
        if self._client is not None:
            self._hang = loop.call_later(LAST_TIMEOUT, self._client.close)

    def _close(self) -> None:
        """Write the last line and close the file. Runs in a thread."""
        try:
            if self.opened.done() and self.opened.exception() is None:
                text = f"recording ended: {self.message}" if self.message else ""
                self.file.end(CastEvent(self.elapsed, "m", text) if text else None)
        except OSError as error:
            log.warning("! cannot write the last line of a recording: %s", error)
        finally:
            self.file.close()
