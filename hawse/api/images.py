"""The images of a provider: `image.list`, `image.pull` and `image.remove`, methods of the gateway itself."""

import msgspec

from hawse.api.sandboxes import ImageName, Name
from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method


class ImageInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """An image that is there.

    Attributes:
        id: Id of the image.
        names: Its names with their tags.
        size: Bytes of its files.
        created: When it was made, in seconds since 1970; null if that is not known.
    """

    id: str
    names: list[str] = msgspec.field(default_factory=list)
    size: int = 0
    created: float | None = None


class ImageListResult(Reply, frozen=True, kw_only=True):
    """The images of a provider.

    Attributes:
        images: All that are there, those that other programs have pulled included.
    """

    images: list[ImageInfo]


class ImageProgress(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """How far a pull is.

    Attributes:
        message: Details for people.
        progress: The part that is done, 0 to 1; null if that is not known.
    """

    message: str | None = None
    progress: float | None = None


class ImageProvider(ParamsValue, kw_only=True):
    """Fields of every method about images.

    Attributes:
        provider: Name of the provider; null: the default one. One without images is `invalid_params`.
    """

    provider: Name | None = None


class ImageTarget(ImageProvider, kw_only=True):
    """Fields of every method about one image.

    Attributes:
        image: Name of the image, with a tag or digest; without one, the tag is `latest`.
    """

    image: ImageName


@method("image.list", safe=True, sandbox=False)
class ImageList(ImageProvider, Params[ImageListResult], kw_only=True):
    """List the images that are there."""


@method("image.pull", events={"progress": ImageProgress}, sandbox=False, raises=("capacity_exceeded",))
class ImagePull(ImageTarget, Params[ImageInfo], kw_only=True):
    """Pull an image, also a newer version of one that is there.

    An image that does not exist is `invalid_params`. `cancel` ends the pull; the provider keeps what was downloaded. At
    most 4 images are pulled at once.
    """


@method("image.remove", sandbox=False, names="image", ends=True, raises=("not_found", "conflict"))
class ImageRemove(ImageTarget, Params[Nothing], kw_only=True):
    """Remove a name of an image, and its files with the last name. One that a sandbox uses is a `conflict`."""
