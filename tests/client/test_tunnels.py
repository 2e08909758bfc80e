"""Creating, listing and deleting tunnels, and their URLs."""

from typing import Any, cast

import pytest

from hawse.api.spec import Nothing
from hawse.api.tunnels import TunnelCreate, TunnelDelete, TunnelInfo, TunnelKind, TunnelList, TunnelListResult
from hawse.client.calls.call_table import CallTable
from hawse.client.tunnels import Tunnel, Tunnels, by_host, other_name

INFO = TunnelInfo(
    id="shop", sandbox="s", port=80, path="/t/shop/", host="t-shop.p.example", owner="ada", created=1.0, expires=9.0
)
TUNNEL = Tunnel(
    id="shop",
    port=80,
    url="https://t-shop.p.example/",
    path_url="https://gw.example/t/shop/",
    owner="ada",
    created=1.0,
    expires=9.0,
)


class Recorder:
    """A call table that answers at once."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.params: list[object] = []

    async def request(self, params: object, *, sandbox: str | None) -> Any:
        assert sandbox is None
        self.params.append(params)
        return self.answer


async def test_a_tunnel_is_created_listed_and_deleted() -> None:
    table = Recorder(INFO)
    tunnels = Tunnels(cast(CallTable, table), "s", gateway="https://gw.example")
    assert await tunnels.create(80, name="shop", expires_in=8.0) == TUNNEL
    table.answer = TunnelListResult(tunnels=[INFO])
    assert await tunnels.list() == [TUNNEL]
    table.answer = Nothing()
    await tunnels.delete("shop")
    assert table.params == [
        TunnelCreate(sandbox="s", port=80, name="shop", expires_in=8.0),
        TunnelList(sandbox="s"),
        TunnelDelete(sandbox="s", tunnel="shop"),
    ]


@pytest.mark.parametrize(
    ("info", "url"),
    [
        (TunnelInfo(id="tcp-9", sandbox="s", port=22, kind="tcp", public_port=9), "tcp://10.0.0.1:9"),
        (TunnelInfo(id="tcp-9", sandbox="s", port=22, kind="tcp", host="gw.ex", public_port=9), "tcp://gw.ex:9"),
        (TunnelInfo(id="tcp-9", sandbox="s", port=22, kind="tcp", host="::1", public_port=9), "tcp://[::1]:9"),
        (TunnelInfo(id="a", sandbox="s", port=22, kind="tls", host="t-a.p", public_port=8443), "tls://t-a.p:8443"),
    ],
)
async def test_other_kinds_have_an_address_with_their_port(info: TunnelInfo, url: str) -> None:
    table = Recorder(info)
    made = await Tunnels(cast(CallTable, table), "s", gateway="http://10.0.0.1:8080").create(
        22, kind=info.kind, public_port=9
    )
    assert (made.url, made.path_url, made.kind) == (url, None, info.kind)
    assert table.params == [TunnelCreate(sandbox="s", port=22, kind=info.kind, public_port=9)]


@pytest.mark.parametrize(
    ("gateway", "name"),
    [
        ("http://127.0.0.1:8080", "localhost"),
        ("http://[::1]:8080", "localhost"),
        ("https://dev.localhost", "localhost"),
        ("http://localhost:8080/", "127.0.0.1"),
        ("https://hawse.example", None),
        ("http://10.0.0.1:8080", None),
    ],
)
async def test_a_port_of_this_machine_has_another_name_than_the_page(gateway: str, name: str | None) -> None:
    """Browsers send the cookies of the page to all ports of its name."""
    assert other_name(gateway) == name
    info = TunnelInfo(id="tcp-9", sandbox="s", port=22, kind="tcp", public_port=9)
    made = await Tunnels(cast(CallTable, Recorder(info)), "s", gateway=gateway).create(22, kind="tcp")
    if name is not None:
        assert made.url == f"tcp://{name}:9"


@pytest.mark.parametrize("kind", ["tcp", "tls"])
async def test_one_that_cannot_be_reached_has_a_problem_and_no_address(kind: TunnelKind) -> None:
    info = TunnelInfo(id="a", sandbox="s", port=22, kind=kind, host="t-a.p", problem="started without a port")
    tunnels = Tunnels(cast(CallTable, Recorder(TunnelListResult(tunnels=[info]))), "s", gateway="https://gw.example")
    (found,) = await tunnels.list()
    assert (found.url, found.path_url, found.problem) == (None, None, "started without a port")


async def test_without_a_host_name_its_address_is_a_path() -> None:
    table = Recorder(TunnelInfo(id="a", sandbox="s", port=80, path="/t/a/"))
    made = await Tunnels(cast(CallTable, table), "s", gateway="http://10.0.0.1:8080").create(80)
    assert made.url == made.path_url == "http://10.0.0.1:8080/t/a/"


@pytest.mark.parametrize(
    ("gateway", "host", "url"),
    [
        ("http://127.0.0.1:8080", "t-a.localhost", "http://t-a.localhost:8080/"),
        ("http://hawse.localhost:8080", "t-a.localhost", "http://t-a.localhost:8080/"),
        ("http://10.0.0.1:8080", "t-a.localhost", None),
        ("https://gw.example", "t-a.p.example", "https://t-a.p.example/"),
        ("https://gw.example", None, None),
    ],
)
def test_a_name_below_localhost_is_for_the_same_machine(gateway: str, host: str | None, url: str | None) -> None:
    assert by_host(gateway, host) == url
