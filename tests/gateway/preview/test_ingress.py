"""The identity of visitors. Requests to real sandboxes are in test_proxy.py and tests/integration/test_tunnels.py."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import cast

import msgspec
import pytest

from hawse.api.ports import preview_digest
from hawse.wire import Call, HawseError
from hawse.wire.messages import to_raw
from hawse_gateway.auth.call_check import check_call
from hawse_gateway.preview.ingress import Ingress, preview_request, tunnel_request
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import SANDBOXES, SandboxRecord
from hawse_gateway.store.base import Store
from hawse_gateway.store.clock import Clock
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from hawse_gateway.upstream.links import Links
from tests.support.stores import MemoryStore

RECORD = TunnelRecord(name="shop", sandbox="box", generation="g", port=80, created=Clock().now())
CONNECT = Call(ch=1, method="port.connect", params=to_raw({"port": 80}))


class NoLinks:
    """Links to sandboxes that are not running."""

    ready = False

    def get(self, sandbox: str) -> "NoLinks":
        return self


class Sleeping:
    """Sandboxes that sleep."""

    state = "sleeping"

    def __init__(self, store: Store) -> None:
        self.store = store

    async def get(self, sandbox: str) -> "Sleeping":
        if sandbox != "box":
            raise HawseError("not_found", "unknown sandbox")
        return self


@pytest.fixture
async def ingress() -> AsyncIterator[Ingress]:
    store = MemoryStore()
    store.put(SANDBOXES, "box", msgspec.json.encode({"generation": "g"}))
    async with TunnelTable(cast(Store, store)).running() as table:
        yield Ingress(cast(Sandboxes, Sleeping(cast(Store, store))), cast(Links, NoLinks()), table)


def test_the_name_of_a_visitor_does_not_contain_the_token() -> None:
    request = preview_request("box", "secret-token", 80)
    assert "secret" not in request.visitor.id
    assert request.visitor.id != preview_request("box", "other-token", 80).visitor.id


def test_a_visitor_of_a_tunnel_is_a_guest_with_rights_in_its_sandbox_only() -> None:
    request = tunnel_request(RECORD)
    assert (request.visitor.id, request.visitor.kind) == ("tunnel shop", "guest")
    assert check_call(request.caller, CONNECT, "box").rights == ("operate",)
    with pytest.raises(HawseError) as raised:
        check_call(request.caller, CONNECT, "other")
    assert raised.value.code == "not_found"


async def test_a_request_of_a_visitor_starts_no_sandbox(ingress: Ingress) -> None:
    with pytest.raises(HawseError) as raised:
        async with ingress.connected(tunnel_request(RECORD), "127.0.0.1:1"):
            pass
    assert raised.value.code == "stale_handle"
    with pytest.raises(HawseError, match="no such address"):
        async with ingress.connected(preview_request("other", "token", None), "127.0.0.1:1"):
            pass


@pytest.mark.parametrize(
    ("known", "token", "code"),
    [
        (None, "any", "stale_handle"),
        (["secret"], "secret", "stale_handle"),
        (["secret"], "other", "not_found"),
        ([], "secret", "not_found"),
    ],
)
async def test_an_unknown_preview_is_not_found_while_its_sandbox_does_not_run(
    known: list[str] | None, token: str, code: str
) -> None:
    memory, digests = MemoryStore(), None if known is None else [preview_digest(one) for one in known]
    record = SandboxRecord(
        id="box",
        unit="box",
        provider="local",
        spec=SandboxSpec(),
        wanted="sleeping",
        generation="g",
        created=Clock().now(),
        previews=digests,
    )
    memory.put(SANDBOXES, "box", msgspec.json.encode(record))
    store = cast(Store, memory)
    async with TunnelTable(store).running() as table:
        ingress = Ingress(cast(Sandboxes, Sleeping(store)), cast(Links, NoLinks()), table)
        with pytest.raises(HawseError) as raised:
            async with ingress.connected(preview_request("box", token, None), "127.0.0.1:1"):
                pass
    assert raised.value.code == code


class Replaced:
    """A table where another sandbox has taken over the name of the tunnel."""

    def find(self, name: str) -> TunnelRecord:
        return msgspec.structs.replace(RECORD, sandbox="other")

    def hold(self, name: str, end: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()


class Ready(NoLinks):
    """Links to sandboxes that run."""

    ready = True


async def test_a_visitor_of_a_tunnel_never_reaches_its_previous_target(monkeypatch: pytest.MonkeyPatch) -> None:
    class Connected:
        port = 80

        def __init__(self, *_: object, **__: object) -> None: ...

        async def __aenter__(self) -> "Connected":
            return self

        async def __aexit__(self, *_: object) -> None: ...

    monkeypatch.setattr("hawse_gateway.preview.ingress.PortTunnel", Connected)
    replaced = Ingress(
        cast(Sandboxes, Sleeping(cast(Store, MemoryStore()))),
        cast(Links, Ready()),
        cast(TunnelTable, Replaced()),
    )
    with pytest.raises(HawseError, match="no such tunnel"):
        async with replaced.connected(tunnel_request(RECORD), "127.0.0.1:1"):
            pass
