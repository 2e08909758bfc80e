"""The `hawse` command. Each sub-command has a module of its own, which is imported when the sub-command is used."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

import click

from hawse import __version__
from hawse.build import BUILD


class Entry(NamedTuple):
    """One sub-command: where it is defined, and its line in `hawse --help`."""

    module: str
    attribute: str
    help: str


def _entries(module: str, **commands: str) -> dict[str, Entry]:
    return {name: Entry(f"hawse.cli.{module}", name, text) for name, text in commands.items()}


COMMANDS: Final[dict[str, Entry]] = {
    **_entries("serve", serve="Start a gateway on this machine."),
    **_entries("login", login="Save the address and the token of a gateway.", logout="Forget the saved gateway."),
    **_entries("sandboxes", sandbox="Create, list, stop, start and delete sandboxes."),
    **_entries("backups", backup="Create, list, restore and delete backups of directories."),
    **_entries("images", image="List, pull and remove images."),
    **_entries("exec", exec="Run a command in a sandbox, with its exit code."),
    **_entries("code", code="Run code with rich results, from a file or line by line."),
    **_entries("shell", shell="Open a terminal in a sandbox.", attach="Attach to a terminal that runs."),
    **_entries("terminals", terminals="List the terminals of a sandbox."),
    **_entries(
        "processes", ps="List processes.", kill="End processes or terminals.", logs="Print the output of a process."
    ),
    **_entries("files", ls="List a directory.", cat="Print files.", edit="Edit a file in the local editor."),
    **_entries("extract", extract="Unpack an archive that is in a sandbox."),
    **_entries("copy", cp="Copy files and directories to and from a sandbox."),
    **_entries("watch", watch="Print changes of files as they happen."),
    **_entries("ports", port="List, expose and forward ports."),
    **_entries("recordings", record="Record a terminal.", play="Play a recording.", recordings="List recordings."),
    **_entries("top", top="Show what a sandbox does, live."),
    **_entries("access", token="Create, list and revoke tokens.", share="Create, list and revoke share links."),
    **_entries("audit", audit="List or follow the audit log."),
    **_entries("mcp", mcp="Serve the tools of a sandbox to an agent (MCP)."),
    **_entries("bundle", bundle="Write the image of the runtime for Kubernetes."),
    **_entries("man", man="Print the manual page."),
    **_entries("completion", completion="Print the completion script for a shell."),
    **_entries("doctor", doctor="Check this machine and the connection to the gateway."),
}


class LazyGroup(click.Group):
    """A group that imports the module of a sub-command when it is used: `hawse shell` must start at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(importlib.import_module(entry.module), entry.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="The gateway is that of --url or HAWSE_URL, of `hawse login`, or the one that runs on this machine.",
)
@click.version_option(__version__, message=f"hawse %(version)s ({BUILD})")
def hawse() -> None:
    """Work with sandboxes over one WebSocket."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if it succeeded, 2 if its options cannot be used."""
    try:
        code = hawse.main(argv, prog_name="hawse", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:  # of `hawse ls | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # the interpreter flushes it when it ends
        return 141
    return code if isinstance(code, int) else 0
