"""From text to message: what is refused, whose fault it is, and which channel a malformed call names."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hawse.wire import Connection, RemoteProtocolError, Role
from hawse.wire.messages import CHANNEL_MAX, from_client
from hawse.wire.parsing import MalformedCallError, channel_of_call, parse
from tests.support import wire as kit


def receiver(entry: kit.Entry) -> Connection:
    """A connection that gets what the `from` of a vector sends."""
    client, server = kit.pair()
    return server if entry["from"] == "client" else client


@pytest.mark.parametrize("form", [memoryview, lambda raw: raw.decode(errors="surrogateescape")], ids=["bytes", "str"])
@pytest.mark.parametrize("entry", kit.vectors("messages.json", "invalid"), ids=kit.called)
def test_an_invalid_message_is_refused_with_its_codes(entry: kit.Entry, form: Any) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        receiver(entry).receive_text(form(kit.wire_form(entry)))
    assert (caught.value.code, caught.value.close_code) == (entry["code"], entry["close_code"])


def test_a_reason_is_short_however_long_the_text_it_quotes() -> None:
    client, server = kit.pair()
    for connection in (client, server):
        with pytest.raises(RemoteProtocolError, match="aaa") as caught:
            connection.receive_text('{"type":"' + "a" * 1_000_000 + '"}')
        assert len(caught.value.message) <= 256


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda s: s.encode()))
def test_random_bytes_raise_a_remote_error(raw: bytes) -> None:
    for connection in (Connection(Role.SERVER), Connection(Role.CLIENT)):
        with pytest.raises(RemoteProtocolError) as caught:
            connection.receive_text(raw)
        assert (caught.value.code, caught.value.close_code) == ("invalid_message", 1007)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_message_nested_too_deeply_is_refused(opening: str) -> None:
    _, server = kit.pair()
    with pytest.raises(RemoteProtocolError) as caught:
        server.receive_text('{"type":"call","ch":1,"method":"m","params":' + opening * 100_000)
    assert caught.value.close_code == 1007


@pytest.mark.parametrize("entry", kit.vectors("messages.json", "malformed_calls"), ids=kit.called)
def test_a_malformed_call_raises_an_error_with_its_channel(entry: kit.Entry) -> None:
    with pytest.raises(MalformedCallError) as caught:
        parse(entry["text"], from_client.decode, 1 << 20)
    assert (caught.value.ch, caught.value.code, caught.value.close_code) == (entry["ch"], entry["code"], 1007)


@pytest.mark.parametrize(
    ("text", "ch"),
    [
        ('{"type":"call","ch":1}', 1),
        ('{"ch":2.0,"type":"call"}', 2),
        (f'{{"type":"call","ch":{CHANNEL_MAX}}}', CHANNEL_MAX),
        (f'{{"type":"call","ch":{CHANNEL_MAX + 1}}}', None),
        ('{"type":"call","ch":0.5}', None),
        ('{"type":"call","ch":true}', None),
        ('{"type":"call","ch":"1"}', None),
        ('{"type":"call","ch":1e999}', None),
        ('{"type":"call","ch":' + "9" * 5000 + "}", None),
        ('{"type":"call"}', None),
        ('{"type":"ping","ch":1}', None),
        ('{"type":"call","ch":1,"params":{a:1}}', None),
        ('{"type":"call","ch":1', None),
        ('{"type":"call","ch":1,"params":' + "[" * 100_000 + "]" * 100_000 + "}", None),
        (r'{"type":"call","ch":1,"params":"\ud83d\ude00 \udfff\ud800 \\ud800 \\\ud800"}', 1),
        (r'{"type":"call","ch":1,"params":"\ud80"}', None),
    ],
)
def test_the_channel_of_a_malformed_call_is_found_if_it_is_usable(text: str, ch: int | None) -> None:
    assert channel_of_call(text) == ch


@given(st.text(alphabet='\\ud8D0cfF"', max_size=40))
def test_a_channel_is_found_in_any_text_that_is_valid_apart_from_lone_surrogates(body: str) -> None:
    """Python's own decoder accepts lone surrogates, so it shows whether the text is valid otherwise."""
    text = f'{{"type":"call","ch":7,"params":"{body}"}}'
    try:
        valid = set(json.loads(text)) == {"type", "ch", "params"}
    except ValueError:
        valid = False
    assert channel_of_call(text) == (7 if valid else None)
