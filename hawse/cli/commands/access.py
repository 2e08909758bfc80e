"""`hawse token` and `hawse share`: give other users access, list who has access, and revoke access."""

import re
import time
from pathlib import Path
from typing import Final, get_args

import click
import msgspec

from hawse.api.access import ShareCreateResult, ShareInfo, TokenCreateResult, TokenInfo
from hawse.api.rights import Role
from hawse.cli.candidates import links, offer, terminals, tokens
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.each import for_each
from hawse.cli.group import Group
from hawse.cli.output import duration, examples, listed, print_json
from hawse.cli.target import Target
from hawse.cli.target_options import gateway_options, sandbox_option, target_options
from hawse.client import Client, Sandbox
from hawse.client.config import find_gateway

UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds per unit


class Lifetime(click.ParamType[float]):
    """A duration such as `90s`, `15m`, `8h` or `30d`, converted to seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"([0-9]{1,9})([smhd])", str(value))
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is not a duration such as 90s, 15m, 8h or 30d", param, ctx)
        return float(int(found[1]) * UNITS[found[2]])


EXPIRES: Final = click.option(
    "--expires",
    type=Lifetime(),
    metavar="DURATION",
    help="expire after this time, such as 8h or 30d (expires with the token in use)",
)


@click.group(cls=Group)
def token() -> None:
    """Create, list and revoke tokens."""


@token.command(
    "create",
    epilog=examples(
        "hawse token create --name ci --only build --expires 30d",
        "hawse token create --user ada --own",
    ),
)
@click.option("--name", default="", help="its purpose")
@click.option("--role", type=click.Choice(get_args(Role)), default="operator", show_default=True)
@click.option(
    "--only", "sandboxes", multiple=True, metavar="ID", help="limit the token to this sandbox; repeatable (all)"
)
@click.option("--own", is_flag=True, help="limit the token to sandboxes that its user creates")
@click.option("--user", metavar="ID", help="the user that the token identifies (the current user)")
@EXPIRES
@gateway_options
def create_token(
    target: Target,
    name: str,
    role: Role,
    sandboxes: tuple[str, ...],
    own: bool,
    user: str | None,
    expires: float | None,
) -> None:
    """Create a token and print it. The token cannot be retrieved later."""

    async def work(client: Client, box: Sandbox) -> TokenCreateResult:
        return await client.tokens.create(
            name, role=role, sandboxes=sandboxes or None, own=own, user=user, expires_in=expires
        )

    target.print_result(work, lambda made: made.token)


@token.command("ls", epilog=examples("hawse token ls"))
@gateway_options
def list_tokens(target: Target) -> None:
    """List tokens, without their secrets."""

    async def work(client: Client, box: Sandbox) -> list[TokenInfo]:
        return await client.tokens.list()

    target.print_list(work, ["ID", "NAME", "USER", "ROLE", "SANDBOXES", "EXPIRES IN", "CONNECTIONS"], _token_row)


def _token_row(one: TokenInfo) -> list[object]:
    return [
        *(one.id, one.name, one.user, one.role),
        "all" if one.sandboxes is None else " ".join(one.sandboxes),
        _left(one.expires),
        one.connections,
    ]


@token.command("revoke", epilog=examples("hawse token revoke token-3f9c"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(tokens))
@yes_option
@gateway_options
def revoke_token(target: Target, ids: tuple[str, ...], yes: bool) -> int:
    """Revoke tokens, and all tokens and links that were created with them."""
    confirm(f"Revoke {listed(ids)}, and the tokens and links that were created with them?", yes=yes)

    async def end(client: Client, _: Sandbox, id: str) -> None:
        await client.tokens.revoke(id)

    return for_each(target, ids, end)[1]


@click.group(cls=Group)
def share() -> None:
    """Create, list and revoke links that work without a token, or share the current directory."""


@share.command("here", epilog=examples("hawse share here", "hawse share here --write"))
@click.option("--write", is_flag=True, help="let guests type as well (view only)")
@sandbox_option("the sandbox to become; created if it does not exist")
@gateway_options
def share_here(target: Target, write: bool, sandbox: str | None) -> None:
    """Register this machine with the gateway as a sandbox, print a link to it, and undo both on Ctrl-C."""
    from hawse.cli.commands.join import run_join  # imported here because it loads the modules for `hawse join`

    run_join(target, None, sandbox, Path(), "write" if write else "view")


@share.command(
    "create",
    epilog=examples(
        "hawse share create main",
        "hawse share create -s build --write --expires 8h main",
    ),
)
@click.argument("terminal", required=False, shell_complete=offer(terminals))
@click.option("--write", is_flag=True, help="let guests type as well (view only)")
@click.option("--name", default="", help="the guest's name")
@click.option("--uses", type=click.IntRange(1), metavar="N", help="maximum number of browsers (unlimited)")
@EXPIRES
@target_options
def create_link(
    target: Target, terminal: str | None, write: bool, name: str, uses: int | None, expires: float | None
) -> None:
    """Create a link to TERMINAL, or to the whole sandbox, and print it. The link cannot be retrieved later."""

    async def work(client: Client, box: Sandbox) -> ShareCreateResult:
        role: Role = "writer" if write else "viewer"
        return await client.links.create(
            target.sandbox, terminal=terminal, role=role, name=name, expires_in=expires, max_uses=uses
        )

    made = target.run(work)
    url = find_gateway(target.url, target.token).url.partition("#")[0].rstrip("/") + made.path
    if target.as_json:
        print_json({"url": url, **msgspec.to_builtins(made)})
    else:
        click.echo(url)


@share.command("ls", epilog=examples("hawse share ls"))
@gateway_options
def list_links(target: Target) -> None:
    """List links, with the number of clients that are using them."""

    async def work(client: Client, box: Sandbox) -> list[ShareInfo]:
        return await client.links.list()

    target.print_list(work, ["ID", "NAME", "SANDBOX", "TERMINAL", "ROLE", "EXPIRES IN", "USES", "USED BY"], _link_row)


def _link_row(one: ShareInfo) -> list[object]:
    return [
        *(one.id, one.name, one.sandbox, one.terminal or "all", one.role, _left(one.expires)),
        str(one.uses) if one.max_uses is None else f"{one.uses} of {one.max_uses}",
        " ".join(user.address for user in one.users),
    ]


@share.command("revoke", epilog=examples("hawse share revoke link-3f9c"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(links))
@yes_option
@gateway_options
def revoke_link(target: Target, ids: tuple[str, ...], yes: bool) -> int:
    """Revoke links. Their connections are closed immediately."""
    confirm(f"Revoke {listed(ids)}?", yes=yes)

    async def end(client: Client, _: Sandbox, id: str) -> None:
        await client.links.revoke(id)

    return for_each(target, ids, end)[1]


def _left(expires: float | None) -> str:
    return "never" if expires is None else duration(expires - time.time())
