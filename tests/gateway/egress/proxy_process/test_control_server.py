"""The answers of a proxy on its control socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress import control
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.proxy_process.control_server import ControlServer
from hawse_gateway.egress.refusals import Refusals
from tests.support.gateway import eventually


class Served:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.refusals = Refusals()
        self.changes: list[Terms] = []

    def change(self, terms: Terms) -> int:
        if terms.policy.deny:
            raise ValueError("not a rule")
        self.changes.append(terms)
        return 7

    async def start(self) -> None:
        server = ControlServer(self.refusals, self.change)
        self.server = await asyncio.start_unix_server(server.serve, str(self.path), limit=control.REQUEST_MAX)


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    made = Served(tmp_path / "s")
    await made.start()
    yield made
    made.server.close()


async def test_terms_are_changed(served: Served) -> None:
    terms = Terms(policy=EgressPolicy(allow=["a" * 400] * 256), trusted="x" * 1_000_000)
    assert (await control.change(served.path, terms)).closed == 7
    assert served.changes == [terms]
    with pytest.raises(OSError):
        await control.change(served.path, Terms(policy=EgressPolicy(deny=["a.test"])))
    assert served.changes == [terms]


async def test_the_status_has_counters_and_the_last_refusals(served: Served) -> None:
    served.refusals.add("rule", "evil.test", 443, "GET")
    status = await control.status(served.path)
    assert status.counters.refused == 1
    assert [each.host for each in status.recent] == ["evil.test"]


async def test_a_watch_starts_with_recent_refusals_and_continues(served: Served) -> None:
    served.refusals.add("rule", "one.test")
    async with aclosing(control.watch(served.path, allowed=True)) as batches:
        assert [getattr(each, "host", None) for each in await anext(batches)] == ["one.test"]
        served.refusals.passed("two.test", 443, "GET")
        (second,) = await anext(batches)
        assert (getattr(second, "host", None), getattr(second, "allowed", None)) == ("two.test", True)


async def test_a_gateway_that_leaves_is_forgotten(served: Served) -> None:
    async with aclosing(control.watch(served.path, allowed=False)) as batches:
        await anext(batches)
        assert len(served.refusals.watchers) == 1
    await eventually(lambda: len(served.refusals.watchers) == 0)
