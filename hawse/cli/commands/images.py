"""`hawse image`: list, pull and remove a gateway's images."""

import click

from hawse.api.images import ImageInfo, ImageProgress
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.each import for_each
from hawse.cli.group import Group
from hawse.cli.output import examples, listed, print_json, print_table, printable, size
from hawse.cli.target import Target
from hawse.cli.target_options import gateway_options
from hawse.client import Client, Sandbox


@click.group(cls=Group)
def image() -> None:
    """List, pull and remove container images for sandboxes."""


@image.command("ls", epilog=examples("hawse image ls"))
@gateway_options
def list_images(target: Target) -> None:
    """List a provider's local images."""

    async def work(client: Client, _: Sandbox) -> list[ImageInfo]:
        return await client.images.list()

    found = target.run(work)
    if target.as_json:
        print_json(found)
        return
    print_table(
        ["NAME", "ID", "SIZE"], [[name, short(each.id), size(each.size)] for each in found for name in each.names]
    )


@image.command(epilog=examples("hawse image pull debian:trixie-slim"))
@click.argument("names", nargs=-1, required=True, metavar="IMAGE...")
@gateway_options
def pull(target: Target, names: tuple[str, ...]) -> int:
    """Pull images, or newer versions of local images. Progress is printed on stderr."""

    async def fetch(client: Client, _: Sandbox, name: str) -> ImageInfo:
        return await client.images.pull(name, on_progress=show)

    def show(progress: ImageProgress) -> None:
        part = "" if progress.progress is None else f"{progress.progress:4.0%} "
        click.echo(f"{part}{printable(progress.message or '')}", err=True)

    found, code = for_each(target, names, fetch)
    if target.as_json:
        print_json(found)
    return code


@image.command(epilog=examples("hawse image rm debian:trixie-slim"))
@click.argument("names", nargs=-1, required=True, metavar="IMAGE...")
@yes_option
@gateway_options
def rm(target: Target, names: tuple[str, ...], yes: bool) -> int:
    """Remove images. Images that a sandbox uses are kept."""
    confirm(f"Remove {listed(names)}?", yes=yes)

    async def remove(client: Client, _: Sandbox, name: str) -> None:
        await client.images.remove(name)

    return for_each(target, names, remove)[1]


def short(id: str) -> str:
    """Return the abbreviated form of an id, as printed by the docker command."""
    return id.removeprefix("sha256:")[:12]
