"""Sub-command output: tables on a terminal, plain columns in a pipe, JSON if requested."""

import base64
import codecs
import errno
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Self, TextIO

import click
import msgspec

BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


_utf8: Final = codecs.getincrementaldecoder("utf-8")

json_option: Final[Callable[[Callable[..., Any]], Callable[..., Any]]] = click.option(
    "--json", "as_json", is_flag=True, help="print JSON: a single value, or one value per line for a stream"
)


def examples(*lines: str) -> str:
    """Return an epilog with a command's examples, one per line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)  # with \b, click keeps line breaks


def print_json(value: Any) -> None:
    """Print `value` as one line of JSON. Structs, dataclasses and bytes are supported.

    Bytes in file names that are not UTF-8 are escaped as in Python, such as `\\udcff` for 0xff.
    """
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
    click.echo(text)


def encoded(output: Mapping[str, bytes | bytearray], *, truncated: bool = False) -> dict[str, str]:
    """Return output streams as JSON values, each with its `encoding`: `utf-8`, or `base64` if a stream is not UTF-8.

    The HTTP API has the same fields.

    Args:
        output: The streams, keyed by name.
        truncated: Whether they can end in the middle of a character, which is then omitted.
    """
    try:
        texts = {name: _utf8().decode(data, final=not truncated) for name, data in output.items()}
    except UnicodeDecodeError:
        return {name: base64.b64encode(data).decode() for name, data in output.items()} | {"encoding": "base64"}
    return texts | {"encoding": "utf-8"}


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal. A closed stream is None."""
    return stream is not None and stream.isatty()


def write_bytes(data: bytes, stream: TextIO | None = None) -> None:
    """Write `data` unchanged and unbuffered to a stream, by default standard output. Raises `OSError`."""
    stream = stream or sys.stdout
    if stream is None:  # Python was started without this stream
        raise OSError(errno.EBADF, "standard output or standard error is closed")
    buffer = stream.buffer
    buffer.write(data)
    buffer.flush()


class ProgressLine:
    """Shows progress on one line of stderr, if it is a terminal. Leaving the `with` block erases the line."""

    def __init__(self, *, hidden: bool) -> None:
        self._visible = is_terminal(sys.stderr) and not hidden

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def show(self, text: str) -> None:
        """Replace the progress text on the line."""
        if self._visible:
            click.echo(f"\r{text}\x1b[K", err=True, nl=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below their headings. Cells are never truncated; the terminal wraps long lines.

    Args:
        columns: The headings.
        rows: The cells of each row, in the order of `columns`. None is printed as an empty cell.
    """
    terminal = is_terminal(sys.stdout)
    width_of: Callable[[str], int] = len
    if terminal:
        from rich.cells import cell_len as width_of  # importing rich takes 15 ms, and pipes don't need it

    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    # Widths of all columns except the last, which can contain a command that is many kilobytes long.
    widths = [max(map(width_of, column)) for column in zip(columns[:-1], *(row[:-1] for row in cells), strict=True)]
    for number, line in enumerate((columns, *cells)):
        padded = [cell + " " * (width - width_of(cell)) for cell, width in zip(line, widths, strict=False)]
        text = "  ".join((*padded, line[-1])).rstrip()
        click.echo(click.style(text, bold=True) if number == 0 and terminal else text)


def printable(text: str) -> str:
    """Return `text` with control characters escaped, because names and titles are set by programs."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def listed(names: Iterable[str]) -> str:
    """Return names as a list to use in a sentence, with control characters escaped."""
    return ", ".join(map(printable, names))


def size(count: int | None) -> str:
    """Return a size in bytes with a suitable unit, such as `1.5 MiB`; "" for None."""
    if count is None:
        return ""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(BINARY_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} {BINARY_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {BINARY_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as `3m12s`."""
    whole = max(0, int(seconds))
    for unit, name, below, below_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= unit:
            return f"{whole // unit}{name}{whole % unit // below:02d}{below_name}"
    return f"{whole}s"
