"""Resources: a sandbox's files and terminals, identified by URI.

`hawse://SANDBOX/files/PATH` is a file (with an absolute path: `files//etc/hosts`). `hawse://SANDBOX/terminals/ID` is a
terminal's screen, preceded by the rows above it.
"""

import mimetypes
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from hawse.client import Sandbox
from hawse.wire import HawseError

SCHEME: Final = "hawse"
FILE_MAX: Final = 8 << 20  # maximum size of a file, in bytes
SCROLLBACK: Final = 1000  # maximum number of rows above a terminal's screen


class Listed(NamedTuple):
    """An entry in the list of resources."""

    uri: str
    name: str
    description: str


class Content(NamedTuple):
    """A resource's content, as text if it is valid UTF-8, otherwise as bytes."""

    mime_type: str
    content: str | bytes


def templates(sandbox: str) -> list[Listed]:
    """Return the URI templates (RFC 6570)."""
    base = f"{SCHEME}://{sandbox}"
    return [
        Listed(
            f"{base}/files/{{+path}}",
            "file",
            "A file in the sandbox. Relative paths are resolved against the workspace.",
        ),
        Listed(f"{base}/terminals/{{id}}", "terminal", "A terminal's screen, preceded by the rows above it."),
    ]


async def resources(box: Sandbox) -> list[Listed]:
    """Return the running terminals. Files are not listed, because agents can find them with the tools."""
    return [
        Listed(f"{SCHEME}://{box.id}/terminals/{quote(info.id)}", info.id, info.title or " ".join(info.argv) or "shell")
        for info in await box.terminals.list()
        if info.state == "running"
    ]


async def read(box: Sandbox, uri: str) -> Content:
    """Return a resource's content.

    Raises:
        HawseError: `not_found` for an unknown URI; `too_large`; errors from the sandbox.
    """
    base = f"{SCHEME}://{box.id}/"
    kind, separator, rest = uri.removeprefix(base).partition("/")
    if not uri.startswith(base) or not separator or kind not in ("files", "terminals"):
        raise HawseError("not_found", f"no resource at {uri[:200]!r}", admitted="no")
    name = unquote(rest, errors="surrogateescape")
    if kind == "terminals":
        shown = await box.call("terminal.screen", {"id": name, "format": "text", "scrollback": SCROLLBACK})
        return Content("text/plain", shown["content"])
    content = await box.files.read(name, max_size=FILE_MAX)
    guessed = mimetypes.guess_type(name)[0]
    try:
        return Content(guessed or "text/plain", content.decode())
    except UnicodeDecodeError:
        return Content(guessed or "application/octet-stream", content)
