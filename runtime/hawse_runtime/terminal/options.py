"""Options for new terminals and for viewers attaching to them."""

from collections.abc import Mapping, Sequence

import msgspec

from hawse.api.people import ViewerProfile
from hawse_runtime.people.size_policy import Size


class TerminalOptions(msgspec.Struct, frozen=True):
    """Options for starting a terminal."""

    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    cols: int = 80
    rows: int = 24
    shown_argv: Sequence[str] | None = None  # the argv shown by `describe`; None shows `argv`
    creator: str = ""  # id of the principal that created the terminal
    integrated: bool = False  # whether the terminal's shell marks commands in the output (OSC 133)


class ViewerOptions(msgspec.Struct, frozen=True):
    """Options a viewer can set when it attaches."""

    since: int | None = None  # the output offset to start from; None starts with all output, or with a snapshot
    input_id: str | None = None  # identifies the viewer's input stream across reconnects; None disables input
    lossless: bool = False  # whether the program has to wait for the viewer, so that no output is lost
    # Whether the viewer can answer programs' queries.
    emulator: bool = False
    read_only: bool = False
    profile: ViewerProfile = msgspec.field(default_factory=ViewerProfile)
    fit: Size | None = None  # the terminal size that fits the viewer's window
