"""How sub-commands connect to a gateway and a sandbox, and report connection errors."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import click

from hawse.cli.output import print_json, print_table, printable
from hawse.client import Client, ConnectionState, GaveUpError, Options, Sandbox, connect
from hawse.client.config import ConfigError, find_gateway
from hawse.client.signals import run
from hawse.wire import HawseError

T = TypeVar("T")
E = TypeVar("E", bound=BaseException)

DEFAULT_SANDBOX: Final = "local"
SILENT: Final = 1.0  # seconds to try connecting before a message is shown
HINTS: Final = {
    "unauthenticated": "run `hawse login`, or set HAWSE_TOKEN",
    "stopped": "`hawse sandbox start` starts it",
}
NOT_REACHED: Final = "is the gateway running? `hawse login URL` or HAWSE_URL selects another; `hawse doctor` checks"
UNKNOWN_SANDBOX: Final = "unknown sandbox"  # prefix of the gateway's error message


class Pair(click.ParamType[tuple[str, str]]):
    """A `NAME=VALUE` pair."""

    name = "NAME=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, separator, text = value.partition("=")
        if not name or not separator:
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name, text


class SandboxPath(click.ParamType[str]):
    """A path in the sandbox, optionally preceded by a colon, as in `hawse cp`. `./:a` is a file named `:a`."""

    name = "PATH"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value.removeprefix(":") or "."


@dataclass(frozen=True, kw_only=True)
class Target:
    """The gateway and the sandbox that a sub-command works with.

    Attributes:
        url: The address of the gateway. If None, it is found as described in `hawse.client.config`.
        token: The access token. If None, it is found as described in `hawse.client.config`.
        ca: A file with trusted CA certificates. If None, it is found as described in `hawse.client.config`.
        sandbox: The id of the sandbox.
        as_json: Whether to print results as JSON.
        patience: How long to retry a failed first connection, in seconds; 0 means a single attempt.
    """

    url: str | None = None
    token: str | None = None
    ca: str | None = None
    sandbox: str = DEFAULT_SANDBOX
    as_json: bool = False
    patience: float = 0.0

    def client(self) -> Client:
        """Return a client that is not connected yet. Raises `click.ClickException` if there is no valid address.

        If the gateway cannot be reached, connecting fails after the first attempt unless `patience` allows more
        attempts. If the connection is lost later, the client keeps trying to reconnect.
        """
        try:
            gateway = find_gateway(self.url, self.token, self.ca)
            limit = max(Options().connect_timeout, self.patience)
            options = Options(connect_timeout=limit, first_give_up=self.patience)
            report = ConnectionReport(gateway.url)
            client = connect(gateway.url, token=gateway.token, ca=gateway.ca, options=options, on_state=report.enter)
            report.problem = lambda: client.problem
            return client
        except (ConfigError, ValueError) as error:
            raise click.ClickException(str(error)) from error

    def for_token(self, token: str) -> Client:
        """Return an unconnected client for the same gateway with a different token. Raises `click.ClickException`."""
        return replace(self, token=token).client()

    def run(self, work: Callable[[Client, Sandbox], Awaitable[T]], *, timeout: float | None = None) -> T:
        """Connect, await `work(client, sandbox)` and return its result.

        Args:
            work: An async function.
            timeout: Total time limit in seconds; None means no limit.

        Raises:
            click.ClickException: The gateway refused the connection, or a call failed.
            TimeoutError: `work` took longer than `timeout`.
        """

        async def connected() -> T:
            async with asyncio.timeout(timeout), self.client() as client:
                return await work(client, client.sandbox(self.sandbox))

        try:
            return run(connected())
        except HawseError as error:
            raise failure(error) from error

    def print_list(
        self,
        work: Callable[[Client, Sandbox], Awaitable[Sequence[T]]],
        columns: Sequence[str],
        row: Callable[[T], Sequence[object]],
    ) -> None:
        """Print the items that `work` returns as a table, or as JSON if requested.

        Args:
            work: An async function, as in `run`.
            columns: The headings of the table.
            row: Returns the cells of an item, in the order of `columns`.

        Raises:
            click.ClickException: For the same reasons as in `run`.
        """
        found = self.run(work)
        if self.as_json:
            print_json(found)
        else:
            print_table(columns, map(row, found))

    def print_result(self, work: Callable[[Client, Sandbox], Awaitable[T]], text: Callable[[T], str]) -> None:
        """Print the result of `work` as the line that `text` returns, or as JSON if requested.

        Args:
            work: An async function, as in `run`.
            text: Formats the result for display.

        Raises:
            click.ClickException: For the same reasons as in `run`.
        """
        found = self.run(work)
        if self.as_json:
            print_json(found)
        else:
            click.echo(text(found))


class ConnectionReport:
    """Reports connection attempts on standard error if the first connection is not established quickly.

    Args:
        url: The address of the gateway.
    """

    def __init__(self, url: str) -> None:
        self.problem: Callable[[], str | None] = lambda: None  # returns why the last attempt failed
        self._url = printable(url.partition("#")[0])  # the address without its token
        self._timer: asyncio.TimerHandle | None = None
        self._printed = ""
        self._over = False  # whether the client has connected or failed permanently

    def enter(self, state: ConnectionState) -> None:
        """Handle a change in the connection's state."""
        if self._over:
            return
        if state is ConnectionState.CONNECTING and self._timer is None:
            text = f"connecting to {self._url}"
            self._timer = asyncio.get_running_loop().call_later(SILENT, self._print, text)
            return
        assert self._timer is not None
        self._over = state in (ConnectionState.OPEN, ConnectionState.CLOSED)
        if state is not ConnectionState.CONNECTING:
            self._timer.cancel()
        if state is ConnectionState.WAITING:
            self._print(f"connecting to {self._url}: {self.problem()}; trying again")

    def _print(self, text: str) -> None:
        if text != self._printed:
            self._printed = text
            click.echo(text, err=True)


def hint_for(error: HawseError) -> str | None:
    """Return a suggestion for resolving `error`."""
    if isinstance(error, GaveUpError):
        return NOT_REACHED
    if error.code == "not_found" and error.message.startswith(UNKNOWN_SANDBOX):
        return "`hawse sandbox ls` lists them"
    return HINTS.get(error.code)


def failure(error: HawseError) -> click.ClickException:
    """Return an exception that reports `error`'s code and message, along with a suggestion."""
    text = f"{error.code}: {error.message}"
    if hint := hint_for(error):
        text += f" ({hint})"
    return click.ClickException("\n".join(map(printable, text.split("\n"))))


def first(errors: BaseExceptionGroup[E]) -> E:
    """Return the first error in a group, at any depth, because commands only report one error."""
    found = errors.exceptions[0]
    return first(found) if isinstance(found, BaseExceptionGroup) else found
