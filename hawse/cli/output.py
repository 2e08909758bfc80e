"""What sub-commands print: tables on a terminal, plain columns in a pipe, JSON on request."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import click
import msgspec

BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def print_json(value: Any) -> None:
    """Print `value` as one line of JSON. Structs, dataclasses and bytes are supported."""
    click.echo(msgspec.json.encode(value).decode())


def write_bytes(data: bytes, stream: TextIO | None = None) -> None:
    """Write `data` as it is to a stream, standard output by default, at once."""
    buffer = (stream or sys.stdout).buffer
    buffer.write(data)
    buffer.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below their headings.

    Args:
        columns: The headings.
        rows: The cells of each row, in the order of `columns`. None is printed as an empty cell.
    """
    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console  # 60 ms, which a program that reads our output need not wait for
        from rich.table import Table
        from rich.text import Text

        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in cells:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in (columns, *cells):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """Return `text` with its control characters escaped: names and titles come from programs."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def size(count: int | None) -> str:
    """Return bytes with a unit, such as `1.5 MiB`; an empty text for None."""
    if count is None:
        return ""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(BINARY_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} {BINARY_UNITS[unit]}" if unit == 0 or value >= 100 else f"{value:.1f} {BINARY_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Return a duration with its two largest units, such as `3m12s`."""
    whole = max(0, int(seconds))
    for unit, name, below, below_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= unit:
            return f"{whole // unit}{name}{whole % unit // below:02d}{below_name}"
    return f"{whole}s"
