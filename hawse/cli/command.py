"""The `hawse` command. Each sub-command has its own module, which is imported when the sub-command is used."""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

import click

from hawse import __version__
from hawse.build import BUILD
from hawse.cli.deferred_modules import RARE, defer
from hawse.cli.group import Group


class CommandEntry(NamedTuple):
    """A sub-command, with the place where it is defined and its line in `hawse --help`."""

    module: str
    attribute: str
    help: str


def _entries(module: str, **commands: str) -> dict[str, CommandEntry]:
    return {name: CommandEntry(f"hawse.cli.{module}", name, text) for name, text in commands.items()}


COMMANDS: Final[dict[str, CommandEntry]] = {
    **_entries("commands.serve", serve="Start a gateway on this machine."),
    **_entries("commands.login", login="Save a gateway's address and token.", logout="Forget the saved gateway."),
    **_entries("commands.sandboxes", sandbox="Create, list, stop, start and delete sandboxes."),
    **_entries("commands.backups", backup="Create, list, restore and delete backups of directories."),
    **_entries("commands.egress", egress="Show, change and watch a sandbox's egress rules."),
    **_entries("commands.mounts", mount="Mount buckets and directories in a sandbox."),
    **_entries("commands.images", image="List, pull and remove images."),
    **_entries("commands.exec", exec="Run a command in a sandbox, and return its exit code."),
    **_entries("commands.code", code="Run code with rich results, from a file or line by line."),
    **_entries("commands.shell", shell="Open a terminal in a sandbox.", attach="Attach to a running terminal."),
    **_entries(
        "commands.terminals",
        terminals="List a sandbox's terminals.",
        wait="Wait until a terminal has ended or asks for input.",
        inbox="List unanswered questions.",
        answer="Answer a question.",
        refuse="Refuse a question.",
    ),
    **_entries(
        "commands.processes",
        ps="List processes.",
        kill="End processes or terminals.",
        logs="Print a process's output.",
    ),
    **_entries(
        "commands.files",
        ls="List a directory.",
        cat="Print files.",
        edit="Edit a file in the local editor.",
        extract="Unpack an archive in a sandbox.",
    ),
    **_entries("commands.copy", cp="Copy files and directories to and from a sandbox."),
    **_entries("commands.watch", watch="Print file changes as they happen."),
    **_entries("commands.ports", port="List, expose and forward ports."),
    **_entries("commands.tunnels", tunnel="Give a sandbox's ports public addresses."),
    **_entries("commands.desktops", desktop="Start, view and control a graphical desktop."),
    **_entries(
        "commands.recordings", record="Record a terminal.", play="Play a recording.", recordings="List recordings."
    ),
    **_entries("commands.top", top="Show a sandbox's live activity."),
    **_entries(
        "commands.access", token="Create, list and revoke tokens.", share="Create, list and revoke share links."
    ),
    **_entries("commands.join", join="Register this machine with a gateway as a sandbox."),
    **_entries("commands.audit", audit="List or follow the audit log."),
    **_entries("commands.mcp", mcp="Serve a sandbox's tools to an agent (MCP)."),
    **_entries("installation.bundle", bundle="Write the runtime's image for Kubernetes."),
    **_entries("installation.man", man="Print the manual page."),
    **_entries("installation.completion", completion="Print the completion script for a shell."),
    **_entries("installation.doctor", doctor="Check this machine and the connection to the gateway."),
}


class LazyGroup(Group):
    """A group that imports the module of a sub-command on first use, because `hawse shell` must start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def named(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = COMMANDS.get(name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.attribute)
        defer(*RARE)  # again, because the import may have loaded the packages of deferred modules
        gc.freeze()  # the loaded objects are permanent, so the garbage collector doesn't have to scan them
        gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Select the gateway with --url, HAWSE_URL or `hawse login`; the default is the gateway on this machine.",
)
@click.version_option(__version__, message=f"hawse %(version)s ({BUILD})")
def hawse() -> None:
    """Work with sandboxes over one WebSocket."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if it succeeded, 2 if its options are invalid."""
    defer(*RARE)
    try:
        code = hawse.main(argv, prog_name="hawse", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.ctx is not None and error.ctx.command is hawse:
            text = f"{error.format_message()} Options come after the command, such as `hawse exec --url URL`."
            error = click.UsageError(text, ctx=error.ctx)
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        return 130
    except OSError as error:
        return _failed(error)
    except BaseExceptionGroup as errors:  # a task that prints failed, as in `hawse exec yes | head`
        cause: BaseException = errors
        while isinstance(cause, BaseExceptionGroup) and len(cause.exceptions) == 1:
            cause = cause.exceptions[0]
        if not isinstance(cause, OSError):
            raise
        return _failed(cause)
    return code if isinstance(code, int) else 0


def _failed(error: OSError) -> int:
    """Report an output error or another local failure. Returns the exit code."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # the interpreter flushes it when it ends
    if isinstance(error, BrokenPipeError):  # as in `hawse ls | head`; exit as if SIGPIPE had ended the program
        return 141
    click.ClickException(str(error)).show()
    return 1
