"""`hawse code`: run a code file in a sandbox, or enter code line by line."""

import asyncio
import codeop
import getpass
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

import click
import msgspec

from hawse.cli.candidates import contexts, offer
from hawse.cli.commands.exec import NotRun
from hawse.cli.output import encoded, examples, print_json, size, write_bytes
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Callbacks, Client, CodeContext, CodeError, CodeInput, CodeResult, RichResult, Sandbox

CODES = {"ok": 0, "error": 1, "timed_out": 124, "interrupted": 130}  # exit codes, keyed by status
CRASHED = 255  # exit code for other statuses, which mean that the executor has ended
LANGUAGES = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".sh": "bash"}


@click.command(
    epilog=examples(
        "hawse code analysis.py",
        "echo 'print(6 * 7)' | hawse code -",
        "hawse code -c 'print(6 * 7)'",
        "hawse code --language bash --context work",
    )
)
@click.option("-l", "--language", metavar="NAME", help="the language (from the file name, otherwise python)")
@click.option("-c", "--code", "given", metavar="CODE", help="run this code instead of a file")
@click.option(
    "--context",
    metavar="ID",
    help="use the context with this id, creating it if needed, and keep it",
    shell_complete=offer(contexts),
)
@click.option("-w", "--cwd", metavar="DIR", help="the working directory of a new context")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="end each run after this time"
)
@target_options
@click.argument("file", required=False, type=click.File("rb"))
def code(
    target: Target,
    file: BinaryIO | None,
    language: str | None,
    given: str | None,
    context: str | None,
    cwd: str | None,
    timeout: float | None,
) -> int:
    """Run FILE or CODE in a sandbox, or enter code interactively. With `-` or in a pipe, read code from standard input.

    Results are printed as text. Exit codes: 0 for success, 1 if the code failed, 124 if the time limit was exceeded,
    130 for Ctrl-C, 255 if the executor has ended.
    """
    if given is not None and file is not None:
        raise click.UsageError("-c CODE and FILE cannot be combined")
    interactive = given is None and file is None and sys.stdin.isatty()
    source = "" if interactive else _source(given, file)
    if language is None and file is not None:
        language = next((name for end, name in LANGUAGES.items() if str(file.name).endswith(end)), None)

    async def work(client: Client, box: Sandbox) -> int:
        known = [info.id for info in await box.code.list()] if context is not None else []
        if context is not None and context in known:
            wanted = box.code.attach(context)
        else:
            wanted = box.code.create(language, id=context, cwd=cwd, timeout=timeout)
        async with wanted as ctx:
            if context is not None:
                ctx.detach()
            if interactive:
                return await _Repl(ctx, (await ctx.info()).language).run()
            if target.as_json:
                done = await ctx.run(source)
                print_json(_as_json(done))
            else:
                done = await _run_visibly(ctx, source)
            return CODES.get(done.status, CRASHED)

    try:
        return target.run(work)
    except click.ClickException as error:
        raise NotRun(error.message) from error


def _source(given: str | None, file: BinaryIO | None) -> str:
    """Return the code to run: `given`, or the content of the file or standard input."""
    return given if given is not None else (file or sys.stdin.buffer).read().decode(errors="replace")


def _as_json(done: CodeResult) -> dict[str, Any]:
    """Convert a result to JSON values, with output as text if it is valid UTF-8."""
    fields: dict[str, Any] = msgspec.to_builtins(done)
    return fields | encoded({"stdout": done.stdout, "stderr": done.stderr}, truncated=done.truncated)


async def _run_visibly(ctx: CodeContext, source: str) -> CodeResult:
    """Run code and print its output as it arrives."""
    done = await ctx.run(source, **_printing(answers=sys.stdin.isatty()))
    if done.status in ("crashed", "stopped", "timed_out"):
        how = f": exit code {done.exit.code}" if done.exit is not None and done.exit.code is not None else ""
        how = f": {done.exit.signal}" if done.exit is not None and done.exit.signal is not None else how
        click.echo(f"hawse: the run has {done.status.replace('_', ' ')}{how}", err=True)
    return done


def _printing(*, answers: bool) -> Callbacks:
    """Return callbacks that print output and, with `answers`, read lines of input from the terminal."""
    callbacks: Callbacks = {
        "on_stdout": lambda data: write_bytes(data, sys.stdout),
        "on_stderr": lambda data: write_bytes(data, sys.stderr),
        "on_result": lambda rich: write_bytes(describe(rich).encode() + b"\n", sys.stdout),
        "on_error": lambda error: write_bytes(traceback(error).encode() + b"\n", sys.stderr),
    }
    if answers:
        callbacks["on_input"] = _ask
    return callbacks


def describe(rich: RichResult) -> str:
    """Return a result as text for the terminal: its text, and the types and sizes of its images."""
    images = [
        f"[{kind}, {size(len(data))}]"
        for kind in rich.data
        if kind.startswith("image/") and (data := rich.bytes(kind)) is not None
    ]
    return " ".join([text for text in (rich.text or rich.markdown,) if text] + images) or f"[{', '.join(rich.data)}]"


def traceback(error: CodeError) -> str:
    """Return an error's traceback or, if it has none, its name and message."""
    return "\n".join(error.traceback) or f"{error.name}: {error.value}"


async def _ask(request: CodeInput) -> str:
    try:
        return await asyncio.to_thread(getpass.getpass if request.password else input, request.prompt)
    except EOFError:
        return ""


class _Repl:
    """Reads code, runs it and prints its output, until the end of input."""

    def __init__(self, ctx: CodeContext, language: str) -> None:
        self._ctx = ctx
        self._complete: Callable[[str], bool] = _python_is_complete if language == "python" else bool
        self._group: asyncio.TaskGroup
        self._running: asyncio.Task[CodeResult] | None = None

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # not available on Windows
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            async with asyncio.TaskGroup() as self._group:
                while (source := await asyncio.to_thread(self._read)) is not None:
                    if not source.strip():
                        continue
                    self._running = self._group.create_task(_run_visibly(self._ctx, source))
                    done = await self._running
                    if done.status in ("crashed", "stopped") or done.killed:
                        await self._ctx.restart()
                        click.echo("hawse: the executor was restarted; its state is lost", err=True)
                    self._running = None
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        click.echo()
        return 0

    def _interrupt(self) -> None:
        """Handle Ctrl-C: interrupt the run in progress. Does nothing while a line is being read."""
        if self._running is not None:
            self._group.create_task(self._ctx.interrupt())

    def _read(self) -> str | None:
        """Return the next piece of code; None at the end of input."""
        lines: list[str] = []
        while True:
            try:
                lines.append(input("... " if lines else ">>> "))
            except EOFError:
                return None
            source = "\n".join(lines)
            if not lines[-1].strip() or self._complete(source):
                return source


def _python_is_complete(source: str) -> bool:
    try:
        return codeop.compile_command(source, symbol="single") is not None
    except (SyntaxError, ValueError, OverflowError):
        return True  # the kernel reports the error, or accepts a magic command such as %time
