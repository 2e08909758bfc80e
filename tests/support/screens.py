"""Reads the content of an emulator for comparisons."""

from pyghostty import Terminal
from pyghostty._ffi import lib
from pyghostty.core import init_sized, read_buf

from hawse_runtime.screen.emulator.ghostty import handle


def all_rows(terminal: Terminal) -> str:
    """Return all rows as text, including the scrollback."""
    selection = init_sized("GhosttySelection")
    selection.start = terminal.ref(0, 0, "screen")[0]
    last = terminal.get("cols", "uint16_t") - 1, terminal.get("total_rows", "size_t") - 1
    selection.end = terminal.ref(*last, "screen")[0]
    options = init_sized("GhosttyTerminalSelectionFormatOptions")
    options.emit, options.trim, options.selection = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN, True, selection
    return str(read_buf(lambda *out: lib.ghostty_terminal_selection_format_buf(handle(terminal), options[0], *out)))
