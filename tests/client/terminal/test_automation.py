"""Automation of a terminal against a scripted server: the requests, and what becomes of the results."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from hawse.api.people import ViewerProfile
from hawse.api.terminals import TerminalAttach
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.terminal import Terminal
from hawse.wire import HawseError
from tests.support.client import MemoryConnection
from tests.support.examples import OPENED, TERMINAL

MATCH = {"start": 3, "end": 5, "text": "ab", "groups": [], "named": {}, "truncated": False}
COMMAND = {"number": 1, "line": "x", "started": 1.5, "start": 110, "code": 3, "end": 114, "after": 120}

MODES = dict.fromkeys(
    (
        *("application_cursor", "application_keypad", "bracketed_paste", "reverse", "origin", "autowrap", "insert"),
        *("focus", "synchronized"),
    ),
    True,
) | {"mouse": None, "mouse_format": "x10", "kitty_keyboard": 0}


class Play:
    """A terminal that is attached, with its output at 100; `answer` plays the server for one call at a time."""

    def __init__(self) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        params = TerminalAttach(id="t", instance="i", viewer=ViewerProfile(key="k"))
        self.call = TerminalAttachCall(params, sandbox="local", window=10_000)
        self.connection = MemoryConnection(self.calls)
        self.calls.submit(self.call)
        self.connection.pump()
        opened = OPENED | {"offset": 100}
        self.connection.event("opened", opened)
        self.term = Terminal(self.calls, "local", self.call, None)
        self.asked: list[tuple[str, Any]] = []

    async def answer(self, work: Coroutine[Any, Any, Any], *answers: Any) -> Any:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(work)
            for answer in answers:
                await self.connection.until_called(len(self.asked) + 2)
                params = dict(self.connection.params)
                params.pop("timeout", None)
                self.asked.append((self.connection.call.method, params))
                self.connection.result(answer)
            return await task


async def test_expect_searches_from_the_end_of_the_last_match() -> None:
    play = Play()
    found = {"event": "pattern", "from": 100, "offset": 105, "match": MATCH}
    assert (await play.answer(play.term.expect("ab"), found)).text == "ab"
    await play.answer(play.term.expect("ab", since=7, literal=True), found)
    await play.answer(play.term.send("x", keys=["up"]), {"offset": 130, "bytes": 4})
    await play.answer(play.term.expect("ab", on="screen"), found)
    await play.answer(play.term.expect("ab"), found)
    base = {"id": "t", "instance": "i"}
    assert play.asked == [
        ("terminal.wait", {**base, "pattern": "ab", "on": "output", "echo": False, "since": 100}),
        ("terminal.wait", {**base, "pattern": "ab", "on": "output", "echo": False, "since": 7, "literal": True}),
        ("terminal.send", {**base, "text": "x", "keys": ["up"], "viewer": play.call.viewer_key}),
        ("terminal.wait", {**base, "pattern": "ab", "on": "screen", "echo": True}),
        ("terminal.wait", {**base, "pattern": "ab", "on": "output", "echo": False, "since": 130}),
    ]


@pytest.mark.parametrize(("event", "code"), [("timeout", "deadline_exceeded"), ("exit", "exited")])
async def test_what_is_not_found_is_an_error(event: str, code: str) -> None:
    play = Play()
    with pytest.raises(ExceptionGroup) as caught:
        await play.answer(play.term.expect("ab"), {"event": event, "from": 100, "offset": 105})
    assert caught.group_contains(HawseError, match=code)


async def test_a_screen_and_a_history_are_parsed() -> None:
    play = Play()
    shown = await play.answer(
        play.term.screen(format="ansi", scrollback=5),
        {
            "format": "ansi",
            "content": "x",
            "truncated": False,
            "scrollback": 0,
            "cols": 80,
            "rows": 24,
            "cursor": {"x": 1, "y": 2, "visible": False},
            "alternate": True,
            "modes": MODES,
            "offset": 9,
        },
    )
    assert (shown.content, shown.cursor.y, shown.modes.insert, shown.title) == ("x", 2, True, None)
    history = await play.answer(play.term.history(), {"commands": [COMMAND], "more": True, "reports_commands": True})
    assert (history.commands[0].code, history.more) == (3, True)


async def test_run_requires_one_line_and_a_shell_that_reports_commands() -> None:
    play = Play()
    with pytest.raises(HawseError, match="one line"):
        await play.term.run("a\nb")
    with pytest.raises(ExceptionGroup) as caught:
        await play.answer(play.term.run("x"), {"commands": [], "more": False, "reports_commands": False})
    assert caught.group_contains(HawseError, match="conflict")


@pytest.mark.parametrize(("event", "code"), [("timeout", "deadline_exceeded"), ("exit", "exited")])
async def test_run_types_nothing_if_the_shell_does_not_get_to_its_prompt(event: str, code: str) -> None:
    play = Play()
    with pytest.raises(ExceptionGroup) as caught:
        await play.answer(
            play.term.run("x", timeout=5.0 if event == "exit" else 0.0),
            {"commands": [], "more": False, "reports_commands": True},
            *([TERMINAL | {"offset": 90}, {"event": event, "from": 90, "offset": 90}] if event == "exit" else []),
        )
    assert caught.group_contains(HawseError, match=code)
    assert "terminal.send" not in [method for method, _ in play.asked]


async def test_run_passes_over_a_command_that_was_there_before() -> None:
    play = Play()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(play.term.run("x"))

        async def asked(method: str, count: int) -> None:
            await play.connection.until(lambda: [c.method for c in play.connection.calls].count(method) == count)

        await asked("terminal.history", 1)
        play.connection.result({"commands": [], "more": False, "reports_commands": True})
        await asked("terminal.get", 1)
        play.connection.result(TERMINAL | {"offset": 90})
        await asked("terminal.wait", 1)
        assert play.connection.params["prompt"] is True
        play.connection.result({"event": "prompt", "from": 90, "offset": 90})
        await asked("terminal.attach", 2)
        assert play.connection.params["viewer"] == {"key": play.call.viewer_key}
        opened = OPENED | {"start_at": "resume", "from": 90}
        play.connection.event("opened", opened)
        play.connection.data(1, 90, b"$ x\r\n" + b"." * 15 + b"out\r\nrest")
        await asked("terminal.send", 1)
        play.connection.result({"offset": 100, "bytes": 2})
        await asked("terminal.wait", 2)
        before = COMMAND | {"start": 50, "end": 101}
        play.connection.result({"event": "command", "from": 100, "offset": 102, "command": before})
        await asked("terminal.wait", 3)
        assert play.connection.params["since"] == 102
        play.connection.result({"event": "command", "from": 102, "offset": 120, "command": COMMAND | {"end": 115}})
    ran = task.result()
    assert (ran.code, ran.output, ran.text, ran.missing) == (3, b"out\r\n", "out\n", 0)
    assert len(play.calls) == 1  # the tap is gone
