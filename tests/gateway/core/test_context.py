"""The context of a call: its ids."""

from hawse.logs import TRACE
from hawse.wire.trace import Trace
from hawse_gateway.core.context import CallContext, current


def test_each_call_has_an_id_of_16_hexadecimal_digits() -> None:
    ids = {CallContext("").request for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) == 16 and int(id, 16) for id in ids)


def test_outside_of_a_request_the_context_is_that_of_the_gateway() -> None:
    assert current().address == ""
    context = CallContext("127.0.0.1:1")
    with context.entered():
        assert current() is context
        assert Trace.parse(TRACE.get()) == context.trace
    assert (current().address, TRACE.get()) == ("", None)


def test_a_call_belongs_to_the_trace_of_its_client() -> None:
    parent = Trace.below(None)
    context = CallContext("127.0.0.1:1", str(parent))
    assert context.trace.id == parent.id
    assert context.request != parent.span
