"""The context of a call: its id."""

from gateway.context import CURRENT, CallContext, current


def test_each_call_has_an_id_of_16_hexadecimal_digits() -> None:
    ids = {CallContext("").request for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) == 16 and int(id, 16) >= 0 for id in ids)


def test_outside_of_a_request_the_context_is_that_of_the_gateway() -> None:
    assert current().address == ""
    mark = CURRENT.set(CallContext("127.0.0.1:1"))
    try:
        assert current() is current()
        assert current().address == "127.0.0.1:1"
    finally:
        CURRENT.reset(mark)
