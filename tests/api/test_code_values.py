"""The values of the `code.*` methods."""

import msgspec

from hawse.api.code_values import CodeDisplay, CodeOffsets, CodeRunOpened, CodeRunResult, CodeTruncated


def test_the_beginning_of_output_is_encoded_as_from() -> None:
    opened = CodeRunOpened(run="r", start=CodeOffsets(events=4))
    assert msgspec.to_builtins(opened)["from"] == {"stdout": 0, "stderr": 0, "bundles": 0, "events": 4}
    assert msgspec.to_builtins(CodeTruncated(stream="events", start=9)) == {"stream": "events", "from": 9}


def test_fields_that_a_server_leaves_out_have_defaults() -> None:
    result = msgspec.json.decode(b'{"status": "ok", "run": "r", "later": 1}', type=CodeRunResult)
    assert (result.error, result.exit, result.killed, result.end) == (None, None, False, CodeOffsets())
    display = msgspec.json.decode(b'{"offset": 3, "data": {"text/plain": "x"}}', type=CodeDisplay)
    assert (display.large, display.metadata, display.display_id) == ([], {}, None)
