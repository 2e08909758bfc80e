"""`code_run`: run code with persistent variables, and return tables and images."""

from typing import Annotated, Final

from msgspec import Meta

from hawse.api.types import Id
from hawse.client import CodeResult
from hawse.mcp.tool import Answer, Arguments, Image, ToolCall, tool
from hawse.mcp.tools.commands import TIMEOUT, Timeout, outputs, printed
from hawse.plain.excerpt import excerpt
from hawse.plain.output import PlainOutput

IMAGE_MAX: Final = 4 << 20  # maximum size of an image, in bytes
IMAGES_MAX: Final = 8  # maximum number of images per response
SHOWN: Final = ("text/markdown", "text/plain", "text/html", "text/latex")  # the first available type supplies the text
ENDED: Final = "the executor has ended; `restart` starts a new one"


@tool("code_run")
class CodeRunTool(Arguments):
    """Run code in a context that keeps variables, imports and the directory between runs, as in a notebook.

    Returns the output, the value of the last expression, and displayed images (including matplotlib figures). The
    context is created on first use and lives as long as the sandbox. `restart` resets it.

    Args:
        source: The code.
        language: The language of a new context, such as python, javascript, typescript or bash.
        id: The id of the context; by default, the name of the language.
        restart: Whether to reset the context before the run.
        timeout: Time limit in seconds. If it is exceeded, the code is interrupted.
        raw: Whether to return printed output as it is, with control sequences, progress and repeated lines.
    """

    source: Annotated[str, Meta(max_length=1 << 20)]
    language: Annotated[str, Meta(min_length=1, max_length=64)] = "python"
    id: Id | None = None
    restart: bool = False
    timeout: Timeout = TIMEOUT
    raw: bool = False

    async def run(self, call: ToolCall) -> Answer:
        id = self.id or f"agent-{self.language}"
        await call.ensure("code.create", id=id, language=self.language)
        output = outputs(call.limit // 3, raw=self.raw)
        async with call.box.code.attach(id) as context:
            if self.restart:
                await context.restart()
            done = await context.run(
                self.source,
                timeout=self.timeout,
                max_output=0,
                on_stdout=output["stdout"].add,
                on_stderr=output["stderr"].add,
            )
        return _answer(done, output, call.limit // 3, self.timeout)


def _answer(done: CodeResult, output: dict[str, PlainOutput], limit: int, timeout: float) -> Answer:
    hint = "print less, or write to a file"
    parts = printed(output, dict.fromkeys(output, hint))
    images: list[Image] = []
    for rich in done.results:
        kind = next((kind for kind in ("image/png", "image/jpeg") if kind in rich.data), None)
        picture = None if kind is None else rich.bytes(kind)
        if kind is not None and picture is not None and len(picture) <= IMAGE_MAX and len(images) < IMAGES_MAX:
            images.append(Image(picture, kind))
            continue
        text = next((rich.data[kind] for kind in SHOWN if isinstance(rich.data.get(kind), str)), None)
        parts.append(f"[{', '.join(rich.data)}]" if text is None else excerpt(text, limit, hint))
    if done.error is not None:
        trace = "\n".join(done.error.traceback) or f"{done.error.name}: {done.error.value}"
        parts.append(excerpt(trace, limit))
    if done.status == "timed_out":
        ended = f"; {ENDED}" if done.killed else ""
        parts.append(f"[interrupted at its time limit of {timeout:g} s{ended}]")
    elif not done.ok and done.error is None:
        parts.append(f"[{done.status}: {ENDED}]")
    data = {"status": done.status, "execution_count": done.execution_count, "duration": round(done.duration, 3)}
    return Answer("\n".join(parts) or "[no output]", images=tuple(images), data=data, failed=not done.ok)
