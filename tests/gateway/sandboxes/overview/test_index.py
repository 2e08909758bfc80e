"""Who owns which sandbox, on several gateways and after a restart."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from hawse.api.sandboxes import SandboxCreate, SandboxInfo
from hawse.wire import Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.creation import namespace
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import EVERYWHERE, EXAMINED, SandboxIndex, Scope
from hawse_gateway.sandboxes.records import SandboxRecord, Stored
from hawse_gateway.store.base import ANY_TABLE, Delete, StoreError
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import Begin
from tests.support.sandboxes import create
from tests.support.stores import MemoryStore
from tests.support.waiting import TIMEOUT


def user(id: str) -> Principal:
    return Principal(id=id, name="", kind="user", rights=("operate/~",))


NOW = Clock().now()
ADA, EVE = user("ada"), user("eve")


async def until_owned(owners: SandboxIndex, principal: Principal, sandbox: str, expected: bool = True) -> None:
    """Wait until another gateway has read a row: nothing announces that."""
    async with asyncio.timeout(TIMEOUT):
        while owners.owns(principal, sandbox) is not expected:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_sandbox_belongs_to_the_user_that_created_it(sandboxes: Sandboxes) -> None:
    async with SandboxIndex(sandboxes.store).running() as owners:
        info: SandboxInfo = await create(sandboxes, SandboxCreate(id="ada.a"), "ada")
        assert info.owner == "ada"
        await until_owned(owners, ADA, "ada.a")
        assert not owners.owns(EVE, "ada.a")
        assert not owners.owns(ADA, "no-such")
        assert not owners.owns(ADA, "local")
        await sandboxes.delete("ada.a")
        await until_owned(owners, ADA, "ada.a", False)


async def test_owners_survive_a_restart(begin: Begin, tmp_path: Path) -> None:
    async with begin() as first:
        await create(first, SandboxCreate(id="ada.a"), "ada")
    store = SqliteStore(tmp_path / "store.db")
    try:
        async with SandboxIndex(store).running() as owners:
            assert owners.owns(ADA, "ada.a")
            assert not owners.owns(EVE, "ada.a")
    finally:
        await store.close()
    async with begin() as second:
        assert [info.owner for info in await second.list()] == ["owner", "ada"]


async def test_a_row_that_cannot_be_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse_gateway.store.table_follower.RETRY", 0.0)
    store = MemoryStore()
    async with SandboxIndex(store).running() as owners:
        await store.write(records.new(record("ada.a", "ada")))
        await owners.current()
        assert owners.owns(ADA, "ada.a")
        del store.tables["sandboxes"]["ada.a"]
        store.error = StoreError("the server is away")
        store.notify("sandboxes", "ada.a")
        await asyncio.sleep(0)
        assert owners.owns(ADA, "ada.a")
        store.error = None
        await until_owned(owners, ADA, "ada.a", False)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ada", "ada."), ("a-b_1", "a-b_1."), ("0-1", None), ("a.b", None), ("\u00e9va", None), ("a" * 25, None)],
)
def test_each_user_has_a_namespace_of_its_own(name: str, expected: str | None) -> None:
    prefix = namespace(name)
    assert prefix == expected if expected else prefix.startswith("0-")
    assert prefix.count(".") == 1
    assert len(prefix) <= 25


def record(id: str, owner: str = "owner", **fields: Any) -> SandboxRecord:
    given: dict[str, Any] = {"unit": id, "provider": "model", "wanted": "stopped", "generation": "g"}
    return SandboxRecord(id=id, owner=owner, spec=SandboxSpec(), created=NOW, **(given | fields))


async def ids(index: SandboxIndex, scope: Scope = EVERYWHERE, limit: int = 2, **labels: str) -> list[list[str]]:
    """Return the ids on all pages."""
    await index.current()
    page, after = index.page(scope, labels, None, limit)
    found = [page]
    while after is not None:
        page, after = index.page(scope, labels, after, limit)
        found.append(page)
    return found


async def test_pages_have_the_sandboxes_of_a_scope_with_all_labels_in_order() -> None:
    store = MemoryStore()
    async with SandboxIndex(store).running() as index:
        await store.write(
            *(records.new(record(id, "ada", labels={"x": id, "y": "1"})) for id in ("ada.c", "ada.a", "ada.b")),
            *(records.new(record(id)) for id in ("zz", "local", "b")),
            records.new(record("p-1", pool=True)),
        )
        assert await ids(index) == [["local", "ada.a"], ["ada.b", "ada.c"], ["b", "zz"]]
        assert await ids(index, Scope(False, "ada")) == [["ada.a", "ada.b"], ["ada.c"]]
        assert await ids(index, Scope(False, "ada", frozenset({"b", "local", "p-1", "unknown"}))) == [
            ["local", "ada.a"],
            ["ada.b", "ada.c"],
            ["b"],
        ]
        assert await ids(index, Scope(False, "eve")) == [[]]
        assert await ids(index, y="1") == [["ada.a", "ada.b"], ["ada.c"]]
        assert await ids(index, x="ada.b", y="1") == [["ada.b"]]
        assert await ids(index, Scope(False, "ada"), x="none") == [[]]
        assert await ids(index, Scope(False), y="1") == [[]]
        assert (index.count("ada"), index.members) == (3, ["p-1"])


async def test_pages_follow_changes_of_rows() -> None:
    store = MemoryStore()
    async with SandboxIndex(store).running() as index:
        await store.write(records.new(record("b")))
        version = await store.write(records.new(record("a", "ada", labels={"x": "1"})))
        assert await ids(index, x="1") == [["a"]]
        version = await store.write(Stored(record("a"), version).put(record("a", "eve", labels={"x": "2"})))
        assert await ids(index, x="1") == [[]]
        assert await ids(index, x="2") == [["a"]]
        assert (index.count("ada"), index.count("eve")) == (0, 1)
        await store.write(Stored(record("a"), version).delete())
        assert await ids(index) == [["b"]]
        assert index.count("eve") == 0


@pytest.mark.parametrize("scope", [EVERYWHERE, Scope(False, "owner"), Scope(False, "owner", frozenset({"local"}))])
async def test_a_page_examines_a_limited_number_of_sandboxes(scope: Scope) -> None:
    store = MemoryStore()
    for number in range(2 * EXAMINED + 2):
        even = records.new(record(f"s{number:05}", labels={"half": str(number % 2), "all": "1"}))
        store.put(even.table, even.key, even.value)
    async with SandboxIndex(store).running() as index:
        pages = await ids(index, scope, limit=10**6, half="1", all="1")
        assert [id for page in pages for id in page] == [f"s{number:05}" for number in range(1, 2 * EXAMINED + 2, 2)]
        assert len(pages) == (2 if scope.everywhere else 3)
        assert all(len(page) <= EXAMINED for page in pages)


@pytest.mark.parametrize("seed", range(20))
async def test_a_sandbox_that_exists_throughout_is_on_one_page_while_others_come_and_go(seed: int) -> None:
    choice, store = random.Random(seed), MemoryStore()
    kept = [f"k{number:02}" for number in range(20)]
    await store.write(*(records.new(record(id)) for id in kept))
    async with SandboxIndex(store).running() as index:
        found, after = list[str](), None
        while after is not None or not found:
            for _ in range(5):
                id = f"{choice.choice('ajkz')}{choice.randrange(99):02}-"
                row = await store.get("sandboxes", id)
                await store.write(records.new(record(id)) if row is None else Delete("sandboxes", id, row.version))
            await index.current()
            page, after = index.page(EVERYWHERE, {}, after, 3)
            found += page
        assert found == sorted(set(found))
        assert [id for id in found if id in kept] == kept


async def test_a_unit_from_the_pool_belongs_to_the_sandbox_that_claimed_it() -> None:
    store = MemoryStore()
    member = record("p-1", pool=True)
    async with SandboxIndex(store).running() as index:
        version = await store.write(records.new(member))
        await index.current()
        assert (index.sandbox_at("p-1"), index.owns(OWNER, "p-1")) == ("p-1", False)
        await store.write(Stored(member, version).delete(), records.new(record("a", unit="p-1")))
        await index.current()
        assert (index.sandbox_at("p-1"), index.members) == ("a", [])


async def test_the_index_is_current_after_a_change_that_was_not_reported() -> None:
    store = MemoryStore()
    async with SandboxIndex(store).running() as index:
        assert await ids(index) == [[]]
        put = records.new(record("a"))
        store.put(put.table, put.key, put.value)
        index.reload()
        assert await ids(index) == [["a"]]
        del store.tables["sandboxes"]["a"]
        store.notify(ANY_TABLE, "")
        assert await ids(index) == [[]]


async def test_the_scope_of_a_caller_has_the_sandboxes_where_it_has_rights() -> None:
    def scope(*rights: str) -> Scope:
        return Scope.of(Principal(id="ada", name="", kind="user", rights=rights))

    assert scope("operate/~", "view/a@main") == Scope(False, "ada", frozenset({"a"}))
    assert scope("view").everywhere
    assert Scope.of(OWNER).everywhere
    assert not scope().includes("a", "ada")


@pytest.mark.parametrize("table", [records.SANDBOXES, records.RUNS])
async def test_an_invalid_row_is_ignored_and_later_changes_are_followed(table: str) -> None:
    store = MemoryStore()
    async with SandboxIndex(store).running() as index:
        store.put(table, "a", b'{"id": 1}')
        store.notify(table, "a")
        await index.current(runs=True)
        await store.write(records.new(record("b")))
        await index.current(runs=True)
        assert (index.visible, index.run_at("a")) == (["b"], None)
