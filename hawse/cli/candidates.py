"""Shell completion for ids, with descriptions from the gateway. If there is no gateway, nothing is completed."""

import re
from collections.abc import Awaitable, Callable, Iterable
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING, Final

import click

from hawse.cli.target import Target
from hawse.client import Client, Sandbox

if TYPE_CHECKING:  # loaded only when the shell requests completions
    from click.shell_completion import CompletionItem

Lookup = Callable[[Client, Sandbox], Awaitable[Iterable[tuple[str, str]]]]  # returns ids and their descriptions
Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]

TIMEOUT: Final = 3.0  # maximum time for a completion, in seconds
SAFE: Final = re.compile(r"[\w.@%+=,-]+")  # words that shells do not expand, unlike `*`


def offer(lookup: Lookup) -> Complete:
    """Return a function for `shell_complete=` that completes a parameter with the ids from `lookup`."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        given = context.params.get
        box = given("sandbox") or Target.sandbox
        target = Target(url=given("url"), token=given("token"), ca=given("ca"), sandbox=box)

        async def find(client: Client, box: Sandbox) -> list[tuple[str, str]]:
            return list(await lookup(client, box))

        try:
            with redirect_stderr(StringIO()):  # errors must not get in the way of a user typing a command
                found = target.run(find, timeout=TIMEOUT)
        except (click.ClickException, TimeoutError):
            return []
        return [
            CompletionItem(id, help=" ".join(text.split()) or None)
            for id, text in found
            if id.startswith(incomplete) and SAFE.fullmatch(id)
        ]

    return complete


async def sandboxes(client: Client, _: Sandbox) -> Iterable[tuple[str, str]]:
    """Return all sandboxes, each with its state."""
    return [(each.id, each.state) for each in await client.sandboxes.list()]


async def terminals(_: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the running terminals."""
    return [(each.id, each.title or each.cwd) for each in await box.terminals.list() if each.state == "running"]


async def processes(_: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the running and ended processes."""
    return [(each.id, " ".join(each.argv)) for each in await box.processes.list()]


async def recordings(_: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the recordings."""
    return [(each.id, each.title or each.terminal) for each in await box.recordings.list()]


async def backups(client: Client, _: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the backups of all sandboxes."""
    return [(each.id, each.name or f"{each.sandbox}:{each.path}") for each in await client.backups.list()]


async def mounts(client: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the sandbox's mounts."""
    return [(each.id, f"{each.source} at {each.path}") for each in await box.mounts.list()]


async def tunnels(_: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the sandbox's tunnels."""
    return [(each.id, f"port {each.port}") for each in await box.tunnels.list()]


async def tokens(client: Client, _: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the tokens."""
    return [(each.id, each.name) for each in await client.tokens.list()]


async def links(client: Client, _: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the share links."""
    return [(each.id, each.name) for each in await client.links.list()]


async def contexts(_: Client, box: Sandbox) -> Iterable[tuple[str, str]]:
    """Return the code contexts."""
    return [(each.id, each.language) for each in await box.code.list()]
