"""The policy of `sandbox.create`."""

import asyncio
import dataclasses
from pathlib import Path

import pytest

from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import Network, SandboxCreate, SandboxInfo
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.egress.settings import EgressSettings, SecretSettings
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.sandboxes.creation import Creations
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.requests import Creation
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import ModelProvider

TENANT = Principal(id="ada", name="", kind="user", rights=("operate/~",))


async def test_a_user_with_rights_in_its_own_sandboxes_creates_them_in_its_namespace(sandboxes: Sandboxes) -> None:
    owners = sandboxes.index
    creations = Creations(sandboxes, owners)
    made = await creations.create(SandboxCreate(), TENANT)
    assert (made.id.startswith("ada."), made.owner) == (True, "ada")
    assert owners.owns(TENANT, made.id)
    named = await creations.create(SandboxCreate(id="ada.x"), TENANT)
    for id in ("x", "local", "adam.x", "eve.x"):
        with pytest.raises(HawseError, match="invalid_params"):
            await creations.create(SandboxCreate(id=id), TENANT)
    assert named.id == "ada.x"


async def test_a_sandbox_of_another_user_is_a_conflict_also_with_the_same_parameters(sandboxes: Sandboxes) -> None:
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store))
    await creations.create(SandboxCreate(id="ada.x"), OWNER)
    with pytest.raises(HawseError, match="conflict"):
        await creations.create(SandboxCreate(id="ada.x"), TENANT)


@pytest.mark.parametrize("rights", [(), ("operate/x",), ("view",), ("write",), ("view/~",)])
async def test_a_user_without_the_right_creates_no_sandbox(sandboxes: Sandboxes, rights: tuple[str, ...]) -> None:
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store))
    with pytest.raises(HawseError, match="forbidden"):
        await creations.create(SandboxCreate(id="ada.x"), Principal(id="ada", name="", kind="user", rights=rights))


async def test_a_user_has_at_most_its_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    owners = SandboxIndex(sandboxes.store)
    creations = Creations(sandboxes, owners, limit=1)
    async with owners.running():
        made = await creations.create(SandboxCreate(id="ada.x"), TENANT)
        with pytest.raises(HawseError, match="'ada' has 1 sandboxes, which is the limit") as caught:
            await creations.create(SandboxCreate(id="ada.y"), TENANT)
        assert (caught.value.code, caught.value.details) == ("limit_exceeded", None)
        assert (await creations.create(SandboxCreate(id="ada.x"), TENANT)).id == made.id
        for id in ("a", "b"):
            await creations.create(SandboxCreate(id=id), OWNER)


async def test_two_creations_at_once_do_not_exceed_the_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store), limit=1)
    both = (creations.create(SandboxCreate(id=id), TENANT) for id in ("ada.x", "ada.y"))
    made = await asyncio.gather(*both, return_exceptions=True)
    assert [isinstance(one, HawseError) and one.code for one in made] == [False, "limit_exceeded"]


async def test_creations_at_two_gateways_at_once_do_not_exceed_the_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    first, second = SandboxIndex(sandboxes.store), SandboxIndex(sandboxes.store)
    async with first.running(), second.running():
        made_at_once = [
            Creations(sandboxes, owners, limit=2).create(SandboxCreate(id=id), TENANT)
            for owners, id in ((first, "ada.w"), (second, "ada.x"), (first, "ada.y"), (second, "ada.z"))
        ]
        made = await asyncio.gather(*made_at_once, return_exceptions=True)
        assert [isinstance(one, HawseError) and one.code for one in made] == [False, False, *["limit_exceeded"] * 2]
        assert [info.id for info in await sandboxes.list() if info.owner == "ada"] == ["ada.w", "ada.x"]


class Deleting(Sandboxes):
    """Another client deletes each sandbox as soon as it exists."""

    async def create(self, creation: Creation) -> SandboxInfo:
        info = await super().create(creation)
        await self.delete(info.id)
        await self.index.current()
        return info


async def test_a_sandbox_that_is_deleted_during_its_creation_does_not_use_up_the_number_of_its_user(
    tmp_path: Path, provider: ModelProvider
) -> None:
    sandboxes = Deleting(SqliteStore(tmp_path / "store.db"), {"model": provider}, sweep=3600)
    creations = Creations(sandboxes, sandboxes.index, limit=1)
    async with sandboxes.running():
        await creations.create(SandboxCreate(id="ada.x"), TENANT)
        assert sandboxes.index.count("ada") == 0
        await creations.create(SandboxCreate(id="ada.y"), TENANT)


ONLY_NONE: tuple[Network, ...] = ("none",)


class AllNetworks(ModelProvider):
    async def capabilities(self) -> Capabilities:
        return dataclasses.replace(await super().capabilities(), networks=("private", "none", "host", "filtered"))


async def test_a_user_chooses_only_the_networks_that_the_operator_permits_or_a_template_has(
    tmp_path: Path,
) -> None:
    templates = Templates({"open": Template(network="host"), "closed": Template(network="none")})
    sandboxes = Sandboxes(SqliteStore(tmp_path / "s.db"), {"model": AllNetworks()}, templates=templates)
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store), user_networks=ONLY_NONE)
    async with sandboxes.running():
        for template in (None, "closed"):
            with pytest.raises(HawseError, match="'host', only: none") as caught:
                await creations.create(SandboxCreate(network="host", template=template), TENANT)
            assert (caught.value.code, caught.value.details) == ("forbidden", {"path": "$.network"})
        for allowed in (
            SandboxCreate(),
            SandboxCreate(network="none"),
            SandboxCreate(template="open"),
            SandboxCreate(template="open", network="host"),
        ):
            assert (await creations.create(allowed, TENANT)).state == "running"
        assert (await creations.create(SandboxCreate(network="host"), OWNER)).state == "running"


async def test_rules_of_a_user_do_not_get_the_secrets_of_a_template(tmp_path: Path) -> None:
    allowed = EgressPolicy(allow=["GET api.test"], secrets=["api"])
    templates = Templates({"t": Template(network="filtered", egress=allowed)})
    settings = EgressSettings(secrets={"api": SecretSettings(hosts=["api.test"], header="A", env="PATH")})
    sandboxes = Sandboxes(
        SqliteStore(tmp_path / "s.db"), {"model": AllNetworks()}, templates=templates, egress=settings
    )
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store))
    async with sandboxes.running():
        wider = EgressPolicy(allow=["*"], secrets=["api"])
        with pytest.raises(HawseError, match="no secret 'api' that you can use"):
            await creations.create(SandboxCreate(template="t", egress=wider), TENANT)
        assert (await creations.create(SandboxCreate(template="t"), TENANT)).state == "running"


class ModelSnapshots:
    """Snapshots of which only `good` exists, and `bad` cannot be restored."""

    def __init__(self) -> None:
        self.filled: list[tuple[str, str]] = []
        self.go = asyncio.Event()

    async def check(self, snapshot: str, caller: Principal) -> None:
        if snapshot not in ("good", "bad"):
            raise HawseError("not_found", "unknown backup")

    async def fill(self, snapshot: str, sandbox: str, caller: Principal) -> None:
        await self.go.wait()
        if snapshot == "bad":
            raise HawseError("io_error", "damaged")
        self.filled.append((snapshot, sandbox))


async def test_a_sandbox_is_filled_once_however_often_it_is_created(sandboxes: Sandboxes) -> None:
    snapshots = ModelSnapshots()
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store), snapshots=snapshots)
    params = SandboxCreate(id="a", snapshot="good")
    async with asyncio.TaskGroup() as tasks:
        creating = [tasks.create_task(creations.create(params, OWNER)) for _ in range(3)]
        snapshots.go.set()
    assert {creation.result().id for creation in creating} == {"a"}
    await creations.create(params, OWNER)
    assert snapshots.filled == [("good", "a")]
    with pytest.raises(HawseError, match="conflict"):
        await creations.create(SandboxCreate(id="a"), OWNER)


async def test_two_gateways_do_not_fill_a_sandbox_at_once(sandboxes: Sandboxes) -> None:
    snapshots = ModelSnapshots()
    gateways = [Creations(sandboxes, SandboxIndex(sandboxes.store), snapshots=snapshots) for _ in range(2)]
    async with asyncio.TaskGroup() as tasks:
        for creations in gateways:
            tasks.create_task(creations.create(SandboxCreate(id="a", snapshot="good"), OWNER))
        snapshots.go.set()
    assert snapshots.filled == [("good", "a")]


async def test_without_its_content_there_is_no_sandbox(sandboxes: Sandboxes) -> None:
    snapshots = ModelSnapshots()
    snapshots.go.set()
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store), snapshots=snapshots)
    for snapshot, code in (("missing", "not_found"), ("bad", "io_error")):
        with pytest.raises(HawseError, match=code):
            await creations.create(SandboxCreate(id="a", snapshot=snapshot), OWNER)
        assert [info.id for info in await sandboxes.list()] == ["local"]
    creations = Creations(sandboxes, SandboxIndex(sandboxes.store))
    with pytest.raises(HawseError, match="this gateway has no backups"):
        await creations.create(SandboxCreate(snapshot="good"), OWNER)
