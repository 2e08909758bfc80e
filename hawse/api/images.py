"""Container images of sandboxes: the `image.*` methods."""

from typing import Annotated

import msgspec

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Name, matching

# ---- values


# The registry, repository, tag and digest. It becomes part of URLs, so no component is empty or starts with a dot.
_IMAGE_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|[./](?![./]))*$(?!\n)"
ImageName = Annotated[
    str, matching(_IMAGE_NAME, "the name of an image, such as registry/name:tag", min_length=1, max_length=1024)
]


class ImageInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """An image on this gateway's machine or cluster.

    Attributes:
        id: Id of the image.
        names: Its names with their tags.
        size: Bytes of its files.
        created: When it was built, in seconds since 1970; null if unknown.
    """

    id: str
    names: list[str] = msgspec.field(default_factory=list)
    size: int = 0
    created: float | None = None


class ImageListResult(Reply, frozen=True, kw_only=True):
    """The images of a provider.

    Attributes:
        images: All local images, including images that other programs have pulled.
    """

    images: list[ImageInfo]


class ImageProgress(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """Progress of a pull.

    Attributes:
        message: Human-readable details.
        progress: The completed part, 0 to 1; null if unknown.
    """

    message: str | None = None
    progress: float | None = None


class ImageProvider(ParamsValue, kw_only=True):
    """Fields of every method about images.

    Attributes:
        provider: Name of the provider; null means the default provider. If it has no images, the error is
            `invalid_params`.
    """

    provider: Name | None = None


class ImageTarget(ImageProvider, kw_only=True):
    """Fields of every method about one image.

    Attributes:
        image: Name of the image, with a tag or digest; the default tag is `latest`.
    """

    image: ImageName


# ---- methods


@method("image.list", safe=True, sandbox=False)
class ImageList(ImageProvider, Params[ImageListResult], kw_only=True):
    """List the local images of a provider."""


@method("image.pull", events={"progress": ImageProgress}, sandbox=False, raises=("capacity_exceeded",))
class ImagePull(ImageTarget, Params[ImageInfo], kw_only=True):
    """Pull an image, or a newer version of a local image.

    If the image does not exist, the error is `invalid_params`. Concurrent calls for one image share the pull, which is
    cancelled with the last call; the provider keeps the downloaded parts. At most 4 images are pulled at once.
    """


@method("image.remove", sandbox=False, names="image", ends=True, raises=("not_found", "conflict"))
class ImageRemove(ImageTarget, Params[Nothing], kw_only=True):
    """Remove a name of an image, and its files with the last name. The error is `conflict` if a sandbox uses it."""
