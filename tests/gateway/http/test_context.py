"""The ids of HTTP requests."""

import httpx

from tests.support.gateway import TOKEN, Gateway


async def test_each_response_has_the_id_of_its_request(gateway: Gateway) -> None:
    async with httpx.AsyncClient(base_url=gateway.url) as http:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        paths = ("/healthz", "/", "/v1/openapi.json", "/v1/nowhere")
        ids = {(await http.get(path, headers=headers)).headers["x-request-id"] for path in paths}
    assert len(ids) == len(paths)
