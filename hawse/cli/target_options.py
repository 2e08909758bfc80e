"""The sub-command options that select a gateway and a sandbox."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from hawse.cli.candidates import offer, sandboxes
from hawse.cli.output import json_option
from hawse.cli.target import DEFAULT_SANDBOX, Target


def gateway_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --url, --token, --ca, --connect-timeout and --json to a sub-command that does not need a sandbox.

    The sub-command gets a `Target` as its first argument.
    """

    @click.option("--url", envvar="HAWSE_URL", metavar="URL", help="the address of the gateway")
    @click.option("--token", envvar="HAWSE_TOKEN", metavar="TOKEN", help="the token for the gateway")
    @click.option("--ca", envvar="HAWSE_CA", metavar="FILE", help="the certificates to trust instead of the system's")
    @click.option(
        "--connect-timeout",
        "patience",
        envvar="HAWSE_CONNECT_TIMEOUT",
        type=click.FloatRange(min=0, max=86400),
        default=0.0,
        metavar="SECONDS",
        help="how long to retry if the first connection fails (no retries)",
    )
    @json_option
    @functools.wraps(command)
    def wrapped(url: str | None, token: str | None, ca: str | None, **options: Any) -> Any:
        shared = {name: options.pop(name) for name in ("as_json", "patience")}
        return command(Target(url=url, token=token, ca=ca, **shared), **options)

    return wrapped


def sandbox_option(text: str, *, default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator that adds --sandbox to a sub-command.

    Args:
        text: The option's help text.
        default: The default sandbox id; None if the sub-command chooses one.
    """
    return click.option(
        "-s",
        "--sandbox",
        envvar="HAWSE_SANDBOX",
        default=default,
        show_default=True,
        metavar="ID",
        help=text,
        shell_complete=offer(sandboxes),
    )


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --sandbox and the options from `gateway_options` to a sub-command. Its first argument is a `Target`."""

    @sandbox_option("the sandbox", default=DEFAULT_SANDBOX)
    @gateway_options
    @functools.wraps(command)
    def wrapped(target: Target, sandbox: str, **options: Any) -> Any:
        return command(replace(target, sandbox=sandbox), **options)

    return wrapped
