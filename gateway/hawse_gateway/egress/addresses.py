"""Names and addresses that programs in sandboxes may reach: valid names, and public addresses."""

import errno
import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAME_MAX: Final = 253  # characters (RFC 1035, 2.3.4)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# A last label that some resolvers read as a number in an IPv4 address: decimal, octal or hexadecimal.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Addresses that `ipaddress` considers public, at least in some versions of Python.
_NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # services of a cloud for its machines
        "192.0.0.0/24",  # IETF protocol assignments; metadata services of a cloud
        "192.88.99.0/24",  # relays of 6to4
        "fec0::/10",  # site-local
        "64:ff9b:1::/48",  # local translation of IPv4
        "fd00:ec2::/32",
    )
)
_TRANSLATED: Final = ipaddress.IPv6Network("64:ff9b::/96")  # IPv4 by way of a translator (RFC 6052)
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")  # IPv4, deprecated (RFC 4291, 2.5.5.1)


def normalized(host: str) -> str:
    """Return a host in the form used by rules and certificates: lower case, no final dot, canonical addresses.

    Args:
        host: An ASCII name, or an address; IPv6 addresses may be in brackets.

    Raises:
        ValueError: It is neither. IPv4 addresses in octal, hexadecimal or with fewer than four numbers are refused, and
            so are IPv6 addresses that lead to an IPv4 address, except `::ffff:…`, which becomes the IPv4 address.
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
    """Return the address of a normalized host, or None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_reachable(address: Address, permitted: Sequence[Network] = ()) -> bool:
    """Return whether programs may connect to an address: public ones outside this machine, and permitted ones.

    Args:
        address: The address.
        permitted: Networks that the operator permits although they are not public. Addresses of this machine are only
            permitted by a network of exactly this address, or of loopback addresses only.
    """
    if found := [network for network in permitted if network.version == address.version and address in network]:
        # Services of this machine also listen on its addresses in internal networks.
        return any(network.is_loopback or network.num_addresses == 1 for network in found) or not _is_own(address)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return is_reachable(address.ipv4_mapped, permitted)
    return all(_is_public(each) for each in (address, *_embedded(address))) and not _is_own(address)


def _ipv6(text: str) -> str:
    """Return an IPv6 address in canonical form. A host must not have two names: rules would only know one of them."""
    address = ipaddress.IPv6Address(text)
    if address.scope_id is not None:
        raise ValueError("an address with a zone is not reachable")
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if int(address) > 1 and _embedded(address):  # not `::` and `::1`
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
    """Return whether an address belongs to this machine: sockets can only be bound to its own addresses (ip(7))."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:  # any other error, such as no free descriptor, leaves it open
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
    return True
