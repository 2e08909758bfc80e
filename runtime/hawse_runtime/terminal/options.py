"""What a terminal is started with, and how a viewer attaches."""

from collections.abc import Mapping, Sequence

import msgspec

from hawse.api.people import ViewerProfile
from hawse_runtime.people.size_policy import Size


class TerminalOptions(msgspec.Struct, frozen=True):
    """What a terminal is started with."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    cols: int = 80
    rows: int = 24
    shown_argv: Sequence[str] | None = None  # what `describe` reports; None: `argv`
    creator: str = ""  # the id of the principal that has created it
    integrated: bool = False  # its shell marks its commands in the output (OSC 133)


class ViewerOptions(msgspec.Struct, frozen=True):
    """How a viewer attaches."""

    since: int | None = None  # the offset at which output starts; None: from the start or a snapshot
    input_id: str | None = None  # names its input stream across reconnects; None: it sends no input
    lossless: bool = False  # the program waits for it, so that no output is skipped
    emulator: bool = False  # it can answer the queries of programs
    read_only: bool = False
    profile: ViewerProfile = msgspec.field(default_factory=ViewerProfile)
    fit: Size | None = None  # the size of terminal that fits its window
