"""Control messages: how they are encoded and decoded."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from msgspec import Raw, UnsetType

from hawse.wire import HawseError, Limits, Message, Principal, messages
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import EMPTY, NULL, Call, Error, Event, encode, from_client, from_raw, from_server, to_raw
from tests.support import wire as kit

RAW = {"params", "value", "details"}
TYPES = {cls.__name__.lower(): cls for cls in Message.__subclasses__()}


def made(entry: kit.Entry) -> Message:
    """The message with the fields of a vector."""
    fields: dict[str, Any] = {name: to_raw(value) if name in RAW else value for name, value in entry["fields"].items()}
    if "limits" in fields:
        fields["limits"] = Limits(**fields["limits"])
    if "principal" in fields:
        fields["principal"] = msgspec.convert(fields["principal"], Principal)
    message: Message = TYPES[entry["type"]](**fields)
    return message


def decoded(entry: kit.Entry) -> Any:
    return (from_client if entry["from"] == "client" else from_server).decode(kit.wire_form(entry))


def plain(message: Message) -> dict[str, Any]:
    """All fields of a message, with undecoded values decoded."""
    values = ((name, getattr(message, name)) for name in message.__struct_fields__)
    return {name: from_raw(value) if isinstance(value, Raw) else value for name, value in values}


@pytest.mark.parametrize("entry", kit.vectors("messages.json", "valid"), ids=kit.called)
def test_a_message_is_encoded_exactly_as_in_the_vectors(entry: kit.Entry) -> None:
    assert encode(made(entry)).decode() == entry["text"]


@pytest.mark.parametrize(
    "entry", kit.vectors("messages.json", "valid") + kit.vectors("messages.json", "tolerated"), ids=kit.called
)
def test_a_message_decodes_to_the_fields_of_its_vector(entry: kit.Entry) -> None:
    message = decoded(entry)
    assert type(message) is TYPES[entry["type"]]
    assert plain(message) == plain(made(entry))


def test_every_type_has_a_vector_from_each_side_that_sends_it() -> None:
    def types(union: Any) -> set[str]:
        return {cls.__name__.lower() for cls in union.__args__}

    given_ = {(entry["from"], entry["type"]) for entry in kit.vectors("messages.json", "valid")}
    assert given_ == {
        *(("client", name) for name in types(messages.FromClient)),
        *(("server", name) for name in types(messages.FromServer)),
    }
    assert {name for _, name in given_} == set(TYPES)


def test_an_events_cost_is_in_its_vector() -> None:
    for entry in kit.vectors("messages.json", "valid"):
        if entry["type"] == "event":
            assert len(decoded(entry).value) + EVENT_OVERHEAD == entry["cost"]


@given(st.recursive(st.none() | st.booleans() | st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_a_gateway_forwards_params_and_values_byte_for_byte(value: Any) -> None:
    text = encode(Call(ch=1, method="m", params=to_raw(value))).replace(b'"params":', b'"params": ')
    params = from_client.decode(text).params
    event = encode(Event(ch=2, name="n", value=params))
    assert bytes(from_server.decode(event).value) == bytes(to_raw(value))


def test_params_and_values_outlive_the_receive_buffer() -> None:
    _, server = kit.pair()
    buffer = bytearray(b'{"type":"call","ch":1,"method":"m","params":{"a":"b"}}')
    server.receive_text(memoryview(buffer))
    buffer[:] = bytes(len(buffer))
    (call,) = server.events()
    assert isinstance(call, Call)
    assert bytes(call.params) == b'{"a":"b"}'


def test_a_field_that_is_left_out_has_its_default() -> None:
    call = from_client.decode(b'{"type":"call","ch":1,"method":"m"}')
    assert call == Call(ch=1, method="m", sandbox=None, params=EMPTY, key=None, timeout=None)
    assert from_server.decode(b'{"type":"event","ch":1,"name":"n"}').value == NULL


@pytest.mark.parametrize("details", [None, {"applied": 7}, [1], "x"])
def test_an_error_is_the_same_exception_after_encoding_and_decoding(details: Any) -> None:
    sent = HawseError("input_gap", "why", admitted="yes", details=details)
    error = from_server.decode(encode(Error.from_exception(sent, 7)))
    came = error.to_exception()
    assert (came.code, came.message, came.admitted, came.details, came.retryable, error.ch) == (
        *("input_gap", "why", "yes", details, False),
        7,
    )


def test_an_error_about_a_file_name_that_is_not_utf8_can_be_sent() -> None:
    name = b"\xff.txt".decode(errors="surrogateescape")
    assert b"?.txt" in encode(Error.from_exception(HawseError("io_error", name)))


def test_messages_are_immutable() -> None:
    assert not isinstance(Call(ch=1, method="m").params, UnsetType)
    with pytest.raises(AttributeError):
        Call(ch=1, method="m").ch = 2  # type: ignore[misc]


def test_an_error_whose_details_cannot_be_encoded_is_sent_without_them() -> None:
    error = Error.from_exception(HawseError("too_large", "x", details={"path": "\udcff"}))
    assert from_server.decode(encode(error)) == Error(
        code="too_large", message="x", retryable=error.retryable, admitted=error.admitted
    )
