"""The values that the client returns."""

import pytest

from hawse.api.types import Exit
from hawse.client.base.results import CommandResult, Output, Repaint, Snapshot
from hawse.client.code.results import CodeStdout, RichResult
from hawse.client.desktop import Screenshot


def test_only_code_zero_is_ok() -> None:
    assert Exit(0).ok
    assert not Exit(1).ok
    assert not Exit(None, "SIGTERM").ok


def test_the_text_of_a_result_survives_bytes_that_are_no_text() -> None:
    assert CommandResult(0, stdout=b"gr\xc3\xbcn \xff").text == "grün �"


def test_a_result_is_shown_shortly() -> None:
    assert repr(CommandResult(0)) == "CommandResult(code=0)"
    assert repr(CommandResult(3, stdout=b"out\n", truncated=True)) == (
        "CommandResult(code=3, stdout=b'out\\n', truncated=True)"
    )
    assert repr(CommandResult(None, "SIGTERM")) == "CommandResult(code=None, signal='SIGTERM')"
    shown = repr(CommandResult(0, stdout=bytes(1_000_000)))
    assert len(shown) < 1000
    assert shown.endswith("… (1,000,000 bytes))")


@pytest.mark.parametrize(
    "value",
    [
        Output(0, bytes(1_000_000)),
        Snapshot(0, bytes(1_000_000), 80, 24),
        Repaint.of(Snapshot(0, bytes(1_000_000), 80, 24)),
        CodeStdout(0, bytes(1_000_000)),
        Screenshot(data=bytes(1_000_000), format="png", width=1, height=1),
        RichResult("value", {"text/plain": "x" * 1_000_000, "application/json": list(range(100_000))}),
    ],
)
def test_the_representation_of_long_data_is_short(value: object) -> None:
    assert len(repr(value)) < 1500
    assert repr(value).startswith(type(value).__name__)


def test_a_repaint_is_the_bytes_for_an_emulator_with_its_snapshot() -> None:
    snapshot = Snapshot(9, b"paint", 80, 24)
    repaint = Repaint.of(snapshot)
    assert repaint == b"\x1bcpaint"
    assert isinstance(repaint, bytes)
    assert repaint.snapshot is snapshot
