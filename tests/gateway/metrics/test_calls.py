"""Errors by code and creations, from the notifications that observers of calls get."""

from hawse.wire import Call, HawseError
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.core.context import CallContext
from hawse_gateway.metrics.calls import CallMetrics
from hawse_gateway.metrics.prometheus_text import Exposition


class Observed:
    def __init__(self, method: str) -> None:
        self.call = Call(ch=1, method=method)
        self.principal = OWNER
        self.context = CallContext("127.0.0.1")


async def text(metrics: CallMetrics) -> str:
    out = Exposition()
    await metrics.collect(out)
    return out.text()


async def test_errors_are_counted_by_code_once_per_call() -> None:
    metrics = CallMetrics()
    for outcome in ("ok", "cancelled", "not_found", "not_found", "a code of a sandbox"):
        one = Observed("exec")
        metrics.began(one, "local")
        metrics.ended(one, outcome)
        metrics.ended(one, "interrupted")
    metrics.refused(Observed("exec"), "local", HawseError("forbidden"))
    shown = await text(metrics)
    samples = [line for line in shown.splitlines() if line.startswith("hawse_call_errors_total")]
    assert [sample.partition("{")[2] for sample in samples] == [
        'code="forbidden"} 1',
        'code="not_found"} 2',
        'code="other"} 1',
    ]
    assert "hawse_creation_errors_total" not in shown


async def test_successful_creations_are_measured_and_the_others_counted() -> None:
    metrics = CallMetrics()
    for outcome in ("ok", "ok", "capacity_exceeded", "cancelled"):
        one = Observed("sandbox.create")
        metrics.began(one, None)
        metrics.ended(one, outcome)
    shown = await text(metrics)
    assert "hawse_creation_seconds_count 2\n" in shown
    assert 'hawse_creation_errors_total{code="capacity_exceeded"} 1\n' in shown
