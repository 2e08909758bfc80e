"""`traceparent`: examples of the specification, and what it calls invalid."""

import pytest

from hawse.wire.trace import Trace

EXAMPLE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_traceparent_is_parsed_and_written() -> None:
    trace = Trace.parse(EXAMPLE)
    assert trace == Trace("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "01")
    assert str(trace) == EXAMPLE


def test_a_later_version_may_have_more_fields() -> None:
    assert Trace.parse("cc" + EXAMPLE[2:] + "-what-the-future-will-be-like") == Trace.parse(EXAMPLE)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        EXAMPLE.upper(),
        EXAMPLE + "-1",
        "ff" + EXAMPLE[2:],
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        EXAMPLE[:-1],
        f" {EXAMPLE}",
    ],
)
def test_what_is_not_valid_counts_as_missing(text: str | None) -> None:
    assert Trace.parse(text) is None
    trace = Trace.below(text)
    assert Trace.parse(str(trace)) == trace


def test_a_span_below_another_is_in_the_same_trace() -> None:
    parent = Trace.parse(EXAMPLE)
    one, two = Trace.below(EXAMPLE), Trace.below(EXAMPLE)
    assert parent is not None
    assert (one.id, one.flags) == (two.id, two.flags) == (parent.id, "01")
    assert len({parent.span, one.span, two.span}) == 3
