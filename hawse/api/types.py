"""Fields that the parameters and results of several surfaces share, with their bounds."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

# Never a path. Not even a line: in Python `$` alone would let a last newline through.
Id = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)")]
InputId = Annotated[str, Meta(min_length=1, max_length=64)]  # of an input stream: docs/wire.md section 5
Offset = Annotated[int, Meta(ge=0)]  # bytes since a stream began
Length = Annotated[int, Meta(ge=0)]  # bytes
Argv = Annotated[list[str], Meta(min_length=1)]
Env = dict[str, str | None]  # added to the environment; null unsets
Path = Annotated[str, Meta(min_length=1, max_length=4096)]  # PATH_MAX of Linux; as `hawse.api.paths` says
Mode = Annotated[int, Meta(ge=0, le=0o7777)]
Size = Annotated[int, Meta(ge=1, le=1000)]  # columns or rows
Grace = Annotated[float, Meta(ge=0, le=600)]  # seconds
Seconds = Annotated[float, Meta(gt=0, le=10**9)]  # a time limit of work that may go on for long
WaitSeconds = Annotated[float, Meta(gt=0, le=86_400)]  # seconds that somebody waits
Signal = str | int  # a name with or without SIG, or a number
Pattern = Annotated[str, Meta(min_length=1, max_length=1000)]  # RE2's syntax
StreamName = Literal["stdout", "stderr"]


class Exit(msgspec.Struct, frozen=True):
    """How a program ended: by itself with `code`, or by `signal` (a name such as SIGKILL).

    `oom`: whether the kernel killed it for want of memory; null where that is not known.
    """

    code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    oom: bool | None = None

    @property
    def ok(self) -> bool:
        return self.code == 0
