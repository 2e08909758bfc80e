"""Serves one `terminal.wait`: until a match, silence, the end of a command or of the program, or a timeout.

A wait is a lossless cursor on the journal, like a lossless viewer: the program is slowed down so that no output is
missed. It does a bounded amount of work at a time, and runs long searches in a thread.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from hawse.api.automation import CommandInfo, OutputMatch, TerminalWaitOpened, TerminalWaitResult
from hawse.api.types import Exit
from hawse.rpc.call import ServerCall
from hawse.wire import Connection
from runtime.core.output_matcher import Matcher, MatchSpan
from runtime.core.thread_pool import ThreadPool
from runtime.rpc.output_stream import OutputOnlyStream

if TYPE_CHECKING:
    from runtime.terminal.terminal import Terminal

WaitEvent = Literal["pattern", "silence", "command", "exit", "timeout"]

STEP = 32 << 10  # bytes of output searched in one step: up to 15 ms if they consist of escape sequences
LONG = 1_000_000  # units of `Matcher.work`, about 5 ms: a search that may take longer runs in a thread


class TerminalWaitStream(OutputOnlyStream):
    """Sends the `opened` event and the result. Until `detach` it is a `Subscriber` of the terminal."""

    lossless = True  # the program is slowed down so that all output is searched
    follows = True  # its reading does not let the program run ahead of the viewers

    def __init__(
        self,
        terminal: "Terminal",
        call: ServerCall,
        threads: ThreadPool,
        *,
        since: int,
        matcher: Matcher | None,
        on_screen: bool,
        silence: float | None,
        command: bool,
        timeout: float,
    ) -> None:
        """Start the timers; the caller subscribes it to the terminal and then calls `wake`.

        Args:
            terminal: The terminal whose output is awaited.
            call: The call to answer.
            threads: The threads that run long searches.
            since: The offset at which the search starts.
            matcher: What to search for; None: no pattern.
            on_screen: Whether to search the visible screen instead of the output.
            silence: Seconds without output that end the wait; None: silence does not end it.
            command: Whether the end of a command ends it.
            timeout: Seconds after which it ends in any case.
        """
        self.cursor: int | None = max(since, terminal.journal.start)
        self._from = self.cursor  # later than `since` if the journal has dropped that output
        self._terminal = terminal
        super().__init__(call)
        self._threads = threads
        self._matcher = matcher
        self._on_screen = on_screen
        self._silence = silence
        self._command = command
        self._opened = self._closed = self._busy = False
        self._loop = asyncio.get_running_loop()
        self._output_end = terminal.journal.end  # the end of the output at `_output_at`
        self._output_at = self._loop.time()  # when the latest output was noticed: silence counts from here
        self._timers = [self._loop.call_later(timeout, self._finish, "timeout")]
        if silence is not None:
            self._timers.append(self._loop.call_later(silence, self._check_silence))

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self._opened and connection.window(ch) > 0:
            self._opened = True
            connection.send_event(ch, "opened", TerminalWaitOpened(start=self._from))
        return False

    def detach(self) -> None:
        """Release everything: the wait has ended or its channel is closed."""
        self._closed = True
        for timer in self._timers:
            timer.cancel()
        self._terminal.unsubscribe(self)

    # ---- watching

    def wake(self) -> None:
        """The terminal has new output or has exited."""
        if self._terminal.journal.end != self._output_end:
            self._output_end = self._terminal.journal.end
            self._output_at = self._loop.time()
        if not self._busy and not self._closed:
            self._step()

    def _step(self) -> None:
        """Search the next output, then check the other conditions up to there."""
        self._busy = False
        if self._closed:
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
        """Feed the next output to the matcher; return whether there is new text to search."""
        journal = self._terminal.journal
        assert self.cursor is not None
        if self.cursor < journal.start:  # only if no step was made for 30 s: then the program is no longer slowed down
            self._from = self.cursor = journal.start
            matcher.restart()
        data = bytes(journal.read(self.cursor, STEP))
        has_text = bool(data) and matcher.feed(self.cursor, data)
        self._go_to(self.cursor + len(data))
        return has_text

    def _go_to(self, offset: int) -> None:
        if self.cursor != offset:
            self.cursor = offset
            self._terminal.moved()

    def _search(self, search: Callable[[], MatchSpan | None], work: int) -> None:
        if work <= LONG:
            self._searched(search())
        else:
            self._busy = True
            self._threads.submit(search).add_done_callback(self._search_done)

    def _search_done(self, future: "asyncio.Future[MatchSpan | None]") -> None:
        self._busy = False
        if not self._closed and not future.cancelled():
            self._searched(future.result())

    def _searched(self, found: MatchSpan | None) -> None:
        if found is not None:
            self._finish("pattern", offset=found.end, match=OutputMatch(**found._asdict()))
        else:
            self._settle()

    def _settle(self) -> None:
        """Check the other conditions up to the cursor, where the pattern has no match; otherwise continue."""
        terminal = self._terminal
        command = terminal.shell_state.commands.ended_after(self._from) if self._command else None
        if command is not None and (command.after or 0) <= (self.cursor or 0):
            self._finish("command", offset=command.after, command=command.describe())
        elif self.cursor != terminal.journal.end:
            self._busy = True
            self._loop.call_soon(self._step)
        elif terminal.exit is not None:
            self._finish("exit", exit=terminal.exit)

    def _check_silence(self) -> None:
        """End the wait after `silence` seconds without output. Delayed or unsearched output is not silence."""
        assert self._silence is not None
        now = self._loop.time()
        if self._terminal.backpressure.paused or self.cursor != self._terminal.journal.end:
            self._output_at = now
        remaining = self._output_at + self._silence - now
        if remaining > 0:
            self._timers[1] = self._loop.call_later(remaining, self._check_silence)
        else:
            self._finish("silence")

    # ---- the end

    def _finish(
        self,
        event: WaitEvent,
        *,
        offset: int | None = None,
        match: OutputMatch | None = None,
        command: CommandInfo | None = None,
        exit: Exit | None = None,
    ) -> None:
        """Send the result. `offset`: where the event is in the output; None: at the cursor."""
        self._closed = True
        offset = (self.cursor or 0) if offset is None else offset
        self._call.result(
            TerminalWaitResult(start=self._from, event=event, offset=offset, match=match, command=command, exit=exit)
        )
