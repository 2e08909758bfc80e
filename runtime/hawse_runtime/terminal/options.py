"""The options of a new terminal, and of an attaching viewer."""

from collections.abc import Mapping, Sequence

import msgspec

from hawse.api.people import ViewerProfile
from hawse_runtime.people.size_policy import Size


class TerminalOptions(msgspec.Struct, frozen=True):
    """The start options of a terminal."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    cols: int = 80
    rows: int = 24
    shown_argv: Sequence[str] | None = None  # the argv in `describe`; None: `argv`
    creator: str = ""  # the id of the principal that created it
    integrated: bool = False  # its shell marks its commands in the output (OSC 133)


class ViewerOptions(msgspec.Struct, frozen=True):
    """The options of an attaching viewer."""

    since: int | None = None  # the start offset of output; None: from the start or a snapshot
    input_id: str | None = None  # identifies its input stream across reconnects; None without input
    lossless: bool = False  # the program waits for it, so that no output is skipped
    emulator: bool = False  # it can answer the queries of programs
    read_only: bool = False
    profile: ViewerProfile = msgspec.field(default_factory=ViewerProfile)
    fit: Size | None = None  # the terminal size that fits its window
