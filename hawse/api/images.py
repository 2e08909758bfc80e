"""Container images for sandboxes: the `image.*` methods."""

from typing import Annotated

import msgspec

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Name, matching

# ---- values


# A registry, repository, tag and digest. The name becomes part of URLs, so no component may be empty or start with a
# dot.
_IMAGE_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|[./](?![./]))*$(?!\n)"
ImageName = Annotated[
    str, matching(_IMAGE_NAME, "the name of an image, such as registry/name:tag", min_length=1, max_length=1024)
]


class ImageInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """An image on this gateway's machine or cluster.

    Attributes:
        id: Id of the image.
        names: Its names, including tags.
        size: Total size of its files, in bytes.
        created: When it was built, in seconds since 1970; null if unknown.
    """

    id: str
    names: list[str] = msgspec.field(default_factory=list)
    size: int = 0
    created: float | None = None


class ImageListResult(Reply, frozen=True, kw_only=True):
    """A provider's images.

    Attributes:
        images: All local images, including those pulled by other programs.
    """

    images: list[ImageInfo]


class ImageProgress(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """Progress of a pull.

    Attributes:
        message: Human-readable details.
        progress: The fraction completed, from 0 to 1; null if unknown.
    """

    message: str | None = None
    progress: float | None = None


class ImageProvider(ParamsValue, kw_only=True):
    """Fields common to all image methods.

    Attributes:
        provider: Name of the provider; null means the default provider. If this provider does not use images, the error
            is `invalid_params`.
    """

    provider: Name | None = None


class ImageTarget(ImageProvider, kw_only=True):
    """Fields common to the methods that act on a single image.

    Attributes:
        image: Name of the image, with a tag or digest; the default tag is `latest`.
    """

    image: ImageName


# ---- methods


@method("image.list", safe=True, sandbox=False)
class ImageList(ImageProvider, Params[ImageListResult], kw_only=True):
    """List a provider's local images."""


@method("image.pull", events={"progress": ImageProgress}, sandbox=False, raises=("capacity_exceeded",))
class ImagePull(ImageTarget, Params[ImageInfo], kw_only=True):
    """Pull an image, or a newer version of a local image.

    If the image does not exist, the error is `invalid_params`. Concurrent calls for the same image share one pull,
    which is cancelled once all of them have been cancelled. After a cancellation, the provider keeps the parts already
    downloaded. At most 4 images are pulled at a time.
    """


@method("image.remove", sandbox=False, names="image", ends=True, raises=("not_found", "conflict"))
class ImageRemove(ImageTarget, Params[Nothing], kw_only=True):
    """Remove one of an image's names. Removing the last one deletes the image's files.

    If a sandbox uses the image, the error is `conflict`.
    """
