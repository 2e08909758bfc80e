import pytest

from hawse_gateway.tunnels.options import AT_ONCE, TunnelOptions


def test_without_them_there_are_no_ports() -> None:
    found = TunnelOptions.parse(None, None, address="127.0.0.1")
    assert (list(found.ports), found.tls_port, found.host, found.sockets) == ([], None, None, 0)


def test_ports_are_at_the_address_of_the_gateway_or_at_another() -> None:
    found = TunnelOptions.parse("20000-20002", "[::]:8443", address="10.0.0.1", host="gw.example")
    assert (list(found.ports), found.address, found.host) == ([20000, 20001, 20002], "10.0.0.1", "gw.example")
    assert (found.tls_port, found.tls_address, found.sockets) == (8443, "::", 4 + AT_ONCE)
    other = TunnelOptions.parse("0.0.0.0:20000-20000", "8443", address="10.0.0.1")
    assert (list(other.ports), other.address, other.tls_address) == ([20000], "0.0.0.0", "10.0.0.1")


def test_names_of_addresses_are_resolved_before_they_are_used() -> None:
    found = TunnelOptions.parse("localhost:20000-20002", "localhost:8443", address="10.0.0.1").resolved()
    assert {found.address, found.tls_address} <= {"127.0.0.1", "::1"}
    assert TunnelOptions.parse(None, None, address="nowhere.invalid").resolved().address == "nowhere.invalid"


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".invalid"])
def test_a_name_without_an_address_is_refused_with_its_option(host: str) -> None:
    with pytest.raises(ValueError, match=f"--tunnel-ports: {host} has no address"):
        TunnelOptions.parse(f"{host}:20000-20002", None, address="10.0.0.1").resolved()
    with pytest.raises(ValueError, match=f"--tunnel-tls-port: {host} has no address"):
        TunnelOptions.parse(None, f"{host}:8443", address="10.0.0.1").resolved()


@pytest.mark.parametrize("text", ["", "20000", "a-b", "20001-20000", "0-1", "1-65536", "20000-", "::1:1-2", "a b:1-2"])
def test_other_ranges_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--tunnel-ports"):
        TunnelOptions.parse(text, None, address="127.0.0.1")


@pytest.mark.parametrize("text", ["", "0", "65536", "1-2", "x", ":8443"])
def test_other_tls_ports_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--tunnel-tls-port"):
        TunnelOptions.parse(None, text, address="127.0.0.1")
