"""`process_start`, `process_output` and `process_wait`: programs that run while the agent does other things."""

from typing import Annotated, Final

from msgspec import Meta

from hawse.api.processes import ProcessInfo
from hawse.api.types import Id, Offset, Path, Pattern, StreamName
from hawse.client import Sandbox
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.mcp.tools.commands import Command, ending
from hawse.plain.excerpt import excerpt
from hawse.plain.output import PlainOutput
from hawse.wire import HawseError

PLAIN_MAX: Final = 16  # raw output is read up to this multiple of the plain text's limit

Wait = Annotated[float, Meta(gt=0, le=600)]
Port = Annotated[int, Meta(ge=1, le=65_535)]


@tool("process_start")
class ProcessStartTool(Arguments):
    """Start a long-running program, such as a server. process_output reads its output, process_wait waits for it, and
    process_kill ends it.

    Args:
        command: The shell command.
        id: The id of the process; null means a random id.
        cwd: The working directory, relative to the workspace; null means the workspace.
        env: Variables to add to the environment.
    """

    command: Command
    id: Id | None = None
    cwd: Path | None = None
    env: dict[str, str] | None = None

    async def run(self, call: ToolCall) -> Answer:
        process = await call.box.processes.start(self.command, id=self.id, cwd=self.cwd, env=self.env)
        process.close()
        return Answer(f"started, id={process.id}", data={"id": process.id, "pid": process.pid})


@tool("process_output", safe=True)
class ProcessOutputTool(Arguments):
    """Return part of the output of a running or exited process.

    Args:
        id: The id of the process.
        stream: The stream to read.
        since: The offset of the first byte to return; null returns the end of the output.
        raw: Whether to return the output as it is printed, with control sequences, progress and repeated lines.
    """

    id: Id
    stream: StreamName = "stdout"
    since: Offset | None = None
    raw: bool = False

    async def run(self, call: ToolCall) -> Answer:
        info = await call.box.processes.get(self.id)
        kept = getattr(info, self.stream)
        most = call.limit if self.raw else call.limit * PLAIN_MAX
        wanted = max(kept.offset - most, 0) if self.since is None else self.since
        start = min(max(wanted, kept.start), kept.offset)
        end = min(kept.offset, start + most)
        head = 0 if self.since is None else call.limit
        output = PlainOutput(head, call.limit - head, offset=start, raw=self.raw)
        output.add(await _part(call.box, info, self.stream, start, end))
        output.finish()
        text = output.text(note=False)
        if output.start is not None and self.since is None:
            start = output.stop
        elif output.start is not None:
            end = output.start
        state = "running" if info.exit is None else ending(info.exit)
        rest = f"; continue with since={end}" if end < kept.offset else ""
        lost = f"; bytes before {kept.start:,} are no longer kept" if wanted < kept.start else ""
        note = f"[bytes {start:,} to {end:,} of {kept.offset:,} of {self.stream}{rest}{lost}; {state}]"
        values = {"start": start, "end": end, "size": kept.offset, "running": info.exit is None}
        return Answer(f"{text}\n{note}", data=values)


@tool("process_wait", safe=True)
class ProcessWaitTool(Arguments):
    """Wait until a process has printed certain text, until a port is open, or until the process has exited.

    Pass at most one of text, pattern and port. With none of them, this waits for the process to exit.

    Args:
        id: The id of the process.
        text: Text that the process prints.
        pattern: A regular expression (RE2) for its output.
        port: A TCP port in the sandbox.
        timeout: Seconds to wait.
    """

    id: Id
    text: Pattern | None = None
    pattern: Pattern | None = None
    port: Port | None = None
    timeout: Wait = 30.0

    async def run(self, call: ToolCall) -> Answer:
        if sum(given is not None for given in (self.text, self.pattern, self.port)) > 1:
            return Answer("pass only one of text, pattern and port", failed=True)
        info = await call.box.processes.get(self.id)
        end = {name: getattr(info, name).offset for name in ("stdout", "stderr")}  # skips all earlier output
        process = await call.box.processes.attach(self.id, instance=info.instance, since=end)  # type: ignore[arg-type]
        try:
            if self.port is not None:
                await process.wait_for_port(self.port, timeout=self.timeout)
                return Answer(f"port {self.port} is open")
            if self.text is None and self.pattern is None:
                return Answer(ending(await process.wait(timeout=self.timeout)))
            match = await process.wait_for_log(self.text, pattern=self.pattern, timeout=self.timeout)
            short = excerpt(match.text, call.limit)
            return Answer(f"{match.stream}: {short}", data={"stream": match.stream, "start": match.start})
        except HawseError as error:
            if error.code != "deadline_exceeded":
                raise
            return Answer(f"condition not met within {self.timeout:g} s; process_output shows the output", failed=True)
        finally:
            process.close()


async def _part(box: Sandbox, info: ProcessInfo, stream: StreamName, start: int, end: int) -> bytes:
    """Return a stream's bytes from `start` to `end`, which must already have been printed."""
    if start >= end:
        return b""
    data = bytearray()
    since = {"stdout": info.stdout.offset, "stderr": info.stderr.offset} | {stream: start}
    process = await box.processes.attach(info.id, instance=info.instance, since=since)  # type: ignore[arg-type]
    try:
        async for name, part in process.output():
            if name == stream:
                data += part
            if len(data) >= end - start:
                break
    finally:
        process.close()
    return bytes(data[: end - start])
