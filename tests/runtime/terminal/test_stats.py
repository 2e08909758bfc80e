"""The counters, and the classes of echo delays."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from hawse.api.runtime import ECHO_BOUNDS, EchoHistogram
from hawse_runtime.terminal.stats import TerminalStats
from tests.support.runtime import Client


@given(st.lists(st.floats(0, 10)))
def test_each_time_is_in_the_first_class_that_it_fits_in(times: list[float]) -> None:
    stats = TerminalStats()
    for seconds in times:
        stats.echoed(seconds)
    found = stats.echoes()
    below = [sum(found.counts[: n + 1]) for n in range(len(found.counts))]
    assert below == [sum(seconds <= bound for seconds in times) for bound in (*ECHO_BOUNDS, float("inf"))]
    assert found.seconds == pytest.approx(sum(times))


def test_it_is_found_as_the_wire_has_it() -> None:
    found = msgspec.to_builtins(TerminalStats().echoes())
    assert msgspec.convert(found, EchoHistogram) == TerminalStats().echoes()


async def echoes(client: Client) -> list[int]:
    counts: list[int] = (await client.ask("runtime.metrics"))["echo"]["counts"]
    return counts


async def test_every_key_that_is_echoed_counts_once(client: Client) -> None:
    shell = await client.terminal("stty -icanon; echo ready; exec cat >/dev/null")
    await shell.until(lambda: b"ready" in shell.output)
    before = len(shell.output)
    for number in range(1, 11):
        await shell.type(b"k")
        await shell.until(lambda: len(shell.output) == before + number)  # noqa: B023
    assert sum(await echoes(client)) == 10


async def test_output_without_input_is_not_measured_as_an_echo(client: Client) -> None:
    shell = await client.terminal("seq 10000; echo ready; read a")
    await shell.until(lambda: b"ready" in shell.output)
    assert sum(await echoes(client)) == 0


async def test_a_key_without_an_echo_does_not_lengthen_the_time_of_the_next_one(client: Client, tmp_path: Path) -> None:
    shell = await client.terminal("stty -echo; echo ready; read a; stty echo; echo next; exec cat")
    await shell.until(lambda: b"ready" in shell.output)
    await shell.type(b"p")
    await asyncio.sleep(1.1)  # longer than a key is waited for: it is time itself that this is about
    await shell.type(b"w\n")
    await shell.until(lambda: b"next" in shell.output)
    counts = await echoes(client)
    assert (sum(counts), counts[-1]) == (1, 0)


async def test_the_output_of_terminals_that_are_forgotten_still_counts(client: Client) -> None:
    async def output() -> Any:
        return (await client.ask("runtime.metrics"))["output"]

    for _ in range(3):  # each takes the place of the one before
        shell = await client.terminal("printf %1000s x")
        await shell.result()
    assert await output() == 3000
    assert (await client.ask("runtime.metrics"))["terminals"] == 0
    shell = await client.terminal("printf %1000s x; read a")
    await shell.until(lambda: len(shell.output) == 1000)
    found = await client.ask("runtime.metrics")
    assert (found["output"], found["terminals"], found["viewers"], found["lag"]) == (4000, 1, 1, 0)
