"""The commands that a shell says it runs: OSC 133 (FinalTerm's semantic prompts) with the command line of OSC 633;E.

    A prompt   B command line   C output   D;CODE end

Nothing here is believed to be more than what a program printed: any program can print these marks.
"""

import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

KEPT = 1000  # commands
KEPT_BYTES = 256 << 10  # of their lines and directories together
LINE_LIMIT = 4096  # characters of a command line; it is cut there
ANSWER_BYTES = 512 << 10  # of one answer: it has to fit into a control message

_CODE = re.compile(rb"-?[0-9]{1,10}")
_ESCAPED = re.compile(r"\\(?:\\|x([0-9a-fA-F]{2}))")
_PASTE_OFF = b"\x1b[?2004l"
_TYPED = re.compile(r"[^\x00-\x1f\x7f]+")


class ShellCommand(msgspec.Struct):
    """One command. `start` and `end`: the offsets of the first byte of its output and of the one after the last."""

    number: int  # from 1 in each terminal
    line: str | None  # None: not known
    cwd: str | None
    started: float
    start: int
    code: int | None = None
    end: int | None = None  # None while it runs
    ended: float | None = None
    after: int | None = None  # the offset after the mark of its end: where what comes next begins

    @property
    def size(self) -> int:
        return len(self.line or "") + len(self.cwd or "")


class CommandHistory:
    """Those of one terminal, the oldest first, and the one that runs."""

    def __init__(self, copy: Callable[[int, int], bytes]) -> None:
        """`copy(start, stop)`: the output between two offsets, empty if it is no longer kept."""
        self.marked = False  # a mark has come: this shell tells
        self.running: ShellCommand | None = None
        self._copy = copy
        self._done: deque[ShellCommand] = deque()
        self._size = 0
        self._number = 0
        self._prompt_end: int | None = None  # where the command line begins
        self._line: str | None = None  # as the shell told it

    def mark(self, payload: bytes, start: int, end: int, cwd: str | None) -> None:
        """`133;…` from offset `start` to `end`, told in `cwd`."""
        kind, _, rest = payload[4:].partition(b";")
        self.marked = True
        if kind == b"A":
            self._prompt_end = self._line = None
        elif kind == b"B":
            self._prompt_end = end
        elif kind == b"C":
            self._finish(None, start, end)  # one of which we heard no end
            self._number += 1
            line = self._line if self._line is not None else self._typed(start)
            line = None if line is None else line[:LINE_LIMIT]
            self.running = ShellCommand(self._number, line, cwd, time.time(), end)
            self._prompt_end = self._line = None
        elif kind == b"D":
            code = _CODE.match(rest)
            self._finish(int(code[0]) if code else None, start, end)

    def told(self, payload: bytes) -> None:
        r"""`633;E;LINE`: a backslash, a semicolon and what is below space stand there as \\ and \xHH."""
        line, _, _ = payload[6:].partition(b";")
        self._line = _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", line.decode(errors="replace"))

    def ended_after(self, offset: int) -> ShellCommand | None:
        """The first command that ended at or after `offset`."""
        return next((command for command in self._done if (command.after or 0) > offset), None)

    def list(self, limit: int, before: int | None) -> dict[str, Any]:
        """The latest `limit` commands whose number is below `before`, as docs/wire.md shows them."""
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
        return {"commands": chosen, "more": bool(chosen) and known[0].number < first}

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
        """What was echoed between the prompt and the output, if it was typed plainly, with no editing to be seen."""
        if self._prompt_end is None or stop - self._prompt_end > 4 * LINE_LIMIT:
            return None
        text = self._copy(self._prompt_end, stop).replace(_PASTE_OFF, b"").rstrip(b"\r\n").decode(errors="replace")
        return text if _TYPED.fullmatch(text) else None
