"""`file.edit`: atomically replaces text in a file or applies a patch to it."""

import os
from contextlib import suppress
from typing import Final

from hawse.api.files import FileEdit, FileEditResult, TextEdit
from hawse.wire import HawseError
from hawse_runtime.files.atomic_replace import AtomicReplacement
from hawse_runtime.files.patch import apply
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import version_of

SIZE_MAX: Final = 16 << 20  # maximum size of a file, in bytes; several copies of it are held in memory
BLOCK: Final = 1 << 20  # bytes per read


def edit(place: RootedPath, params: FileEdit, quota: Quota) -> FileEditResult:
    """Change the file. Raises `conflict` if text or a hunk is missing or ambiguous, or if the version differs."""
    if (params.edits is None) == (params.patch is None):
        raise HawseError("invalid_params", "specify either `edits` or `patch`")
    content, version = _read(place)
    if params.if_version not in (None, version):
        raise HawseError("conflict", "the file has changed", details={"version": version})
    if params.patch is not None:
        changed, replaced = apply(content, _encoded(params.patch, "$.patch"))
    else:
        changed, replaced = replace(content, params.edits or [])
    if len(changed) > SIZE_MAX:
        raise HawseError("too_large", f"the changed file would have more than {SIZE_MAX} bytes")
    quota.add(len(changed))
    try:
        replacement = AtomicReplacement(place)
        try:
            _write(replacement.fd, changed)
            status = replacement.commit(version=version)
        except BaseException:
            with suppress(OSError):
                replacement.discard()
            raise
    except BaseException:
        quota.add(-len(changed))
        raise
    quota.add(-len(content))
    return FileEditResult(bytes=len(changed), version=version_of(status), replaced=replaced)


def replace(content: bytes, edits: list[TextEdit]) -> tuple[bytes, int]:
    """Return the new content and the number of replacements. Raises `conflict`."""
    replaced = 0
    for number, each in enumerate(edits):
        old, new = _encoded(each.old, f"$.edits[{number}].old"), _encoded(each.new, f"$.edits[{number}].new")
        found = content.count(old)
        if found == 0 or (found > 1 and not each.all):
            what = "is not in the file" if found == 0 else f"is in the file {found} times"
            details = {"edit": number, "found": found}
            raise HawseError("conflict", f"the old text of edit {number + 1} {what}", admitted="yes", details=details)
        if len(content) + found * (len(new) - len(old)) > SIZE_MAX:
            raise HawseError("too_large", f"the changed file would have more than {SIZE_MAX} bytes")
        content = content.replace(old, new)
        replaced += found
    return content, replaced


def _read(place: RootedPath) -> tuple[bytes, str]:
    fd, status = open_regular(place.open)
    try:
        content = bytearray()
        while len(content) <= SIZE_MAX and (data := os.read(fd, BLOCK)):
            content += data
    finally:
        os.close(fd)
    if len(content) > SIZE_MAX:
        raise HawseError("too_large", f"the file has more than {SIZE_MAX} bytes")
    return bytes(content), version_of(status)


def _write(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _encoded(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise HawseError("invalid_params", "the text contains a lone surrogate", details={"path": path}) from error
