from pathlib import Path

from hawse_gateway.tunnels.feature import TUNNELS
from hawse_gateway.tunnels.methods import TunnelMethods
from hawse_gateway.tunnels.options import TunnelOptions
from tests.support.composed import composed, contributed


def test_tunnels_use_the_ports_of_the_settings(tmp_path: Path) -> None:
    composition = composed(TUNNELS, tmp_path, tunnel_ports="20000-20009")
    assert TunnelMethods in contributed(composition)
    assert composition.part(TunnelOptions).ports == range(20000, 20010)
    assert composition.part(TunnelOptions).root == tmp_path / "tunnels"
