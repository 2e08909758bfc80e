"""`hawse exec`: run a command in a sandbox, with input, live output and its exit code."""

import asyncio
import os
import re
import shlex
import stat
import sys
from collections.abc import AsyncIterator

import click

from hawse.cli.commands.shell import exit_code, run_in_terminal
from hawse.cli.output import encoded, examples, print_json, write_bytes
from hawse.cli.target import Pair, Target, first
from hawse.cli.target_options import target_options
from hawse.client import Client, Process, Sandbox
from hawse.client.process.program import OUTPUT_LIMIT
from hawse.wire import HawseError

READ_SIZE = 256 << 10  # maximum number of bytes to read from standard input at once
LINE = re.compile(r"[\s|&;<>$`*]")  # characters that program names rarely contain


class NotRun(click.ClickException):
    """The command was not run, or its outcome is unknown. The exit code is the same as ssh(1)'s."""

    exit_code = 255


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "hawse exec -- make test",
        "hawse exec -s build -w src -e CI=1 -- npm ci",
        "hawse exec -c 'ls | wc -l'",
        "tar c src | hawse exec -- tar x",
    ),
)
@click.option(
    "-i/-n",
    "--stdin/--no-stdin",
    "with_stdin",
    default=None,
    help="whether to forward standard input; by default only if it is a pipe or a file",
)
@click.option("-t", "--tty", is_flag=True, help="run the command in a terminal, as `hawse shell` does")
@click.option("-c", "--shell", "in_shell", is_flag=True, help="COMMAND is a single string for the shell")
@click.option("-w", "--cwd", metavar="DIR", help="the working directory")
@click.option("-e", "--env", type=Pair(), multiple=True, help="add a variable to the environment")
@click.option(
    "--unattended",
    is_flag=True,
    help="set variables that make programs less likely to prompt, such as CI, DEBIAN_FRONTEND and PAGER",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="end the command after this time"
)
@target_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec(
    target: Target,
    command: tuple[str, ...],
    with_stdin: bool | None,
    tty: bool,
    in_shell: bool,
    cwd: str | None,
    env: tuple[tuple[str, str], ...],
    unattended: bool,
    timeout: float | None,
) -> int:
    """Run COMMAND in a sandbox and return its exit code.

    Standard output and standard error remain separate. Standard input is forwarded unless it is a terminal. Use -n in
    loops such as `while read` that read standard input themselves. Exit codes: 124 if the time limit was exceeded, 128
    + N for signal N, 255 if the gateway could not run the command. Ctrl-C ends the command.
    """
    if in_shell and len(command) != 1:
        raise click.UsageError("--shell takes a single string, such as: hawse exec -c 'ls | wc -l'")
    if tty and (target.as_json or timeout is not None or env or unattended):
        raise click.UsageError("--tty cannot be combined with --json, --timeout, --env or --unattended")
    variables = dict(env)
    feeds = with_stdin if with_stdin is not None else not os.isatty(0)

    async def work(client: Client, box: Sandbox) -> int:
        wanted = command[0] if in_shell else list(command)
        kept = Kept() if target.as_json else None
        async with box.processes.start(
            wanted, cwd=cwd, env=variables, timeout=timeout, stdin=feeds, unattended=unattended
        ) as process:
            await _stream(process, feeds, kept)
            exit_ = await process.wait()
        if kept is not None:
            print_json(
                {
                    "code": exit_code(exit_),
                    "signal": exit_.signal,
                    "timed_out": exit_.timed_out,
                    **encoded(kept.data, truncated=kept.truncated),
                    "truncated": kept.truncated,
                }
            )
        return exit_code(exit_)

    try:
        if tty:
            return run_in_terminal(target, ["sh", "-c", command[0]] if in_shell else command, cwd)
        return target.run(work)
    except click.ClickException as error:
        raise NotRun(error.message + ("" if in_shell else shell_hint(error, command))) from error


def shell_hint(error: click.ClickException, command: tuple[str, ...]) -> str:
    """Return a hint if a whole command line was passed as the program's name; "" otherwise."""
    failed = isinstance(error.__cause__, HawseError) and error.__cause__.code == "spawn_failed"
    if not (failed and len(command) == 1 and LINE.search(command[0])):
        return ""
    return f"\nThis single word is a program's name. For a shell command: hawse exec -c {shlex.quote(command[0])}"


class Kept:
    """The first `OUTPUT_LIMIT` bytes of each output stream."""

    def __init__(self) -> None:
        self.data = {"stdout": bytearray(), "stderr": bytearray()}
        self.truncated = False  # whether output beyond the limit was dropped

    def add(self, stream: str, data: bytes) -> None:
        """Keep as much of `data` as the limit allows."""
        kept = self.data[stream]
        fits = data[: OUTPUT_LIMIT - len(kept)]
        kept += fits
        self.truncated |= len(fits) < len(data)


async def _stream(process: Process, with_stdin: bool, kept: Kept | None) -> None:
    """Print output as it arrives or collect it in `kept`, and forward input until the process has ended."""

    async def feed() -> None:
        try:
            async for data in standard_input():
                await process.write(data)
            await process.end()
        except HawseError as error:
            if error.code != "exited":
                raise

    try:
        async with asyncio.TaskGroup() as tasks:
            feeding = tasks.create_task(feed()) if with_stdin else None
            async for stream, data in process.output():
                if kept is not None:
                    kept.add(stream, data)
                else:
                    await asyncio.to_thread(write_bytes, data, sys.stdout if stream == "stdout" else sys.stderr)
            if feeding is not None:
                feeding.cancel()
    except* HawseError as errors:
        raise first(errors) from None


async def standard_input() -> AsyncIterator[bytes]:
    """Iterate over chunks of standard input. Cancelling takes effect immediately, even while waiting for input."""
    mode = os.fstat(0).st_mode
    # Files and /dev/null never block. On Windows, the event loop cannot wait for standard input.
    if sys.platform == "win32" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0)):
        while data := await asyncio.to_thread(os.read, 0, READ_SIZE):
            yield data
        return
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=READ_SIZE)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while data := await reader.read(READ_SIZE):
            yield data
    finally:
        os.set_blocking(0, True)  # the transport has made stdin non-blocking for all processes that use it
        transport.close()
