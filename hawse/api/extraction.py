"""Unpacking of archives: `file.extract`."""

from typing import Annotated

from msgspec import Meta

from hawse.api.file_values import FileTarget
from hawse.api.rights import WRITE
from hawse.api.spec import Params, Reply, method
from hawse.api.types import FILE_ERRORS, Path

MaxEntries = Annotated[int, Meta(ge=1, le=1_000_000)]
MaxBytes = Annotated[int, Meta(ge=1, le=1 << 40)]
Strip = Annotated[int, Meta(ge=0, le=100)]  # components of a path


class FileExtractProgress(Reply, frozen=True, kw_only=True):
    """How far the extraction is, a few times in a second.

    Attributes:
        entries: Entries that were extracted.
        bytes: Bytes of files that were written.
    """

    entries: int
    bytes: int


class FileExtractResult(Reply, frozen=True, kw_only=True):
    """The archive was extracted.

    Attributes:
        entries: Entries that were extracted.
        bytes: Bytes of files that were written.
        skipped: Devices and FIFOs, which are not extracted.
    """

    entries: int
    bytes: int
    skipped: int


@method(
    "file.extract",
    requires=WRITE,
    events={"progress": FileExtractProgress},
    raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"),
)
class FileExtract(FileTarget, Params[FileExtractResult], kw_only=True):
    """Extract an archive that is a file in the sandbox: tar, also with gzip, bzip2, xz or zstd, or zip.

    Nothing is written outside `to`: a name that leaves it, by `..`, by a symlink or because it is absolute, and a
    symlink whose target leaves it, are `permission_denied` (`details.entry`). Owners and the bits for set-user-id and
    the like are not restored. What was extracted before an error, or before the call was cancelled, stays. An archive
    that is damaged, cut or encrypted is `invalid_params`. One that expands to more than 1 GiB and 200 times its size is
    `too_large`; with zstd, a runtime without it is `unavailable`. Of entries with the same name, the last one stays.

    Args:
        to: The directory to extract to, which is created if it is missing; resolved as `path` is.
        overwrite: Whether existing files are replaced; otherwise one is `conflict`.
        strip: Number of leading components to remove from each name; entries without another one are left out.
        max_entries: Number of entries after which it ends with `too_large`.
        max_bytes: Bytes of files, unpacked, after which it ends with `too_large`.
    """

    to: Path = "."
    overwrite: bool = False
    strip: Strip = 0
    max_entries: MaxEntries = 100_000
    max_bytes: MaxBytes = 4 << 30
