"""`exec` and `session_exec`: run a command to its end, or to its next question."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.api.types import Exit, Id, Path
from hawse.client import Process, TerminalCommand
from hawse.client.base.environment import UNATTENDED
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.plain.excerpt import excerpt
from hawse.plain.output import PlainOutput
from hawse.wire import HawseError

TIMEOUT: Final = 120.0  # default time limit for commands, in seconds
DEFAULT_SESSION: Final = "agent"
STEP_LIMIT: Final = 1 << 20  # number of bytes of a step's output to fetch; the agent gets an excerpt
NEEDED: Final = {
    "line": "needs input: type a line and press enter",
    "secret": "needs input: type a line that isn't echoed, such as a password, and press enter",
    "key": "needs input: keys",
    "unknown": "may need input: the system doesn't show whether the program is waiting",
    "no": "at a shell's prompt",
}

Command = Annotated[str, Meta(min_length=1, max_length=128 << 10)]
Timeout = Annotated[float, Meta(gt=0, le=3600)]


@tool("exec")
class ExecTool(Arguments):
    """Run a shell command in the sandbox and return its output and exit code.

    Each command has its own shell. To keep variables and the directory, use session_exec. Use process_start for servers
    and other long-running programs. If the output is long, its start and end are returned with the errors and warnings
    between them, and process_output reads the rest.

    Set `terminal` for a command that may ask questions, such as an installer or a login. The tool then also returns
    when a program waits for input, with the question and the id of the terminal; use terminal_send to answer.

    Args:
        command: The shell command.
        cwd: The working directory, relative to the workspace; null means the workspace.
        env: Variables to add to the environment.
        stdin: The input of the command. Not allowed with `terminal`.
        timeout: Time limit in seconds. If it is exceeded, the command and all its processes are ended. With `terminal`,
            the limit no longer applies once the tool has returned.
        terminal: Whether to run the command in a terminal.
        unattended: Whether to set variables that make programs less likely to prompt, such as CI, DEBIAN_FRONTEND,
            GIT_TERMINAL_PROMPT and PAGER.
        raw: Whether to return the output as it is printed, with control sequences, progress and repeated lines.
    """

    command: Command
    cwd: Path | None = None
    env: dict[str, str] | None = None
    stdin: str | None = None
    timeout: Timeout = TIMEOUT
    terminal: bool = False
    unattended: bool = True
    raw: bool = False

    async def run(self, call: ToolCall) -> Answer:
        if self.terminal:
            return await self._run_in_terminal(call)
        started = asyncio.get_running_loop().time()
        async with call.box.processes.start(
            self.command,
            cwd=self.cwd,
            env=self.env,
            stdin=self.stdin is not None,
            timeout=self.timeout,
            unattended=self.unattended,
        ) as process:
            output = outputs(call.limit // 2, raw=self.raw)
            await _read(process, call, self.stdin, output)
            exit = await process.wait()
        taken = asyncio.get_running_loop().time() - started
        hints = {name: f"process_output reads them, id={process.id} stream={name} since={{start}}" for name in output}
        return answer(exit, output, taken, hints, timeout=self.timeout)

    async def _run_in_terminal(self, call: ToolCall) -> Answer:
        if self.stdin is not None:
            return Answer("specify either `stdin` or `terminal`; terminal_send types into a terminal", failed=True)
        run = await call.box.exec(
            self.command,
            terminal=True,
            cwd=self.cwd,
            env=self.env,
            timeout=self.timeout,
            unattended=self.unattended,
            max_output=STEP_LIMIT,
        )
        return await step_answer(call, run, self.timeout, raw=self.raw)


@tool("session_exec")
class SessionExecTool(Arguments):
    """Run a command in a shell that keeps its variables, functions and directory between calls.

    The session is created on first use and lives as long as the sandbox. Its initial environment makes programs less
    likely to prompt, as in exec. Commands in the same session run one at a time. If the output is long, only its
    start and end are returned; to read all of it, redirect the output to a file.

    Args:
        command: The command.
        id: The session's id.
        timeout: Time limit in seconds. If it is exceeded, the command is ended, but not the session.
        raw: Whether to return the output as it is printed, with control sequences, progress and repeated lines.
    """

    command: Command
    id: Id = DEFAULT_SESSION
    timeout: Timeout = TIMEOUT
    raw: bool = False

    async def run(self, call: ToolCall) -> Answer:
        output = outputs(call.limit // 2, raw=self.raw)
        await call.ensure("session.create", id=self.id, env=UNATTENDED)
        async with call.box.sessions.attach(self.id) as session:
            result = await session.exec(
                self.command, timeout=self.timeout, on_stdout=output["stdout"].add, on_stderr=output["stderr"].add
            )
        hints = dict.fromkeys(output, "redirect the output to a file and use file_read")
        notes = ["the session has ended with it; the next command starts a new one"] if result.ended else []
        return answer(result, output, result.duration, hints, timeout=self.timeout, notes=notes)


async def _read(process: Process, call: ToolCall, stdin: str | None, output: Mapping[str, PlainOutput]) -> None:
    """Send the process its input, and collect its output until it ends."""

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
                await call.progress(sum(kept.size for kept in output.values()), output[stream].latest)
            feeding.cancel()
    except* HawseError as errors:
        raise errors.exceptions[0] from None


def answer(
    exit: Exit,
    output: Mapping[str, PlainOutput],
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


async def step_answer(
    call: ToolCall, run: TerminalCommand, timeout: float | None = None, *, raw: bool = False
) -> Answer:
    """Return the agent's report on the last step of a command in a terminal.

    Args:
        call: The tool call.
        run: The command. If it has switched to a full-screen display, the report shows the screen.
        timeout: Its time limit in seconds, if any.
        raw: Whether to return the output as it is printed.
    """
    needed = run.needs_input
    if run.exit is not None:
        note = ending(run.exit, timeout)
    elif needed is not None:
        question = "" if needed.since is None else f" question={needed.since}"
        person = f"; ask a person: terminal_ask id={run.id}{question}" if needed.kind == "secret" else ""
        answer = f"answer: terminal_send id={run.id}{question}{person}"
        note = f"{NEEDED[needed.kind]}; {answer}; end: terminal_kill id={run.id}"
    else:
        note = f"still running; to continue: terminal_wait id={run.id} since={run.offset}"
    output = PlainOutput(call.limit // 2, call.limit // 2, offset=run.offset - len(run.output), raw=raw)
    output.add(run.output)
    text = output.text(f"terminal_screen id={run.id} with scrollback shows more")
    if needed is not None and needed.kind in ("key", "unknown"):
        shown = await call.box.call("terminal.screen", {"id": run.id, "format": "text"})
        text = excerpt(shown["content"], call.limit) if shown["alternate"] else text
    omitted = f"[{run.missing:,} earlier bytes are omitted]\n" if run.missing else ""
    text = omitted + text.strip("\n")
    data = {
        "id": run.id,
        "offset": run.offset,
        "needs_input": None if needed is None else msgspec.to_builtins(needed),
        "exit": None if run.exit is None else msgspec.to_builtins(run.exit),
    }
    return Answer(f"{text.rstrip()}\n[{note}]".lstrip("\n"), data=data)


def outputs(limit: int, *, raw: bool = False) -> dict[str, PlainOutput]:
    """Return empty outputs for a program's streams. Each keeps `limit` bytes of text."""
    return {stream: PlainOutput(limit // 2, limit // 2, raw=raw) for stream in ("stdout", "stderr")}


def printed(output: Mapping[str, PlainOutput], hints: Mapping[str, str]) -> list[str]:
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
