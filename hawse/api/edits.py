"""Changes within files: `file.edit`."""

from typing import Annotated

from msgspec import Meta

from hawse.api.file_values import FileTarget
from hawse.api.rights import WRITE
from hawse.api.spec import Params, ParamsValue, Reply, method
from hawse.api.types import FILE_ERRORS

EDITS_MAX = 1000  # replacements of one call


class TextEdit(ParamsValue, kw_only=True):
    """A replacement of one text by another.

    Args:
        old: The text to replace, exactly as it is in the file.
        new: The text in its place.
        all: Whether to replace it wherever it is; otherwise it has to occur exactly once.
    """

    old: Annotated[str, Meta(min_length=1)]
    new: str
    all: bool = False


class FileEditResult(Reply, frozen=True, kw_only=True):
    """The file was changed.

    Attributes:
        bytes: Size of the file, in bytes.
        version: Its version.
        replaced: Number of places that were changed: of texts that were replaced, or of hunks of the patch.
    """

    bytes: int
    version: str
    replaced: int


@method("file.edit", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileEdit(FileTarget, Params[FileEditResult], kw_only=True):
    """Replace texts in a file, or apply a patch to it: all of it, atomically, or nothing.

    Exactly one of `edits` and `patch` is given. `conflict`: a text does not occur, or occurs several times without
    `all` (`details`: `edit`, its index, and `found`, how often); the lines of a hunk are neither at the stated line nor
    at exactly one other place (`details`: `hunk`, its index, and `found`); the file has another version, or was changed
    meanwhile. A file has at most 16 MiB.

    Args:
        edits: Replacements, made one after the other.
        patch: A unified diff of this one file. Names of files are ignored.
        if_version: The version that the file must have; null: any.
    """

    edits: Annotated[list[TextEdit], Meta(min_length=1, max_length=EDITS_MAX)] | None = None
    patch: Annotated[str, Meta(min_length=1)] | None = None
    if_version: str | None = None
