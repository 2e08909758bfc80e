"""Prometheus scrapes a live gateway, and promtool accepts its metrics."""

import asyncio
from pathlib import Path

import httpx
import pytest

import hawse
from e2e.apps.servers import server
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")
CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: hawse
    authorization: {{credentials: "{token}"}}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
SCRAPED = 30.0  # s for the first scrapes


async def metrics(stack: Stack) -> bytes:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{stack.base}/metrics", headers={"Authorization": f"Bearer {stack.token}"})
    assert answer.status_code == 200
    return answer.content


async def test_promtool_accepts_the_metrics(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await hw.sandbox().exec("true")
        text = await metrics(stack)
    pipe = asyncio.subprocess.PIPE
    promtool = await asyncio.create_subprocess_exec(
        "promtool", "check", "metrics", stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    complaints, _ = await promtool.communicate(text)
    assert (promtool.returncode, complaints) == (0, b"")


async def test_prometheus_scrapes_the_gateway_and_its_runtimes(stack: Stack, tmp_path: Path) -> None:
    port = free_port()
    config = tmp_path / "prometheus.yml"
    config.write_text(CONFIG.format(token=stack.token, port=stack.port))
    options = [f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    options += [f"--web.listen-address=127.0.0.1:{port}"]
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open(argv=["cat"]),
        server(["prometheus", *options], port, log=tmp_path / "log"),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1/", trust_env=False) as api,
    ):

        async def query(expression: str) -> list[str]:
            answer = (await api.get("query", params={"query": expression})).json()
            assert answer["status"] == "success", answer
            return [sample["value"][1] for sample in answer["data"]["result"]]

        async with asyncio.timeout(SCRAPED):
            while await query("hawse_terminals") != ["1"]:  # noqa: ASYNC110  # scrapes have no event
                await asyncio.sleep(0.5)
        (target,) = (await api.get("targets")).json()["data"]["activeTargets"]
        assert (target["health"], target["lastError"]) == ("up", "")
        assert await query('hawse_sandbox_up{sandbox="local"}') == ["1"]
        assert await query("up") == ["1"]
