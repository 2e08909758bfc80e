"""Rich results: how values are decoded, and what a run's output amounts to at its end."""

import base64

import pytest

from hawse.client.code.results import (
    CodeCleared,
    CodeEnd,
    CodeEvent,
    CodeLost,
    CodeStderr,
    CodeStdout,
    ResultCollector,
    RichResult,
    large_value,
)

END = CodeEnd("ok", "r", 1, None, False, None, 0.1)


def display(text: str, display_id: str | None = None, kind: str = "display") -> RichResult:
    return RichResult(kind, {"text/plain": text}, display_id=display_id)  # type: ignore[arg-type]


def collected(*events: CodeEvent, limit: int = 100) -> ResultCollector:
    collector = ResultCollector(limit)
    for event in events:
        collector.add(event)
    return collector


def test_a_value_is_decoded_by_its_type() -> None:
    rich = RichResult(
        "value",
        {
            "text/plain": "t",
            "text/html": "<b>",
            "image/png": base64.b64encode(b"\x89PNG").decode(),
            "image/jpeg": b"jpeg",
            "application/pdf": 3,
            "application/json": [1],
            "application/vnd.vegalite.v5+json": {"mark": "bar"},
        },
    )
    assert (rich.text, rich.html, rich.png, rich.jpeg, rich.pdf) == ("t", "<b>", b"\x89PNG", b"jpeg", None)
    assert (rich.json, rich.vega, rich.plotly, rich.markdown) == ([1], {"mark": "bar"}, None, None)
    assert RichResult("value", {"image/png": "é"}).png is None


def test_a_large_value_is_as_it_would_be_in_the_event() -> None:
    assert (large_value("base64", b"\x89"), large_value("text", b"a"), large_value("json", b"[1]")) == (
        b"\x89",
        "a",
        [1],
    )
    with pytest.raises(ValueError):
        large_value("json", b"[")


def test_output_is_collected_up_to_the_limit() -> None:
    done = collected(CodeStdout(0, b"12345"), CodeStderr(0, b"e"), CodeStdout(5, b"678"), limit=6).result(END)
    assert (done.stdout, done.stderr, done.truncated, done.ok) == (b"123456", b"e", True, True)
    assert collected(CodeLost("stdout", 3)).result(END).truncated
    assert not collected(CodeStdout(0, b"x")).result(END).truncated


def test_results_are_what_a_notebook_shows_at_the_end() -> None:
    done = collected(
        display("old"),
        CodeCleared(wait=False),
        display("a", "id"),
        display("v", kind="value"),
        display("b", "id", "update"),
        display("c", "other", "update"),
    ).result(END)
    assert [(rich.kind, rich.text) for rich in done.results] == [("display", "b"), ("value", "v")]
    assert done.text == "v"
    waiting = collected(display("a"), CodeCleared(wait=True))
    assert len(waiting.result(END).results) == 1
    waiting.add(display("b"))
    assert [rich.text for rich in waiting.result(END).results] == ["b"]
    assert collected().result(END).text is None
