"""The trace context for the client's calls, taken from OpenTelemetry if the program uses it."""

import sys


def current_trace() -> str | None:
    """Return the W3C `traceparent` of the current span; None if there is no span or OpenTelemetry is not in use.

    OpenTelemetry is not imported here, because a program that hasn't imported it can't be in a span.
    """
    telemetry = sys.modules.get("opentelemetry.trace")
    if telemetry is None:
        return None
    span = telemetry.get_current_span().get_span_context()
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags):02x}" if span.is_valid else None
