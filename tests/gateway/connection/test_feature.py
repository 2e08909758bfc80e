from pathlib import Path

from hawse_gateway.connection.feature import CONNECT, JOIN
from hawse_gateway.providers.joined.provider import JoinedProvider
from tests.support.composed import composed, paths, scraped


async def test_clients_and_machines_have_routes_and_metrics(tmp_path: Path) -> None:
    composition = composed(JOIN, tmp_path)
    assert paths(composition) == ["/v1/connect", "/v1/connect", "/v1/join", "/v1/join"]
    text = await scraped(composed(JOIN, tmp_path))
    assert "hawse_connections 0" in text
    assert "hawse_machines 0" in text


async def test_machines_cannot_join_one_of_several_gateways(tmp_path: Path) -> None:
    composition = composed(JOIN, tmp_path, store="redis://shared")
    assert composition.find(JoinedProvider) is None
    assert paths(composition) == paths(composed(CONNECT, tmp_path, store="redis://shared"))
    assert "hawse_machines" not in await scraped(composition)
