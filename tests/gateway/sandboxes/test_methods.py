"""The handlers cover the declared methods, and pass on results and errors."""

import asyncio
import dataclasses
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hawse.api import GATEWAY
from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import (
    Network,
    SandboxCreate,
    SandboxDelete,
    SandboxGet,
    SandboxList,
    SandboxPause,
    SandboxResume,
)
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.wire import HawseError, Limits, Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.egress.settings import EgressSettings, SecretSettings
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.methods import SandboxMethods
from hawse_gateway.sandboxes.owners import Owners
from hawse_gateway.sandboxes.requests import new_record
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import ModelProvider


async def test_every_method_about_sandboxes_has_a_handler(sandboxes: Sandboxes) -> None:
    dispatcher = Dispatcher(asyncio.ensure_future, IdempotencyTable())
    dispatcher.add(SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store)))
    expected = {name for name in GATEWAY if name.startswith(("sandbox.", "template."))}
    assert set(dispatcher.methods) == expected - {"sandbox.snapshot"}  # that of gateway/hawse_gateway/backups


async def test_the_life_of_a_sandbox(sandboxes: Sandboxes) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    assert (await methods.create(SandboxCreate(id="a", labels={"x": "1"}), OWNER)).state == "running"
    assert [info.id for info in (await methods.list_(SandboxList(labels={"x": "1"}), OWNER)).sandboxes] == ["a"]
    assert (await methods.pause(SandboxPause(id="a"), OWNER)).state == "paused"
    with pytest.raises(HawseError, match=r"was paused by owner: start it with sandbox\.start"):
        await sandboxes.ensure("a")
    assert (await methods.resume(SandboxResume(id="a"))).state == "running"
    await methods.delete(SandboxDelete(id="a"))
    with pytest.raises(HawseError, match="not_found"):
        await methods.get(SandboxGet(id="a"))


async def test_the_list_has_pages(sandboxes: Sandboxes, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    for id in ("c", "a", "zz", "b"):  # `local` comes first nevertheless
        await methods.create(SandboxCreate(id=id, labels={"x": "y" * 200}), OWNER)

    async def pages(**params: Any) -> list[list[str]]:
        found, after = [], None
        while True:
            page = await methods.list_(SandboxList(after=after, **params), OWNER)
            found.append([info.id for info in page.sandboxes])
            if (after := page.after) is None:
                return found

    assert await pages() == [["local", "a", "b", "c", "zz"]]
    assert await pages(limit=2) == [["local", "a"], ["b", "c"], ["zz"]]
    assert await pages(limit=5) == [["local", "a", "b", "c", "zz"]]
    assert await pages(limit=1, labels={"x": "y" * 200}) == [["a"], ["b"], ["c"], ["zz"]]
    await methods.delete(SandboxDelete(id="b"))
    after_deleted = await methods.list_(SandboxList(after="b"), OWNER)
    assert [info.id for info in after_deleted.sandboxes] == ["c", "zz"]
    monkeypatch.setattr("hawse_gateway.sandboxes.methods.PAGE_BYTES", 100)
    assert await pages() == [["local"], ["a"], ["c"], ["zz"]], "one at least, and no more bytes"


async def test_pages_of_many_sandboxes_are_shorter_than_a_message_may_be(sandboxes: Sandboxes) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    asked = SandboxCreate(labels={f"{number}": "x" * 200 for number in range(5)})
    made = [new_record(asked, id, "model", Clock().now(), id, 60.0) for id in (f"s{each:05}" for each in range(3000))]
    await sandboxes.store.write(*(records.new(msgspec.structs.replace(each, wanted="stopped")) for each in made))
    found, after = list[str](), None
    while after is not None or not found:
        page = await methods.list_(SandboxList(after=after), OWNER)
        assert len(msgspec.json.encode(page)) < Limits().text
        found += [info.id for info in page.sandboxes]
        after = page.after
    assert found == ["local", *(f"s{number:05}" for number in range(3000))]


TENANT = Principal(id="ada", name="", kind="user", rights=("operate/~",))


async def test_a_user_with_rights_in_its_own_sandboxes_creates_them_in_its_namespace(sandboxes: Sandboxes) -> None:
    owners = Owners(sandboxes.store)
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), owners)
    made = await methods.create(SandboxCreate(), TENANT)
    assert (made.id.startswith("ada."), made.owner) == (True, "ada")
    assert owners.owns(TENANT, made.id)
    named = await methods.create(SandboxCreate(id="ada.x"), TENANT)
    for id in ("x", "local", "adam.x", "eve.x"):
        with pytest.raises(HawseError, match="invalid_params"):
            await methods.create(SandboxCreate(id=id), TENANT)
    assert {info.id for info in (await methods.list_(SandboxList(), TENANT)).sandboxes} == {made.id, named.id}
    assert len((await methods.list_(SandboxList(), OWNER)).sandboxes) == 3
    eve = Principal(id="eve", name="", kind="user", rights=("operate/~",))
    assert (await methods.list_(SandboxList(), eve)).sandboxes == []


async def test_a_sandbox_of_another_user_is_a_conflict_also_with_the_same_parameters(sandboxes: Sandboxes) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    await methods.create(SandboxCreate(id="ada.x"), OWNER)
    with pytest.raises(HawseError, match="conflict"):
        await methods.create(SandboxCreate(id="ada.x"), TENANT)


@pytest.mark.parametrize("rights", [(), ("operate/x",), ("view",), ("write",), ("view/~",)])
async def test_a_user_without_the_right_creates_no_sandbox(sandboxes: Sandboxes, rights: tuple[str, ...]) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    with pytest.raises(HawseError, match="forbidden"):
        await methods.create(SandboxCreate(id="ada.x"), Principal(id="ada", name="", kind="user", rights=rights))


async def test_a_user_has_at_most_its_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    owners = Owners(sandboxes.store)
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), owners, limit=1)
    async with owners.running():
        made = await methods.create(SandboxCreate(id="ada.x"), TENANT)
        with pytest.raises(HawseError, match="'ada' has 1 sandboxes, which is the limit") as caught:
            await methods.create(SandboxCreate(id="ada.y"), TENANT)
        assert (caught.value.code, caught.value.details) == ("limit_exceeded", None)
        assert (await methods.create(SandboxCreate(id="ada.x"), TENANT)).id == made.id
        for id in ("a", "b"):
            await methods.create(SandboxCreate(id=id), OWNER)


async def test_two_creations_at_once_do_not_exceed_the_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store), limit=1)
    both = (methods.create(SandboxCreate(id=id), TENANT) for id in ("ada.x", "ada.y"))
    made = await asyncio.gather(*both, return_exceptions=True)
    assert [isinstance(one, HawseError) and one.code for one in made] == [False, "limit_exceeded"]


async def test_creations_at_two_gateways_at_once_do_not_exceed_the_number_of_sandboxes(sandboxes: Sandboxes) -> None:
    first, second = Owners(sandboxes.store), Owners(sandboxes.store)
    async with first.running(), second.running():
        creations = [
            SandboxMethods(sandboxes, SandboxFeed(sandboxes), owners, limit=2).create(SandboxCreate(id=id), TENANT)
            for owners, id in ((first, "ada.w"), (second, "ada.x"), (first, "ada.y"), (second, "ada.z"))
        ]
        made = await asyncio.gather(*creations, return_exceptions=True)
        assert [isinstance(one, HawseError) and one.code for one in made] == [False, False, *["limit_exceeded"] * 2]
        assert [info.id for info in await sandboxes.list() if info.owner == "ada"] == ["ada.w", "ada.x"]


async def test_a_link_does_not_open_a_later_sandbox_with_the_id_of_its_own(sandboxes: Sandboxes) -> None:
    ended: list[tuple[str, float]] = []

    async def end_links(sandbox: str, before: float) -> None:
        ended.append((sandbox, before))

    feed, owners = SandboxFeed(sandboxes), Owners(sandboxes.store)
    methods = SandboxMethods(sandboxes, feed, owners, end_links=end_links)
    made = await methods.create(SandboxCreate(id="a"), OWNER)
    again = await methods.create(SandboxCreate(id="a"), OWNER)
    assert made.created == again.created, "a link that was created since stays"
    await methods.delete(SandboxDelete(id="a"))
    assert ended == [("a", made.created), ("a", made.created), ("a", math.inf)]


ONLY_NONE: tuple[Network, ...] = ("none",)


class AllNetworks(ModelProvider):
    async def capabilities(self) -> Capabilities:
        return dataclasses.replace(await super().capabilities(), networks=("private", "none", "host", "filtered"))


async def test_a_user_chooses_only_the_networks_that_the_operator_permits_or_a_template_has(
    tmp_path: Path,
) -> None:
    templates = Templates({"open": Template(network="host"), "closed": Template(network="none")})
    sandboxes = Sandboxes(SqliteStore(tmp_path / "s.db"), {"model": AllNetworks()}, templates=templates)
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store), user_networks=ONLY_NONE)
    async with sandboxes.running():
        for template in (None, "closed"):
            with pytest.raises(HawseError, match="'host', only: none") as caught:
                await methods.create(SandboxCreate(network="host", template=template), TENANT)
            assert (caught.value.code, caught.value.details) == ("forbidden", {"path": "$.network"})
        for allowed in (
            SandboxCreate(),
            SandboxCreate(network="none"),
            SandboxCreate(template="open"),
            SandboxCreate(template="open", network="host"),
        ):
            assert (await methods.create(allowed, TENANT)).state == "running"
        assert (await methods.create(SandboxCreate(network="host"), OWNER)).state == "running"


async def test_rules_of_a_user_do_not_get_the_secrets_of_a_template(tmp_path: Path) -> None:
    allowed = EgressPolicy(allow=["GET api.test"], secrets=["api"])
    templates = Templates({"t": Template(network="filtered", egress=allowed)})
    settings = EgressSettings(secrets={"api": SecretSettings(hosts=["api.test"], header="A", env="PATH")})
    sandboxes = Sandboxes(
        SqliteStore(tmp_path / "s.db"), {"model": AllNetworks()}, templates=templates, egress=settings
    )
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    async with sandboxes.running():
        wider = EgressPolicy(allow=["*"], secrets=["api"])
        with pytest.raises(HawseError, match="no secret 'api' that you can use"):
            await methods.create(SandboxCreate(template="t", egress=wider), TENANT)
        assert (await methods.create(SandboxCreate(template="t"), TENANT)).state == "running"


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
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store), snapshots=snapshots)
    params = SandboxCreate(id="a", snapshot="good")
    async with asyncio.TaskGroup() as tasks:
        creations = [tasks.create_task(methods.create(params, OWNER)) for _ in range(3)]
        snapshots.go.set()
    assert {creation.result().id for creation in creations} == {"a"}
    await methods.create(params, OWNER)
    assert snapshots.filled == [("good", "a")]
    with pytest.raises(HawseError, match="conflict"):
        await methods.create(SandboxCreate(id="a"), OWNER)


async def test_two_gateways_do_not_fill_a_sandbox_at_once(sandboxes: Sandboxes) -> None:
    snapshots = ModelSnapshots()
    gateways = [
        SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store), snapshots=snapshots)
        for _ in range(2)
    ]
    async with asyncio.TaskGroup() as tasks:
        for methods in gateways:
            tasks.create_task(methods.create(SandboxCreate(id="a", snapshot="good"), OWNER))
        snapshots.go.set()
    assert snapshots.filled == [("good", "a")]


async def test_without_its_content_there_is_no_sandbox(sandboxes: Sandboxes) -> None:
    snapshots = ModelSnapshots()
    snapshots.go.set()
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store), snapshots=snapshots)
    for snapshot, code in (("missing", "not_found"), ("bad", "io_error")):
        with pytest.raises(HawseError, match=code):
            await methods.create(SandboxCreate(id="a", snapshot=snapshot), OWNER)
        assert [info.id for info in (await methods.list_(SandboxList(), OWNER)).sandboxes] == ["local"]
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), Owners(sandboxes.store))
    with pytest.raises(HawseError, match="this gateway has no backups"):
        await methods.create(SandboxCreate(snapshot="good"), OWNER)
