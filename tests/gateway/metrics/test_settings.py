from hawse_gateway.metrics.settings import SpanSettings


def test_spans_are_exported_only_on_request() -> None:
    assert not SpanSettings().otel
    SpanSettings(otel=True).check()
