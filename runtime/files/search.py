"""`file.search`: files by name, or lines by what they hold. By ripgrep where there is one, else by a walk of our own.

Within a root it is always our own: ripgrep opens by path, which a symlink swapped in meanwhile would lead out.
"""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from hawse.api.files import FileSearch, FileSearchResult, SearchMatch, SearchMatches
from hawse.api.paths import to_text
from hawse.rpc import from_oserror
from hawse.wire import HawseError
from runtime.core.output_matcher import compile_pattern
from runtime.files.line_matches import lines_with, told
from runtime.files.listing import DIRECTORY, entering, failed, filter_of
from runtime.files.read import open_regular
from runtime.files.ripgrep import Ripgrep
from runtime.files.rooted_path import RootedPath
from runtime.files.walk import Turns, WalkEntry, WalkError, walk
from runtime.rpc.generator_stream import StreamEvent, Work

BATCH = 64 << 10  # characters of an event, as of a listing
OVERHEAD = 100  # of a match without its texts
Finds = Generator[SearchMatch | WalkError | None, None, None]


def search(place: RootedPath, params: FileSearch, ripgrep: Ripgrep | None) -> Work:
    """Told batch by batch; ends at the limit."""
    wanted = filter_of(params.include, params.exclude)
    regexp = None
    if "\0" in (params.pattern or ""):
        raise HawseError("invalid_params", "a NUL byte in a pattern", details={"path": "$.pattern"})
    if params.pattern is not None:
        regexp = compile_pattern(params.pattern, literal=params.literal, ignore_case=params.ignore_case)
    found: Finds
    if regexp is not None and ripgrep is not None and not place.roots:
        found = ripgrep.search(place, params, wanted)
    else:
        found = _own(place, params.hidden, wanted, regexp)
    batch: list[SearchMatch] = []
    size = count = failures = 0
    turns = Turns()
    truncated = False
    with closing(found):
        for item in found:
            if isinstance(item, WalkError):
                failures += 1
                yield failed(item)
            elif isinstance(item, SearchMatch):
                if count == params.limit:
                    truncated = True
                    break
                count += 1
                batch.append(item)
                size += len(item.path) + len(item.text or "") + OVERHEAD + 20 * len(item.spans)
            if size >= BATCH or turns.due():
                yield StreamEvent("matches", SearchMatches(matches=batch)) if batch else None
                batch, size = [], 0
    if batch:
        yield StreamEvent("matches", SearchMatches(matches=batch))
    return FileSearchResult(matches=count, truncated=truncated, failed=failures)


def _own(place: RootedPath, hidden: bool, wanted: Any, regexp: Any) -> Finds:
    try:
        top = place.open(DIRECTORY)
    except NotADirectoryError:
        name = os.path.basename(place.path)
        yield from _file(name, place.open, regexp, fatal=True)
        return
    try:
        with closing(walk(top, enters=entering(wanted, hidden))) as found:
            for item in found:
                if not isinstance(item, WalkEntry):
                    yield item if isinstance(item, WalkError) else None
                elif wanted.wants(item.names):
                    yield from _entry(item, regexp)
                else:
                    yield None
    finally:
        os.close(top)


def _entry(found: WalkEntry, regexp: Any) -> Finds:
    if regexp is None:
        yield SearchMatch(path=to_text(found.path))
    elif stat.S_ISREG(found.status.st_mode):
        name, folder = found.names[-1], found.folder
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        yield from _file(found.path, lambda mode: os.open(name, mode | flags, dir_fd=folder), regexp)


def _file(path: str, open_: Callable[[int], int], regexp: Any, *, fatal: bool = False) -> Finds:
    if regexp is None:
        yield SearchMatch(path=to_text(path))
        return
    try:
        fd, _ = open_regular(open_)
    except (OSError, HawseError) as error:
        if fatal:
            raise
        trouble = error if isinstance(error, HawseError) else from_oserror(error)
        yield WalkError(tuple(path.split("/")), trouble)
        return
    try:
        for line in lines_with(regexp, fd):
            yield None if line is None else told(path, line)
    except OSError as error:
        yield WalkError(tuple(path.split("/")), from_oserror(error))
    finally:
        os.close(fd)
