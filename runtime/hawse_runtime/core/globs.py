"""Path globs, matched in linear time: `*`, `?` and `[…]` within a name, `**` for any number of directories.

A pattern with a slash matches the whole path from the root. A pattern without a slash matches a name at any depth.
"""

import re
from collections.abc import Sequence

from hawse.api.paths import to_text
from hawse.wire import HawseError

_ANY = None  # `**`
_Part = re.Pattern[str] | None


class Glob:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern. Raises `invalid_params`."""
        anchored = "/" in pattern.rstrip("/")
        names = [name for name in pattern.split("/") if name not in ("", ".")]
        if not names or ".." in names:
            raise HawseError(
                "invalid_params", f"the glob {pattern!r} cannot match any path", details={"glob": to_text(pattern)}
            )
        parts: list[_Part] = [] if anchored else [_ANY]
        for name in names:
            part = _ANY if name == "**" else _compile(name)
            if part is not _ANY or not parts or parts[-1] is not _ANY:
                parts.append(part)
        self._parts = parts

    def matches(self, names: Sequence[str]) -> bool:
        """Return whether the pattern matches a path, given as a sequence of names."""
        places = self._begin()
        for name in names:
            places = self._step(places, name)
        return len(self._parts) in places

    def covers(self, names: Sequence[str]) -> bool:
        """Return whether the pattern matches the path or any of its parent directories."""
        places = self._begin()
        for name in names:
            places = self._step(places, name)
            if len(self._parts) in places:
                return True
        return False

    def _begin(self) -> set[int]:
        return self._skipping({0})

    def _step(self, places: set[int], name: str) -> set[int]:
        """Return the positions in the pattern after one more name has been matched. The automaton never backtracks."""
        after = set()
        for place in places:
            if place < len(self._parts):
                part = self._parts[place]
                if part is _ANY:
                    after.add(place)
                    if place == len(self._parts) - 1:
                        after.add(place + 1)
                elif part.fullmatch(name):
                    after.add(place + 1)
        return self._skipping(after)

    def _skipping(self, places: set[int]) -> set[int]:
        """Add the positions after each `**`, which can match zero names, except at the end: `a/**` doesn't match
        `a`.
        """
        last = len(self._parts) - 1
        return places | {place + 1 for place in places if place < last and self._parts[place] is _ANY}


class Filter:
    """Selects paths that match an `include` pattern (all paths if there is none) and are not covered by `exclude`."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        """Compile the patterns. Raises `invalid_params`."""
        self._include = [Glob(pattern) for pattern in include]
        self._exclude = [Glob(pattern) for pattern in exclude]

    def excludes(self, names: Sequence[str]) -> bool:
        """Return whether `exclude` rules out the path and everything below it."""
        return any(glob.covers(names) for glob in self._exclude)

    def wants(self, names: Sequence[str]) -> bool:
        included = not self._include or any(glob.matches(names) for glob in self._include)
        return included and not self.excludes(names)


def _compile(name: str) -> re.Pattern[str]:
    """Compile the pattern for a single name. Each `*` matches lazily and atomically, which is enough for globs."""
    chunks = [""]
    at = 0
    while at < len(name):
        char = name[at]
        at += 1
        if char == "*":
            chunks.append("")
        elif char == "?":
            chunks[-1] += "."
        elif char == "[" and (end := _class_end(name, at)) is not None:
            chunks[-1] += _class(name[at:end])
            at = end + 1
        elif char == "\\" and at < len(name):
            chunks[-1] += re.escape(name[at])
            at += 1
        else:
            chunks[-1] += re.escape(char)
    first, *middle = chunks
    pattern = first
    if middle:
        pattern += "".join(f"(?>.*?{chunk})" for chunk in middle[:-1] if chunk) + f".*{middle[-1]}"
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise HawseError("invalid_params", f"the glob {name!r}: {error}", details={"glob": to_text(name)}) from None


def _class_end(name: str, at: int) -> int | None:
    """Return the end of the character class that starts at `at`. A `]` in the first position is part of the class."""
    begin = at + 1 if name[at : at + 1] in ("!", "^") else at
    end = name.find("]", begin + 1)
    return None if end < 0 else end


def _class(text: str) -> str:
    negated = text[0] in "!^"
    body = re.sub(r"([\[\]\\&~|^])", r"\\\1", text[1:] if negated else text)
    return f"[{'^' if negated else ''}{body}]"
