"""`hawse doctor`: check this machine and the connection to the gateway, and suggest solutions."""

import platform
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Literal

import click

import hawse
from hawse.cli.commands.backups import usage_text
from hawse.cli.installation.optional_parts import Check, of_machine, of_sandbox
from hawse.cli.output import examples, print_json
from hawse.cli.target import Target, hint_for
from hawse.cli.target_options import target_options
from hawse.client import Client, Options, connect
from hawse.client.config import ConfigError, find_gateway
from hawse.client.connection.dial import token_in
from hawse.client.signals import run
from hawse.wire import HawseError

TIMEOUT = 10.0  # connection timeout, in seconds
NEARLY_FULL = 0.9  # fraction of a limit that triggers a warning
MARKS = {"ok": "ok  ", "warning": "WARN", "failed": "FAIL"}


@click.command(epilog=examples("hawse doctor", "hawse doctor --json", "hawse doctor --apparmor"))
@click.option("--apparmor", is_flag=True, help="only print an AppArmor profile that lets bwrap isolate sandboxes")
@target_options
def doctor(target: Target, apparmor: bool) -> int:
    """Check this machine and the connection to the gateway. The exit code is 1 if a check failed."""
    if apparmor:
        click.echo(_apparmor_profile(), nl=False)
        return 0

    async def report() -> list[Check]:
        found = []
        async for check in _checks(target):
            found.append(check)
            if not target.as_json:
                click.echo(f"{MARKS[check.result]}  {check.name}: {check.text}")
        return found

    found = run(report())
    if target.as_json:
        print_json([check._asdict() for check in found])
    return 1 if any(check.result == "failed" for check in found) else 0


async def _checks(target: Target) -> AsyncIterator[Check]:
    yield Check("hawse", "ok", f"{hawse.__version__}, Python {platform.python_version()}, {platform.platform()}")
    yield _isolation()
    for check in of_machine():
        yield check
    try:
        gateway = find_gateway(target.url, target.token, target.ca)
    except ConfigError as error:
        yield Check("gateway", "failed", str(error))
        return
    known = gateway.token or token_in(gateway.url)
    shown = gateway.url.partition("#")[0]  # omits the token that can follow `#`
    yield Check("gateway", "ok" if known else "warning", f"{shown} (from {gateway.source})")
    options = Options(connect_timeout=TIMEOUT, give_up=TIMEOUT, first_give_up=0, request_timeout=TIMEOUT)
    try:
        async with connect(gateway.url, token=gateway.token, ca=gateway.ca, options=options) as client:
            welcome = client.welcome
            yield Check(
                "connection", "ok", f"{welcome.server if welcome else ''}, as {welcome.role if welcome else ''}"
            )
            for info in await client.sandboxes.list():
                isolation = f", isolation {info.isolation}" if info.isolation else ""
                yield Check(
                    f"sandbox {info.id}", "failed" if info.state == "failed" else "ok", f"{info.state}{isolation}"
                )
            yield await _backups(client)
            for check in await of_sandbox(client.sandbox(target.sandbox)):
                yield check
            run = await client.sandbox(target.sandbox).exec(["true"], timeout=TIMEOUT)
            result: Literal["ok", "failed"] = "ok" if run.ok else "failed"
            yield Check("exec", result, f"`true` in sandbox {target.sandbox} ended with exit code {run.code}")
    except (HawseError, ValueError) as error:
        hint = hint_for(error) if isinstance(error, HawseError) else None
        yield Check("connection", "failed", f"{error}{f' ({hint})' if hint else ''}")


async def _backups(client: Client) -> Check:
    """Report the user's backup store usage."""
    try:
        usage = await client.backups.usage()
    except HawseError as error:
        if error.code in ("unknown_method", "forbidden"):  # an old gateway, or the caller may not create backups
            return Check("backups", "ok", "not available")
        raise
    count = usage.max_backups
    full = usage.bytes >= NEARLY_FULL * usage.max_bytes or (count is not None and usage.backups >= NEARLY_FULL * count)
    text = usage_text(usage) + ("; `hawse backup rm` frees space" if full else "")
    return Check("backups", "warning" if full else "ok", text)


def _apparmor_profile() -> str:
    if sys.platform != "linux":
        raise click.ClickException("AppArmor needs Linux")
    profile: str = import_module("hawse_gateway.providers.isolation.remedies").apparmor_profile()
    return profile


def _isolation() -> Check:
    """Report whether a gateway on this machine would isolate its sandboxes."""
    if sys.platform != "linux":
        return Check("isolation", "warning", "a gateway needs Linux; this machine can be a client")
    choice = import_module("hawse_gateway.providers.isolation.choice")
    isolation, reason, system_calls = choice.choose_isolation("auto")
    if isolation == "none":
        return Check("isolation", "warning", f"sandboxes of a gateway on this machine are NOT isolated: {reason}")
    if not system_calls:
        return Check("isolation", "warning", f"{isolation} works on this machine, but system calls are not filtered")
    return Check("isolation", "ok", f"{isolation} works on this machine")
