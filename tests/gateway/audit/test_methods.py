"""`audit.list`: its filters, and the entries visible to a caller."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hawse.wire import HawseError
from hawse_gateway.audit.files import AuditFiles
from tests.support.gateway import VIEWER_TOKEN, FakeRuntime, Gateway, Peer


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with (
        FakeRuntime(tmp_path / "runtime.sock") as runtime,
        Gateway(runtime, audit=AuditFiles(tmp_path / "audit")) as served,
    ):
        yield served


async def actions(peer: Peer, **filters: Any) -> list[str]:
    entries = (await peer.ask("audit.list", filters, sandbox=None))["entries"]
    return [entry["action"] for entry in entries]


async def test_entries_are_selected_by_time_user_method_sandbox_and_outcome(gateway: Gateway) -> None:
    async with gateway.peer() as owner:
        await owner.ask("answer")
        made = (await owner.ask("token.create", {"user": "ci"}, sandbox=None))["token"]
        async with gateway.peer(token=made) as ci:
            with pytest.raises(HawseError):
                await ci.ask("fail")
        assert await actions(owner, method="token.") == ["token.create"]
        assert await actions(owner, sandbox="local") == ["fail", "answer"]
        assert await actions(owner, sandbox="local", outcome="conflict", user="ci") == ["fail"]
        entries = (await owner.ask("audit.list", {"sandbox": "local"}, sandbox=None))["entries"]
        assert await actions(owner, sandbox="local", until=entries[0]["time"]) == ["answer"]
        assert await actions(owner, sandbox="local", since=entries[0]["time"]) == ["fail"]
        assert await actions(owner, sandbox="local", after=entries[1]["position"]) == ["fail"]
        assert await actions(owner, sandbox="local", before=entries[0]["position"]) == ["answer"]
        assert await actions(owner, sandbox="local", limit=1) == ["fail"]


async def test_an_owner_of_some_sandboxes_gets_their_entries_only(gateway: Gateway) -> None:
    async with gateway.peer() as owner:
        await owner.ask("answer")
        for sandbox, seen in (("local", ["answer"]), ("other", [])):
            params = {"role": "owner", "sandboxes": [sandbox], "user": sandbox}
            token = (await owner.ask("token.create", params, sandbox=None))["token"]
            async with gateway.peer(token=token) as peer:
                assert await actions(peer) == seen


async def test_only_owners_read_the_log(gateway: Gateway) -> None:
    async with gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="forbidden"):
            await actions(viewer)
