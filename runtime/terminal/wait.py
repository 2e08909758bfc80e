"""One `terminal.wait`: for a match, for silence, for the end of a command or of the program, or until time is up.

It is a cursor on the journal like a viewer, and lossless: the program is never so fast that output goes unseen. It does
a bounded amount of work at a time; a search that could be long is made in a thread.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hawse.rpc.call import RuntimeCall
from hawse.wire import Connection
from runtime.core.output_matcher import Matcher, MatchSpan
from runtime.core.thread_pool import ThreadPool
from runtime.rpc.output_stream import OutputOnlyStream
from runtime.terminal.command_history import ShellCommand

if TYPE_CHECKING:
    from runtime.terminal.terminal import Terminal

STEP = 32 << 10  # bytes of output looked at in one go: up to 15 ms if they are nothing but escape sequences
LONG = 1_000_000  # a search of more work than this, about 5 ms, is made in a thread


class TerminalWaitStream(OutputOnlyStream):
    """A `Stream` without bytes and, until `detach`, a `Subscriber` of the terminal."""

    lossless = True  # the program is never so fast that output is not searched
    follows = True  # it makes the program no faster than its viewers do

    def __init__(
        self,
        terminal: "Terminal",
        call: RuntimeCall,
        threads: ThreadPool,
        *,
        since: int,
        matcher: Matcher | None,
        on_screen: bool,
        silence: float | None,
        command: bool,
        timeout: float,
    ) -> None:
        self.cursor: int | None = max(since, terminal.journal.start)
        self._from = self.cursor  # above `since` if that is no longer kept
        self._terminal = terminal
        super().__init__(call)
        self._threads = threads
        self._matcher = matcher
        self._on_screen = on_screen
        self._silence = silence
        self._command = command
        self._opened = self._over = self._busy = False
        self._loop = asyncio.get_running_loop()
        self._seen = terminal.journal.end  # of which silence is measured
        self._heard = self._loop.time()
        self._timers = [self._loop.call_later(timeout, self._finish, "timeout")]
        if silence is not None:
            self._timers.append(self._loop.call_later(silence, self._listen))

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self._opened and connection.window(ch) > 0:
            self._opened = True
            connection.send_event(ch, "opened", {"from": self._from})
        return False

    def detach(self) -> None:
        """It is over, or nobody waits any more."""
        self._over = True
        for timer in self._timers:
            timer.cancel()
        self._terminal.unsubscribe(self)

    # ---- watching

    def wake(self) -> None:
        """Output has come, or the end."""
        if self._terminal.journal.end != self._seen:
            self._seen = self._terminal.journal.end
            self._heard = self._loop.time()
        if not self._busy and not self._over:
            self._step()

    def _step(self) -> None:
        """Look at some more output, then at what else may have happened up to there."""
        self._busy = False
        if self._over:
            return
        matcher = self._matcher
        if matcher is None:
            self._go_to(self._terminal.journal.end)
        elif self._on_screen:
            self._go_to(self._terminal.journal.end)
            screen = self._terminal.current_screen()
            text, at = screen.text(), screen.fed
            self._search(lambda: matcher.search_in(text, at), matcher.work(len(text)))
            return
        elif self._take(matcher):
            self._search(matcher.search, matcher.work(matcher.size))
            return
        self._settle()

    def _take(self, matcher: Matcher) -> bool:
        """Feed the next output; whether there is new text to search."""
        journal = self._terminal.journal
        assert self.cursor is not None
        if self.cursor < journal.start:  # only if it was paced out: 30 s without a step
            self._from = self.cursor = journal.start
            matcher.restart()
        data = bytes(journal.read(self.cursor, STEP))
        fresh = bool(data) and matcher.feed(self.cursor, data)
        self._go_to(self.cursor + len(data))
        return fresh

    def _go_to(self, offset: int) -> None:
        if self.cursor != offset:
            self.cursor = offset
            self._terminal.moved()

    def _search(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        if work <= LONG:
            self._searched(search())
        else:
            self._busy = True
            self._threads.submit(search).add_done_callback(self._came_back)

    def _came_back(self, future: "asyncio.Future[MatchSpan | None]") -> None:
        self._busy = False
        if not self._over and not future.cancelled():
            self._searched(future.result())

    def _searched(self, found: MatchSpan | None) -> None:
        if found is not None:
            self._finish("pattern", offset=found.end, match=found._asdict())
        else:
            self._settle()

    def _settle(self) -> None:
        """Nothing matched up to the cursor: has something else happened there? Else go on."""
        terminal = self._terminal
        command = terminal.shell_state.commands.ended_after(self._from) if self._command else None
        if command is not None and (command.after or 0) <= (self.cursor or 0):
            self._finish("command", offset=command.after, command=command)
        elif self.cursor != terminal.journal.end:
            self._busy = True
            self._loop.call_soon(self._step)
        elif terminal.exit is not None:
            self._finish("exit", exit=terminal.exit)

    def _listen(self) -> None:
        """The time of silence is over, if there was silence. Output that is held up is none."""
        assert self._silence is not None
        now = self._loop.time()
        if self._terminal.backpressure.paused or self.cursor != self._terminal.journal.end:
            self._heard = now
        left = self._heard + self._silence - now
        if left > 0:
            self._timers[1] = self._loop.call_later(left, self._listen)
        else:
            self._finish("silence")

    # ---- the end

    def _finish(
        self,
        event: str,
        *,
        offset: int | None = None,
        match: dict[str, Any] | None = None,
        command: ShellCommand | None = None,
        exit: Any = None,
    ) -> None:
        self._over = True
        offset = self.cursor if offset is None else offset
        value = {"event": event, "from": self._from, "offset": offset, "match": match, "command": command, "exit": exit}
        self._call.result(value)
