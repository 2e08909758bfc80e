"""`hawse audit`: list or follow the audit log."""

import asyncio
import time
from typing import Any, Final

import click

from hawse.api.access import AuditEntry
from hawse.cli.commands.access import Lifetime
from hawse.cli.output import examples, print_json, print_table
from hawse.cli.target import Target
from hawse.cli.target_options import gateway_options
from hawse.client import Client, Sandbox

POLL: Final = 1.0  # seconds between requests while following the log
FOLLOWED: Final = 10_000  # maximum number of entries to print per request, to limit memory use


@click.command(
    epilog=examples(
        "hawse audit --since 8h --outcome forbidden",
        "hawse audit --follow --method token.",
    )
)
@click.option(
    "--since", type=Lifetime(), metavar="DURATION", help="only entries from the last DURATION, such as 8h or 30d"
)
@click.option("--user", metavar="ID", help="only entries for this user")
@click.option("--method", metavar="NAME", help="only this method, or all with a prefix such as `token.`")
@click.option("--in", "place", metavar="ID", help="only this sandbox")
@click.option("--outcome", metavar="CODE", help="only this outcome, such as ok or forbidden")
@click.option("-n", "--limit", type=click.IntRange(1, FOLLOWED), default=100, help="maximum number of entries (100)")
@click.option("-f", "--follow", is_flag=True, help="keep printing new entries until Ctrl-C")
@gateway_options
def audit(target: Target, since: float | None, place: str | None, limit: int, follow: bool, **filters: Any) -> None:
    """List the audit log, oldest entry first."""

    async def work(client: Client, box: Sandbox) -> None:
        start = None if since is None else time.time() - since
        wanted = {**filters, "sandbox": place}
        found = await client.audit.list(**wanted, since=start, limit=limit)
        last = found[0].position if found else None
        _print(found[::-1], as_json=target.as_json, lines=follow)
        while follow:
            await asyncio.sleep(POLL)
            found = await client.audit.list(**wanted, since=None if last else start, after=last, limit=FOLLOWED)
            last = found[0].position if found else last
            _print(found[::-1], as_json=target.as_json, lines=True)

    target.run(work)


def _print(entries: list[AuditEntry], *, as_json: bool, lines: bool) -> None:
    """Print entries as a table or as JSON. With `lines`, print no heading, and one JSON value per line."""
    if as_json and lines:
        for entry in entries:
            print_json(entry)
    elif as_json:
        print_json(entries)
    elif lines:
        for entry in entries:
            click.echo("  ".join(_row(entry)))
    else:
        print_table(["TIME", "USER", "ADDRESS", "SANDBOX", "ACTION", "OUTCOME", "ON"], map(_row, entries))


def _row(entry: AuditEntry) -> list[str]:
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.time))
    on = " ".join(f"{name}={value}" for name, value in entry.on.items())
    return [shown, entry.user or "-", entry.address or "-", entry.sandbox or "-", entry.action, entry.outcome, on]
