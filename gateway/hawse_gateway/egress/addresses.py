"""Checks which names and addresses programs in sandboxes may reach."""

import errno
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAME_MAX: Final = 253  # maximum number of characters (RFC 1035, section 2.3.4)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Matches a decimal, octal or hexadecimal number. If it is a name's last label, some resolvers parse the name as an IPv4
# address.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Addresses that must not be reachable, even though `ipaddress` considers them public in some Python versions.
_NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # internal services of a cloud provider
        "192.0.0.0/24",  # IETF protocol assignments; a cloud provider's metadata services are among them
        "192.88.99.0/24",  # 6to4 relays
        "fec0::/10",  # site-local
        "64:ff9b:1::/48",  # IPv4 addresses reached through a local translator
        "fd00:ec2::/32",
    )
)
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")  # IPv4 addresses reached through a translator (RFC 6052)
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")  # IPv4 addresses in a deprecated form (RFC 4291, section 2.5.5.1)


def normalized(host: str) -> str:
    """Return a host in the form used in rules and certificates: lower case, no final dot, and canonical addresses.

    Args:
        host: An ASCII name or an IP address. IPv6 addresses may be in brackets.

    Raises:
        ValueError: `host` is not a valid name or address. Also raised for IPv4 addresses in octal or hexadecimal or
            with fewer than four numbers, and for IPv6 addresses that contain an IPv4 address. However, `::ffff:…` is
            converted to the IPv4 address.
    """
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1])
    if ":" in host:
        return _ipv6(host)
    name = host.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > NAME_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{host[:80]!r} is not a host name")
    if _NUMBER.fullmatch(labels[-1]):
        return str(ipaddress.IPv4Address(name))
    return name


def address_of(host: str) -> Address | None:
    """Return a normalized host's address, or None if it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_reachable(address: Address, permitted: Sequence[Network] = ()) -> bool:
    """Return whether programs may connect to an address: it must be public and not on this machine, or explicitly
    permitted.

    Args:
        address: The address.
        permitted: Non-public networks permitted by the operator. To permit an address of this machine, a network must
            contain only that address or only loopback addresses.
    """
    if found := [network for network in permitted if network.version == address.version and address in network]:
        # A larger network can include this machine, whose services would become reachable as well.
        return any(network.is_loopback or network.num_addresses == 1 for network in found) or not _is_own(address)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return is_reachable(address.ipv4_mapped, permitted)
    return all(_is_public(each) for each in (address, *_embedded(address))) and not _is_own(address)


def _ipv6(text: str) -> str:
    """Return the canonical form of an IPv6 address, because rules compare hosts as text."""
    address = ipaddress.IPv6Address(text)
    if address.scope_id is not None:
        raise ValueError("an address with a zone is not reachable")
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if int(address) > 1 and _embedded(address):  # `::` and `::1` contain no IPv4 address
        raise ValueError("the IPv6 form of an IPv4 address")
    return str(address)


def _embedded(address: Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses that routers may derive from an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [] if address.sixtofour is None else [address.sixtofour]
    if address.teredo is not None:
        found += address.teredo
    if address in _TRANSLATED or address in _COMPATIBLE:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return found


def _is_public(address: Address) -> bool:
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback)
        and not (address.is_link_local or address.is_private)
        and not any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    )


def _is_own(address: Address) -> bool:
    """Return whether an address belongs to this machine, by binding a socket to it (ip(7))."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:  # after any other error, such as a lack of descriptors, the address counts as local
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
    return True
