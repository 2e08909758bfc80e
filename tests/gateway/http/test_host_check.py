import pytest

from tests.support.gateway import Gateway
from tests.support.http_clients import http_client


@pytest.mark.parametrize(("host", "path", "status"), [("evil.test", "/", 403), ("evil.test", "/healthz", 200)])
async def test_a_foreign_host_is_refused_except_for_the_health_check(
    gateway: Gateway, host: str, path: str, status: int
) -> None:
    async with http_client(gateway.url) as http:
        answer = await http.get(path, headers={"Host": host})
    assert answer.status_code == status
