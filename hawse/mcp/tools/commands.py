"""`exec` and `session_exec`: run a command to its end."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta

from hawse.api.types import Exit, Id, Path
from hawse.client import Process
from hawse.mcp.excerpt import Excerpt
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.wire import HawseError

TIMEOUT: Final = 120.0  # default time limit for commands, in seconds
DEFAULT_SESSION: Final = "agent"

Command = Annotated[str, Meta(min_length=1, max_length=128 << 10)]
Timeout = Annotated[float, Meta(gt=0, le=3600)]


@tool("exec")
class ExecTool(Arguments):
    """Run a shell command in the sandbox and return its output and exit code.

    Each command has its own shell. To keep variables and the directory, use session_exec. Use process_start for servers
    and other long-running programs, and terminal_open for programs that need a terminal. If the output is long, its
    start and end are returned, and process_output reads the rest.

    Args:
        command: The shell command.
        cwd: The working directory, relative to the workspace; null means the workspace.
        env: Variables to add to the environment.
        stdin: The input of the command.
        timeout: Time limit in seconds. If it is exceeded, the command and all its processes are ended.
    """

    command: Command
    cwd: Path | None = None
    env: dict[str, str] | None = None
    stdin: str | None = None
    timeout: Timeout = TIMEOUT

    async def run(self, call: ToolCall) -> Answer:
        started = asyncio.get_running_loop().time()
        options = {"cwd": self.cwd, "env": self.env, "stdin": self.stdin is not None, "timeout": self.timeout}
        async with call.box.processes.start(self.command, **options) as process:  # type: ignore[arg-type]
            output = await _read(process, call, self.stdin)
            exit = await process.wait()
        taken = asyncio.get_running_loop().time() - started
        hints = {name: f"process_output reads them, id={process.id} stream={name}" for name in output}
        return answer(exit, output, taken, hints, timeout=self.timeout)


@tool("session_exec")
class SessionExecTool(Arguments):
    """Run a command in a shell that keeps its variables, functions and directory between calls.

    The session is created on first use and lives as long as the sandbox. Commands of a session run one at a time. If
    the output is long, only its start and end are returned; redirect it to a file to read all of it.

    Args:
        command: The command.
        id: The session's id.
        timeout: Time limit in seconds. If it is exceeded, the command is ended, but not the session.
    """

    command: Command
    id: Id = DEFAULT_SESSION
    timeout: Timeout = TIMEOUT

    async def run(self, call: ToolCall) -> Answer:
        output = excerpts(call.limit // 2)
        await call.ensure("session.create", id=self.id)
        async with call.box.sessions.attach(self.id) as session:
            result = await session.exec(
                self.command, timeout=self.timeout, on_stdout=output["stdout"].add, on_stderr=output["stderr"].add
            )
        hints = dict.fromkeys(output, "redirect the output to a file and use file_read")
        notes = ["the session has ended with it; the next command starts a new one"] if result.ended else []
        return answer(result, output, result.duration, hints, timeout=self.timeout, notes=notes)


async def _read(process: Process, call: ToolCall, stdin: str | None) -> dict[str, Excerpt]:
    """Send the process its input, and read its output to the end."""
    output = excerpts(call.limit // 2)

    async def feed() -> None:
        try:
            if stdin is not None:
                await process.write(stdin.encode(errors="replace"))
                await process.end()
        except HawseError as error:
            if error.code != "exited":  # a program can exit before reading all its input
                raise

    try:
        async with asyncio.TaskGroup() as tasks:
            feeding = tasks.create_task(feed(), name="mcp stdin")
            async for stream, data in process.output():
                output[stream].add(data)
                await call.progress(sum(kept.size for kept in output.values()), data.decode(errors="replace"))
            feeding.cancel()
    except* HawseError as errors:
        raise errors.exceptions[0] from None
    return output


def answer(
    exit: Exit,
    output: Mapping[str, Excerpt],
    duration: float | None,
    hints: Mapping[str, str],
    *,
    timeout: float,
    notes: list[str] | None = None,
) -> Answer:
    """Return a report for the agent on a finished command.

    Args:
        exit: How it ended.
        output: Its output, keyed by stream.
        duration: How long it took, in seconds; None if unknown.
        hints: How to read the omitted output, keyed by stream.
        timeout: Its time limit in seconds.
        notes: Further remarks.
    """
    parts = printed(output, hints)
    parts.append(f"[{'; '.join([ending(exit, timeout), *(notes or [])])}]")
    data = {
        "code": exit.code,
        "signal": exit.signal,
        "timed_out": exit.timed_out,
        "duration": None if duration is None else round(duration, 3),
        "stdout_bytes": output["stdout"].size,
        "stderr_bytes": output["stderr"].size,
    }
    return Answer("\n".join(parts), data=data)


def excerpts(limit: int) -> dict[str, Excerpt]:
    """Return excerpts for a program's output, keyed by stream. Each keeps `limit` bytes."""
    return {"stdout": Excerpt(limit), "stderr": Excerpt(limit)}


def printed(output: Mapping[str, Excerpt], hints: Mapping[str, str]) -> list[str]:
    """Return a program's output as parts of a response.

    Args:
        output: Its output, keyed by stream.
        hints: How to read the omitted output, keyed by stream.
    """
    parts = []
    if output["stdout"].size:
        parts.append(output["stdout"].text(hints["stdout"]).rstrip("\n"))
    if output["stderr"].size:
        parts.append(f"[stderr]\n{output['stderr'].text(hints['stderr'])}".rstrip("\n"))
    return parts


def ending(exit: Exit, timeout: float | None = None) -> str:
    """Describe how a program ended."""
    if exit.timed_out:
        limit = "its time limit" if timeout is None else f"its time limit of {timeout:g} s"
        return f"ended at {limit}"
    if exit.signal is not None:
        return f"ended by {exit.signal}{', out of memory' if exit.oom else ''}"
    return f"exit code {exit.code}"
