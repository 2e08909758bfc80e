"""`hawse doctor`: check this machine and the connection to the gateway, and say what to do."""

import asyncio
import platform
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Literal, NamedTuple

import click

import hawse
from hawse.cli.output import print_json
from hawse.cli.target import HINTS, Target, target_options
from hawse.client import Options, connect
from hawse.client.config import ConfigError, find_gateway
from hawse.wire import HawseError

TIMEOUT = 10.0  # s for the connection
MARKS = {"ok": "ok  ", "warning": "WARN", "failed": "FAIL"}


class Check(NamedTuple):
    """One line of the report."""

    name: str
    result: Literal["ok", "warning", "failed"]
    text: str


@click.command()
@target_options
def doctor(target: Target) -> int:
    """Check this machine and the connection to the gateway. Exit code 1: something does not work."""

    async def report() -> list[Check]:
        found = []
        async for check in _checks(target):
            found.append(check)
            if not target.as_json:
                click.echo(f"{MARKS[check.result]}  {check.name}: {check.text}")
        return found

    found = asyncio.run(report())
    if target.as_json:
        print_json([check._asdict() for check in found])
    return 1 if any(check.result == "failed" for check in found) else 0


async def _checks(target: Target) -> AsyncIterator[Check]:
    yield Check("hawse", "ok", f"{hawse.__version__}, Python {platform.python_version()}, {platform.platform()}")
    yield _isolation()
    try:
        gateway = find_gateway(target.url, target.token, target.ca)
    except ConfigError as error:
        yield Check("gateway", "failed", str(error))
        return
    yield Check("gateway", "ok" if gateway.token else "warning", f"{gateway.url} (from {gateway.source})")
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
            run = await client.sandbox(target.sandbox).exec(["true"], timeout=TIMEOUT)
            result: Literal["ok", "failed"] = "ok" if run.ok else "failed"
            yield Check("exec", result, f"`true` in sandbox {target.sandbox} ended with exit code {run.code}")
    except (HawseError, ValueError) as error:
        hint = HINTS.get(getattr(error, "code", ""), "")
        yield Check("connection", "failed", f"{error}{f' ({hint})' if hint else ''}")


def _isolation() -> Check:
    """Whether a gateway on this machine would isolate its sandboxes."""
    if sys.platform != "linux":
        return Check("isolation", "warning", "a gateway needs Linux; this machine can be a client")
    local = import_module("gateway.providers.local")
    isolation, reason, system_calls = local.choose_isolation("auto")
    if isolation == "none":
        return Check("isolation", "warning", f"sandboxes of a gateway on this machine are NOT isolated: {reason}")
    if not system_calls:
        return Check("isolation", "warning", f"{isolation} works on this machine, but system calls are not filtered")
    return Check("isolation", "ok", f"{isolation} works on this machine")
