"""Tracks the state that programs report in their output: title (OSC 0, 2), directory (OSC 7), commands (OSC 133, 633),
and questions for the user (OSC 42973).

The tracker reads the journal once per burst of output, independently of the viewers.
"""

import re
import socket
from functools import partial
from urllib.parse import unquote_to_bytes

from hawse_runtime.journal.journal import Journal
from hawse_runtime.posix.line_discipline import InputMode
from hawse_runtime.terminal.announcement import Announcement, parse_announcement
from hawse_runtime.terminal.command_history import CommandHistory
from hawse_runtime.terminal.echo import EchoTracker
from hawse_runtime.terminal.osc_scanner import OscScanner

TITLE_LIMIT = 1024  # maximum length of a title, in characters
PATH_LIMIT = 4096  # maximum length of a directory's path, in bytes; PATH_MAX in Linux

_BEGINS, _ENDS = b"\x1b[200~", b"\x1b[201~"  # delimiters of a bracketed paste, where line ends don't submit a line
_SUBMITS = re.compile(rb"[\r\n\x03]")  # after a submitted line or Ctrl-C, the shell prints its next prompt


class ShellStateTracker:
    """The state reported in a terminal. `title` and `cwd` are None until a program reports them."""

    def __init__(self, journal: Journal, *, integrated: bool = False) -> None:
        """Create a tracker. `integrated` is true if the shell has shell integration and will report its commands."""
        self.title: str | None = None
        self.cwd: str | None = None
        self.commands = CommandHistory(partial(_copy, journal))
        self.echo = EchoTracker()
        self.announced: Announcement | None = None  # the last question that a program has announced
        self._journal = journal
        self._integrated = integrated
        self._scanner = OscScanner()
        self._pasting = False  # whether the input so far ends inside a paste
        self._held = b""  # the last bytes of input, if they may be the start of a delimiter
        self._submitted = 0  # where the output ended when a line or Ctrl-C was last typed
        self._host = socket.gethostname().encode()

    @property
    def reports_commands(self) -> bool:
        """Whether the shell reports its commands: it has shell integration, or has already reported a command."""
        return self._integrated or self.commands.marked

    @property
    def at_prompt(self) -> bool:
        """Whether the shell is waiting for a line: it has printed a prompt since the last line or Ctrl-C was typed.

        False from the moment the shell reads a line until it reports the command.
        """
        if self.commands.running is not None:
            return False
        if self.commands.prompt is None:  # the shell reports commands, but no prompts
            return self.commands.marked and not self._integrated
        return self.commands.prompt >= self._submitted

    def note_input(self, data: bytes | memoryview, mode: InputMode) -> None:
        """Record input and the terminal's echo mode. Must be called before the input is written to the program."""
        self.catch_up()
        text = bytes(data)
        self.echo.typed(text, mode)
        for typed in self._typed(text):
            if _SUBMITS.search(typed):
                self._submitted = self._journal.end

    def _typed(self, data: bytes) -> list[bytes]:
        """Return the parts of the next input that are not pasted. A paste may be split across several writes."""
        if not self._held and b"\x1b" not in data:  # the common case: no delimiter
            return [] if self._pasting else [data]
        data = self._held + data
        parts: list[bytes] = []
        position = 0
        while True:
            bracket = data.find(_ENDS if self._pasting else _BEGINS, position)
            stop = bracket if bracket >= 0 else len(data)
            if not self._pasting:
                parts.append(data[position:stop])
            if bracket < 0:
                self._held = _unfinished(data[position:])
                return parts
            self._pasting = not self._pasting
            position = bracket + len(_BEGINS)

    def catch_up(self) -> None:
        """Process the output that has arrived since the last call."""
        journal, scanner = self._journal, self._scanner
        if scanner.offset < journal.start:  # impossible as long as a journal holds more than one burst
            scanner = self._scanner = OscScanner(journal.start)
        while scanner.offset < journal.end:
            offset = scanner.offset
            data = bytes(journal.read(offset, journal.end - offset))
            taken = 0  # number of bytes of `data` already compared with the input
            for start, end, payload in scanner.feed(data):
                self._take(payload, start, end)
                if payload.startswith(b"133;B"):
                    self.echo.feed(offset + taken, data[taken : end - offset])
                    taken = end - offset
                    self.echo.prompted()
            self.echo.feed(offset + taken, data[taken:])

    def echoes(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the input echoes between two output offsets."""
        self.catch_up()
        return self.echo.parts(start, end)

    def _take(self, payload: bytes, start: int, end: int) -> None:
        number, _, value = payload.partition(b";")
        if number == b"133":
            self.commands.mark(payload, start, end, self.cwd)
        elif number == b"633" and value.startswith(b"E;"):
            self.commands.set_line(payload)
        elif number in (b"0", b"2"):
            self.title = _printable(value)[:TITLE_LIMIT]
        elif number == b"7":
            self.cwd = self._directory(value) or self.cwd
        elif number == b"42973":
            self.announced = parse_announcement(value, end)

    def _directory(self, url: bytes) -> str | None:
        """Decode the path of `file://HOST/PATH` (percent-encoded). Returns None if it is invalid or on another host."""
        scheme, _, rest = url.partition(b"://")
        host, slash, path = rest.partition(b"/")
        if scheme != b"file" or not slash or host not in (b"", b"localhost", self._host):
            return None
        path = unquote_to_bytes(b"/" + path)
        return _printable(path) if len(path) <= PATH_LIMIT and b"\0" not in path else None


def _unfinished(data: bytes) -> bytes:
    """Return the last bytes of `data` that may be the start of a delimiter."""
    lengths = range(len(_BEGINS) - 1, 0, -1)
    return next((data[-n:] for n in lengths if data.endswith((_BEGINS[:n], _ENDS[:n]))), b"")


def _copy(journal: Journal, start: int, stop: int) -> bytes:
    return journal.copy(start, stop) if start >= journal.start else b""


def _printable(text: bytes) -> str:
    return "".join(c for c in text.decode(errors="replace") if c >= " " and c != "\x7f")
