"""Exports an OpenTelemetry span for each call (`hawse[otel]`, `--otel`).

A call's span has the ids that also appear in logs, errors and the audit log. It is a child of the client's span. The
SDK exports spans in a thread with a bounded queue. If the queue is full, spans are dropped.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from hawse.wire import HawseError, Result
from hawse.wire.trace import Trace
from hawse_gateway import VERSION
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.upstream.observer import ObservedCall

EXPORTERS: Final = "OTEL_TRACES_EXPORTER"  # comma-separated names
DEFAULT_EXPORTER: Final = "otlp_proto_http"
GROUP: Final = "opentelemetry_traces_exporter"  # entry point group for exporters
SERVICE: Final = "hawse-gateway"
CLOSE_TIMEOUT: Final = 3.0  # seconds to wait for the collector on exit
NAME_MAX: Final = 128  # maximum length of an unknown method's name, in characters
NO_ERRORS: Final = frozenset({"ok", "cancelled"})  # outcomes that don't count as errors


class CallIds(IdGenerator):
    """An id generator that gives a call's span the call's ids."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._next = threading.local()

    @contextmanager
    def of(self, trace: Trace) -> Iterator[None]:
        """Use the ids in `trace` for a span started in the `with` block."""
        self._next.trace = trace
        try:
            yield
        finally:
            self._next.trace = None

    def generate_trace_id(self) -> int:
        trace: Trace | None = getattr(self._next, "trace", None)
        return self._random.generate_trace_id() if trace is None else int(trace.id, 16)

    def generate_span_id(self) -> int:
        trace: Trace | None = getattr(self._next, "trace", None)
        return self._random.generate_span_id() if trace is None else int(trace.span, 16)


class CallSpans:
    """An observer of calls (`CallObserver`), configured with OpenTelemetry's environment variables."""

    def __init__(self, exporters: Iterable[SpanExporter] | None = None) -> None:
        """Start the export threads.

        Args:
            exporters: The exporters to use. Defaults to the exporters named in `OTEL_TRACES_EXPORTER`, or else to OTLP
                over HTTP.

        Raises:
            SettingsError: An exporter is unknown, or its package is not installed.
        """
        self._ids = CallIds()
        named = {"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"} & set(os.environ)
        resource = Resource.create({} if named else {SERVICE_NAME: SERVICE})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        for exporter in installed_exporters() if exporters is None else exporters:
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("hawse", VERSION)
        self._open: dict[ObservedCall, Span] = {}

    def close(self, timeout: float = CLOSE_TIMEOUT) -> None:
        """Export pending spans and end the threads. Blocks for at most `timeout` seconds."""
        thread = threading.Thread(target=self._provider.shutdown, name="close spans", daemon=True)
        thread.start()
        thread.join(timeout)

    # ---- the observer

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        self._open[call] = self._start(call, sandbox)

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        span = self._open.pop(call, None)
        if span is not None:
            _end(span, outcome)

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        _end(self._start(call, sandbox), error.code)

    def _start(self, call: ObservedCall, sandbox: str | None) -> Span:
        attributes = {
            "rpc.system": "hawse",
            "rpc.method": call.call.method[:NAME_MAX],
            "enduser.id": call.principal.id,
            "client.address": call.context.address,
        }
        if sandbox is not None:
            attributes["hawse.sandbox"] = sandbox
        with self._ids.of(call.context.trace):
            return self._tracer.start_span(
                call.call.method[:NAME_MAX],
                context=_parent(call.context.traceparent),
                kind=SpanKind.SERVER,
                attributes=attributes,
            )


def installed_exporters() -> list[SpanExporter]:
    """Return the exporters named in `OTEL_TRACES_EXPORTER`. Raises `SettingsError`."""
    names = [name.strip() for name in os.environ.get(EXPORTERS, DEFAULT_EXPORTER).split(",")]
    names = [DEFAULT_EXPORTER if name == "otlp" else name for name in names if name and name != "none"]
    found: list[SpanExporter] = []
    for name in names:
        known = list(entry_points(group=GROUP, name=name))
        if not known:
            raise SettingsError(f"--otel: unknown exporter {name!r} ({EXPORTERS}): pip install 'hawse[otel]'")
        found.append(known[0].load()())
    return found


def _parent(traceparent: str | None) -> Context:
    parent = Trace.parse(traceparent)
    if parent is None:
        return Context()
    flags = TraceFlags(int(parent.flags, 16))
    span = SpanContext(int(parent.id, 16), int(parent.span, 16), is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(span), Context())


def _end(span: Span, outcome: str) -> None:
    if outcome not in NO_ERRORS:
        span.set_attribute("error.type", outcome)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
