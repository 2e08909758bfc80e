"""The trace of calls, with a module that stands for OpenTelemetry, which is not a dependency."""

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hawse.client.base.trace import current_trace
from hawse.client.calls.call import ClientCall


class Span:
    """A span with a context of OpenTelemetry's form."""

    def __init__(self, trace_id: int, span_id: int) -> None:
        self.context = SimpleNamespace(trace_id=trace_id, span_id=span_id, trace_flags=1, is_valid=bool(trace_id))

    def get_span_context(self) -> SimpleNamespace:
        return self.context


def telemetry(monkeypatch: pytest.MonkeyPatch, span: Span) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", cast(Any, SimpleNamespace(get_current_span=lambda: span)))


async def test_a_call_belongs_to_the_span_in_which_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    telemetry(monkeypatch, Span(0x4BF92F3577B34DA6A3CE929D0E0E4736, 0xF067AA0BA902B7))
    assert ClientCall("echo").trace == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_outside_of_a_span_there_is_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    telemetry(monkeypatch, Span(0, 0))
    assert current_trace() is None
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert current_trace() is None
