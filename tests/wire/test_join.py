import pytest

from hawse.wire import RemoteProtocolError
from hawse.wire.join import (
    JOIN_TEXT,
    Join,
    JoinAccepted,
    JoinMessage,
    Leave,
    Quit,
    Refused,
    encode_join,
    parse_gateway,
    parse_machine,
)

RUNTIME = "0123456789abcdef"


@pytest.mark.parametrize("message", [Join(runtime=RUNTIME), Join(runtime=RUNTIME, sandbox="a.b", name="é"), Leave()])
def test_messages_of_a_machine_are_read_as_they_were_written(message: JoinMessage) -> None:
    assert parse_machine(encode_join(message)) == message


@pytest.mark.parametrize(
    "message",
    [JoinAccepted(sandbox="a"), Refused(code="conflict", message="m", retryable=True), Quit(reason="deleted")],
)
def test_messages_of_a_gateway_are_read_as_they_were_written(message: JoinMessage) -> None:
    assert parse_gateway(encode_join(message)) == message


def test_the_type_is_the_name_in_lower_case() -> None:
    assert encode_join(Leave(reason="r")) == '{"type":"leave","reason":"r"}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"type":"joined","sandbox":"a"}',
        '{"type":"join"}',
        '{"type":"join","runtime":"0"}',
        f'{{"type":"join","runtime":"{RUNTIME}","sandbox":"../a"}}',
        f'{{"type":"join","runtime":"{RUNTIME}","name":"{"a" * 300}"}}',
        "[" * 4000,
    ],
)
def test_what_is_no_message_of_a_machine_is_an_error_with_a_close_code(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        parse_machine(text)
    assert caught.value.close_code == 1007


def test_a_long_text_is_refused_before_it_is_decoded() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        parse_gateway(" " * (JOIN_TEXT + 1))
    assert caught.value.close_code == 1009


def test_unknown_fields_are_ignored() -> None:
    assert parse_gateway('{"type":"quit","reason":"r","later":1}') == Quit(reason="r")
