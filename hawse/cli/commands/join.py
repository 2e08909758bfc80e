"""`hawse join`: register this machine with a gateway as a sandbox, and share it."""

import asyncio
import getpass
import os
import secrets
import signal
import socket
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import click

from hawse.api.access import ShareCreateResult
from hawse.api.rights import Role
from hawse.cli.installation.optional_parts import require_server
from hawse.cli.output import examples, printable
from hawse.cli.target import Target, failure
from hawse.cli.target_options import gateway_options, sandbox_option
from hawse.client import Client
from hawse.client.config import ConfigError, find_gateway
from hawse.client.connection.dial import address, base, token_in
from hawse.client.signals import run
from hawse.machine.machine import Machine, MachineState
from hawse.wire import HawseError

Access = Literal["view", "write"]
LEAVE_TIMEOUT: Final = 5.0  # maximum number of seconds for the final calls, in case the gateway does not respond


@dataclass(frozen=True)
class JoinTarget:
    """The sandbox that the machine joins.

    Attributes:
        sandbox: The sandbox; None means the token's sandbox.
        link: A share link, if one was requested. It is revoked at the end.
        created: Whether this command created the sandbox and will delete it at the end.
    """

    sandbox: str | None
    link: ShareCreateResult | None = None
    created: bool = False


@click.command(
    epilog=examples(
        "hawse join https://hawse.example.org",
        "hawse join --directory src --share=write",
    )
)
@click.argument("gateway", required=False, metavar="[URL]")
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="the directory where programs start (the current directory)",
)
@click.option(
    "--share",
    type=click.Choice(["view", "write"]),
    is_flag=False,
    flag_value="view",
    help="print a link to `view` the sandbox, or also to `write`; guests need no token",
)
@sandbox_option("the sandbox to become; created if it does not exist")
@gateway_options
def join(target: Target, gateway: str | None, directory: Path, share: Access | None, sandbox: str | None) -> None:
    """Register this machine as a sandbox with the gateway at URL, until Ctrl-C.

    The machine connects to the gateway, so it needs no open port. With a `joiner` token, it becomes the token's
    sandbox. Otherwise, it becomes the sandbox of --sandbox, or a new sandbox that is deleted at the end.
    """
    require_server("hawse join")
    run_join(target, gateway, sandbox, directory, share)


def run_join(target: Target, url: str | None, sandbox: str | None, directory: Path, share: Access | None) -> None:
    """Join a gateway until Ctrl-C or until the gateway ends the sandbox.

    Args:
        target: The gateway, unless `url` names one.
        url: The address of the gateway.
        sandbox: The id of the sandbox. None means the token's sandbox or a new one.
        directory: The directory where programs start.
        share: The role for a share link; None means no link.

    Raises:
        click.ClickException: The gateway refuses the machine, or the runtime does not start.
    """
    try:
        gateway = find_gateway(url or target.url, target.token, target.ca)
        token = gateway.token or token_in(gateway.url)
        found = replace(target, url=gateway.url, token=token, ca=gateway.ca)
        run(_join(found, gateway.url, sandbox, directory, share))
    except (ConfigError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    except HawseError as error:
        raise failure(error) from error


async def _join(target: Target, url: str, wanted: str | None, directory: Path, share: Access | None) -> None:
    async with target.client() as client:
        place = await _place(client, wanted, share)
    report = JoinReport(base(address(url)), directory.resolve(), place.link)
    machine = Machine(
        url, token=target.token, sandbox=place.sandbox, directory=directory, ca=target.ca, on_state=report.enter
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, machine.stop)
    try:
        click.echo(f"ended: {printable(await machine.run())}", err=True)
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        await _leave(target, url, place)


async def _place(client: Client, sandbox: str | None, share: Access | None) -> JoinTarget:
    """Return the sandbox to join, creating it if the token permits that. Raises `HawseError`."""
    if client.welcome is not None and client.welcome.role == "joiner":
        if share is not None:
            raise HawseError("forbidden", "a token of the role joiner cannot create links: omit --share")
        return JoinTarget(sandbox)
    created = False
    if sandbox is None or not any(one.id == sandbox for one in await client.sandboxes.list()):
        name = f"{_plain(socket.gethostname())}-{secrets.token_hex(3)}" if sandbox is None else sandbox
        sandbox = await _create(client, name, chosen=sandbox is not None)
        created = True
    link = None
    if share is not None:
        role: Role = "writer" if share == "write" else "viewer"
        link = await client.links.create(sandbox, role=role, name="guest")
    return JoinTarget(sandbox, link, created)


async def _create(client: Client, name: str, *, chosen: bool) -> str:
    labels = {"machine": socket.gethostname()[:255]}
    try:
        await client.sandboxes.create(name, provider="joined", labels=labels)
    except HawseError as error:
        prefix = error.details.get("prefix") if isinstance(error.details, dict) else None
        if chosen or not isinstance(prefix, str):
            raise
        name = prefix + name  # this caller may only create sandboxes whose ids start with the prefix
        await client.sandboxes.create(name, provider="joined", labels=labels)
    return name


async def _leave(target: Target, url: str, place: JoinTarget) -> None:
    """Delete the sandbox and its links if this command created it; otherwise, revoke the link. Failures are ignored."""
    if place.sandbox is None or not (place.created or place.link):
        return
    what = f"sandbox {place.sandbox}" if place.created else "the link"
    try:
        async with asyncio.timeout(LEAVE_TIMEOUT), Client(url, token=target.token, ca=target.ca) as client:
            if place.created:
                await client.sandbox(place.sandbox).delete()
            elif place.link is not None:
                await client.links.revoke(place.link.info.id)
    except (HawseError, TimeoutError) as error:
        if not isinstance(error, HawseError) or error.code != "not_found":
            why = str(error) or "the gateway does not answer"
            click.echo(printable(f"{what} remains: {why}"), err=True)


def _plain(name: str) -> str:
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower()).strip("-")
    return kept[:32] or "machine"


class JoinReport:
    """Prints the shared directory and changes in the connection's state.

    Args:
        url: The address of the gateway.
        directory: The directory where programs start.
        link: The share link, if any.
    """

    def __init__(self, url: str, directory: Path, link: ShareCreateResult | None) -> None:
        self._url = url
        self._directory = directory
        self._link = link
        self._joined = False
        self._printed = ""

    def enter(self, state: MachineState, text: str) -> None:
        """Print a change in the machine's state."""
        if state is MachineState.WAITING:
            self._print(f"not connected: {text}; trying again")
        elif state is MachineState.JOINED and self._joined:
            self._print("connected again")
        elif state is MachineState.JOINED:
            self._joined = True
            for line in self._lines(text):
                self._print(line)

    def _lines(self, sandbox: str) -> list[str]:
        user, host = getpass.getuser(), socket.gethostname()
        lines = [
            f"This machine is now sandbox {sandbox} of {self._url}",
            f"  shared     everything that {user} can do on {host}: programs run as {user}, without isolation, and can",
            "             read and change all of this user's files",
            f"  directory  {self._directory} (programs start there)",
            "  who        this sandbox's operators and writers can type and change files; its viewers can watch",
        ]
        if os.getuid() == 0:
            lines.insert(1, "! You are root: anyone who can type can do anything on this machine")
        if self._link is not None:
            may = "type" if self._link.info.role == "writer" else "watch"
            lines.append(f"  link       {self._url}{self._link.path}")
            lines.append(
                f"             Anyone with the link can {may}; to revoke it: `hawse share revoke {self._link.info.id}`"
            )
        return [*lines, "Press Ctrl-C to exit and end all programs in the sandbox."]

    def _print(self, text: str) -> None:
        if text != self._printed:
            self._printed = text
            click.echo(printable(text), err=not self._joined)
