"""`hawse completion`: the completion script for a shell."""

import click
from click.shell_completion import get_completion_class

from hawse.cli.output import examples


@click.command(epilog=examples("hawse completion bash > ~/.local/share/bash-completion/completions/hawse"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    For bash: hawse completion bash > ~/.local/share/bash-completion/completions/hawse
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "hawse", "_HAWSE_COMPLETE").source())
