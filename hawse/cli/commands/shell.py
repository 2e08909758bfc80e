"""`hawse shell` and `hawse attach`: show one of the sandbox's terminals in the local terminal.

If the connection is lost or the gateway restarts, the client resumes both directions without losing a byte.
"""

import asyncio
import os
import secrets
import signal as signals
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from hawse.api.types import Exit
from hawse.cli.candidates import offer, terminals
from hawse.cli.local_terminal.terminal import RESET, LocalTerminal
from hawse.cli.output import examples, is_terminal
from hawse.cli.target import Target, first
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox, Terminal, ViewerOptions
from hawse.wire import HawseError

SIGKILL: Final = 9  # the `signal` module has no SIGKILL on Windows

if TYPE_CHECKING:  # loaded on first use, because `hawse shell` must start fast
    from hawse.cli.local_terminal.predictive_echo import PredictiveEcho

DETACH: Final = "ctrl-]"
EXIT_TIMED_OUT: Final = 124  # the same as timeout(1)
CLEAR: Final = b"\x1b[H\x1b[2J"


class Detached(Exception):
    """The user typed the detach key."""


class Continued(Exception):
    """This process was suspended and has resumed, so the terminal must be redrawn."""


@click.command(
    epilog=examples(
        "hawse shell",
        "hawse shell main",
        "hawse shell -s build --cwd src main",
    )
)
@click.argument("id", required=False, shell_complete=offer(terminals))
@click.option("--cwd", metavar="DIR", help="the working directory of a new terminal")
@click.option("--read-only", is_flag=True, help="watch without typing")
@click.option(
    "--detach-key", default=DETACH, show_default=True, metavar="KEY", help="the key to leave the terminal: ctrl-LETTER"
)
@click.option("--predict", is_flag=True, help="show typed text immediately, underlined until the program prints it")
@target_options
def shell(target: Target, id: str | None, cwd: str | None, read_only: bool, detach_key: str, predict: bool) -> int:
    """Open the terminal ID, creating it unless it is running. Without an ID, open a new terminal.

    A new terminal without an ID ends when you leave. A terminal with an ID keeps running.
    """
    name = f"shell-{secrets.token_hex(3)}" if id is None else id
    code, left = _show(target, name, cwd, None, read_only, detach_key, keep=id is not None, predict=predict)
    if left and id is not None:
        click.echo(f"detached; `hawse attach {id}` returns to it", err=True)
    return code


@click.command(
    epilog=examples(
        "hawse attach main",
        "hawse attach --read-only main",
    )
)
@click.argument("id", shell_complete=offer(terminals))
@click.option("--read-only", is_flag=True, help="watch without typing")
@click.option(
    "--detach-key", default=DETACH, show_default=True, metavar="KEY", help="the key to leave the terminal: ctrl-LETTER"
)
@click.option("--predict", is_flag=True, help="show typed text immediately, underlined until the program prints it")
@target_options
def attach(target: Target, id: str, read_only: bool, detach_key: str, predict: bool) -> int:
    """Attach to the running terminal ID. All output that is still kept is shown first."""
    code, left = _show(target, id, None, None, read_only, detach_key, keep=True, create=False, predict=predict)
    if left:
        click.echo("detached", err=True)
    return code


def run_in_terminal(target: Target, argv: Sequence[str], cwd: str | None, detach_key: str = DETACH) -> int:
    """Run `argv` in a new terminal, show it here, and return its exit code. The terminal ends when the user leaves.

    Args:
        target: The gateway and the sandbox.
        argv: The program and its arguments.
        cwd: The program's working directory.
        detach_key: The key to press to leave.
    """
    name = f"exec-{secrets.token_hex(3)}"
    return _show(target, name, cwd, list(argv), False, detach_key, keep=False)[0]


def exit_code(exit_: Exit) -> int:
    """Return the exit code that a shell would report: 128 plus the signal number if a signal ended the program."""
    if exit_.timed_out:
        return EXIT_TIMED_OUT
    if exit_.code is not None:
        return exit_.code
    return 128 + getattr(signals, exit_.signal or "", SIGKILL)


def key_byte(name: str) -> bytes:
    """Return the byte that a control key such as `ctrl-]` sends. Raises `click.BadParameter` for other text."""
    prefix, _, key = name.lower().partition("-")
    if prefix not in ("ctrl", "control", "^") or len(key) != 1 or not 0x40 <= ord(key.upper()) <= 0x5F:
        raise click.BadParameter(f"{name!r} is not a control key such as {DETACH}", param_hint="--detach-key")
    return bytes([ord(key.upper()) & 0x1F])


def _show(
    target: Target,
    id: str,
    cwd: str | None,
    argv: list[str] | None,
    read_only: bool,
    detach_key: str,
    *,
    keep: bool,
    create: bool = True,
    predict: bool = False,
) -> tuple[int, bool]:
    """Show a terminal until it ends or the user leaves. Returns its exit code and whether the user left."""
    detach = key_byte(detach_key)
    if not (sys.stdin.isatty() and is_terminal(sys.stdout)):
        raise click.ClickException("standard input and output must be a terminal; `hawse exec` does not need one")

    async def work(client: Client, box: Sandbox) -> tuple[int, bool]:
        local = LocalTerminal(leave=RESET + b"\r\n")
        cols, rows = local.size
        viewer: ViewerOptions = {"read_only": read_only, "emulator": not read_only, "kind": "person"}
        env = {"TERM": os.environ.get("TERM", "xterm-256color"), "COLORTERM": os.environ.get("COLORTERM")}
        if not create:
            terminal = box.terminals.attach(id, **viewer)
        else:
            terminal = box.terminals.open(id, argv=argv, cwd=cwd, env=env, cols=cols, rows=rows, **viewer)
        exit_ = None
        try:
            await terminal
            with local:
                while exit_ is None:
                    echo = _prediction(*local.size) if predict and not read_only else None
                    try:
                        exit_ = await _Connection(local, terminal, detach, read_only, echo).run()
                    except Continued:
                        terminal.close()
                        terminal = await box.terminals.attach(terminal.id, instance=terminal.instance, **viewer)
                    except Detached:
                        break
                else:
                    local.leave = RESET
        except BaseException:  # including signals
            if not keep:
                with suppress(HawseError):
                    await terminal.kill()
            raise
        else:
            if exit_ is None and not keep:
                await terminal.kill()
        finally:
            terminal.close()
        return (0, True) if exit_ is None else (exit_code(exit_), False)

    return target.run(work)


def _prediction(cols: int, rows: int) -> "PredictiveEcho":
    from hawse.cli.local_terminal.predictive_echo import PredictiveEcho

    return PredictiveEcho(cols, rows)


class _Connection:
    """Passes keys and output between the local terminal and a terminal in the sandbox."""

    def __init__(
        self, local: LocalTerminal, terminal: Terminal, detach: bytes, read_only: bool, echo: "PredictiveEcho | None"
    ) -> None:
        self._local = local
        self._terminal = terminal
        self._detach = detach
        self._read_only = read_only
        self._echo = echo
        self._turn = asyncio.Lock()  # only one task at a time writes predictions

    async def run(self) -> Exit:
        """Forward keys to the terminal and print its output until the program ends; return the program's exit status.

        Raises:
            Detached: The user left.
            Continued: The local terminal must be redrawn.
            HawseError: The terminal was lost.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                others = [tasks.create_task(self._type()), tasks.create_task(self._follow_stops())]
                if not self._read_only:
                    others.append(tasks.create_task(self._follow_size()))
                await self._show()
                for task in others:
                    task.cancel()
            return await self._terminal.wait()
        except* Detached:
            if self._echo is not None:
                await self._local.write(self._echo.withdraw())
            raise Detached from None
        except* (HawseError, Continued) as errors:
            raise first(errors) from None

    async def _show(self) -> None:
        async for data in self._terminal:
            async with self._turn:
                await self._local.write(self._echo.received(data) if self._echo else data)

    async def _type(self) -> None:
        async for data in self._local.input():
            if self._detach in data:
                raise Detached
            if not (self._terminal.live and self._terminal.answers):
                from hawse.cli.local_terminal.emulator_replies import without_replies

                data = without_replies(data)
            if data and not self._read_only:
                await self._predict(data)
                await self._terminal.write(data)
        raise Detached  # the local terminal was closed

    async def _predict(self, data: bytes) -> None:
        if self._echo is not None:
            async with self._turn:
                if shown := self._echo.typed(data):
                    await self._local.write(shown)

    async def _follow_size(self) -> None:
        async for cols, rows in self._local.sizes():
            if self._echo is not None:
                async with self._turn:
                    await self._local.write(self._echo.resize(cols, rows))
            try:
                await self._terminal.resize(cols, rows)
            except HawseError as error:
                if error.code not in ("exited", "forbidden", "unavailable", "interrupted"):
                    raise

    async def _follow_stops(self) -> None:
        await self._local.continued.wait()
        self._local.continued.clear()
        await self._local.write(CLEAR)
        raise Continued
