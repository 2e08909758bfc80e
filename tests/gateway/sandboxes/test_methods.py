"""The handlers cover the declared methods, and pass on results and errors."""

import asyncio
import math
from typing import Any

import msgspec
import pytest

from hawse.api import GATEWAY
from hawse.api.sandboxes import (
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
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.creation import Creations
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.methods import SandboxMethods
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.sandboxes.requests import Creation, new_record
from hawse_gateway.store.clock import Clock
from tests.support.sandboxes import create


def methods_of(sandboxes: Sandboxes) -> SandboxMethods:
    return SandboxMethods(sandboxes, SandboxFeed(sandboxes), Creations(sandboxes, SandboxIndex(sandboxes.store)))


async def test_every_method_about_sandboxes_has_a_handler(sandboxes: Sandboxes) -> None:
    dispatcher = Dispatcher(asyncio.ensure_future, IdempotencyTable())
    dispatcher.add(methods_of(sandboxes))
    expected = {name for name in GATEWAY if name.startswith(("sandbox.", "template."))}
    assert set(dispatcher.methods) == expected - {"sandbox.snapshot"}  # that of gateway/hawse_gateway/backups


async def test_the_life_of_a_sandbox(sandboxes: Sandboxes) -> None:
    methods = methods_of(sandboxes)
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
    methods = methods_of(sandboxes)
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
    methods = methods_of(sandboxes)
    asked = SandboxCreate(labels={f"{number}": "x" * 200 for number in range(5)})
    creations = [Creation(id=f"s{each:05}", provider="model", asked=asked, params=asked) for each in range(3000)]
    made = [new_record(creation, Clock().now(), creation.id, 60.0) for creation in creations]
    await sandboxes.store.write(*(records.new(msgspec.structs.replace(each, wanted="stopped")) for each in made))
    found, after = list[str](), None
    while after is not None or not found:
        page = await methods.list_(SandboxList(after=after), OWNER)
        assert len(msgspec.json.encode(page)) < Limits().text
        found += [info.id for info in page.sandboxes]
        after = page.after
    assert found == ["local", *(f"s{number:05}" for number in range(3000))]


async def test_a_link_does_not_open_a_later_sandbox_with_the_id_of_its_own(sandboxes: Sandboxes) -> None:
    ended: list[tuple[str, float]] = []

    async def end_links(sandbox: str, before: float) -> None:
        ended.append((sandbox, before))

    creations = Creations(sandboxes, SandboxIndex(sandboxes.store), end_links=end_links)
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes), creations, end_links=end_links)
    made = await methods.create(SandboxCreate(id="a"), OWNER)
    again = await methods.create(SandboxCreate(id="a"), OWNER)
    assert made.created == again.created, "a link that was created since stays"
    await methods.delete(SandboxDelete(id="a"))
    assert ended == [("a", made.created), ("a", made.created), ("a", math.inf)]


async def test_a_user_with_rights_in_its_own_sandboxes_sees_only_these(sandboxes: Sandboxes) -> None:
    methods = methods_of(sandboxes)
    for id, owner in (("ada.x", "ada"), ("b", "owner")):
        await create(sandboxes, SandboxCreate(id=id), owner)
    ada, eve = (Principal(id=id, name="", kind="user", rights=("operate/~",)) for id in ("ada", "eve"))
    seen = [(await methods.list_(SandboxList(), caller)).sandboxes for caller in (ada, eve, OWNER)]
    assert [[info.id for info in found] for found in seen] == [["ada.x"], [], ["local", "ada.x", "b"]]
