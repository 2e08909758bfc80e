"""A gateway provider's images: list, pull and remove them."""

from collections.abc import Callable

from hawse.api.images import ImageInfo, ImageList, ImageProgress, ImagePull, ImageRemove
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.wire import Event

WINDOW = 64 * 1024  # bytes of progress events the gateway can send before the client reads them


class ImagePullCall(ClientCall):
    """A call to `image.pull`. If the connection is lost, the call is repeated, and the parts already downloaded are
    kept.
    """

    def __init__(self, params: ImagePull, on_progress: Callable[[ImageProgress], object] | None) -> None:
        super().__init__(params, repeats=True, window=WINDOW)
        self._on_progress = on_progress

    def receive_event(self, event: Event) -> None:
        self.spend(event_cost(event))
        progress = self.decode(event)
        if progress is not None and self._on_progress is not None:
            self._on_progress(progress)


class Images:
    """A provider's images. The handle doesn't have to be closed.

    Methods raise `HawseError`: `invalid_params` if the provider does not use images, `unavailable` if it does not
    respond.
    """

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def list(self, *, provider: str | None = None) -> list[ImageInfo]:
        """Return the local images of the provider with this name; None means the gateway's default provider."""
        return (await self._calls.request(ImageList(provider=provider), sandbox=None)).images

    async def pull(
        self,
        image: str,
        *,
        provider: str | None = None,
        on_progress: Callable[[ImageProgress], object] | None = None,
    ) -> ImageInfo:
        """Pull an image, or a newer version of a local image, and return it.

        Args:
            image: Its name, with a tag or digest; the default tag is `latest`.
            provider: The name of the provider; None means the gateway's default.
            on_progress: Called with progress reports; must return quickly.

        Raises:
            HawseError: `invalid_params` if the image does not exist or must not be pulled; `capacity_exceeded`.
        """
        params = ImagePull(image=image, provider=provider)
        pulled: ImageInfo = await self._calls.perform(ImagePullCall(params, on_progress))
        return pulled

    async def remove(self, image: str, *, provider: str | None = None) -> None:
        """Remove one of an image's names. Removing the last one deletes the image's files.

        Args:
            image: Its name.
            provider: The name of the provider; None means the gateway's default.

        Raises:
            HawseError: `not_found`; `conflict` if a sandbox uses the image.
        """
        await self._calls.request(ImageRemove(image=image, provider=provider), sandbox=None)
