"""Spans of calls: their ids, parents and outcomes, and that exporting never delays a call."""

import threading
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from hawse.api.ports import PreviewHost
from hawse.wire import HawseError
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.metrics.telemetry import CallSpans, installed_exporters
from hawse_gateway.upstream.gateway_call import GatewayCall
from tests.support.gateway import TOKEN, VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.http_clients import http_client
from tests.support.waiting import TIMEOUT

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


async def test_a_call_is_a_child_of_its_clients_span(runtime: FakeRuntime) -> None:
    exporter = InMemorySpanExporter()
    spans = CallSpans([exporter])
    headers = {"Authorization": f"Bearer {TOKEN}", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    async with Gateway(runtime, observers=[spans]) as gateway, http_client(headers=headers) as http:
        answer = await http.post(f"{gateway.url}/v1/sandboxes/local/terminal.list")
        async with gateway.peer() as peer:
            await peer.ask("answer")
        async with gateway.peer(token=VIEWER_TOKEN) as viewer:
            with pytest.raises(HawseError, match="forbidden"):
                await viewer.ask("terminal.create")
    spans.close(TIMEOUT)
    listed, answered, refused = exporter.get_finished_spans()
    assert (listed.name, listed.kind) == ("terminal.list", SpanKind.SERVER)
    assert listed.context is not None
    assert f"{listed.context.trace_id:032x}" == TRACE
    assert f"{listed.context.span_id:016x}" == answer.headers["x-request-id"]
    assert listed.parent is not None
    assert f"{listed.parent.span_id:016x}" == PARENT
    assert listed.attributes is not None
    assert (listed.attributes["hawse.sandbox"], listed.attributes["enduser.id"]) == ("local", "owner")
    assert (listed.attributes["error.type"], listed.status.status_code) == ("unknown_method", StatusCode.ERROR)
    assert (answered.name, answered.parent, answered.status.status_code) == ("answer", None, StatusCode.UNSET)
    assert refused.attributes is not None
    assert (refused.name, refused.attributes["error.type"]) == ("terminal.create", "forbidden")
    assert runtime.seen[0].trace is not None
    assert runtime.seen[0].trace.startswith(f"00-{TRACE}-{answer.headers['x-request-id']}")


async def test_a_client_that_does_not_record_its_trace_gets_no_span() -> None:
    exporter = InMemorySpanExporter()
    spans = CallSpans([exporter])
    call = GatewayCall(PreviewHost())
    call.context.traceparent = f"00-{TRACE}-{PARENT}-00"
    spans.began(call, None)
    spans.ended(call, "ok")
    spans.close(TIMEOUT)
    assert exporter.get_finished_spans() == ()


class Stuck(SpanExporter):
    """Exports nothing until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.names: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.released.wait(TIMEOUT)
        self.names += [span.name for span in spans]
        return SpanExportResult.SUCCESS


async def test_spans_that_cannot_be_exported_are_dropped_and_calls_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    exporter = Stuck()
    spans = CallSpans([exporter])
    for _ in range(100):
        call = GatewayCall(PreviewHost())
        spans.began(call, None)
        spans.ended(call, "ok")
    exporter.released.set()
    spans.close(TIMEOUT)
    assert 0 < len(exporter.names) < 100


def test_exporters_are_those_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console, none")
    assert [type(one) for one in installed_exporters()] == [ConsoleSpanExporter]
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "moon")
    with pytest.raises(SettingsError, match="unknown exporter 'moon'"):
        installed_exporters()
