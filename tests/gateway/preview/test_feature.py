from pathlib import Path

from hawse_gateway.preview.feature import PREVIEWS
from hawse_gateway.preview.methods import GatewayMethods
from hawse_gateway.tunnels.table import TunnelTable
from tests.support.composed import composed, contributed


def test_previews_know_the_tunnels_and_the_host_of_the_settings(tmp_path: Path) -> None:
    composition = composed(PREVIEWS, tmp_path, preview_host="p.example")
    assert GatewayMethods in contributed(composition)
    (proxy,) = composition.middleware
    assert proxy.kwargs["tunnels"] is composition.part(TunnelTable)
