"""The commands of programs, and how their output gives an address. The lines come from real programs."""

import pytest

from hawse_gateway.tunnels.providers import SAID_MAX, Cloudflared, Output, Published, Ssh

CLOUDFLARED = """\
2026-11-24T09:06:46Z INF Thank you for trying Cloudflare Tunnel. See: https://developers.cloudflare.com/cloudflare-one
2026-11-24T09:06:46Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-11-24T09:06:49Z INF +-----------------------------------------------------------------------------------------+
2026-11-24T09:06:49Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
2026-11-24T09:06:49Z INF |  https://buffalo-marco-cardiff-motel.trycloudflare.com                                     |
2026-11-24T09:06:49Z INF +-----------------------------------------------------------------------------------------+
2026-11-24T09:06:49Z ERR Failed to dial a quic connection error="timeout: no recent network activity" connIndex=0
"""
REGISTERED = "2026-11-24T09:06:50Z INF Registered tunnel connection connIndex=0 connection=c206cf44 location=ORD"
SSH = """\
OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.22 25 Aug 2026
debug1: Reading configuration data /etc/ssh/ssh_config
Warning: Permanently added 'gw.example.org' (ED25519) to the list of known hosts.
debug1: Remote connections from *:0 forwarded to local address ./socket:-2
debug1: remote forward success for: listen *:0, connect ./socket:-2
"""


def feed(output: Output, text: str) -> list[Published]:
    found = [output.read(line) for line in text.splitlines()]
    return [one for one in found if one is not None]


def test_cloudflared_has_an_address_once_connected() -> None:
    output = Cloudflared().output()
    assert feed(output, CLOUDFLARED) == []
    assert output.said.startswith("Failed to dial a quic connection")
    assert feed(output, REGISTERED) == [Published("https://buffalo-marco-cardiff-motel.trycloudflare.com")]


def test_cloudflared_is_asked_for_a_quick_tunnel_to_the_socket() -> None:
    cloudflared = Cloudflared()
    assert cloudflared.arguments(None)[-2:] == ["--url", "http://localhost"], "without it there is no quick tunnel"
    assert cloudflared.files["config.yml"] == "ingress:\n  - service: unix:socket\n"
    assert cloudflared.arguments(None)[1:3] == ["--config", "config.yml"]


@pytest.mark.parametrize(
    "line",
    [
        'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: no such host',
        "2026-11-24T09:06:49Z INF |  https://a.trycloudflare.com.example.org  |",
        "2026-11-24T09:06:49Z INF |  http://a.trycloudflare.com  |",
    ],
)
def test_other_addresses_are_not_taken_for_a_quick_tunnel(line: str) -> None:
    assert feed(Cloudflared().output(), f"{line}\n{REGISTERED}") == []


def test_the_last_error_explains_an_end() -> None:
    output = Cloudflared().output()
    feed(output, 'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": no such host')
    assert output.said.startswith("failed to request quick Tunnel")
    output = Ssh("gw.example.org").output()
    feed(output, SSH + "\x1b[31mada@gw.example.org: Permission denied (publickey).\r\n" + "debug1: Exit status -1")
    assert output.said == "[31mada@gw.example.org: Permission denied (publickey)."
    feed(output, "x" * 10_000)
    assert len(output.said) == SAID_MAX


def test_verbose_ssh_output_does_not_explain_an_end() -> None:
    output = Ssh("gw.example.org").output()
    feed(output, 'Authorized users only\nAuthenticated to gw.example.org ([10.0.0.1]:22) using "publickey".')
    assert output.said == "Authorized users only"
    feed(output, "Allocated port 41234 for remote forward to ./socket:-2")
    assert output.said == "", "what was before the address explains no end"
    last = "Connection to gw.example.org closed by remote host."
    feed(output, f"{last}\nTransferred: sent 2, received 3 bytes, in 4 seconds\nBytes per second: sent 1, received 1")
    assert output.said == last


def test_tokens_of_the_gateway_and_settings_of_other_tunnels_are_hidden_from_programs() -> None:
    own = {"HAWSE_TOKEN": "secret", "HOME": "/home/ada", "TUNNEL_TOKEN": "t", "TUNNEL_TRANSPORT_PROTOCOL": "http2"}
    assert Ssh("gw").environment(own) == {name: own[name] for name in own if name != "HAWSE_TOKEN"}
    assert Cloudflared().environment(own) == {"HOME": "/home/ada", "TUNNEL_TRANSPORT_PROTOCOL": "http2"}


def test_ssh_reports_the_port_that_it_was_given() -> None:
    output = Ssh("ada@gw.example.org").output()
    assert feed(output, SSH) == []
    expected = [Published("tcp://gw.example.org:41234", 41234)]
    assert feed(output, "Allocated port 41234 for remote forward to ./socket:-2\r\n") == expected
    output = Ssh("ssh://ada@[::1]:2222").output()
    line = "debug1: remote forward success for: listen *:41234, connect ./socket:-2"
    assert feed(output, line) == [Published("tcp://[::1]:41234", 41234)]
    assert feed(output, "Allocated port 65536 for remote forward to ./socket:-2") == []


def test_ssh_asks_for_the_port() -> None:
    arguments = Ssh("ada@gw.example.org").arguments
    assert arguments(None)[-4:] == ["-R", "*:0:./socket", "--", "ada@gw.example.org"]
    assert "*:41234:./socket" in arguments(41234)


@pytest.mark.parametrize(
    "destination",
    [
        "",
        "-oProxyCommand=id",
        "a b",
        "ada@-x",
        "ssh://-oProxyCommand=id",
        "ssh://host:port",
        "host:22",
        "a@b@c",
        "h/x",
        "ssh://gw:0",
        "ssh://gw:65536",
    ],
)
def test_an_invalid_destination_is_refused(destination: str) -> None:
    with pytest.raises(ValueError, match=r"expected|ports are"):
        Ssh(destination)


@pytest.mark.parametrize("destination", ["gw", "gw.example.org", "a.b+c@gw-1", "[::1]", "ssh://gw", "ssh://a@gw:2222"])
def test_destinations(destination: str) -> None:
    assert Ssh(destination).arguments(None)[-1] == destination
