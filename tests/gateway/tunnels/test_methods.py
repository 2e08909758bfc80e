"""Limits and results of tunnel methods. Requests through tunnels are tested in tests/integration/test_tunnels.py."""

import errno
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from hawse.api.tunnels import TunnelCreate, TunnelDelete, TunnelInfo, TunnelList
from hawse.wire import HawseError, Principal
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import Store, StoreError
from hawse_gateway.tunnels.methods import PER_SANDBOX, TunnelMethods, new_name
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.table import TunnelTable
from tests.support.stores import MemoryStore

ADA = Principal(id="ada", name="", kind="user", rights=("operate",))
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def table(store: MemoryStore) -> AsyncIterator[TunnelTable]:
    for sandbox in ("box", "other"):
        store.put(SANDBOXES, sandbox, msgspec.json.encode({"generation": sandbox}))
    async with TunnelTable(cast(Store, store)).running() as table:
        yield table


@pytest.fixture
def methods(table: TunnelTable) -> TunnelMethods:
    return TunnelMethods(table, preview_host="previews.example.org", limit=2)


async def create(
    methods: TunnelMethods,
    sandbox: str = "box",
    port: int = 80,
    name: str | None = None,
    *,
    expires_in: float | None = None,
    caller: Principal = OWNER,
) -> TunnelInfo:
    return await methods.create(TunnelCreate(sandbox=sandbox, port=port, name=name, expires_in=expires_in), caller)


async def names(methods: TunnelMethods, sandbox: str = "box") -> list[str]:
    return [one.id for one in (await methods.list_(TunnelList(sandbox=sandbox))).tunnels]


async def test_a_tunnel_has_its_address(methods: TunnelMethods, table: TunnelTable) -> None:
    made = await create(methods, name="shop", expires_in=60)
    assert (made.host, made.path) == ("t-shop.previews.example.org", "/t/shop/")
    assert (made.sandbox, made.port, made.owner, made.connections) == ("box", 80, "owner", 0)
    assert made.expires == pytest.approx(made.created + 60)
    assert (await methods.list_(TunnelList(sandbox="box"))).tunnels == [made]
    without = await create(TunnelMethods(table), name="plain")
    assert (without.host, without.path, without.expires) == (None, "/t/plain/", None)


async def test_a_random_name_cannot_be_guessed(methods: TunnelMethods) -> None:
    first, second = (await create(methods)).id, (await create(methods)).id
    assert first != second
    assert len(new_name()) == 16
    assert await names(methods) == sorted([first, second])


async def test_the_same_call_renews_a_tunnel(methods: TunnelMethods) -> None:
    first = await create(methods, name="shop", expires_in=60)
    again = await create(methods, name="shop")
    assert again == msgspec.structs.replace(first, expires=None)
    assert await names(methods) == ["shop"]


@pytest.mark.parametrize(("sandbox", "port"), [("box", 81), ("other", 80)])
async def test_a_name_is_taken_until_its_tunnel_is_deleted(methods: TunnelMethods, sandbox: str, port: int) -> None:
    await create(methods, name="shop")
    with pytest.raises(HawseError, match="'shop' is taken") as raised:
        await create(methods, sandbox, port, "shop")
    assert raised.value.code == "conflict"
    await methods.delete(TunnelDelete(sandbox="box", tunnel="shop"))
    await create(methods, sandbox, port, "shop")


async def test_a_tunnel_is_deleted_in_its_own_sandbox_only(methods: TunnelMethods) -> None:
    await create(methods, name="shop")
    for sandbox, tunnel in (("other", "shop"), ("box", "shops"), ("nothing", "shop")):
        with pytest.raises(HawseError) as raised:
            await methods.delete(TunnelDelete(sandbox=sandbox, tunnel=tunnel))
        assert raised.value.code == "not_found"
    assert await names(methods, "other") == []
    await methods.delete(TunnelDelete(sandbox="box", tunnel="shop"))
    assert await names(methods) == []


async def test_a_sandbox_must_exist(methods: TunnelMethods) -> None:
    for call in (create(methods, "nothing"), methods.list_(TunnelList(sandbox="nothing"))):
        with pytest.raises(HawseError) as raised:
            await call
        assert raised.value.code == "not_found"


async def test_a_sandbox_has_a_limited_number_of_tunnels(methods: TunnelMethods) -> None:
    for number in range(PER_SANDBOX):
        await create(methods, name=f"t{number}")
    with pytest.raises(HawseError) as raised:
        await create(methods, name="more")
    assert raised.value.code == "limit_exceeded"
    await create(methods, name="t3", expires_in=60)  # renews it
    await create(methods, "other", name="more")


async def test_a_user_has_as_many_as_the_operator_says(methods: TunnelMethods) -> None:
    await create(methods, name="a", caller=ADA)
    await create(methods, "other", name="b", caller=ADA)
    with pytest.raises(HawseError, match="'ada' has reached the limit of 2 tunnels") as raised:
        await create(methods, name="c", caller=ADA)
    assert raised.value.code == "limit_exceeded"
    await create(methods, name="c")


class FakePorts:
    """Ports of a machine; other programs use those in `used`."""

    def __init__(self, *used: int) -> None:
        self.used = set(used)
        self.opened: list[int] = []

    def open(self, port: int) -> None:
        if port in self.used:
            raise OSError(errno.EADDRINUSE, "in use")
        self.opened.append(port)

    def release(self, port: int) -> None:
        self.opened.remove(port)

    def refused(self, port: int) -> bool:
        return port in self.used


class FailingPorts(FakePorts):
    """The store fails as soon as a port is open."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self._store = store

    def open(self, port: int) -> None:
        super().open(port)
        self._store.error = StoreError("full")


def with_ports(table: TunnelTable, ports: FakePorts, **more: Any) -> TunnelMethods:
    options = TunnelOptions(ports=range(20_000, 20_003), host="gw.example", **more)
    return TunnelMethods(table, preview_host="previews.example.org", options=options, ports=ports)


async def tcp(methods: TunnelMethods, port: int = 22, public_port: int | None = None) -> TunnelInfo:
    return await methods.create(TunnelCreate(sandbox="box", port=port, kind="tcp", public_port=public_port), OWNER)


async def test_a_tcp_tunnel_gets_a_free_port(table: TunnelTable) -> None:
    ports = FakePorts(20_001)
    methods = with_ports(table, ports)
    made = [await tcp(methods), await tcp(methods)]
    assert sorted(one.public_port or 0 for one in made) == [20_000, 20_002] == sorted(ports.opened)
    assert {(one.kind, one.host, one.path, one.id[:6]) for one in made} == {("tcp", "gw.example", None, "tcp-20")}
    with pytest.raises(HawseError, match="is not free") as raised:
        await tcp(methods)
    assert raised.value.code == "limit_exceeded"
    await methods.delete(TunnelDelete(sandbox="box", tunnel=made[0].id))
    assert (await tcp(methods)).public_port == made[0].public_port


async def test_a_tcp_tunnel_can_name_its_port(table: TunnelTable) -> None:
    ports = FakePorts(20_001)
    methods = with_ports(table, ports)
    first = await tcp(methods, public_port=20_002)
    assert await tcp(methods, public_port=20_002) == first
    assert ports.opened == [20_002]
    for port, public in ((23, 20_002), (22, 20_001)):
        with pytest.raises(HawseError) as raised:
            await tcp(methods, port, public)
        assert raised.value.code == "conflict"
    assert ports.opened == [20_002]


async def test_a_port_is_released_if_the_tunnel_is_not_created(table: TunnelTable, store: MemoryStore) -> None:
    ports = FailingPorts(store)
    methods = with_ports(table, ports)
    with pytest.raises(HawseError) as raised:
        await tcp(methods)
    assert (raised.value.code, ports.opened) == ("unavailable", [])
    store.error = None


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"kind": "tcp", "name": "shop"}, "$.name"),
        ({"kind": "tcp", "public_port": 19_999}, "$.public_port"),
        ({"kind": "http", "public_port": 20_000}, "$.public_port"),
        ({"kind": "tls", "public_port": 20_000}, "$.public_port"),
        ({"kind": "http", "name": "tcp-20000"}, "$.name"),
        ({"kind": "tls", "name": "tcp-1"}, "$.name"),
    ],
)
async def test_parameters_of_another_kind_are_refused(table: TunnelTable, params: dict[str, Any], path: str) -> None:
    methods = with_ports(table, FakePorts(), tls_port=8443)
    with pytest.raises(HawseError) as raised:
        await methods.create(msgspec.convert({"sandbox": "box", "port": 80, **params}, TunnelCreate), OWNER)
    assert (raised.value.code, raised.value.details) == ("invalid_params", {"path": path})


async def test_a_tls_tunnel_has_a_name_at_the_port_of_all(table: TunnelTable) -> None:
    methods = with_ports(table, FakePorts(), tls_port=8443)
    made = await methods.create(TunnelCreate(sandbox="box", port=443, kind="tls", name="db"), OWNER)
    assert (made.host, made.public_port, made.path) == ("t-db.previews.example.org", 8443, None)
    with pytest.raises(HawseError, match="'db' is taken"):
        await create(methods, port=443, name="db")


async def test_a_tunnel_without_its_port_has_a_problem(table: TunnelTable) -> None:
    ports = FakePorts()
    methods = with_ports(table, ports, tls_port=8443)
    await tcp(methods, public_port=20_001)
    await methods.create(TunnelCreate(sandbox="box", port=443, kind="tls", name="db"), OWNER)

    async def problems(methods: TunnelMethods) -> list[str | None]:
        return [one.problem for one in (await methods.list_(TunnelList(sandbox="box"))).tunnels]

    assert await problems(methods) == [None, None]
    ports.used = {20_001, 8443}
    for problem, port in zip(await problems(methods), (8443, 20_001), strict=True):
        assert problem == f"the gateway cannot open its port {port}: another program may be using it"
    # After a restart with other options.
    restarted = TunnelMethods(table, preview_host="previews.example.org", options=TunnelOptions(), ports=FakePorts())
    assert await problems(restarted) == [
        "this gateway was started without --tunnel-tls-port",
        "this gateway's --tunnel-ports do not include the tunnel's port",
    ]


@pytest.mark.parametrize("kind", ["tcp", "tls"])
async def test_a_kind_that_the_operator_has_not_enabled_is_unavailable(methods: TunnelMethods, kind: str) -> None:
    with pytest.raises(HawseError, match="--tunnel-") as raised:
        await methods.create(msgspec.convert({"sandbox": "box", "port": 80, "kind": kind}, TunnelCreate), OWNER)
    assert raised.value.code == "unavailable"
