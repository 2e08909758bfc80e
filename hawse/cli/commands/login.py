"""`hawse login` and `hawse logout`: save a gateway's address and token."""

import sys

import click

from hawse.cli.output import examples, json_option, print_json
from hawse.cli.target import failure
from hawse.client import Client, Options, config
from hawse.client.config import ConfigError, Gateway
from hawse.client.connection.dial import address, base, token_in
from hawse.client.signals import run
from hawse.wire import HawseError

CONNECT_TIMEOUT = 10.0  # timeout for connecting to the gateway, in seconds


@click.command(
    epilog=examples(
        "hawse login 'https://hawse.example.org/#token=…'",
        "hawse login https://hawse.example.org",
    )
)
@click.argument("url")
@click.option("--token", envvar="HAWSE_TOKEN", help="the token; by default, it is taken from URL or prompted for")
@click.option(
    "--ca",
    envvar="HAWSE_CA",
    type=click.Path(resolve_path=True),
    help="trust these certificates instead of the system's",
)
@json_option
def login(url: str, token: str | None, ca: str | None, as_json: bool) -> None:
    """Check a gateway's address and token, and save them.

    URL is the address that `hawse serve` prints, with or without #token=…
    """
    try:
        plain = base(address(url))
        token = token or token_in(url) or _ask(err=as_json)
        identity = run(_check(plain, token, ca))
        path = config.save(Gateway(plain, token, ca=ca))
    except HawseError as error:
        raise failure(error) from error
    except (ConfigError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"url": plain, "role": identity, "file": str(path)})
    else:
        click.echo(f"{plain}: signed in as {identity}; saved in {path}")


@click.command(epilog=examples("hawse logout"))
@json_option
def logout(as_json: bool) -> None:
    """Remove the address and the token that `hawse login` has saved."""
    try:
        found = config.forget()
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"forgotten": found})
    else:
        click.echo("forgotten" if found else "nothing was saved")


def _ask(*, err: bool) -> str:
    """Prompt for the token, or read it from standard input if that is not a terminal. Raises `click.ClickException`."""
    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=err))
    token = "" if sys.stdin is None else sys.stdin.readline().strip()
    if not token:
        raise click.ClickException("no token: pass --token, an address with #token=…, or the token on standard input")
    return token


async def _check(url: str, token: str, ca: str | None) -> str:
    options = Options(connect_timeout=CONNECT_TIMEOUT, give_up=CONNECT_TIMEOUT, first_give_up=0)
    async with Client(url, token=token, ca=ca, options=options) as client:
        welcome = client.welcome
        return welcome.role if welcome is not None else ""
