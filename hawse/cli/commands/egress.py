"""`hawse egress`: show, change and watch a sandbox's egress rules."""

import time

import click

from hawse.api.egress import EgressInfo, EgressLost, EgressRefusal, EgressRequest
from hawse.cli.group import Group
from hawse.cli.output import examples, print_json, size
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox


@click.group(cls=Group)
def egress() -> None:
    """Show, change and watch the egress rules for a sandbox with the `filtered` network."""


@egress.command(epilog=examples("hawse egress show -s build"))
@target_options
def show(target: Target) -> None:
    """Show a sandbox's rules, its proxy's statistics, and the latest refusals."""

    async def work(_: Client, box: Sandbox) -> EgressInfo:
        return await box.egress.get()

    target.print_result(work, _described)


@egress.command(
    "set",
    epilog=examples(
        "hawse egress set --allow github.com --allow '*.githubusercontent.com'",
        "hawse egress set --allow 'GET,HEAD api.example.org' --deny example.org",
    ),
)
@click.option("--allow", multiple=True, metavar="RULE", help="a host to allow; repeatable")
@click.option("--deny", multiple=True, metavar="RULE", help="a host to deny, even if --allow includes it; repeatable")
@click.option("--secret", multiple=True, metavar="NAME", help="a gateway secret to add to requests; repeatable")
@click.option("--no-secrets", is_flag=True, help="add no secrets to requests (secrets are unchanged)")
@target_options
def set_(
    target: Target, allow: tuple[str, ...], deny: tuple[str, ...], secret: tuple[str, ...], no_secrets: bool
) -> None:
    """Replace all of a sandbox's rules, with immediate effect. Without --allow, all requests are refused.

    Open connections that the new rules do not allow are closed.
    """
    if no_secrets and secret:
        raise click.UsageError("--secret and --no-secrets cannot be used together")

    async def work(_: Client, box: Sandbox) -> EgressInfo:
        return await box.egress.set(allow, deny, secrets=secret if secret or no_secrets else None)

    target.print_result(work, _described)


@egress.command(epilog=examples("hawse egress watch -s build", "hawse egress watch --allowed --json"))
@click.option("-a", "--allowed", is_flag=True, help="show allowed requests as well")
@target_options
def watch(target: Target, allowed: bool) -> None:
    """Show the latest refusals, then each new refusal, until Ctrl-C."""

    async def work(_: Client, box: Sandbox) -> None:
        async with box.egress.watch(allowed=allowed) as requests:
            async for request in requests:
                if target.as_json:
                    print_json(request)
                else:
                    click.echo(_line(request))

    target.run(work)


def _line(request: EgressRequest | EgressRefusal | EgressLost) -> str:
    if isinstance(request, EgressLost):
        return f"{request.count:,} refusals were skipped: there were too many to show"
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(request.time))
    place = f"{request.host}:{request.port}" if request.host else "-"
    return "  ".join([shown, f"{request.reason or 'allowed':8}", f"{request.method or '-':7}", place])


def _described(info: EgressInfo) -> str:
    if not info.filtered:
        return f"{info.id}: the network is not filtered"
    lines = [f"allow    {rule}" for rule in info.allow] or ["nothing is allowed"]
    lines += [f"deny     {rule}" for rule in info.deny]
    lines += [f"secret   {name}" for name in info.secrets]
    lines += [f"secret   {name} (revoked: not added to requests)" for name in info.withheld]
    if not info.running:
        return "\n".join([*lines, "The sandbox's proxy is not running."])
    lines.append(
        f"{info.requests:,} requests allowed, {info.refused:,} refused; {size(info.sent)} sent, "
        f"{size(info.received)} received; {info.connections:,} connections; "
        f"the proxy uses {size(info.memory)} of memory, and has used {info.cpu:.1f} s of processor time"
    )
    return "\n".join([*lines, *map(_line, info.recent[-20:])])
