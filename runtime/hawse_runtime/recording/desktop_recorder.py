"""Records one desktop: a viewer of its own, whose changed rectangles go to disk a few times in a second.

It asks for changes only after it has written the ones before, so a slow disk costs frames and no memory. A screen that
changes as a film does costs frames too, so that the bytes that a recording may have last as long as it may.
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

INTERVAL: Final = 0.2  # seconds between two frames
LONGEST: Final = 4 * 3600.0  # seconds of one recording
EVERY: Final = 4 << 20  # bytes of changes between two whole screens: what a player has to read to seek
SHARE: Final = 4  # a whole screen is at most 1/4 the size of the changes since the previous one
SLOW: Final = 1.0  # seconds until the next frame from which on the recording is incomplete
SLOWED: Final = "frames are missing: the screen changed faster than a recording may grow"
END_TIMEOUT: Final = 5.0  # seconds from the end of the connection to that of the desktop, if this is the reason
LAST_TIMEOUT: Final = 5.0  # seconds from a stop to the last frame: the X server is user code, and may not answer


class DesktopRecorder:
    """Call `run` once, in a task. It has the attributes and methods of `Recorder` that its owner uses."""

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
        """Prepare to record.

        Args:
            desktop: What to record.
            file: Where to write; it is opened and closed by `run`.
            header: Encodes the first line for a width and a height in pixels.
            disk: The threads in which `file` is used.
            encoders: The threads in which rectangles are compressed.
            tasks: Owns the reader of the connection, and what writes markers.
            longest: Seconds after which the recording ends.
            every: Bytes of changes between two whole screens.
        """
        loop = asyncio.get_running_loop()
        self.file = file
        self.reason: RecordingEndReason | None = None  # why it has ended or is ending; None: it is not
        self.message = ""
        self.lost = 0  # a disk that is too slow costs frames, and no bytes of what is recorded
        self.opened: asyncio.Future[None] = loop.create_future()  # set when the file is open, or that has failed
        self.incomplete = False  # frames are missing, because the screen has changed too fast
        self.done = asyncio.Event()  # set by its owner when the recording is complete
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
        self._waiting: asyncio.Timeout | None = None  # of the wait for changes, which has no other end
        self._hang: asyncio.TimerHandle | None = None  # gives up the last frame
        self._stopped = asyncio.Event()
        self._writing = asyncio.Lock()  # of the file
        self._closed = False

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the recording."""
        return self._clock() - self._start

    def mark(self, label: str) -> None:
        """Add a marker at this moment."""
        self._tasks.start(self._mark(CastEvent(self.elapsed, "m", label)))

    def stop(self) -> None:
        """End the recording. Does nothing if it is ending already."""
        self._end("stopped")

    async def run(self) -> None:
        """Write the file until the recording ends. Failures are in `reason`, `message` and `opened`."""
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
        except Exception as error:  # any failure ends only the recording
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
        """Write frames until the recording is stopped: the last one is the whole screen as it is then.

        Raises `HawseError` when the connection has ended.

        Args:
            client: The connection.
            size: The size in the first line of the file.
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
                    whole = True  # the size has changed, or it is stopped: the next frame has all changes
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
        """Wait for changes. None are returned when the size of the screen has changed, or the recording is stopped."""
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
            at: Its time, in seconds.
            events: Its rectangles.
            whole: Whether they are the whole screen, at which a player can begin.
            size: The new size of the screen. None: it is as before.
        """

        def write() -> None:
            if size is not None:
                self.file.write([CastEvent(at, "r", f"{size.width}x{size.height}")])
            if whole:
                self.file.write([CastEvent(at, "o", "")])  # so that the frame begins at the time that the index has
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
        """Wait until the next frame is due, or the recording is stopped.

        The size of the file grows at most with the square root of the time, and is at its limit at the end of the
        longest recording: a short one of a film has many frames, and a long one does not end early.
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
        """Find out why the connection has ended."""
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
            self.opened.exception()  # mark it as retrieved: the state of the recording reports it as well

    def _too_long(self) -> None:
        self._end("quota", f"a recording of a desktop has at most {self._longest / 3600:g} hours")

    def _end(self, reason: RecordingEndReason, message: str = "") -> None:
        """End the recording, and note why, unless it is ending already."""
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
            log.warning("! the last line of a recording cannot be written: %s", error)
        finally:
            self.file.close()
