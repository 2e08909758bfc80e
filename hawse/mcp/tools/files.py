"""`file_read`, `file_write`, `file_edit`, `file_patch`, `file_extract`, `file_list` and `file_search`."""

import mimetypes
from typing import Annotated, Final

from msgspec import Meta

from hawse.api.files import FileEditResult
from hawse.api.types import Path, Pattern
from hawse.mcp.tool import Answer, Arguments, Image, ToolCall, tool
from hawse.plain.excerpt import excerpt
from hawse.wire import HawseError

READ_MAX: Final = 8 << 20  # maximum number of bytes to read from a file
IMAGE_MAX: Final = 4 << 20  # maximum size of an image, in bytes
IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
ENTRIES: Final = 1000  # maximum number of directory entries per response

Count = Annotated[int, Meta(ge=1, le=100_000)]
Line = Annotated[int, Meta(ge=1, le=READ_MAX)]  # each line has at least one byte, so more lines cannot fit
Matches = Annotated[int, Meta(ge=1, le=1000)]


@tool("file_read", safe=True)
class FileReadTool(Arguments):
    """Return all or part of a file's text, or show an image (PNG, JPEG, GIF, WebP).

    Args:
        path: The file, relative to the workspace unless it is absolute.
        line: The first line to return, from 1.
        lines: The number of lines to return. Fewer are returned if they do not fit.
    """

    path: Path
    line: Line = 1
    lines: Count = 2000

    async def run(self, call: ToolCall) -> Answer:
        kind = mimetypes.guess_type(self.path)[0]
        if kind in IMAGES:
            image = await call.box.files.read(self.path, max_size=IMAGE_MAX)
            return Answer(f"[{len(image):,} bytes]", images=(Image(image, kind),))
        content = await call.box.files.read(self.path, max_size=READ_MAX)
        if b"\0" in content[:8192]:
            return Answer(f"{self.path} is not text: {len(content):,} bytes", failed=True)
        all_lines = content.decode(errors="replace").splitlines(keepends=True)
        chosen = all_lines[self.line - 1 : self.line - 1 + self.lines]
        fitting = _fitting(chosen, call.limit)
        text = excerpt("".join(chosen[:fitting]), call.limit)
        end = self.line - 1 + fitting
        data = {"line": self.line, "lines": fitting, "total_lines": len(all_lines)}
        if self.line == 1 and end == len(all_lines):
            return Answer(text, data=data)
        rest = f"; continue with line={end + 1}" if end < len(all_lines) else ""
        return Answer(f"{text.rstrip()}\n[lines {self.line} to {end} of {len(all_lines)}{rest}]", data=data)


@tool("file_write", idempotent=True)
class FileWriteTool(Arguments):
    """Write a file, replacing its whole content. Missing directories are created.

    Args:
        path: The file, relative to the workspace unless it is absolute.
        content: Its new text.
    """

    path: Path
    content: str

    async def run(self, call: ToolCall) -> Answer:
        done = await call.box.files.write_text(self.path, self.content)
        return Answer(f"{done.bytes:,} bytes written", data={"bytes": done.bytes})


@tool("file_edit")
class FileEditTool(Arguments):
    """Replace text in a file. Nothing is changed if the old text does not occur or occurs several times.

    Args:
        path: The file, relative to the workspace unless it is absolute.
        old: The text to replace, exactly as in the file, with enough context to occur only once.
        new: The replacement.
        all: Whether to replace every occurrence.
    """

    path: Path
    old: Annotated[str, Meta(min_length=1)]
    new: str
    all: bool = False

    async def run(self, call: ToolCall) -> Answer:
        try:
            done = await call.box.files.edit(self.path, self.old, self.new, all=self.all)
        except HawseError as error:
            if error.code != "conflict":
                raise
            return Answer(_refused(error), failed=True)
        return Answer(f"replaced {done.replaced} time{'' if done.replaced == 1 else 's'}", data=_data(done))


@tool("file_patch")
class FilePatchTool(Arguments):
    """Apply a unified diff to one file. Nothing is changed unless every hunk applies exactly.

    Args:
        path: The file, relative to the workspace unless it is absolute.
        patch: The hunks, each with a header such as @@ -1,4 +1,5 @@ and a few unchanged lines around the changes.
    """

    path: Path
    patch: Annotated[str, Meta(min_length=1)]

    async def run(self, call: ToolCall) -> Answer:
        try:
            done = await call.box.files.edit(self.path, patch=self.patch)
        except HawseError as error:
            if error.code not in ("conflict", "invalid_params"):
                raise
            return Answer(_refused(error), failed=True)
        return Answer(f"applied {done.replaced} hunk{'' if done.replaced == 1 else 's'}", data=_data(done))


@tool("file_extract")
class FileExtractTool(Arguments):
    """Unpack an archive in the sandbox (tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip). Nothing is written outside `to`.

    Args:
        path: The archive, relative to the workspace unless it is absolute.
        to: The directory to unpack to.
        overwrite: Whether to replace existing files.
        strip: Number of leading directories to remove from each name.
    """

    path: Path
    to: Path = "."
    overwrite: bool = False
    strip: Annotated[int, Meta(ge=0, le=100)] = 0

    async def run(self, call: ToolCall) -> Answer:
        done = await call.box.files.extract(self.path, self.to, overwrite=self.overwrite, strip=self.strip)
        data = {"entries": done.entries, "bytes": done.bytes, "skipped": done.skipped}
        return Answer(f"{done.entries:,} entr{'y' if done.entries == 1 else 'ies'}, {done.bytes:,} bytes", data=data)


@tool("file_list", safe=True)
class FileListTool(Arguments):
    """List a directory. Directories end with a slash.

    Args:
        path: The directory, relative to the workspace unless it is absolute.
        recursive: Whether to list subdirectories as well.
        include: Only files that match one of these globs, such as *.py or src/**/*.ts.
        hidden: Whether to list names that start with a dot.
    """

    path: Path = "."
    recursive: bool = False
    include: list[str] | None = None
    hidden: bool = False

    async def run(self, call: ToolCall) -> Answer:
        found: list[str] = []
        more = False
        entries = call.box.files.list(
            self.path,
            recursive=self.recursive,
            include=self.include,
            hidden=self.hidden,
            on_error=lambda failure: found.append(f"{failure.path} [{failure.code}]"),
        )
        async for entry in entries:
            if len(found) >= ENTRIES:
                more = True
                break
            found.append(f"{entry.path}/" if entry.type == "directory" else f"{entry.path}  {entry.size:,}")
        found.sort()
        note = f"\n[more than {ENTRIES} entries: list a subdirectory, or use include]" if more else ""
        listed = excerpt("\n".join(found), call.limit, "list a subdirectory, or use include")
        return Answer(f"{listed or '[empty]'}{note}", data={"entries": len(found), "more": more})


@tool("file_search", safe=True)
class FileSearchTool(Arguments):
    """Search the files in a directory and its subdirectories for text or a regular expression, like grep.

    Args:
        text: The text to search for.
        pattern: A regular expression in RE2's syntax, instead of `text`.
        path: The directory, relative to the workspace unless it is absolute.
        include: Only files that match one of these globs, such as *.py.
        ignore_case: Whether to ignore case.
        hidden: Whether to search names that start with a dot, such as .git.
        limit: The maximum number of matching lines to return.
    """

    text: Pattern | None = None
    pattern: Pattern | None = None
    path: Path = "."
    include: list[str] | None = None
    ignore_case: bool = False
    hidden: bool = False
    limit: Matches = 100

    async def run(self, call: ToolCall) -> Answer:
        if (self.text is None) == (self.pattern is None):
            return Answer("pass either `text` or `pattern`", failed=True)
        lines: list[str] = []
        more = ""
        try:
            async for match in call.box.files.search(
                self.text or self.pattern,
                self.path,
                literal=self.text is not None,
                ignore_case=self.ignore_case,
                hidden=self.hidden,
                include=self.include,
                limit=self.limit,
                on_error=lambda _: None,
            ):
                lines.append(f"{match.path}:{match.line}:{match.text}")
        except HawseError as error:
            if error.code != "too_large":
                raise
            more = f"\n[more than {self.limit} matches: search for something rarer, or use include]"
        found = excerpt("\n".join(lines), call.limit, "search for something rarer, or use include")
        return Answer(f"{found or '[no match]'}{more}", data={"matches": len(lines), "more": bool(more)})


def _data(done: FileEditResult) -> dict[str, object]:
    return {"replaced": done.replaced, "bytes": done.bytes}


def _refused(error: HawseError) -> str:
    """Return advice on a refused edit."""
    found = (error.details or {}).get("found")
    hints = {None: "read the file again", 0: "read the file, and pass the text exactly as it appears there"}
    hint = hints.get(found, "include more of the surrounding text, or set all=true to replace every occurrence")
    return f"{error.message}: {hint}"


def _fitting(lines: list[str], limit: int) -> int:
    """Return how many lines from the start fit into `limit` bytes in total, but at least 1."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode(errors="replace"))
        if size > limit:
            return max(count, 1)
    return len(lines)
