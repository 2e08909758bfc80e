"""The `code.*` methods: which parameters are refused before anything is run."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.code import CodeDisplay, CodeOffsets, CodeRunOpened, CodeRunResult, CodeTruncated
from hawse.api.rights import VIEW


def test_a_viewer_runs_no_code() -> None:
    assert not any(spec.requires == VIEW for name, spec in METHODS.items() if name.startswith("code."))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("code.create", {"id": "../up"}),
        ("code.create", {"language": "no/path"}),
        ("code.create", {"kernel": ""}),
        ("code.create", {"timeout": 0}),
        ("code.run", {}),
        ("code.run", {"source": "x" * ((1 << 20) + 1)}),
        ("code.run", {"source": "1", "since": {"events": -1}}),
        ("code.run", {"source": "1", "since": {"screen": 1}}),
        ("code.answer", {"run": "r", "request": 1, "value": "x" * 70_000}),
        ("code.complete", {"context": "c", "source": "", "cursor": -1}),
        ("code.inspect", {"context": "c", "source": "", "detail": 2}),
        ("code.interrupt", {"context": "c", "grace": -1}),
    ],
)
def test_parameters_out_of_bounds_are_refused(method: str, params: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(params, METHODS[method].params)


def test_names_of_languages_may_have_the_signs_that_languages_have() -> None:
    for language in ("c++", "python3.12", "objective-c"):
        msgspec.convert({"language": language}, METHODS["code.create"].params)


def test_the_beginning_of_output_is_encoded_as_from() -> None:
    opened = CodeRunOpened(run="r", start=CodeOffsets(events=4))
    assert msgspec.to_builtins(opened)["from"] == {"stdout": 0, "stderr": 0, "bundles": 0, "events": 4}
    assert msgspec.to_builtins(CodeTruncated(stream="events", start=9)) == {"stream": "events", "from": 9}


def test_fields_that_a_server_leaves_out_have_defaults() -> None:
    result = msgspec.json.decode(b'{"status": "ok", "run": "r", "later": 1}', type=CodeRunResult)
    assert (result.error, result.exit, result.killed, result.end) == (None, None, False, CodeOffsets())
    display = msgspec.json.decode(b'{"offset": 3, "data": {"text/plain": "x"}}', type=CodeDisplay)
    assert (display.large, display.metadata, display.display_id) == ([], {}, None)
