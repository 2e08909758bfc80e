"""`hawse man`: the manual page hawse(1), generated from the help of all sub-commands."""

import re
from collections.abc import Iterator
from typing import Final

import click

from hawse import __version__
from hawse.cli.output import examples

_NAME: Final = "hawse"
_FILES: Final = {
    "~/.config/hawse/config.json": "The address and the token saved by hawse login.",
    "~/.local/state/hawse": "The state of a gateway on this machine, with its token.",
}
_ENVIRONMENT: Final = {
    "HAWSE_URL, HAWSE_TOKEN, HAWSE_CA": "The gateway, its token, and the file of trusted certificates.",
    "HAWSE_SANDBOX": "The sandbox; `local` by default.",
    "HAWSE_CONNECT_TIMEOUT": "How many seconds to keep retrying if the first connection to the gateway fails.",
    "VISUAL, EDITOR": "The editor that hawse edit starts.",
}
_CODES: Final = {
    "0": "Success.",
    "1": "A call failed.",
    "2": "The options are invalid.",
    "124": "exec, shell, logs -f: the program exceeded its time limit.",
    "128+N": "exec, shell, logs -f: signal N ended the program.",
    "130": "Ctrl-C ended the command.",
    "255": "exec: the command was not run, or its exit status is unknown.",
}


@click.command(epilog=examples("hawse man > ~/.local/share/man/man1/hawse.1"))
@click.pass_context
def man(context: click.Context) -> None:
    """Print the manual page, in the format of man(7).

    To install it: hawse man > ~/.local/share/man/man1/hawse.1
    """
    root = context.find_root()
    assert isinstance(root.command, click.Group)
    click.echo("\n".join(page(root.command, root)))


def page(group: click.Group, context: click.Context) -> Iterator[str]:
    """Yield the lines of a command group's manual page."""
    yield f'.TH {_NAME.upper()} 1 "" "{_NAME} {__version__}" "User Commands"'
    yield from (".SH NAME", rf"{_NAME} \- work with sandboxes over one WebSocket")
    yield from (".SH SYNOPSIS", rf"\fB{_NAME}\fR \fICOMMAND\fR [\fIOPTION\fR...] [\fIARGUMENT\fR...]")
    yield from (".SH DESCRIPTION", *_paragraphs(group.help or ""), *_paragraphs(group.epilog or ""))
    yield ".SH COMMANDS"
    yield from _commands(group, context)
    for heading, entries in (("EXIT STATUS", _CODES), ("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {heading}"
        for name, text in entries.items():
            yield from (".TP", rf"\fB{escaped(name)}\fR", escaped(text))


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _commands(command, below)
            continue
        pieces = " ".join(command.collect_usage_pieces(below))
        yield f".SS {escaped(below.command_path)} {escaped(pieces)}"
        yield from _paragraphs(command.help or "")
        names = [parameter.name for parameter in command.get_params(below)]
        hidden = ("help", "url", "token", "ca") if "url" in names else ("help",)  # the ENVIRONMENT section lists these
        for parameter in command.get_params(below):
            record = parameter.get_help_record(below)
            if record is not None and record[1] and parameter.name not in hidden:  # arguments are in the description
                yield from (".TP", rf"\fB{escaped(record[0])}\fR", escaped(record[1]))
        if command.epilog:
            yield from (".PP", *_paragraphs(command.epilog))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        if number:
            yield ".PP"
        if paragraph.startswith("\b\n"):  # lines are not wrapped after \b, as in `--help`
            yield from (".nf", *map(escaped, paragraph.splitlines()[1:]), ".fi")
        else:
            yield escaped(" ".join(paragraph.split()))


def escaped(text: str) -> str:
    """Escape text for roff. The result is ASCII, and no line is interpreted as a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("\b", "")
    text = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in text)
    return rf"\&{text}" if text.startswith((".", "'")) else text
