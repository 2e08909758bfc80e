"""Shared field types with their bounds, and error codes shared by several methods."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

PATTERNS: Final[dict[str, str]] = {}  # descriptions of the patterns passed to `matching`, for error messages


def matching(pattern: str, words: str, *, min_length: int | None = None, max_length: int | None = None) -> Meta:
    """Return the constraints for a string: a regular expression that it must match, and limits for its length in
    characters.

    `words` describes the pattern in error messages. The pattern must end with `$(?!\\n)`: in Python, `$` alone also
    matches before a final newline.
    """
    PATTERNS[pattern] = words
    return Meta(pattern=pattern, min_length=min_length, max_length=max_length)


def in_words(message: str) -> str:
    """Return a msgspec error message with patterns replaced by their descriptions."""
    for pattern, words in PATTERNS.items():
        message = message.replace(f"Expected `str` matching regex {pattern!r}", f"Expected {words}")
    return message


_ID: Final = "letters, digits, '.', '_' and '-', starting with a letter or digit"
# An id never contains a slash, so it is never a path.
Id = Annotated[str, matching(r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", _ID, min_length=1, max_length=64)]
Name = Annotated[str, Meta(min_length=1, max_length=255)]  # name of a provider, template or label
InputId = Annotated[str, Meta(min_length=1, max_length=64)]  # id of an input stream (docs/wire.md, section 5)
Offset = Annotated[int, Meta(ge=0)]  # number of bytes from the start of a stream
Length = Annotated[int, Meta(ge=0)]  # bytes
Argv = Annotated[list[str], Meta(min_length=1)]
Env = dict[str, str | None]  # variables to add to the environment; null removes a variable
# The limit is Linux's PATH_MAX, 4,096 bytes; each byte can be encoded as three characters (`hawse.api.paths`).
Path = Annotated[str, Meta(min_length=1, max_length=3 * 4096)]
Mode = Annotated[int, Meta(ge=0, le=0o7777)]  # permission bits
Nanoseconds = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # nanoseconds since 1970
Size = Annotated[int, Meta(ge=1, le=1000)]  # number of columns or rows
Grace = Annotated[float, Meta(ge=0, le=600)]  # seconds
Seconds = Annotated[float, Meta(gt=0, le=10**9)]  # a program's time limit, in seconds; programs can run for years
WaitSeconds = Annotated[float, Meta(gt=0, le=86_400)]  # seconds to wait for an event
Signal = str | int  # a signal's name with or without SIG, or its number
KEYS_LIMIT: Final = 1024  # maximum number of keys per call
KeyName = Annotated[str, Meta(min_length=1, max_length=64)]
Pattern = Annotated[str, Meta(min_length=1, max_length=1000)]  # a regular expression in RE2 syntax
StreamName = Literal["stdout", "stderr"]

# Errors of methods that take a path.
PATH_ERRORS: Final = ("not_found", "not_directory", "permission_denied", "io_error")
# Errors of file methods. `exited` means that the session named by the parameter `session` has exited.
FILE_ERRORS: Final = (*PATH_ERRORS, "exited")
SPAWN_ERRORS: Final = ("spawn_failed", "limit_exceeded", "too_large")  # errors of methods that start a program
INPUT_ERRORS: Final = ("exited", "input_gap", "input_overflow")  # errors of methods that pass input to a program


class Exit(msgspec.Struct, frozen=True):
    """How a program ended: with an exit code or by a signal.

    Attributes:
        code: Exit code; null if a signal ended the program. 124 if its time limit was exceeded.
        signal: Name of the signal that ended it, such as `SIGKILL`; null if it exited.
        timed_out: Whether it was killed because its time limit was exceeded.
        oom: Whether the kernel killed it because memory ran out; null if unknown. In an isolated sandbox, files in
            `/tmp` and `/dev/shm` count as memory.
    """

    code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    oom: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether the program ended with exit code 0."""
        return self.code == 0


class OutputMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern's match in output.

    Attributes:
        start: Offset in the output where the match starts, in bytes.
        end: Offset in the output where the match ends, in bytes.
        text: The matched text, truncated to 4,096 bytes.
        groups: Text of each group in the pattern, truncated to 4,096 bytes; null for a group that did not match.
        named: Text of each named group in the pattern, as in `groups`.
        truncated: Whether `text` or a group was truncated.
    """

    start: int
    end: int
    text: str
    groups: list[str | None] = []
    named: dict[str, str | None] = {}
    truncated: bool = False
