"""`hawse mount`: mount buckets and directories from the gateway's machine in a sandbox."""

import os

import click

from hawse.cli.candidates import mounts as mounted, offer
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.group import Group
from hawse.cli.output import examples, print_json, print_table, printable
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, MountCredentials, MountInfo, Sandbox


@click.group(cls=Group)
def mount() -> None:
    """Mount buckets and directories from the gateway's machine in a sandbox, and list and remove mounts."""


@mount.command(
    epilog=examples(
        "hawse mount create datasets data",
        "hawse mount create home work --prefix project --read-only",
    )
)
@click.argument("bucket")
@click.argument("path")
@click.option("--prefix", default="", metavar="PREFIX", help="mount only files below PREFIX")
@click.option("--read-only", is_flag=True, help="make the mount read-only")
@click.option(
    "--endpoint",
    metavar="URL",
    help="the store of a bucket that is not in the gateway's settings; this command reads the credentials from "
    "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN",
)
@click.option("--own-credentials", is_flag=True, help="like --endpoint, with Amazon S3 as the store")
@click.option("--region", metavar="REGION", help="the bucket's region at this store (AWS_REGION)")
@target_options
def create(
    target: Target,
    bucket: str,
    path: str,
    prefix: str,
    read_only: bool,
    endpoint: str | None,
    own_credentials: bool,
    region: str | None,
) -> None:
    """Mount BUCKET at the directory PATH in a sandbox, and print the mount's id.

    BUCKET is a bucket or a directory in the gateway's settings. PATH is an empty or new directory below the workspace.
    """
    credentials = None
    if endpoint is not None or own_credentials:
        credentials = _credentials(endpoint, region)

    async def work(client: Client, box: Sandbox) -> MountInfo:
        return await box.mounts.create(bucket, path, prefix=prefix, read_only=read_only, credentials=credentials)

    made = target.run(work)
    if target.as_json:
        print_json(made)
    else:
        click.echo(made.id)


@mount.command("ls", epilog=examples("hawse mount ls -s build"))
@target_options
def list_mounts(target: Target) -> None:
    """List a sandbox's mounts."""

    async def work(client: Client, box: Sandbox) -> list[MountInfo]:
        return await box.mounts.list()

    found = target.run(work)
    if target.as_json:
        print_json(found)
        return
    rows = [
        [
            one.id,
            printable(one.path),
            printable(one.source),
            "read-only" if one.read_only else "",
            f"{one.state}: {printable(one.reason)}" if one.reason else one.state,
            str(one.pending),
        ]
        for one in found
    ]
    print_table(["ID", "PATH", "SOURCE", "ACCESS", "STATE", "NOT UPLOADED"], rows)


@mount.command(epilog=examples("hawse mount rm -s build m-3f9c"))
@click.argument("mount", shell_complete=offer(mounted))
@click.option("--in-use", is_flag=True, help="remove the mount even if programs are using its files")
@click.option("--discard", is_flag=True, help="discard changes that are not uploaded yet")
@click.option("--wait", type=click.FloatRange(0, 3600), default=60.0, metavar="S", help="time for uploads (60)")
@yes_option
@target_options
def rm(target: Target, mount: str, in_use: bool, discard: bool, wait: float, yes: bool) -> None:
    """Wait until all changes have been uploaded, and remove a mount. The bucket's content is kept.

    For an overlay, the changes are deleted and the backup is kept.
    """
    lost = " Changes that are not uploaded yet are lost." if discard else ""
    confirm(f"Remove mount {printable(mount)} from sandbox {printable(target.sandbox)}?{lost}", yes=yes)

    async def work(client: Client, box: Sandbox) -> None:
        await box.mounts.delete(mount, force=in_use, discard=discard, timeout=wait)

    target.run(work)


def _credentials(endpoint: str | None, region: str | None) -> MountCredentials:
    """Read the credentials from the environment variables that the AWS tools use, because arguments are visible to
    other users.
    """
    id, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not id or not secret:
        raise click.UsageError("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return MountCredentials(
        access_key_id=id,
        secret_access_key=secret,
        session_token=os.environ.get("AWS_SESSION_TOKEN") or None,
        endpoint=endpoint,
        region=region or os.environ.get("AWS_REGION") or None,
    )
