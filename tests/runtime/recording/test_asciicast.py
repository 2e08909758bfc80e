import json
from itertools import pairwise

from hypothesis import given, strategies as st

from hawse.api.types import Exit
from hawse_runtime.recording.asciicast import CastClock, CastText, event, exit_status, header


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_bytes_split_anywhere_decode_to_the_same_text(data: bytes, cuts: list[int]) -> None:
    text = CastText()
    places = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    parts = [text.feed(data[a:b]) for a, b in pairwise(places)]
    assert "".join(parts) + text.end() == data.decode(errors="replace")


@given(st.text(max_size=50))
def test_characters_are_not_split(wanted: str) -> None:
    text = CastText()
    parts = [text.feed(bytes([byte])) for byte in wanted.encode()]
    assert "".join(parts) == wanted
    assert all(len(part) <= 1 for part in parts)
    assert text.end() == ""


@given(st.lists(st.floats(0, 1e6), max_size=50))
def test_intervals_add_up_to_the_time_and_are_never_negative(times: list[float]) -> None:
    clock = CastClock()
    at = 0
    for time in sorted(times):
        interval = clock.interval(time)
        assert interval >= 0
        at += interval
        assert abs(at - time * 1000) <= 0.5 + 1e-6 * time
    assert clock.elapsed == at


def test_an_earlier_time_gives_an_interval_of_zero() -> None:
    clock = CastClock()
    assert [clock.interval(2.0), clock.interval(1.0), clock.interval(2.5)] == [2000, 0, 500]


@given(st.integers(0, 10**9), st.sampled_from("oirmx"), st.text())
def test_an_event_is_a_json_array_of_interval_code_and_text(interval: int, code: str, data: str) -> None:
    line = event(interval, code, data)
    assert line.endswith(b"]\n")
    assert line.count(b"\n") == 1
    seconds, found_code, value = json.loads(line)
    assert (round(seconds * 1000), found_code, value) == (interval, code, data)


def test_the_header_has_the_version_and_the_size() -> None:
    line = header(80, 24, timestamp=1700000000.9, term="xterm-256color", title='a "demo"', env={"SHELL": "sh"})
    assert json.loads(line) == {
        "version": 3,
        "term": {"cols": 80, "rows": 24, "type": "xterm-256color"},
        "timestamp": 1700000000,
        "title": 'a "demo"',
        "env": {"SHELL": "sh"},
    }


def test_an_exit_status_is_the_one_that_a_shell_reports() -> None:
    assert exit_status(Exit(code=3)) == "3"
    assert exit_status(Exit(signal="SIGKILL")) == "137"
    assert exit_status(Exit(signal="SIGRTMIN+3")) == "128"
