"""The metrics feature: serves `GET /metrics` for Prometheus, and exports call spans with OpenTelemetry."""

import asyncio
from importlib import import_module
from typing import Protocol, cast

from starlette.routing import Route

from hawse.build import BUILD
from hawse_gateway import VERSION
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.metrics.calls import CallMetrics
from hawse_gateway.metrics.endpoint import MetricsEndpoint, ProcessMetrics, add_runtimes, ask
from hawse_gateway.metrics.loop_lag import LoopLag
from hawse_gateway.metrics.prometheus_text import Exposition, Family
from hawse_gateway.metrics.settings import SpanSettings
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.observer import CallObserver


class Spans(CallObserver, Protocol):
    """Exports a span for each call (`hawse_gateway.metrics.telemetry`)."""

    def close(self) -> None:
        """Export the remaining spans within a short time limit. Blocks."""


def _build_spans(gateway: Composition) -> None:
    if not gateway.part(SpanSettings).otel:
        return
    try:
        telemetry = import_module("hawse_gateway.metrics.telemetry")  # imported here because it needs optional packages
    except ModuleNotFoundError as error:
        raise SettingsError(f"--otel needs {error.name}: pip install 'hawse[otel]'") from error
    spans = cast(Spans, telemetry.CallSpans())
    gateway.observers.append(spans)
    gateway.at_end(lambda: asyncio.to_thread(spans.close))


def _build(gateway: Composition) -> None:
    links = gateway.part(Links)

    async def collect(out: Exposition) -> None:
        info = Family("hawse_info", "gauge", "Version and build of the gateway.")
        out.add(info, [({"version": VERSION, "build": BUILD}, 1)])
        add_runtimes(out, await asyncio.gather(*map(ask, links.ready())))

    calls, lag = CallMetrics(), LoopLag()
    gateway.observers.append(calls)
    gateway.run(lag.run, "event loop lag")
    gateway.metrics += [calls.collect, lag.collect, collect, ProcessMetrics().collect]
    endpoint = MetricsEndpoint(gateway.part(AccessPolicy), gateway.metrics)
    gateway.routes.append(Route("/metrics", endpoint.__call__, methods=["GET"]))


SPANS = Feature("spans", _build_spans)
METRICS = Feature("metrics", _build)
