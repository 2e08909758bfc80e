"""Who owns which sandbox, on several gateways and after a restart."""

import asyncio
from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxCreate, SandboxInfo
from hawse.wire import Principal
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.owners import Owners, namespace
from hawse_gateway.store.base import StoreError
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import Begin
from tests.support.sandboxes import create
from tests.support.stores import MemoryStore
from tests.support.waiting import TIMEOUT


def user(id: str) -> Principal:
    return Principal(id=id, name="", kind="user", rights=("operate/~",))


ADA, EVE = user("ada"), user("eve")


async def until_owned(owners: Owners, principal: Principal, sandbox: str, expected: bool = True) -> None:
    """Wait until another gateway has read a row: nothing announces that."""
    async with asyncio.timeout(TIMEOUT):
        while owners.owns(principal, sandbox) is not expected:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_sandbox_belongs_to_the_user_that_created_it(sandboxes: Sandboxes) -> None:
    async with Owners(sandboxes.store).running() as owners:
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
        async with Owners(store).running() as owners:
            assert owners.owns(ADA, "ada.a")
            assert not owners.owns(EVE, "ada.a")
    finally:
        await store.close()
    async with begin() as second:
        assert [info.owner for info in await second.list()] == ["owner", "ada"]


async def test_a_row_that_cannot_be_read_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hawse_gateway.store.table_follower.RETRY", 0.0)
    store = MemoryStore()
    async with Owners(store).running() as owners:
        owners.note("ada.a", "ada")
        assert owners.owns(ADA, "ada.a")
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
