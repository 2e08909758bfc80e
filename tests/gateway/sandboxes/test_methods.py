"""The handlers cover the declared methods, and pass on results and errors."""

import asyncio

import pytest

from gateway.auth.principals import OWNER
from gateway.sandboxes.feed import SandboxFeed
from gateway.sandboxes.lifecycle import Sandboxes
from gateway.sandboxes.methods import SandboxMethods
from hawse.api import GATEWAY
from hawse.api.sandboxes import SandboxCreate, SandboxDelete, SandboxGet, SandboxList, SandboxPause, SandboxResume
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.wire import HawseError


async def test_every_method_about_sandboxes_has_a_handler(sandboxes: Sandboxes) -> None:
    dispatcher = Dispatcher(asyncio.ensure_future, IdempotencyTable())
    dispatcher.add(SandboxMethods(sandboxes, SandboxFeed(sandboxes)))
    assert set(dispatcher.methods) == {name for name in GATEWAY if name.startswith("sandbox.")}


async def test_the_life_of_a_sandbox(sandboxes: Sandboxes) -> None:
    methods = SandboxMethods(sandboxes, SandboxFeed(sandboxes))
    assert (await methods.create(SandboxCreate(id="a", labels={"x": "1"}))).state == "running"
    assert [info.id for info in (await methods.list_(SandboxList(labels={"x": "1"}), OWNER)).sandboxes] == ["a"]
    assert (await methods.pause(SandboxPause(id="a"))).state == "paused"
    with pytest.raises(HawseError, match=r"is paused: start it with sandbox\.start"):
        await sandboxes.ensure("a")
    assert (await methods.resume(SandboxResume(id="a"))).state == "running"
    await methods.delete(SandboxDelete(id="a"))
    with pytest.raises(HawseError, match="not_found"):
        await methods.get(SandboxGet(id="a"))
