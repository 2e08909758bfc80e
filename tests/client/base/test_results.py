"""The values that the client returns."""

from hawse.api.types import Exit
from hawse.client.base.results import CommandResult, Repaint, Snapshot


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


def test_a_repaint_is_the_bytes_for_an_emulator_with_its_snapshot() -> None:
    snapshot = Snapshot(9, b"paint", 80, 24)
    repaint = Repaint.of(snapshot)
    assert repaint == b"\x1bcpaint"
    assert isinstance(repaint, bytes)
    assert repaint.snapshot is snapshot
