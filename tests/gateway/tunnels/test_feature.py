from pathlib import Path
from typing import Any

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.tunnels.feature import TUNNELS
from hawse_gateway.tunnels.methods import TunnelMethods
from hawse_gateway.tunnels.options import TunnelOptions
from tests.support.composed import composed, contributed


def test_tunnels_use_the_ports_of_the_settings(tmp_path: Path) -> None:
    composition = composed(TUNNELS, tmp_path, tunnel_ports="20000-20009")
    assert TunnelMethods in contributed(composition)
    assert composition.part(TunnelOptions).ports == range(20000, 20010)
    assert composition.part(TunnelOptions).root == tmp_path / "tunnels"


@pytest.mark.parametrize("option", [{"tunnel_cloudflared": True}, {"tunnel_ssh": "user@gw.example.org"}])
def test_gateways_that_share_a_store_have_no_tunnels_of_other_providers(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="need a single gateway, without --store"):
        composed(TUNNELS, tmp_path, store="redis://127.0.0.1:1", **option)


def test_the_name_of_the_ports_of_tunnels_must_have_an_address(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--tunnel-ports: a+ has no address"):
        composed(TUNNELS, tmp_path, tunnel_ports=f"{'a' * 64}:20000-20009")
