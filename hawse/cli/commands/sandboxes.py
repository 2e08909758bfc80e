"""`hawse sandbox`: create, list, stop, start and delete sandboxes."""

import re
import time
from typing import Final

import click

from hawse.api.backups import BackupInfo
from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import SandboxInfo, SandboxLimits, TemplateInfo
from hawse.cli.candidates import offer, sandboxes
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.each import for_each
from hawse.cli.group import Group
from hawse.cli.output import duration, examples, listed, print_json, printable, size
from hawse.cli.target import Pair, Target
from hawse.cli.target_options import gateway_options, target_options
from hawse.client import Client, Sandbox

UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", re.IGNORECASE)


class Size(click.ParamType[int]):
    """A size in bytes, such as 512m or 2GiB."""

    name = "SIZE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _SIZE.fullmatch(value)
        if found is None:
            self.fail(f"{value!r} is not a size such as 512m or 2g", param, ctx)
        return int(float(found[1]) * UNITS[found[2].lower()])


@click.group(cls=Group)
def sandbox() -> None:
    """Create, list, stop, start and delete sandboxes."""


@sandbox.command(
    epilog=examples(
        "hawse sandbox create",
        "hawse sandbox create build --env CI=1 --memory 2g --timeout 3600",
        "hawse sandbox create fetch --network filtered --allow github.com --allow '*.githubusercontent.com'",
    )
)
@click.argument("id", required=False)
@click.option("--provider", metavar="NAME", help="the sandbox's provider")
@click.option("--template", metavar="NAME", help="one of the gateway's templates")
@click.option("--image", metavar="IMAGE", help="the image that provides its file system")
@click.option("--image-command", is_flag=True, help="start the image's command as a process named `image`")
@click.option("-e", "--env", type=Pair(), multiple=True, help="an environment variable for its programs; repeatable")
@click.option("--snapshot", metavar="ID", help="initialize its workspace from a snapshot or another backup")
@click.option("-l", "--label", type=Pair(), multiple=True, help="a label; repeatable")
@click.option(
    "--network", type=click.Choice(["none", "private", "filtered", "host"]), help="the network that it can reach"
)
@click.option(
    "--allow",
    multiple=True,
    metavar="RULE",
    help="a host to allow with --network filtered: HOST[:PORT], *.HOST, or 'GET,HEAD HOST'; repeatable",
)
@click.option("--deny", multiple=True, metavar="RULE", help="a host to deny, even if --allow includes it; repeatable")
@click.option("--secret", multiple=True, metavar="NAME", help="a gateway secret that its proxy adds to requests")
@click.option("--memory", type=Size(), help="memory of all its programs, such as 512m")
@click.option("--cpus", type=click.FloatRange(min=0, min_open=True), help="number of processors, such as 0.5")
@click.option("--processes", type=click.IntRange(min=1), help="maximum number of processes and threads")
@click.option("--disk", type=Size(), help="size of its workspace, such as 2g")
@click.option("--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="delete it after this time")
@click.option("--idle-timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="let it sleep after this time")
@click.option("--keep-alive", is_flag=True, help="never let it sleep")
@gateway_options
def create(
    target: Target,
    id: str | None,
    provider: str | None,
    template: str | None,
    image: str | None,
    image_command: bool,
    env: tuple[tuple[str, str], ...],
    snapshot: str | None,
    label: tuple[tuple[str, str], ...],
    network: str | None,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    secret: tuple[str, ...],
    memory: int | None,
    cpus: float | None,
    processes: int | None,
    disk: int | None,
    timeout: float | None,
    idle_timeout: float | None,
    keep_alive: bool,
) -> None:
    """Create a sandbox, start it, and print its ID. If a sandbox with this ID and these options exists, it is used."""

    async def work(client: Client, _: Sandbox) -> SandboxInfo:
        box = await client.sandboxes.create(
            id,
            provider=provider,
            template=template,
            image=image,
            image_command=image_command,
            env=dict(env),
            snapshot=snapshot,
            labels=dict(label),
            limits=SandboxLimits(memory=memory, cpus=cpus, processes=processes, disk=disk),
            network=network,  # type: ignore[arg-type]  # one of the choices
            egress=EgressPolicy(allow=[*allow], deny=[*deny], secrets=[*secret]) if allow or deny or secret else None,
            timeout=timeout,
            idle_timeout=idle_timeout,
            keep_alive=keep_alive,
        )
        return await box.info()

    target.print_result(work, lambda info: info.id)


@sandbox.command("snapshot", epilog=examples("hawse sandbox snapshot -s build --name ready"))
@click.option("--name", metavar="TEXT", help="a display name")
@click.option("--ttl", type=click.FloatRange(0, 10**9, min_open=True), metavar="S", help="delete it after S seconds")
@target_options
def take_snapshot(target: Target, name: str | None, ttl: float | None) -> None:
    """Back up a sandbox's workspace, and print the ID to use with `hawse sandbox create --snapshot ID`."""

    async def work(_: Client, box: Sandbox) -> BackupInfo:
        return await box.snapshot(name=name, ttl=ttl)

    target.print_result(work, lambda made: made.id)


@sandbox.command("ls", epilog=examples("hawse sandbox ls", "hawse sandbox ls -l team=web --json"))
@click.option("-l", "--label", type=Pair(), multiple=True, help="only sandboxes with this label; repeatable")
@gateway_options
def list_sandboxes(target: Target, label: tuple[tuple[str, str], ...]) -> None:
    """List the sandboxes, without starting them."""

    async def work(client: Client, _: Sandbox) -> list[SandboxInfo]:
        return await client.sandboxes.list(labels=dict(label))

    columns = ["ID", "STATE", "AGE", "EXPIRES", "PROVIDER", "IMAGE", "NETWORK", "LABELS", "REASON"]
    target.print_list(work, columns, _sandbox_row)


def _sandbox_row(info: SandboxInfo) -> list[object]:
    now = time.time()
    return [
        info.id,
        info.state,
        info.created and duration(now - info.created),
        info.expires and duration(info.expires - now),
        info.provider,
        info.image or info.template,
        info.network or (info.enforcement.network if info.enforcement else None),
        " ".join(f"{name}={value}" for name, value in info.labels.items()),
        info.reason,
    ]


@sandbox.command(epilog=examples("hawse sandbox templates"))
@gateway_options
def templates(target: Target) -> None:
    """List the gateway's templates for `create --template NAME`."""

    async def work(client: Client, _: Sandbox) -> list[TemplateInfo]:
        return await client.sandboxes.templates()

    columns = ["NAME", "PROVIDER", "IMAGE", "NETWORK", "MEMORY", "CPUS", "POOL", "DESCRIPTION"]
    target.print_list(work, columns, _template_row)


def _template_row(each: TemplateInfo) -> list[object]:
    return [
        each.name,
        each.provider,
        each.image,
        each.network,
        each.limits.memory and size(each.limits.memory),
        each.limits.cpus,
        each.pool or None,
        each.description,
    ]


def _each(target: Target, ids: tuple[str, ...], action: str) -> int:
    """Apply `action`, a method of `Sandbox`, to each sandbox, and print the new states. Returns the exit code."""

    async def change(client: Client, _: Sandbox, id: str) -> SandboxInfo:
        changed: SandboxInfo = await getattr(client.sandbox(id), action)()
        return changed

    found, code = for_each(target, ids, change)
    if target.as_json:
        print_json(found)
    return code


@sandbox.command(epilog=examples("hawse sandbox stop build test"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(sandboxes))
@gateway_options
def stop(target: Target, ids: tuple[str, ...]) -> int:
    """Stop sandboxes: end all their programs. Their files are kept, and `start` restarts them."""
    return _each(target, ids, "stop")


@sandbox.command(epilog=examples("hawse sandbox start build"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(sandboxes))
@gateway_options
def start(target: Target, ids: tuple[str, ...]) -> int:
    """Start sleeping or stopped sandboxes."""
    return _each(target, ids, "wake")


@sandbox.command(epilog=examples("hawse sandbox rm build", "hawse sandbox rm --yes build test"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(sandboxes))
@yes_option
@gateway_options
def rm(target: Target, ids: tuple[str, ...], yes: bool) -> int:
    """Delete sandboxes along with all their files."""
    confirm(f"Delete {listed(ids)} with all files?", yes=yes)

    async def delete(client: Client, _: Sandbox, id: str) -> None:
        await client.sandbox(id).delete()

    return for_each(target, ids, delete)[1]


@sandbox.command(epilog=examples("hawse sandbox watch --json"))
@gateway_options
def watch(target: Target) -> None:
    """Print each change to the sandboxes as it happens, until Ctrl-C."""

    async def work(client: Client, _: Sandbox) -> None:
        async with client.sandboxes.watch() as changes:
            async for change in changes:
                if target.as_json:
                    print_json({"id": change.id, "sandbox": change.info})
                elif change.info is None:
                    click.echo(f"{change.id}: deleted")
                else:
                    phase = f" ({change.info.phase})" if change.info.phase else ""
                    reason = f": {printable(change.info.reason)}" if change.info.reason else ""
                    click.echo(f"{change.id}: {change.info.state}{phase}{reason}")

    target.run(work)
