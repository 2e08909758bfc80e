"""What every sub-command shares: the options that select a gateway and a sandbox, the connection, and its errors."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import click

from hawse.cli.output import print_json, print_table
from hawse.client import Client, Options, Sandbox, connect
from hawse.client.config import ConfigError, find_gateway
from hawse.wire import HawseError

T = TypeVar("T")
E = TypeVar("E", bound=BaseException)

DEFAULT_SANDBOX: Final = "local"
HINTS: Final = {
    "unauthenticated": "run `hawse login`, or set HAWSE_TOKEN",
    "unavailable": "is the gateway running? `hawse doctor` checks",
}


class Pair(click.ParamType[tuple[str, str]]):
    """A `NAME=VALUE`."""

    name = "NAME=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, separator, text = value.partition("=")
        if not name or not separator:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name, text


@dataclass(frozen=True, kw_only=True)
class Target:
    """The gateway and the sandbox that a sub-command works with.

    Attributes:
        url: The address of the gateway; None: see `hawse.client.config`.
        token: The token for it; None: see `hawse.client.config`.
        ca: The file of the certificates that are trusted; None: see `hawse.client.config`.
        sandbox: The id of the sandbox.
        as_json: Whether results are printed as JSON.
    """

    url: str | None = None
    token: str | None = None
    ca: str | None = None
    sandbox: str = DEFAULT_SANDBOX
    as_json: bool = False

    def client(self, options: Options | None = None) -> Client:
        """Return a client that is not yet connected. Raises `click.ClickException` if there is no valid address."""
        try:
            gateway = find_gateway(self.url, self.token, self.ca)
            return connect(gateway.url, token=gateway.token, ca=gateway.ca, options=options)
        except (ConfigError, ValueError) as error:
            raise click.ClickException(str(error)) from error

    def for_token(self, token: str) -> Client:
        """Return a client of the same gateway with another token, not connected. Raises `click.ClickException`."""
        return replace(self, token=token).client()

    def run(self, work: Callable[[Client, Sandbox], Awaitable[T]], options: Options | None = None) -> T:
        """Connect, await `work(client, sandbox)` and return its result.

        Args:
            work: An async function.
            options: The options of the client.

        Raises:
            click.ClickException: The gateway refused, or a call failed; the message says which.
        """

        async def connected() -> T:
            async with self.client(options) as client:
                return await work(client, client.sandbox(self.sandbox))

        try:
            return asyncio.run(connected())
        except HawseError as error:
            raise failure(error) from error

    def print_list(
        self,
        work: Callable[[Client, Sandbox], Awaitable[Sequence[T]]],
        columns: Sequence[str],
        row: Callable[[T], Sequence[object]],
    ) -> None:
        """Print the items that `work` returns: as a table, or as JSON if that was asked for.

        Args:
            work: An async function, as for `run`.
            columns: The headings of the table.
            row: Returns the cells of an item, in the order of `columns`.

        Raises:
            click.ClickException: As `run`.
        """
        found = self.run(work)
        if self.as_json:
            print_json(found)
        else:
            print_table(columns, map(row, found))

    def print_result(self, work: Callable[[Client, Sandbox], Awaitable[T]], text: Callable[[T], str]) -> None:
        """Print what `work` returns: as the line that `text` makes of it, or as JSON if that was asked for.

        Args:
            work: An async function, as for `run`.
            text: Returns what a person needs of the result.

        Raises:
            click.ClickException: As `run`.
        """
        found = self.run(work)
        if self.as_json:
            print_json(found)
        else:
            click.echo(text(found))


def failure(error: HawseError) -> click.ClickException:
    """Return the exception that reports `error`: its code, its message and what to do."""
    text = f"{error.code}: {error.message}"
    if hint := HINTS.get(error.code):
        text += f" ({hint})"
    return click.ClickException(text)


def first(errors: BaseExceptionGroup[E]) -> E:
    """Return the first error of a group, at any depth: a command reports one."""
    found = errors.exceptions[0]
    return first(found) if isinstance(found, BaseExceptionGroup) else found


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --url, --token, --ca, --sandbox and --json to a sub-command, which gets a `Target` as its first argument."""

    @click.option("--url", envvar="HAWSE_URL", metavar="URL", help="the address of the gateway")
    @click.option("--token", envvar="HAWSE_TOKEN", metavar="TOKEN", help="the token for the gateway")
    @click.option("--ca", envvar="HAWSE_CA", metavar="FILE", help="the certificates to trust instead of the system's")
    @click.option(
        "-s",
        "--sandbox",
        envvar="HAWSE_SANDBOX",
        default=DEFAULT_SANDBOX,
        show_default=True,
        metavar="ID",
        help="the sandbox",
    )
    @click.option("--json", "as_json", is_flag=True, help="print JSON: one value, or one for each line of a stream")
    @functools.wraps(command)
    def wrapped(url: str | None, token: str | None, ca: str | None, sandbox: str, as_json: bool, **options: Any) -> Any:
        return command(Target(url=url, token=token, ca=ca, sandbox=sandbox, as_json=as_json), **options)

    return wrapped
