"""`GET /metrics` of a real gateway in front of a real runtime, read by the library's parser."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from hawse.api.runtime import ECHO_BOUNDS, RuntimeMetricsResult
from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Kind
from hawse_gateway.metrics.endpoint import RUNTIME
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway, Peer
from tests.support.http_clients import http_client
from tests.support.stack import Stack

BEARER = {"Authorization": f"Bearer {TOKEN}"}
MIB = 1 << 20


class Scraped(dict[str, float]):
    """Samples by name and labels, as they are written: `hawse_bytes_total{direction="in"}`."""

    def __init__(self, text: str) -> None:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
                self[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value

    def local(self, name: str) -> float | None:
        """Of the sandbox `local`."""
        return self.get(f'{name}{{sandbox="local"}}')


async def scrape(url: str, token: str = TOKEN) -> Scraped:
    async with http_client(url, timeout=20) as http:
        answer = await http.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return Scraped(answer.text)


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with Stack(tmp_path / "state") as stack:
        yield stack


def peer(stack: Stack, window: int = 524_288) -> Peer:
    url = f"ws://127.0.0.1:{stack.port}/v1/connect"
    headers = {"Authorization": f"Bearer {stack.token}"}
    options: dict[str, Any] = {"compression": None, "max_size": None, "proxy": None}
    return Peer(connect(url, subprotocols=[Subprotocol("hawse.v1")], additional_headers=headers, **options), window)


async def read(peer: Peer, ch: int, size: int) -> None:
    """Take `size` bytes of output, and give credit for them."""
    while size > 0:
        message = await peer.receive(20)
        if message.type == "data" and message.kind == Kind.OUTPUT:
            size -= len(message.payload)
            peer.connection.grant(ch, len(message.payload))
            await peer.flush()


async def event(peer: Peer, name: str) -> None:
    while (message := await peer.receive(20)).type != "event" or message.name != name:
        pass


# ---- the samples


async def test_it_counts_clients_channels_calls_bytes_and_keys(stack: Stack) -> None:
    async def now() -> Scraped:
        return await scrape(stack.base, stack.token)

    before = await now()
    assert (before["hawse_connections"], before["hawse_connections_total"]) == (0, 0)
    async with peer(stack) as typist:
        typist_argv = ["sh", "-c", "stty -icanon; printf ready; exec cat >/dev/null"]
        await typist.ask("terminal.create", {"id": "t", "argv": typist_argv})
        ch = await typist.call("terminal.attach", {"id": "t", "input": "keys"})
        await read(typist, ch, 5)
        for offset in range(20):
            await typist.send(ch, offset, b"k")
            await read(typist, ch, 1)
        during = await now()
        assert (during["hawse_connections"], during["hawse_channels"], during["hawse_calls_total"]) == (1, 1, 2)
        assert during['hawse_bytes_total{direction="in"}'] > 20 * 14
        assert during['hawse_bytes_total{direction="out"}'] > 20 * 14
        assert during['hawse_sandboxes{state="running"}'] == 1
        assert during["hawse_store_seconds_count"] > 0
        assert (during["hawse_store_errors_total"], during["hawse_pool_size"]) == (0, 0)
        assert (during.local("hawse_sandbox_up"), during.local("hawse_terminals")) == (1, 1)
        assert (during.local("hawse_viewers"), during.local("hawse_viewer_lag_bytes")) == (1, 0)
        assert during.local("hawse_echo_seconds_count") == 20
        assert during['hawse_echo_seconds_bucket{sandbox="local",le="+Inf"}'] == 20
        assert during.local("hawse_output_bytes_total") == 25
        assert during.local("hawse_link_channels") == 1
        assert during["process_cpu_seconds_total"] >= before["process_cpu_seconds_total"] > 0
    await eventually_zero(stack)
    after = await now()
    assert (after["hawse_connections_total"], after["hawse_channels"], after.local("hawse_viewers")) == (1, 0, 0)
    for name in ("hawse_calls_total", 'hawse_bytes_total{direction="in"}', 'hawse_bytes_total{direction="out"}'):
        assert after[name] >= during[name], "counters do not decrease when a client leaves"


async def eventually_zero(stack: Stack) -> None:
    async with asyncio.timeout(20):
        while (metrics := await scrape(stack.base, stack.token))["hawse_connections"] or metrics.local("hawse_viewers"):
            pass


async def test_a_stalled_viewer_lags_and_is_reseeded(stack: Stack) -> None:
    async with peer(stack) as fast, peer(stack, window=65_536) as stalled:
        await fast.ask("terminal.create", {"id": "t", "argv": ["sh", "-c", "read a; head -c 8388608 /dev/zero"]})
        reading = await fast.call("terminal.attach", {"id": "t", "input": "keys"})
        ch = await stalled.call("terminal.attach", {"id": "t"})
        await event(fast, "live")
        await event(stalled, "live")
        await fast.send(reading, 0, b"\n")
        await read(fast, reading, 8 * MIB)
        behind = await scrape(stack.base, stack.token)
        assert (behind.local("hawse_viewer_lag_bytes") or 0) > 7 * MIB
        assert behind.local("hawse_viewer_lag_max_bytes") == behind.local("hawse_viewer_lag_bytes")
        assert behind.local("hawse_reseeds_total") == 0
        assert behind['hawse_bytes_total{direction="out"}'] > 8 * MIB
        assert (behind.local("hawse_output_bytes_total") or 0) >= 8 * MIB
        assert (behind.local("hawse_journal_bytes") or 0) >= MIB
        stalled.connection.grant(ch, 4 * MIB)
        await stalled.flush()
        await event(stalled, "reseed")
        assert (await scrape(stack.base, stack.token)).local("hawse_reseeds_total") == 1


# ---- what it does not do


async def test_a_scrape_starts_no_sandbox(stack: Stack) -> None:
    metrics = await scrape(stack.base, stack.token)
    assert metrics['hawse_sandboxes{state="sleeping"}'] == 1
    assert metrics['hawse_egress_requests_total{result="passed"}'] == 0
    assert (metrics["hawse_egress_connections"], metrics["hawse_egress_refusals_lost_total"]) == (0, 0)
    assert metrics.local("hawse_sandbox_up") is None
    assert stack.runtimes() == []


async def test_a_runtime_that_hangs_is_reported_down_and_one_that_died_stays_down(stack: Stack) -> None:
    async with peer(stack) as client:
        await client.ask("runtime.info")
        (runtime,) = stack.runtimes()
        runtime.send_signal(signal.SIGSTOP)
        try:
            stuck = await scrape(stack.base, stack.token)
        finally:
            runtime.send_signal(signal.SIGCONT)
        assert (stuck.local("hawse_sandbox_up"), stuck.local("hawse_terminals")) == (0, None)
        assert stuck["hawse_connections"] == 1
        assert (await scrape(stack.base, stack.token)).local("hawse_sandbox_up") == 1
        runtime.kill()
        async with asyncio.timeout(20):
            while (await scrape(stack.base, stack.token)).local("hawse_sandbox_up") is not None:
                pass
        assert stack.runtimes() == []


class FakeMetrics(FakeRuntime):
    """Answers `runtime.metrics` with `value`."""

    value: Any = None

    def _call(self, link: StreamLink, call: Call) -> None:
        if call.method == "runtime.metrics" and self.value is not None:
            link.connection.send_result(call.ch, self.value)
        else:
            super()._call(link, call)


GOOD: dict[str, Any] = dict.fromkeys(RUNTIME, 3) | {"echo": {"counts": [1] * 14, "seconds": 2.5}}


@pytest.mark.parametrize(
    ("value", "up"),
    [
        (GOOD, 1),
        (GOOD | {"new": "field"}, 1),
        (None, 0),  # an older one: unknown_method
        ("no", 0),
        ({"terminals": 1}, 0),
        (GOOD | {"terminals": -1}, 0),
        (GOOD | {"terminals": 1 << 70}, 0),
        (GOOD | {"terminals": "1"}, 0),
        (GOOD | {"echo": {"counts": [1] * 13, "seconds": 0}}, 0),
    ],
)
async def test_the_reply_of_a_runtime_is_validated(tmp_path: Path, value: Any, up: int) -> None:
    async with FakeMetrics(tmp_path / "s") as runtime, Gateway(runtime) as gateway, gateway.peer() as client:
        await client.ask("answer")
        runtime.value = value
        metrics = await scrape(gateway.url)
        assert metrics.local("hawse_sandbox_up") == up
        assert metrics.local("hawse_terminals") == (3 if up else None)
        assert not runtime.cancelled
        assert gateway.sandboxes.starts == 1


def test_every_counter_of_a_runtime_is_exported() -> None:
    assert {*RUNTIME, "echo"} == set(RuntimeMetricsResult.__struct_fields__)
    assert len(GOOD["echo"]["counts"]) == len(ECHO_BOUNDS) + 1


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthenticated"),
        ({"Authorization": "Bearer no"}, 401, "unauthenticated"),
        ({"Authorization": f"Bearer {VIEWER_TOKEN}"}, 403, "forbidden"),
        (BEARER | {"Host": "evil.example"}, 403, "origin_denied"),
    ],
)
async def test_metrics_require_the_owners_token(
    gateway: Gateway, headers: dict[str, str], status: int, code: str
) -> None:
    async with http_client(gateway.url) as http:
        answer = await http.get("/metrics", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert gateway.sandboxes.starts == 0
