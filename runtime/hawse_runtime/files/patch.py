"""Applies a unified diff to one file's text. All lines in a hunk must match exactly.

The programs `patch` and `git apply` match only approximately, and may be missing from the sandbox
(docs/decisions/0133).
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from hawse.wire import HawseError

_HEADER: Final = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_NEWLINE: Final = b"\\"  # `\ No newline at end of file`


class Hunk(NamedTuple):
    """A hunk in a patch."""

    line: int  # the first line in the old file, counted from 0
    old: list[bytes]  # the lines to replace, including their line endings
    new: list[bytes]


def apply(content: bytes, patch: bytes) -> tuple[bytes, int]:
    """Apply a patch. Return the new content and the number of hunks.

    Raises:
        HawseError: `invalid_params` if the patch is not a unified diff of one file, `conflict` if it doesn't apply.
    """
    text = _Text(content)
    changed: list[bytes] = []
    done = 0  # number of lines handled in the old file
    shift = 0  # how far the previous hunk was from the line stated in its header
    count = 0
    for hunk in _hunks(patch):
        start = text.place(hunk, count, done, hunk.line + shift)
        shift = start - hunk.line
        changed += text.lines[done:start]
        changed += hunk.new
        done = start + len(hunk.old)
        count += 1
    return b"".join([*changed, *text.lines[done:]]), count


class _Text:
    """The old file's lines."""

    def __init__(self, content: bytes) -> None:
        self.lines = _lines(content)
        self._places: dict[bytes, list[int]] = {}  # line numbers, keyed by content; built on the first search

    def place(self, hunk: Hunk, number: int, first: int, stated: int) -> int:
        """Return the line where a hunk applies, which is line `first` or a later one.

        Raises:
            HawseError: `conflict` if the lines are not where stated and don't occur exactly once elsewhere.
        """
        if first <= stated <= len(self.lines) - len(hunk.old) and self._is_at(hunk, stated):
            return stated
        found = self._search(hunk, first) if hunk.old else []
        if len(found) == 1:
            return found[0]
        where = f"are not at line {stated + 1}, but at several other lines" if found else "are not in the file"
        details = {"hunk": number, "found": len(found)}
        raise HawseError("conflict", f"the lines of hunk {number + 1} {where}", admitted="yes", details=details)

    def _search(self, hunk: Hunk, first: int) -> list[int]:
        """Return the first two places, from line `first` on, where a hunk could apply."""
        if not self._places:
            for number, line in enumerate(self.lines):
                self._places.setdefault(line, []).append(number)
        rarest = min(range(len(hunk.old)), key=lambda at: len(self._places.get(hunk.old[at], ())))
        candidates = (number - rarest for number in self._places.get(hunk.old[rarest], ()))
        return list(islice((start for start in candidates if start >= first and self._is_at(hunk, start)), 2))

    def _is_at(self, hunk: Hunk, start: int) -> bool:
        return self.lines[start : start + len(hunk.old)] == hunk.old


def _lines(content: bytes) -> list[bytes]:
    """Split only at LF, because a lone CR doesn't end a line in a diff."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(patch: bytes) -> Iterator[Hunk]:
    lines = _lines(patch if patch.endswith(b"\n") else patch + b"\n")
    at = files = hunks = 0
    while at < len(lines):
        match = _HEADER.match(lines[at])
        if match is None:
            files += lines[at].startswith(b"+++ ")
            at += 1
            continue
        hunk, at = _hunk(lines, at, match)
        hunks += 1
        if files > 1:
            raise _invalid("it changes several files")
        yield hunk
    if not hunks:
        raise _invalid("it has no hunk (`@@ -1,2 +1,3 @@`)")


def _invalid(why: str) -> HawseError:
    return HawseError("invalid_params", f"patch: {why}", details={"path": "$.patch"})


def _hunk(lines: list[bytes], at: int, header: re.Match[bytes]) -> tuple[Hunk, int]:
    """Return the hunk whose header is at line `at`, along with the number of the first line after it."""
    start, old_size, new_size = (int(header[group] or 1) for group in (1, 2, 4))
    if header[2] is not None:
        old_size = int(header[2])
    if header[4] is not None:
        new_size = int(header[4])
    old: list[bytes] = []
    new: list[bytes] = []
    number = at + 1
    sides: tuple[list[bytes], ...] = ()
    while number < len(lines):
        line = lines[number]
        if line.startswith(_NO_NEWLINE):
            for side in sides:
                side[-1] = side[-1].removesuffix(b"\n")
        elif len(old) == old_size and len(new) == new_size:
            break
        else:
            sides = _sides(line, old, new, at)
            for side in sides:
                side.append(line[1:] if line != b"\n" else line)  # some editors strip an empty line's space
        number += 1
    if (len(old), len(new)) != (old_size, new_size):
        counted, stated = f"{len(old)} old and {len(new)} new lines", f"{old_size} and {new_size}"
        raise _invalid(f"the hunk at line {at + 1} has {counted}, but its header states {stated}")
    return Hunk(start - 1 if old_size else start, old, new), number


def _sides(line: bytes, old: list[bytes], new: list[bytes], at: int) -> tuple[list[bytes], ...]:
    """Return the sides of a hunk (old, new) that a line belongs to, according to its first character."""
    match line[:1]:
        case b" " | b"\n":
            return old, new
        case b"-":
            return (old,)
        case b"+":
            return (new,)
    raise _invalid(f"a line in the hunk at line {at + 1} does not start with ' ', '+' or '-'")
