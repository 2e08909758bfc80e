"""The images of a gateway's provider: list, pull and remove them."""

from collections.abc import Callable

from hawse.api.images import ImageInfo, ImageList, ImageProgress, ImagePull, ImageRemove
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.wire import Event

WINDOW = 64 * 1024  # bytes of progress that the gateway can send ahead


class ImagePullCall(ClientCall):
    """`image.pull`. It is repeated after a lost connection, and keeps the parts that were downloaded."""

    def __init__(self, params: ImagePull, on_progress: Callable[[ImageProgress], object] | None) -> None:
        super().__init__(params, repeats=True, window=WINDOW)
        self._on_progress = on_progress

    def receive_event(self, event: Event) -> None:
        self.spend(event_cost(event))
        progress = self.decode(event)
        if progress is not None and self._on_progress is not None:
            self._on_progress(progress)


class Images:
    """The images of a provider. It need not be closed.

    Methods raise `HawseError`: `invalid_params` for a provider without images, `unavailable` if it cannot be asked.
    """

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def list(self, *, provider: str | None = None) -> list[ImageInfo]:
        """Return the images that are there. `provider`: its name; None means the gateway's default."""
        return (await self._calls.request(ImageList(provider=provider), sandbox=None)).images

    async def pull(
        self,
        image: str,
        *,
        provider: str | None = None,
        on_progress: Callable[[ImageProgress], object] | None = None,
    ) -> ImageInfo:
        """Pull an image, or a newer version of an existing one, and return it.

        Args:
            image: Its name, with a tag or digest; without one, the tag is `latest`.
            provider: The name of the provider; None means the gateway's default.
            on_progress: Called with the progress; it must return soon.

        Raises:
            HawseError: `invalid_params` if it does not exist or is not allowed to be pulled; `capacity_exceeded`.
        """
        params = ImagePull(image=image, provider=provider)
        pulled: ImageInfo = await self._calls.perform(ImagePullCall(params, on_progress))
        return pulled

    async def remove(self, image: str, *, provider: str | None = None) -> None:
        """Remove a name of an image, and its files with the last name.

        Args:
            image: Its name.
            provider: The name of the provider; None means the gateway's default.

        Raises:
            HawseError: `not_found`; `conflict` if a sandbox uses it.
        """
        await self._calls.request(ImageRemove(image=image, provider=provider), sandbox=None)
