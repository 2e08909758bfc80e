"""Serves `desktop.screenshot`: captures an image, encodes it in a thread, and sends its bytes."""

from collections.abc import Callable
from functools import partial

from hawse.api.desktops import DesktopScreenshot, DesktopScreenshotResult
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, Kind
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.desktop.desktop import Desktop
from hawse_runtime.desktop.images import encode_image
from hawse_runtime.desktop.rfb import Rect


class ScreenshotStream(OutputOnlyStream):
    """Serves a screenshot."""

    def __init__(
        self,
        call: ServerCall,
        params: DesktopScreenshot,
        desktop: Desktop,
        tasks: Tasks,
        threads: ThreadPool,
        on_detach: Callable[["ScreenshotStream"], object],
    ) -> None:
        """Start taking a screenshot.

        Args:
            call: The call to serve.
            params: The call's parameters.
            desktop: The desktop to capture.
            tasks: Owns the task that takes the screenshot.
            threads: The thread pool for encoding the image.
            on_detach: Called once, when the channel is closed.
        """
        super().__init__(call)
        self._params = params
        self._desktop = desktop
        self._threads = threads
        self._on_detach = on_detach
        self._image = memoryview(b"")
        self._offset = 0
        self._result: DesktopScreenshotResult | None = None  # set once the image is ready
        self._detached = False
        tasks.start(self._take())

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._result is None:
            return False
        part = self._image[self._offset :][: min(size, connection.window(ch))]
        if part:
            connection.send_data(ch, Kind.OUTPUT, self._offset, part)
            self._offset += len(part)
            return True
        if self._offset == len(self._image):
            self._call.result(self._result)
        return False

    def detach(self) -> None:
        self._detached = True
        self._image = memoryview(b"")
        self._on_detach(self)

    async def _take(self) -> None:
        params = self._params
        region = params.region
        wanted = None if region is None else Rect(region.x, region.y, region.width, region.height)
        try:
            part, pixels = await self._desktop.client.capture(wanted)
            if self._detached:
                return
            encode = partial(encode_image, pixels, part.width, part.height, params.format, params.quality)
            image = await self._threads.run(encode)
        except Exception as error:
            self._call.error(typed(error))
            return
        if not self._detached:
            self._image = memoryview(image)
            self._result = DesktopScreenshotResult(
                format=params.format, width=part.width, height=part.height, size=len(image)
            )
            self._call.wake()
