"""`terminal.watch` reports all terminals, now and after each change."""

from collections.abc import Callable
from typing import Any

from tests.support.principals import AT_MAIN
from tests.support.runtime import Channel, Client, Served


def latest(watch: Channel) -> dict[str, Any]:
    """Return the terminals in the latest event, keyed by id."""
    found = [event.value["terminals"] for event in watch.events]
    return {terminal["id"]: terminal for terminal in found[-1]} if found else {}


async def until(watch: Channel, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    await watch.until(lambda: watch.events and condition(latest(watch)))
    return latest(watch)


async def test_a_terminal_is_reported_when_it_starts_changes_and_ends(client: Client) -> None:
    watch = client.call("terminal.watch")
    assert await until(watch, lambda terminals: True) == {}
    command = r"read a; printf '\033]0;building\007'; read b; exit 3"
    shell = await client.terminal(command)
    await until(watch, lambda terminals: "t" in terminals and terminals["t"]["viewers"] == 1)
    await until(watch, lambda terminals: terminals["t"]["waiting"]["kind"] == "line")
    shell.send(b"\n")
    await until(watch, lambda terminals: terminals["t"]["title"] == "building")
    await client.ask("terminal.resize", id="t", cols=100, rows=30)
    await until(watch, lambda terminals: terminals["t"]["cols"] == 100)
    shell.cancel()
    await until(watch, lambda terminals: terminals["t"]["viewers"] == 0)
    other = client.attach("t", input="again")
    await other.type(b"\n")
    ended = await until(watch, lambda terminals: terminals["t"]["state"] == "exited")
    assert ended["t"]["exit"]["code"] == 3
    assert ended["t"] | {"viewers": 0} == await client.ask("terminal.get", id="t")


async def test_a_removed_terminal_is_no_longer_reported(client: Client, served: Served) -> None:
    await client.ask("terminal.create", id="old", argv=["true"])
    watch = client.call("terminal.watch")
    await until(watch, lambda terminals: terminals["old"]["state"] == "exited")
    registry = served.runtime.terminals.registry
    registry.drop(registry.get("old"))
    assert await until(watch, lambda terminals: "old" not in terminals) == {}


async def test_output_alone_is_not_reported(client: Client) -> None:
    shell = await client.terminal(r"read a; seq 100000; printf '\033]0;done\007'; sleep 60")
    watch = client.call("terminal.watch")
    await until(watch, lambda terminals: terminals["t"]["waiting"]["kind"] == "line")
    before = len(watch.events)
    shell.send(b"\n")
    await until(watch, lambda terminals: terminals["t"]["title"] == "done")
    await shell.until(lambda: b"\n100000\r\n" in shell.output)
    assert len(watch.events) <= before + 2 < len(shell.frames)  # no longer waiting, and the title


async def test_a_title_that_changes_all_the_time_is_reported_at_intervals(client: Client) -> None:
    program = r"for i in $(seq 300); do printf '\033]0;%d\007' $i; sleep 0.01; done; sleep 60"
    await client.ask("terminal.create", id="t", argv=["bash", "-c", program])
    watch = client.call("terminal.watch")
    await until(watch, lambda terminals: terminals["t"]["title"] == "300")
    assert len(watch.events) < 150


async def test_changes_that_a_slow_client_has_not_read_are_merged(client: Client, served: Served) -> None:
    other = await served.client(window=1)
    slow, quick = other.call("terminal.watch", generous=False), client.call("terminal.watch")
    await until(slow, lambda terminals: True)  # overdraws the window: nothing is sent before more is granted
    for number, name in enumerate(("a", "b", "c"), 1):
        await client.ask("terminal.create", id=name, argv=["sleep", "60"])
        await quick.until(lambda: len(latest(quick)) == number)  # noqa: B023
    assert len(slow.events) == 1
    slow.grant(1 << 16)
    assert set(await until(slow, len)) == {"a", "b", "c"}
    await other.cut()


async def test_a_caller_sees_only_its_terminals(client: Client) -> None:
    for name in ("main", "secret"):
        await client.ask("terminal.create", id=name, argv=["sleep", "60"])
    watch = client.call("terminal.watch", principal=AT_MAIN)
    assert set(await until(watch, len)) == {"main"}
