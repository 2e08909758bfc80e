"""Determines from /proc, rather than the output, whether a terminal's program is waiting for input, and for what kind.

The tracker inspects processes once input and output have paused, never while output is flowing. It checks a silent
program less and less often. At a shell prompt, it waits for new output or input.
"""

import asyncio
import os
import re
import shlex
import time
from asyncio import Future, TimerHandle
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from hawse.api.terminals import TerminalWaiting
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.journal import Journal
from hawse_runtime.posix.line_discipline import InputKind, input_kind
from hawse_runtime.posix.spawn import name_of_pty
from hawse_runtime.posix.tty_readers import Reading, find_reader
from hawse_runtime.screen.plain_snapshot import plain_lines
from hawse_runtime.terminal.shell_state import ShellStateTracker

PAUSE: Final = 0.1  # seconds without input or output before an inspection
INTERVAL: Final = 0.25  # minimum number of seconds between inspections
LONGEST: Final = 2.0  # maximum number of seconds between inspections of a silent program
BACKOFF: Final = 8  # the next interval is the length of the silence so far, divided by this number
FLOWING: Final = 1.0  # seconds of continuous output until a program no longer counts as waiting
GUESS_AFTER: Final = 1.0  # seconds of silence before a prompt is recognized by its shape
PROMPT_BYTES: Final = 4096  # maximum size of a prompt in the output, in bytes, including escape sequences
PROMPT_LIMIT: Final = 256  # maximum length of a prompt, in characters
COMMAND_LIMIT: Final = 256  # maximum length of a command line, in characters

SHELLS: Final = frozenset(("ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "rbash", "sh", "zsh"))
PLAIN_SHELLS: Final = frozenset(("ash", "busybox", "dash", "ksh", "ksh93", "sh"))  # shells that may have no line editor
# Programs that forward keys to a remote program, without knowing whether that program is waiting.
RELAYS: Final = frozenset(
    ("docker", "kubectl", "mosh-client", "nsenter", "podman", "screen", "ssh", "telnet", "tmux", "tmux: client")
)
# Programs whose terminal is read by a server that is not in the foreground process group.
SERVED: Final = frozenset(("screen", "tmux", "tmux: client"))
# Programs that read passwords key by key so that they can print asterisks.
SECRET_READERS: Final = frozenset(
    ("pinentry-curses", "pinentry-tty", "pkttyagent", "systemd-ask-password", "systemd-tty-ask-password-agent")
)

_SUBMITS: Final = re.compile(rb"[\r\n\x03\x04]")  # Enter, Ctrl-C and Ctrl-D answer a prompt
# Cursor movements to other rows, and the alternate screen: signs that the row is part of a full-screen display.
_PICTURE: Final = re.compile(rb"\x1b\[[0-9;]*[ABHdf]|\x1b\[\?(?:47|1047|1049)h")
_PROMPT_SHAPE: Final = re.compile(r"[?:>)\]]\s*$")

NOT_WAITING: Final = TerminalWaiting(kind="no")


class WaitingTracker:
    """Tracks whether a terminal's program is waiting. Call `touched` on output, `typed` on input, and `close` at the
    end.
    """

    def __init__(
        self,
        fd: int,
        pid: int,
        journal: Journal,
        shell_state: ShellStateTracker,
        pool: ThreadPool,
        changed: Callable[[], None],
    ) -> None:
        """Create a tracker. The first inspection happens after PAUSE seconds.

        Args:
            fd: The PTY's master side. It must stay open until `close` is called.
            pid: The process id of the terminal's program.
            journal: The terminal's output.
            shell_state: The commands reported by the terminal's shell.
            pool: The thread pool for inspecting processes.
            changed: Called whenever the state changes, or becomes current after having been stale.
        """
        self.state = NOT_WAITING
        self.current = False  # whether no output or input has arrived since `state` was determined
        self._fd = fd
        self._pid = pid
        self._journal = journal
        self._shell_state = shell_state
        self._pool = pool
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._tty = name_of_pty(fd)
        self._now = self._loop.time
        self._touched_at = self._now()  # when output or input last arrived
        # When the state became outdated: at the first output or input after an inspection.
        self._flow_began = self._touched_at
        self._looked_at = 0.0
        self._touches = 0
        self._looking = False
        self._closed = False
        self._reader: int | None = None  # the process that is waiting
        self._mode: InputKind = "line"  # the terminal's mode at the last inspection
        self._answered = False  # whether input has arrived since the last inspection
        self._typed = b""  # the last bytes of input since the question was first seen
        self._timer: TimerHandle | None = None
        self._due_at = 0.0
        self._schedule(self._touched_at + PAUSE)

    @property
    def waits(self) -> bool:
        """Whether a program is currently waiting for input. A shell waiting for its next command doesn't count."""
        return self.current and self.state.kind in ("line", "secret", "key")

    @property
    def idle_shell(self) -> bool:
        """Whether a shell is currently waiting for its next command."""
        return self.current and self.state.idle_shell

    def asks(self, since: float) -> bool:
        """Return whether the program is still waiting for the answer to the question first seen at `since`.

        Compares the terminal's current mode and prompt, so that a password isn't typed once the program has turned echo
        on again, and an answer isn't typed into the next question.
        """
        if self.state.since != since or self._answered or input_kind(self._fd) != self._mode:
            return False
        return self._is_prompt(prompt_of(self._tail()))

    async def confirms(self, since: float) -> bool:
        """Inspect the program now. Return whether it is blocked in a read for the answer to the question first seen at
        `since`, or False if the question is outdated.

        If the kernel doesn't show the program's state, the result is True only if the question was also recognized
        without knowing that state.
        """
        tty, leader = self._tty, self._pid
        try:
            group = os.tcgetpgrp(self._fd)
            work = self._pool.submit(lambda: find_reader(tty, group, leader))
        except OSError:
            return False
        reading = await asyncio.wrap_future(work)
        found = "unknown" if self.state.guess else "yes"
        return self.asks(since) and reading.found == found and reading.pid == self._reader

    def touched(self) -> None:
        """Record output."""
        now = self._now()
        if self.current:
            self.current = False
            self._flow_began = now
        self._touched_at = now
        self._touches += 1
        if self._timer is None or self._due_at > now + INTERVAL:
            self._schedule(now + PAUSE)

    def typed(self, data: bytes | memoryview) -> None:
        """Record input. The end of a line answers a prompt, so nothing counts as waiting until the next inspection."""
        self.touched()
        self._answered = True
        self._typed = (self._typed + bytes(data[-PROMPT_LIMIT:]))[-PROMPT_LIMIT:]
        if self.state is not NOT_WAITING and _SUBMITS.search(data):
            self._publish(NOT_WAITING, None)

    def close(self) -> None:
        """Stop tracking. Called once the program has exited."""
        self._closed = True
        self.state, self.current = NOT_WAITING, True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # ---- inspections

    def _schedule(self, at: float) -> None:
        if self._closed or self._looking:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due_at = at
        self._timer = self._loop.call_at(at, WeakCallback(self._due))

    def _due(self) -> None:
        self._timer = None
        now = self._now()
        if now < self._touched_at + PAUSE:
            if now - self._flow_began > FLOWING and self.state is not NOT_WAITING:
                self._publish(NOT_WAITING, None)
            self._schedule(self._touched_at + PAUSE)
        elif now < self._looked_at + INTERVAL:
            self._schedule(self._looked_at + INTERVAL)
        else:
            self._look(now)

    def _look(self, now: float) -> None:
        self._looked_at = now
        try:
            group = os.tcgetpgrp(self._fd)
        except OSError:
            group = 0
        if group <= 0:  # all processes have closed the PTY, or the foreground group is in an invisible PID namespace
            self._settle(Reading("unknown" if group < 0 else "no", 0, []))
            return
        tty, pid, touches = self._tty, self._pid, self._touches
        looked = WeakCallback(self._looked)
        try:
            work = self._pool.submit(lambda: find_reader(tty, group, pid))
        except OSError:  # no thread can be started
            self._schedule(now + LONGEST)
            return
        self._looking = True
        work.add_done_callback(lambda future: looked(future, touches))

    def _looked(self, future: "Future[Reading]", touches: int) -> None:
        self._looking = False
        if self._closed:
            return
        if future.cancelled() or future.exception() is not None:
            self._settle(Reading("unknown", 0, []))
        elif touches != self._touches:  # input may have answered the prompt in the meantime
            self._schedule(max(self._touched_at + PAUSE, self._looked_at + INTERVAL))
        else:
            self._settle(future.result())

    def _settle(self, reading: Reading) -> None:
        """Publish the result of an inspection, and schedule the next one."""
        silence = self._now() - self._touched_at
        # Read the mode after the inspection, because a program changes the mode before it reads.
        self._mode = input_kind(self._fd)
        answered, self._answered = self._answered, False
        state = self._judge(reading, self._mode, silence)
        reader = reading.pid if state.kind != "no" else None
        was_current, self.current = self.current, True
        if reader == self._reader and _same_reading(state, self.state) and self._is_prompt(state.prompt):
            # The question is still the same unless a key has answered it. Echoed input may have extended its prompt.
            since = state.since if answered and state.kind == "key" else self.state.since
            state = msgspec.structs.replace(state, since=since, prompt=self.state.prompt)
        if state.since != self.state.since:
            self._typed = b""
        if state != self.state:
            self._publish(state, reader)
        elif not was_current:
            self._changed()
        if not state.idle_shell:
            self._schedule(self._now() + min(LONGEST, max(INTERVAL, silence / BACKOFF)))

    def _publish(self, state: TerminalWaiting, reader: int | None) -> None:
        self.state, self._reader = state, reader
        self._changed()

    # ---- the state

    def _judge(self, reading: Reading, kind: InputKind, silence: float) -> TerminalWaiting:
        """Return the waiting state that follows from an inspection."""
        name = _name(reading.argv)
        if reading.found == "no" and name not in SERVED:
            return NOT_WAITING
        relays = kind == "key" and (reading.relay or name in RELAYS)
        if reading.found == "yes" and not relays:
            if self._is_idle(reading, name, kind):
                return TerminalWaiting(kind="no", idle_shell=True)
            return self._waiting("secret" if name in SECRET_READERS else kind, reading)
        state = self._waiting("unknown", reading)
        shaped = kind == "secret" or _PROMPT_SHAPE.search(state.prompt or "") is not None
        if shaped and silence >= GUESS_AFTER:
            return msgspec.structs.replace(state, kind=kind, guess=True)
        return state

    def _waiting(self, kind: Literal["line", "secret", "key", "unknown"], reading: Reading) -> TerminalWaiting:
        return TerminalWaiting(
            kind=kind,
            since=round(time.time(), 3),
            command=shlex.join(reading.argv)[:COMMAND_LIMIT] or None,
            prompt=prompt_of(self._tail()),
        )

    def _is_idle(self, reading: Reading, name: str, kind: InputKind) -> bool:
        """Return whether the reader is a shell waiting for its next command, not for input to its `read` builtin."""
        if name not in SHELLS or not is_interactive(reading.argv):
            return False
        if reading.pid == self._pid and self._shell_state.reports_commands:
            return self._shell_state.commands.running is None
        return kind == "key" or (kind == "line" and name in PLAIN_SHELLS)

    def _is_prompt(self, prompt: str | None) -> bool:
        """Return whether `prompt` is the current question's prompt, followed at most by the echo of the input."""
        shown, known = prompt or "", self.state.prompt or ""
        typed = iter(self._typed.decode(errors="replace"))
        return shown.startswith(known) and all(char in typed for char in shown[len(known) :].strip())

    def _tail(self) -> bytes:
        journal = self._journal
        return journal.copy(max(journal.start, journal.end - PROMPT_BYTES), journal.end)


def prompt_of(output: bytes) -> str | None:
    """Return the text of the unfinished last row, or None if it is empty or part of a full-screen display.

    Args:
        output: A terminal's most recent output.
    """
    row = output.rpartition(b"\n")[2]
    if _PICTURE.search(row):
        return None
    return plain_lines(row, 1)[0].decode(errors="replace").strip()[-PROMPT_LIMIT:] or None


def is_interactive(argv: list[str]) -> bool:
    """Return whether a shell with these arguments reads commands from the terminal, not from a script or `-c`."""
    words = iter(argv[1:])
    for word in words:
        if word in ("--rcfile", "--init-file", "-o", "+o", "-O", "+O"):
            next(words, None)
        elif not word.startswith(("-", "+")) or (not word.startswith("--") and "c" in word):
            return False
    return True


def _name(argv: list[str]) -> str:
    return os.path.basename(argv[0]).removeprefix("-") if argv else ""


def _same_reading(state: TerminalWaiting, earlier: TerminalWaiting) -> bool:
    """Return whether both states describe the same program waiting for the same kind of input."""
    kinds = (state.kind, state.idle_shell, state.guess, state.command)
    return kinds == (earlier.kind, earlier.idle_shell, earlier.guess, earlier.command)
