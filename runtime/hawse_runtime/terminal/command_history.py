"""The history of commands reported by a shell through OSC 133 (FinalTerm's semantic prompts) and OSC 633;E.

    A: prompt   B: command line   C: output   D;CODE: end of the command

OSC 633;E reports the command line. Any program can print these marks, so they are untrusted input.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from hawse.api.terminals import CommandInfo

KEPT = 1000  # maximum number of stored commands
KEPT_BYTES = 256 << 10  # maximum total size of the stored command lines and directories, in bytes
LINE_LIMIT = 4096  # maximum length of a command line, in characters; longer lines are truncated
ANSWER_BYTES = 512 << 10  # maximum size of the commands in a result, in bytes; a result must fit into a control message

_CODE = re.compile(rb"-?[0-9]{1,10}")
_ESCAPED = re.compile(r"\\(?:\\|x([0-9a-fA-F]{2}))")
_PASTE_OFF = b"\x1b[?2004l"
_TYPED = re.compile(r"[^\x00-\x1f\x7f]+")


class ShellCommand(msgspec.Struct):
    """A command run by a shell. The command's output spans the offsets `[start, end)` in the terminal's output."""

    number: int  # the command's number, counted from 1 in each terminal
    line: str | None  # the command line; None if the shell did not report it
    cwd: str | None
    started: float
    start: int
    code: int | None = None
    end: int | None = None  # the offset where the output ends; None while the command is running
    ended: float | None = None
    after: int | None = None  # the offset just after the command's end mark; None while the command is running

    def describe(self) -> CommandInfo:
        return CommandInfo(**msgspec.structs.asdict(self))

    @property
    def size(self) -> int:
        """The combined length of the command line and the directory, in characters."""
        return len(self.line or "") + len(self.cwd or "")


class CommandHistory:
    """A terminal's finished commands, oldest first, and the running command, if any."""

    def __init__(self, copy: Callable[[int, int], bytes]) -> None:
        """Create an empty history. `copy(start, stop)` returns output, or b"" if the journal has dropped it."""
        self.marked = False  # whether the shell has printed a command mark
        self.running: ShellCommand | None = None
        self.prompt: int | None = None  # the offset where the latest prompt starts
        self._copy = copy
        self._done: deque[ShellCommand] = deque()
        self._size = 0
        self._number = 0
        self._prompt_end: int | None = None  # the offset where the command line starts
        self._line: str | None = None  # the line reported by the shell with OSC 633;E

    def mark(self, payload: bytes, start: int, end: int, cwd: str | None) -> None:
        """Process an OSC 133 mark.

        Args:
            payload: The payload, `133;…`, without the introducer and the terminator.
            start: The output offset where the mark starts.
            end: The offset just after the mark.
            cwd: The shell's directory, if known.
        """
        kind, _, rest = payload[4:].partition(b";")
        self.marked = True
        if kind == b"A":
            self._prompt_end = self._line = None
            self.prompt = start
        elif kind == b"B":
            self._prompt_end = end
        elif kind == b"C":
            self._finish(None, start, end)  # finish the previous command if it had no end mark
            self._number += 1
            line = self._line if self._line is not None else self._typed(start)
            line = None if line is None else line[:LINE_LIMIT]
            self.running = ShellCommand(self._number, line, cwd, time.time(), end)
            self._prompt_end = self._line = None
        elif kind == b"D":
            code = _CODE.match(rest)
            self._finish(int(code[0]) if code else None, start, end)

    def set_line(self, payload: bytes) -> None:
        r"""Process `633;E;LINE`, where \\ stands for a backslash and \xHH for a semicolon or control character."""
        line, _, _ = payload[6:].partition(b";")
        self._line = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", line.decode(errors="replace"))

    def ended_after(self, offset: int) -> ShellCommand | None:
        """Return the first command whose end mark is after `offset`."""
        return next((command for command in self._done if (command.after or 0) > offset), None)

    def list(self, limit: int, before: int | None) -> tuple[Sequence[ShellCommand], bool]:
        """Return the latest `limit` commands numbered below `before`, and whether there are older ones."""
        known = [*self._done, *([self.running] if self.running else [])]
        chosen: list[ShellCommand] = []
        size = 0
        for command in reversed(known):
            if before is not None and command.number >= before:
                continue
            size += len(msgspec.json.encode(command))
            if len(chosen) == limit or (chosen and size > ANSWER_BYTES):
                break
            chosen.insert(0, command)
        first = chosen[0].number if chosen else 0
        return chosen, bool(chosen) and known[0].number < first

    def _finish(self, code: int | None, start: int, end: int) -> None:
        command, self.running = self.running, None
        if command is None:
            return
        command.code, command.end, command.after, command.ended = code, start, end, time.time()
        self._done.append(command)
        self._size += command.size
        while len(self._done) > KEPT or self._size > KEPT_BYTES:
            self._size -= self._done.popleft().size

    def _typed(self, stop: int) -> str | None:
        """Return the text between the prompt and the output, or None if line editing left control sequences in it."""
        if self._prompt_end is None or stop - self._prompt_end > 4 * LINE_LIMIT:
            return None
        text = self._copy(self._prompt_end, stop).replace(_PASTE_OFF, b"").rstrip(b"\r\n").decode(errors="replace")
        return text if _TYPED.fullmatch(text) else None
