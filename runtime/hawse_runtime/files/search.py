"""`file.search`: finds files by name, or lines in files by pattern."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from hawse.api.files import FileSearch, FileSearchResult, SearchMatch, SearchMatches
from hawse.api.paths import to_text
from hawse.rpc import from_oserror
from hawse.wire import HawseError
from hawse_runtime.core.output_matcher import compile_pattern
from hawse_runtime.files.line_matches import lines_with, search_match
from hawse_runtime.files.listing import DIRECTORY, entering, failed, filter_of
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.walk import Turns, WalkEntry, WalkError, walk
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

BATCH = 64 << 10  # characters per event, as in `file.list`
OVERHEAD = 100  # maximum length of an encoded match without its path, text and spans, in characters
# Maximum length of an encoded span, in characters.
SPAN_SIZE = 20
Found = Generator[SearchMatch | WalkError | None, None, None]


def search(place: RootedPath, params: FileSearch) -> Work:
    """Yield `matches` and `failed` events. Stop after `params.limit` matches.

    Raises `invalid_params` if the pattern or any glob is invalid, or `too_large` if the pattern is too complex.
    """
    wanted = filter_of(params.include, params.exclude)
    regexp = None
    if "\0" in (params.pattern or ""):
        raise HawseError("invalid_params", "`pattern` contains a NUL byte", details={"path": "$.pattern"})
    if params.pattern is not None:
        regexp = compile_pattern(params.pattern, literal=params.literal, ignore_case=params.ignore_case)
    words = [word.casefold() for word in params.words or ()]
    found = _search_tree(place, params.hidden, wanted, words, regexp)
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
                size += len(item.path) + len(item.text or "") + OVERHEAD + SPAN_SIZE * len(item.spans)
            if size >= BATCH or turns.due():
                yield StreamEvent("matches", SearchMatches(matches=batch)) if batch else None
                batch, size = [], 0
    if batch:
        yield StreamEvent("matches", SearchMatches(matches=batch))
    return FileSearchResult(matches=count, truncated=truncated, failed=failures)


def _search_tree(place: RootedPath, hidden: bool, wanted: Any, words: list[str], regexp: Any) -> Found:
    try:
        top = place.open(DIRECTORY)
    except NotADirectoryError:
        name = os.path.basename(place.path)
        yield from _search_file(name, place.open, regexp, fatal=True)
        return
    try:
        with closing(walk(top, enters=entering(wanted, hidden))) as found:
            for item in found:
                if not isinstance(item, WalkEntry):
                    yield item if isinstance(item, WalkError) else None
                elif wanted.wants(item.names) and _has_words(item.path, words):
                    yield from _search_entry(item, regexp)
                else:
                    yield None
    finally:
        os.close(top)


def _has_words(path: str, words: list[str]) -> bool:
    if not words:
        return True
    folded = path.casefold()
    return all(word in folded for word in words)


def _search_entry(found: WalkEntry, regexp: Any) -> Found:
    if regexp is None:
        yield SearchMatch(path=to_text(found.path))
    elif stat.S_ISREG(found.status.st_mode):
        name, folder = found.names[-1], found.folder
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        yield from _search_file(found.path, lambda mode: os.open(name, mode | flags, dir_fd=folder), regexp)


def _search_file(path: str, open_: Callable[[int], int], regexp: Any, *, fatal: bool = False) -> Found:
    if regexp is None:
        yield SearchMatch(path=to_text(path))
        return
    try:
        fd, _ = open_regular(open_)
    except (OSError, HawseError) as error:
        if fatal:
            raise
        yield WalkError(tuple(path.split("/")), error if isinstance(error, HawseError) else from_oserror(error))
        return
    try:
        for line in lines_with(regexp, fd):
            yield None if line is None else search_match(path, line)
    except OSError as error:
        yield WalkError(tuple(path.split("/")), from_oserror(error))
    finally:
        os.close(fd)
