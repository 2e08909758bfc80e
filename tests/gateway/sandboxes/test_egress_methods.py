"""Who may change what a sandbox reaches. The methods with real proxies are in tests/integration/test_egress.py."""

import asyncio
from pathlib import Path

import pytest

from hawse.api.egress import EgressGet, EgressPolicy, EgressSet
from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.sandboxes.egress_methods import EgressMethods
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create

ANN = Principal(id="ann", name="", kind="user", rights=("operate/~",))


class Filtered(ModelProvider):
    async def capabilities(self) -> Capabilities:
        return Capabilities(provider="model", isolation="none", networks=("private", "filtered"))


@pytest.fixture
def sandboxes(tmp_path: Path) -> Sandboxes:
    return Sandboxes(SqliteStore(tmp_path / "s.db"), {"model": Filtered()})


async def test_rules_are_checked_and_stored(sandboxes: Sandboxes) -> None:
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        methods = EgressMethods(sandboxes.egress, tasks)
        await create(sandboxes, SandboxCreate(id="a", network="filtered", egress=EgressPolicy(allow=["a.test"])))
        info = await methods.set_(EgressSet(id="a", allow=["b.test"], deny=["c.test"]), OWNER)
        assert (info.filtered, info.allow, info.deny, info.running) == (True, ["b.test"], ["c.test"], False)
        assert (await methods.get(EgressGet(id="a"))) == info
        for params, text in (
            (EgressSet(id="a", allow=["a..b"]), "not a host name"),
            (EgressSet(id="a", allow=[], secrets=["none"]), "no secret 'none'"),
        ):
            with pytest.raises(HawseError, match=text):
                await methods.set_(params, OWNER)
        assert (await methods.get(EgressGet(id="a"))) == info


async def test_a_user_needs_the_right_to_choose_a_filtered_network(sandboxes: Sandboxes) -> None:
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        methods = EgressMethods(sandboxes.egress, tasks, user_networks=["none"])
        await create(sandboxes, SandboxCreate(id="a", network="filtered"))
        with pytest.raises(HawseError, match="does not let users choose"):
            await methods.set_(EgressSet(id="a", allow=["b.test"]), ANN)
        assert (await methods.set_(EgressSet(id="a", allow=["b.test"]), OWNER)).allow == ["b.test"]


async def test_a_sandbox_with_another_network_has_no_rules(sandboxes: Sandboxes) -> None:
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        methods = EgressMethods(sandboxes.egress, tasks)
        await create(sandboxes, SandboxCreate(id="a", network="private"))
        with pytest.raises(HawseError, match="not `filtered`"):
            await methods.set_(EgressSet(id="a", allow=["b.test"]), OWNER)
        assert not (await methods.get(EgressGet(id="a"))).filtered
