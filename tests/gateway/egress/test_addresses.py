"""Valid names, and reachable addresses."""

import errno
import ipaddress
import socket

import psutil
import pytest
from hypothesis import given, strategies as st

from hawse_gateway.egress.addresses import is_reachable, normalized


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("a_b.example", "a_b.example"),
        ("93.184.215.14", "93.184.215.14"),
        ("[2606:4700::1111]", "2606:4700::1111"),
        ("2606:4700:0:0::1111", "2606:4700::1111"),
        ("[::FFFF:1.2.3.4]", "1.2.3.4"),
        ("::ffff:102:304", "1.2.3.4"),
        ("[::1]", "::1"),
    ],
)
def test_a_host_has_one_form(host: str, known: str) -> None:
    assert normalized(host) == known


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", "a..b", "-a.b", "a b", "a/b", "a@b", "a%00b", "ä.example", "x" * 64, ".".join(["a" * 60] * 5)),
        *("64:ff9b::102:304", "[::1.2.3.4]", "2002:102:304::", "2001:0:102:304::1", "fe80::1%eth0"),
        *("127.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "1.2.3", "1.2.3.4.5", "256.1.1.1", "a.1"),
        *("[::1", "fe80::1%eth0", "[fe80::1%25eth0]", "::g", "[127.0.0.1]", "01.2.3.4"),
    ],
)
def test_names_that_resolvers_read_differently_are_not_hosts(host: str) -> None:
    with pytest.raises(ValueError):
        normalized(host)


@given(st.text(max_size=300))
def test_any_text_is_a_host_in_its_only_form_or_refused(text: str) -> None:
    try:
        known = normalized(text)
    except ValueError:
        return
    assert normalized(known) == known


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
        *("169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "192.0.2.1"),
        *("198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
        *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::", "2001:0:a00:1::1"),
    ],
)
def test_an_address_that_is_not_public_is_not_reachable(text: str) -> None:
    assert not is_reachable(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_a_public_address_is_reachable(text: str) -> None:
    assert is_reachable(ipaddress.ip_address(text))


def test_an_operator_permits_networks_and_nothing_beside_them() -> None:
    permitted = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd00:1::/32")]
    assert is_reachable(ipaddress.ip_address("10.1.2.3"), permitted)
    assert is_reachable(ipaddress.ip_address("::ffff:10.1.2.3"), permitted)
    assert is_reachable(ipaddress.ip_address("fd00:1::5"), permitted)
    assert not is_reachable(ipaddress.ip_address("10.2.0.1"), permitted)
    assert not is_reachable(ipaddress.ip_address("fd00:2::5"), permitted)


def test_an_address_of_this_machine_is_not_reachable_although_it_may_be_public() -> None:
    own = [a.address for many in psutil.net_if_addrs().values() for a in many if a.family == socket.AF_INET]
    assert own
    assert not any(is_reachable(ipaddress.ip_address(text)) for text in own)


def test_without_free_descriptors_an_address_that_may_be_of_this_machine_is_not_reachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(socket, "socket", fail)
    assert not is_reachable(ipaddress.ip_address("1.1.1.1"))


def test_a_permitted_network_does_not_permit_the_addresses_of_this_machine_in_it() -> None:
    everything = [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")]
    assert is_reachable(ipaddress.ip_address("10.255.255.254"), everything)
    for text in ("127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "::"):
        assert not is_reachable(ipaddress.ip_address(text), everything)
    for text in ("127.0.0.0/8", "127.0.0.1/32"):
        assert is_reachable(ipaddress.ip_address("127.0.0.1"), [ipaddress.ip_network(text)])
