"""Asks for confirmation before anything is irreversibly removed, and provides the option that skips the question."""

import sys
from collections.abc import Callable
from typing import Any, Final

import click

yes_option: Final[Callable[[Callable[..., Any]], Callable[..., Any]]] = click.option(
    "-y", "--yes", "-f", "--force", "yes", is_flag=True, help="do not ask"
)


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation.

    Args:
        question: Names what will be removed.
        yes: Whether the user has already confirmed with an option.

    Raises:
        click.UsageError: Standard input is not a terminal. A script must pass `--yes`.
        click.Abort: The answer is no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Standard input is not a terminal: pass --yes")
    click.confirm(question, abort=True, err=True)
