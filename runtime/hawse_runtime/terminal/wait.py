"""Serves a `terminal.wait` call until a match, silence, the end of a command, a prompt, a question, or the exit.

A wait has a cursor on the journal, like a lossless viewer. It slows down the program, so no output is missed.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from hawse.api.terminals import CommandInfo, TerminalWaiting, TerminalWaitOpened, TerminalWaitResult
from hawse.api.types import Exit, OutputMatch
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection
from hawse_runtime.core.output_matcher import Matcher, MatchSpan
from hawse_runtime.core.output_search import OutputSearch, SearchContext
from hawse_runtime.screen.requests import Answer, Text

if TYPE_CHECKING:
    from hawse_runtime.terminal.terminal import Terminal

WaitEvent = Literal["pattern", "silence", "command", "prompt", "waiting", "exit", "timeout"]


class TerminalCursor:
    """A wait's position in a terminal's output."""

    def __init__(self, terminal: "Terminal", since: int) -> None:
        self.offset = max(since, terminal.journal.start)  # the offset of the next byte
        self.start = self.offset  # the start of the contiguous output read so far
        self._terminal = terminal

    @property
    def at_end(self) -> bool:
        return self.offset == self._terminal.journal.end

    def lost(self) -> bool:
        """Skip output that the journal has dropped. Return whether any was skipped.

        Output can be dropped before it is searched, because a wait that makes no progress for 30 s no longer slows down
        the program.
        """
        lost = self.offset < self._terminal.journal.start
        if lost:
            self.start = self.offset = self._terminal.journal.start
        return lost

    def look(self, size: int) -> memoryview:
        return self._terminal.journal.read(self.offset, size)

    def take(self, size: int) -> None:
        self._move(self.offset + size)

    def take_all(self) -> None:
        """Advance to the end of the output."""
        self._move(self._terminal.journal.end)

    def _move(self, offset: int) -> None:
        if offset != self.offset:
            self.offset = offset
            self._terminal.moved()


class ScreenSearch(OutputSearch):
    """Searches the visible screen immediately and after each change."""

    def __init__(
        self,
        terminal: "Terminal",
        cursor: TerminalCursor,
        matcher: Matcher,
        context: SearchContext,
        *,
        found: Callable[[MatchSpan], object],
        searched: Callable[[], object],
    ) -> None:
        """Create a search, which starts on the first `wake`. For the other arguments, see `OutputSearch`.

        Args:
            terminal: The terminal whose screen to search.
            cursor: The cursor, which is moved to the end of the output before each search.
        """
        super().__init__(cursor, matcher, context, found=found, searched=searched)
        self._terminal = terminal
        self._output = cursor

    def search_next(self) -> None:
        self._output.take_all()
        self.hold()
        offset = self._output.offset

        def shown(answer: Answer | None) -> None:
            data = self._terminal.plain_text() if answer is None else answer.data
            text = data.decode(errors="replace")
            self.resume(lambda: self.matcher.search_in(text, offset), self.matcher.work(len(text)))

        self._terminal.ask_screen(Text, shown)


class TerminalWaitStream(OutputOnlyStream):
    """Sends the `opened` event and the result. Stays subscribed to the terminal until `detach`."""

    lossless = True  # slows down the program, so that all output is searched
    follows = True  # passive: a wait alone never lets the program print more

    def __init__(
        self,
        terminal: "Terminal",
        call: ServerCall,
        context: SearchContext,
        *,
        since: int,
        matcher: Matcher | None,
        on_screen: bool,
        silence: float | None,
        command: bool,
        prompt: bool,
        waiting: bool,
        timeout: float,
    ) -> None:
        """Start the timers. The caller must then subscribe the stream to the terminal and call `wake`.

        Args:
            terminal: The terminal to observe.
            call: The call to answer.
            context: The context to run the search in.
            since: The offset to search from.
            matcher: The pattern to search for; None means no search.
            on_screen: Whether to search the visible screen instead of the output.
            silence: How many seconds without output end the wait; None means that silence doesn't end it.
            command: Whether the end of a command ends the wait.
            prompt: Whether a shell at its prompt ends the wait.
            waiting: Whether the wait ends when a program waits for input.
            timeout: The maximum duration in seconds.
        """
        super().__init__(call)
        self._terminal = terminal
        self._cursor = TerminalCursor(terminal, since)
        self._search = None if matcher is None else self._make_search(matcher, context, on_screen=on_screen)
        self._silence = silence
        self._command = command
        self._prompt = prompt
        self._waiting = waiting
        self._opened = self._closed = False
        self._loop = asyncio.get_running_loop()
        self._output_end = terminal.journal.end  # end of the output at the time `_output_at`
        self._output_at = self._loop.time()  # when new output was last noticed; the silence starts then
        self._timers = [self._loop.call_later(timeout, self._finish, "timeout")]
        if silence is not None:
            self._timers.append(self._loop.call_later(silence, self._check_silence))

    @property
    def cursor(self) -> int | None:
        """The offset of the next byte to search. The program can print only a limited amount of output beyond it."""
        return self._cursor.offset

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self._opened and connection.window(ch) > 0:
            self._opened = True
            connection.send_event(ch, "opened", TerminalWaitOpened(start=self._cursor.start))
        return False

    def detach(self) -> None:
        """Release all resources. Called once the wait has ended or its channel is closed."""
        self._closed = True
        for timer in self._timers:
            timer.cancel()
        if self._search is not None:
            self._search.close()
        self._terminal.unsubscribe(self)

    # ---- watching

    def wake(self) -> None:
        """Handle new output or the terminal's exit."""
        if self._terminal.journal.end != self._output_end:
            self._output_end = self._terminal.journal.end
            self._output_at = self._loop.time()
        if self._closed:
            return
        if self._search is not None:
            self._search.wake()
        else:
            self._cursor.take_all()
            self._check_end()

    def _make_search(self, matcher: Matcher, context: SearchContext, *, on_screen: bool) -> OutputSearch:
        if on_screen:
            return ScreenSearch(
                self._terminal, self._cursor, matcher, context, found=self._found, searched=self._check_end
            )
        return OutputSearch(self._cursor, matcher, context, found=self._found, searched=self._check_end)

    def _found(self, match: MatchSpan) -> None:
        self._finish("pattern", offset=match.end, match=OutputMatch(**match._asdict()))

    def _check_end(self) -> None:
        """End the wait if a command has ended, a prompt or question has appeared, or the program has exited."""
        terminal = self._terminal
        command = terminal.shell_state.commands.ended_after(self._cursor.start) if self._command else None
        if command is not None and (command.after or 0) <= self._cursor.offset:
            self._finish("command", offset=command.after, command=command.describe())
        elif self._prompt and self._at_prompt and self._all_searched:
            self._finish("prompt")
        elif self._waiting and terminal.waiting.waits and self._all_searched:
            self._finish("waiting", waiting=terminal.waiting.state)
        elif terminal.exit is not None and self._all_searched:
            self._finish("exit", exit=terminal.exit)

    @property
    def _at_prompt(self) -> bool:
        shell, waiting = self._terminal.shell_state, self._terminal.waiting
        return shell.at_prompt or (not shell.reports_commands and waiting.idle_shell)

    @property
    def _all_searched(self) -> bool:
        return self._cursor.at_end if self._search is None else self._search.at_end

    def _check_silence(self) -> None:
        """End the wait after `silence` seconds without output. Time with paused or unsearched output doesn't count."""
        assert self._silence is not None
        now = self._loop.time()
        if self._terminal.backpressure.paused or not self._all_searched:
            self._output_at = now
        remaining = self._output_at + self._silence - now
        if remaining > 0:
            self._timers[1] = self._loop.call_later(remaining, self._check_silence)
        else:
            self._finish("silence")

    # ---- end

    def _finish(
        self,
        event: WaitEvent,
        *,
        offset: int | None = None,
        match: OutputMatch | None = None,
        command: CommandInfo | None = None,
        exit: Exit | None = None,
        waiting: TerminalWaiting | None = None,
    ) -> None:
        """Send the result. `offset` is the output offset of the event; None means the cursor."""
        self._closed = True
        start = self._cursor.start
        offset = self._cursor.offset if offset is None else offset
        self._call.result(
            TerminalWaitResult(
                start=start, event=event, offset=offset, match=match, command=command, exit=exit, waiting=waiting
            )
        )
