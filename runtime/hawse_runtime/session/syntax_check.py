"""Checks a session command's syntax in a separate bash before the session's shell parses it.

A syntax error inside a command or process substitution, such as an unclosed `$(`, makes an interactive bash 5.2 corrupt
its heap and crash in a later command (docs/decisions/0031).
"""

import asyncio
import re
import signal
from pathlib import Path, PurePath
from typing import Final

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.posix.child import adopt
from hawse_runtime.posix.fd_streams import FdReader
from hawse_runtime.posix.spawn import spawn_pipes

TIMEOUT = 5.0  # seconds per check, which usually takes 4 ms; a command that takes longer is run unchecked
MESSAGE_LIMIT = 16 << 10  # number of bytes kept of an error message; an unread pipe holds 64 KiB
SYNTAX_ERROR: Final = 2  # bash's exit code for a command that it can't parse

_SUBSTITUTION: Final = re.compile(r"[$<>]\(")
_ALIAS: Final = re.compile(r"\balias\b")
_UNCLOSED: Final = b"unexpected EOF while looking for matching"


class SyntaxCheck:
    """Checks a session's commands. Keeps track of whether a command may have defined an alias."""

    def __init__(self, shell: str, disk: ThreadPool, *, timeout: float = TIMEOUT) -> None:
        """Create a checker for one session.

        Args:
            shell: The path of the session's shell. Only commands for bash are checked.
            disk: The thread pool for reading files.
            timeout: The time limit for a check, in seconds.
        """
        self._timeout = timeout
        self._shell = shell
        self._disk = disk
        self._bash = PurePath(shell).name == "bash"
        self._aliases = False

    def needed(self, command: str) -> bool:
        """Return whether `command` needs checking, because it contains a substitution or may use an alias that does."""
        if not self._bash:
            return False
        aliases = self._aliases
        self._aliases = aliases or _ALIAS.search(command) is not None
        return aliases or _SUBSTITUTION.search(command) is not None

    async def error(self, command: Path, state: Path) -> bytes | None:
        """Parse a command without executing it.

        Args:
            command: The file that contains the command.
            state: The file written by `ShellScript.parser_state`, which contains aliases and parser options.

        Returns:
            Bash's message about a syntax error, or None if the syntax is valid or could not be checked.
        """
        text = await self._disk.run(command.read_text, errors="surrogateescape")
        message = await self._parse(command, state)
        if message is not None and "extglob" in text:
            # The command may enable extended globs on one line and use them on a later one.
            message = await self._parse(command, state, "-O", "extglob")
        if message is not None and _ALIAS.search(text) and _UNCLOSED not in message:
            return None  # the command may itself define an alias that makes it valid
        return message

    async def _parse(self, command: Path, state: Path, *options: str) -> bytes | None:
        """Return the error message from `bash -n` for `command`, or None if the command is valid."""
        try:
            parser = _Parser([self._shell, "--norc", "--noprofile", *options, str(command)], str(state))
        except (HawseError, OSError):  # the session's shell will report the problem
            return None
        try:
            async with asyncio.timeout(self._timeout):
                await parser.ended.wait()
        except TimeoutError:
            return None
        finally:
            parser.close()
        return bytes(parser.message) if parser.exit != Exit(code=0) else None


class _Parser:
    """A bash process that parses a file without executing it."""

    def __init__(self, argv: list[str], state: str) -> None:
        self.exit: Exit | None = None
        self.ended = asyncio.Event()
        self.message = bytearray()
        # `state` ends with `set -n`, so nothing is executed. LC_ALL keeps error messages in English.
        env = {"BASH_ENV": state, "LC_ALL": "C.UTF-8"}
        pipes = spawn_pipes(argv, env=env, cwd="/", stdin=False)
        self._child = adopt(pipes.pid, self._exited, pipes.stdout, pipes.stderr)
        self._readers = [FdReader(fd, self._append) for fd in (pipes.stdout, pipes.stderr)]

    def close(self) -> None:
        """Kill the process unless it has exited, and close its pipes."""
        if self.exit is None:
            self._child.signal_group(signal.SIGKILL)
        for reader in self._readers:
            reader.drain(MESSAGE_LIMIT)
            reader.close()

    def _append(self, data: bytes) -> None:
        self.message += data[: MESSAGE_LIMIT - len(self.message)]

    def _exited(self, result: Exit) -> None:
        self.exit = result
        for reader in self._readers:
            reader.drain(MESSAGE_LIMIT)
        self.ended.set()
