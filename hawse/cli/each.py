"""Helpers for commands that take several names: each name is tried, and each failure is reported."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import click

from hawse.cli.output import printable
from hawse.cli.target import Target, failure
from hawse.client import Client, GaveUpError, Sandbox
from hawse.wire import HawseError

T = TypeVar("T")


def for_each(
    target: Target, names: Iterable[str], action: Callable[[Client, Sandbox, str], Awaitable[T]]
) -> tuple[list[T], int]:
    """Await `action(client, sandbox, name)` for each name in order, even after failures.

    Args:
        target: The gateway and the sandbox.
        names: The arguments of the command.
        action: An async function.

    Returns:
        The results for the names that did not fail, and the exit code, which is 1 if any name failed.

    Raises:
        click.ClickException: The gateway cannot be reached, or the connection was lost permanently.
    """

    async def work(client: Client, box: Sandbox) -> tuple[list[T], int]:
        results: list[T] = []
        code = 0
        for name in names:
            try:
                results.append(await action(client, box, name))
            except GaveUpError:  # the remaining names would fail as well
                raise
            except HawseError as error:
                report(name, error)
                code = 1
        return results, code

    return target.run(work)


def report(name: str, error: HawseError) -> None:
    """Report on standard error which of several names failed and why."""
    click.echo(f"Error: {printable(name)}: {failure(error).message}", err=True)
