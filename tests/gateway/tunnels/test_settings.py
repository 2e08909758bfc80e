import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.tunnels.settings import TunnelSettings


def test_ports_of_tunnels_are_checked() -> None:
    with pytest.raises(SettingsError, match="--tunnel-ports 20000: expected"):
        TunnelSettings(tunnel_ports="20000").check()
    with pytest.raises(SettingsError, match="--tunnel-tls-port"):
        TunnelSettings(tunnel_tls_port="1-2").check()
    settings = TunnelSettings(tunnel_ports="20000-20009", tunnel_tls_port="0.0.0.0:8443", tunnel_host="gw.example")
    found = settings.tunnels("127.0.0.2")
    assert (len(found.ports), found.address, found.tls_address) == (10, "127.0.0.2", "0.0.0.0")
