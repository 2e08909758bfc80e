"""A native terminal as the reference: a program on a plain PTY (pexpect), with an emulator for its output."""

import os
from contextlib import suppress
from types import TracebackType

import pexpect
from pyghostty import Terminal


class Native:
    """A program in a native terminal. `screen` is the visible screen."""

    def __init__(self, command: str, *, cols: int, rows: int, cwd: str, env: dict[str, str] | None = None) -> None:
        self.cols, self.rows = cols, rows
        base = {"PATH": os.environ["PATH"], "HOME": cwd, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        self._child = pexpect.spawn(
            "/bin/sh", ["-c", command], dimensions=(rows, cols), cwd=cwd, env={**base, **(env or {})}, timeout=20
        )
        self._emulator = Terminal(cols, rows)

    def __enter__(self) -> "Native":
        return self

    def __exit__(self, *_: tuple[type[BaseException] | None, BaseException | None, TracebackType | None]) -> None:
        self._child.close(force=True)
        self._emulator.close()

    def send(self, keys: str) -> None:
        self._child.send(keys)

    def until_text(self, text: str) -> None:
        """Read until the screen shows `text`."""
        while text not in "\n".join(self.screen()):
            self._emulator.feed(self._child.read_nonblocking(65536, timeout=20))

    def read(self, timeout: float) -> None:
        """Read the program's output for `timeout` seconds."""
        with suppress(pexpect.TIMEOUT):
            self._emulator.feed(self._child.read_nonblocking(65536, timeout=timeout))

    def screen(self) -> list[str]:
        rows = str(self._emulator.text()).split("\n")
        return [row.rstrip() for row in rows] + [""] * (self.rows - len(rows))

    @property
    def cursor(self) -> tuple[int, int]:
        x, y = self._emulator.cursor
        return int(x), int(y)
