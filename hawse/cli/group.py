"""Groups of sub-commands. Each action has one name, and common synonyms work as well."""

from typing import Final

import click

# Aliases for actions. They are not shown in help, completion or the manual page.
SYNONYMS: Final = {"list": ("ls",), "delete": ("rm", "revoke"), "remove": ("rm", "revoke"), "rm": ("revoke",)}


class Group(click.Group):
    """A group that accepts hidden synonyms for its sub-commands and suggests a name if a sub-command is unknown."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for name in (cmd_name, *SYNONYMS.get(cmd_name, ())):
            if (command := self.named(ctx, name)) is not None:
                return command
        return None

    def named(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the sub-command with exactly this name, if any."""
        return super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            from difflib import get_close_matches  # imported here, because `hawse shell` must start fast

            close = get_close_matches(args[0], self.list_commands(ctx), n=1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {close[0]!r}?" if close else ""))
        return super().resolve_command(ctx, args)
