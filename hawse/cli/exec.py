"""`hawse exec`: run a command in a sandbox, with its output as it comes, its input and its exit code."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import click

from hawse.cli.output import print_json, write_bytes
from hawse.cli.shell import exit_code, run_in_terminal
from hawse.cli.target import Pair, Target, first, target_options
from hawse.client import Client, Process, Sandbox
from hawse.wire import HawseError

READ_SIZE = 256 << 10  # bytes of one read of standard input


class NotRun(click.ClickException):
    """The command was not run, or its end is not known. The exit code is that of ssh(1) in this case."""

    exit_code = 255


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-i", "--stdin", "with_stdin", is_flag=True, help="pass standard input on")
@click.option("-t", "--tty", is_flag=True, help="run the command in a terminal, as `hawse shell` does")
@click.option("-c", "--shell", "in_shell", is_flag=True, help="COMMAND is one text for the shell")
@click.option("-w", "--cwd", metavar="DIR", help="the working directory")
@click.option("-e", "--env", type=Pair(), multiple=True, help="add a variable to the environment")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="end it after this time"
)
@target_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec(
    target: Target,
    command: tuple[str, ...],
    with_stdin: bool,
    tty: bool,
    in_shell: bool,
    cwd: str | None,
    env: tuple[tuple[str, str], ...],
    timeout: float | None,
) -> int:
    """Run COMMAND in a sandbox and return its exit code.

    Standard output and standard error stay separate. 124: the time limit; 128 + N: signal N; 255: the gateway could
    not run it. Ctrl-C ends the command.
    """
    if in_shell and len(command) != 1:
        raise click.UsageError("--shell takes one text, such as: hawse exec -c 'ls | wc -l'")
    if tty:
        if target.as_json or timeout is not None or env:
            raise click.UsageError("--tty cannot be combined with --json, --timeout or --env")
        return run_in_terminal(target, ["sh", "-c", command[0]] if in_shell else command, cwd)
    variables = dict(env)

    async def work(client: Client, box: Sandbox) -> int:
        wanted = command[0] if in_shell else list(command)
        if target.as_json:
            stdin = await asyncio.to_thread(sys.stdin.buffer.read) if with_stdin else None
            result = await box.exec(wanted, cwd=cwd, env=variables, timeout=timeout, stdin=stdin)
            print_json(
                {
                    "code": exit_code(result),
                    "signal": result.signal,
                    "timed_out": result.timed_out,
                    "stdout": result.stdout.decode(errors="replace"),
                    "stderr": result.stderr.decode(errors="replace"),
                    "truncated": result.truncated,
                }
            )
            return exit_code(result)
        async with box.processes.start(wanted, cwd=cwd, env=variables, timeout=timeout, stdin=with_stdin) as process:
            await _stream(process, with_stdin)
            return exit_code(await process.wait())

    try:
        return target.run(work)
    except click.ClickException as error:
        raise NotRun(error.message) from error


async def _stream(process: Process, with_stdin: bool) -> None:
    """Pass output on as it arrives, and input until the process has ended."""

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
                await asyncio.to_thread(write_bytes, data, sys.stdout if stream == "stdout" else sys.stderr)
            if feeding is not None:
                feeding.cancel()
    except* HawseError as errors:
        raise first(errors) from None


async def standard_input() -> AsyncIterator[bytes]:
    """Iterate over what arrives on standard input. Cancelling stops at once, also if nothing arrives."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=READ_SIZE)
    try:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    except (ValueError, PermissionError):  # a file: it never blocks
        while data := await asyncio.to_thread(os.read, 0, READ_SIZE):
            yield data
        return
    try:
        while data := await reader.read(READ_SIZE):
            yield data
    finally:
        os.set_blocking(0, True)  # the transport has changed it for everything that shares the descriptor
        transport.close()
