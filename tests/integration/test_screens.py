"""The output of real programs, split at any offset: a snapshot and the rest look the same in xterm.js as all output.

`python -m tests.screens.cases 200` uses more offsets; docs/screens.md lists the remaining differences.
"""

import os

import pytest

from tests.fuzz.screens import Totals, make_case, run_case
from tests.screens.cases import KNOWN, RECORDINGS, Cut, Resize, outcomes, program_of, seen
from tests.screens.generated import Case as GeneratedCase, make_case as make_generated, names_of_different

OFFSETS = int(os.environ.get("HAWSE_SCREEN_OFFSETS", "12"))

GENERATED = 60
FORGOTTEN_LINK = "xterm.js forgets a link when the rows that show it are erased or moved"
# The cases that differ, and why (docs/screens.md). `python -m tests.screens.generated` counts more.
KNOWN_GENERATED = {
    "shell 2": "libghostty forgets a column left empty at the margin if the row below had a wide character in column 1",
    "program 14": FORGOTTEN_LINK,
    "program 30": "libghostty keeps the alternate screen after CSI ? 1049 l",
    "program 34": "whether rows of the alternate screen wrap depends on its former sizes",
    "program 39": FORGOTTEN_LINK,
    "program 43": FORGOTTEN_LINK,
    "program 47": "libghostty prints blanks for wide characters in DEC's graphics set",
    "program 56": FORGOTTEN_LINK,
}

SEQUENCES = {
    "soft reset": "\x1b[3;4r\x1b[?6h\x1b[4h\x1b[?1h\x1b[31m\x1b(0\x1b[?25l\x1b[?7l\x1b7\x1b[!p",
    "soft reset while a wrap is pending": "aaaaaaaaaa\x1b[!p",
    "soft reset of cursor, link and protection": '\x1b[4 q\x1b]8;;http://a/\x07\x1b[1"q\x1b[!p',
    "an overwritten first half": "\x1b[31m漢字\x1b[H\x1b[42mx",
    "an overwritten second half": "\x1b[31m漢字\x1b[1;2H\x1b[42mx",
    "an erased second half": "\x1b[41m漢字\x1b[1;2H\x1b[m\x1b[K",
    "SS2": "\x1b*0\x1bNq",
    "SS3": "\x1b+0\x1bOq",
    "LS1R": "\x1b)0\x1b~q",
    "LS2R": "\x1b*0\x1b}q",
    "saved character sets": "\x1b(0\x1b7\x1b(B\x1b8",
    "saved shift": "\x1b)0\x0e\x1b7\x0f\x1b8",
    "X10 mouse after any-event mouse": "\x1b[?1003h\x1b[?9h",
    "another protocol switched off": "\x1b[?9h\x1b[?1000l",
    "a weaker protocol later": "\x1b[?1002h\x1b[?1000h\x1b[?1006h",
    "SGR after SGR in pixels": "\x1b[?1000h\x1b[?1016h\x1b[?1006h",
    "a mark in the first column": "\u0301a",
    "a mark after a carriage return": "ab\r\u0301",
    "a blank in a wide character": "漢字漢字\x1b[2G\x1b[@",
    "a link and DECRC": "\x1b7\x1b]8;;http://a/\x07a\x1b8",
    "a link and the other screen": "\x1b]8;;http://a/\x07a\x1b[?1049hb",
    "a pending wrap and DECRC": "aaaaaaaaaa\x1b7\x1b[H\x1b8",
    "tab stops of the other screen": "\x1b[?1049h\x1b[3g\x1b[?1049l",
    "a region of the other screen": "\x1b[?1049h\x1b[2;3r\x1b[?1049l",
    "an erased row before a wide character": "aaaaaaaaa漢b\x1b[H\x1b[2Kx",
    "an erased wide character at the margin": "xxxxxxxxx漢\r\x1b[Kone\r\ntwo" + "\r\n" * 6,
    "a line feed onto a row that continues": "aaaaaaaaaaaa\x1b[H\n",
    "a cleared screen at a prompt": "\r\n\r\n\r\n\r\n\x1b]133;A\x07$ \x1b[H\x1b[2J",
    "a prompt behind output": "abc\x1b]133;A\x07$ ",
    "a mark behind a sequence": "a\x1b[31m\u0301",
    "a mark behind a blank": "\x1b[5G\u0301a",
    "a keycap": "1\ufe0f\u20e3",
    "REP behind another sequence": "a\x1b[1J\x1b[3b",
    "a character set of 96 characters": "\x1b-A\x1b.0",
    "a new line mode that a reset ends": "\x1b[20h\x1bc",
    "an overwritten half and a link": "漢\x1b[H\x1b]8;;http://a/\x07\x1b[53mx",
    "a linked column at the margin": "\x1b]8;;http://a/\x07aaaaaaaaa漢\x1b[L",
    "a link and a pending wrap": "\x1b]8;;http://a/\x07漢漢漢漢漢\x1b]8;;\x07",
    "a link and a pending wrap behind the other screen": "\x1b]8;;http://a/\x07aaaaaaaaaa\x1b[?1049h",
    "a link that ends with the other screen": "\x1b[?1049h\x1b]8;;http://a/\x07a\x1b[?47l\x1b[4mb",
    "the other screen shown twice": "\x1b[?1049hx\x1b[?1049h",
    "a row inserted below a row that wraps": "aaaaaaaaaaaa\x1b[L",
    "a row deleted below a row that wraps": "aaaaaaaaaaaa\x1b[M",
    "a region that a line feed scrolls": "\x1b[2;4r" + "aaaaaaaaaaaa\r\n" * 3,
    "a region at the top that a line feed scrolls": "\x1b[1;3r" + "aaaaaaaaaaaa\r\n" * 3,
    "a row erased up to its last column before a wide character": "aaaaaaaaa漢\x1b[1;10H\x1b[1K",
    "the screen erased below a row that wraps": "a" * 51 + "\x1b[2J",
    "the screen erased up to the cursor below a row that wraps": "a" * 51 + "\x1b[3;3H\x1b[1J",
    "a region of the other screen that is scrolled": "\x1b[?1049h\x1b[1;3r" + "a" * 45 + "\x1b[S",
}

# Output, the sizes before the snapshot, and the sizes after it.
RESIZED = {
    "a cursor saved in the first column": ("\x1b7ab\r\ncd", [(8, 3)], [(12, 5)]),
    "a saved cursor that has left the screen": ("\x1b7\r\na\r\nb", [(10, 2)], [(10, 5)]),
    "no saved cursor": ("漢漢漢漢漢漢\r\na", [], [(20, 8)]),
    "a saved cursor behind a wide character at the margin": ("漢漢漢漢漢漢\x1b[?1049h", [(11, 5)], []),
    "the hidden cursor of another screen": ("\x1b[5;6H\x1b[?1047h\x1b[H", [], [(8, 3)]),
    "a pending wrap of the hidden cursor": ("aaaaaaaaaa\x1b[?47h\x1b[H", [], [(6, 5)]),
    "a row that was erased after a wrap, then blank rows": ("aaaaaaaaaab\x1b[1K\x1b[5;3H", [(6, 4)], []),
    "a row inserted below a row that wraps, wider": ("aaaaaaaaaaaa\x1b[L", [], [(20, 5)]),
    "the screen erased below a row that wraps, wider": ("a" * 51 + "\x1b[2J", [], [(20, 5)]),
    "a row erased up to its last column before a wide character, wider": (
        "aaaaaaaaa漢\x1b[1;10H\x1b[1K",
        [(20, 5)],
        [],
    ),
    "a wide character that a resize cuts, under the cursor": ("\x1b[?1049h漢漢漢漢漢", [(7, 5)], []),
    "erased rows above the cursor": (" -l abcdefghijklm\r\n\r\nabcdefghijklmn\x1b[1J", [(20, 4)], []),
}

pytestmark = pytest.mark.timeout(300)


@pytest.mark.soak
def test_xterm_shows_the_same_after_a_snapshot_wherever_a_recording_is_cut() -> None:
    assert len({program_of(path) for path in RECORDINGS}) >= 12
    found = [
        f"{outcome['name']} at {cut['at']}, {place}: {kind}: {what['example']}"
        for outcome in outcomes(RECORDINGS, OFFSETS)
        for cut in outcome["cuts"]
        for place in ("there", "end")
        for kind, what in seen(cut[place]).items()
        if kind not in KNOWN.get(outcome["name"].rsplit("-", 1)[0], ())
    ]
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize("kind", ["shell", "program"])
def test_xterm_shows_the_same_after_a_snapshot_wherever_generated_output_is_resized(kind: str) -> None:
    cases = [make_generated(number, (kind,)) for number in range(GENERATED)]
    assert names_of_different(cases) <= KNOWN_GENERATED.keys()


AFTER = "Xq漢#\x1b[2;2Hy".encode()


@pytest.fixture(scope="module")
def different_sequences() -> set[str]:
    written = {name: sequence.encode() for name, sequence in SEQUENCES.items()}
    cases = [GeneratedCase(name, 10, 5, data + AFTER, [], [Cut(len(data))]) for name, data in written.items()]
    for name, (sequence, before, after) in RESIZED.items():
        data = sequence.encode()
        resizes = [Resize(len(data), *size) for size in (*before, *after)]
        cases.append(GeneratedCase(name, 10, 5, data + AFTER, resizes, [Cut(len(data), len(before))]))
    return names_of_different(cases)


@pytest.mark.parametrize("name", [*SEQUENCES, *RESIZED])
def test_xterm_shows_the_same_after_a_snapshot_behind_a_sequence(name: str, different_sequences: set[str]) -> None:
    assert name not in different_sequences


def test_recordings_are_small_and_say_nothing_of_the_machine_they_were_made_on() -> None:
    sizes = [path.stat().st_size for path in RECORDINGS]
    assert max(sizes) < 300_000
    assert sum(sizes) < 2_000_000
    assert [path for path in RECORDINGS if b"/work/" in path.read_bytes() or b"/root/" in path.read_bytes()] == []


FUZZ_CASES = 60  # `make fuzz` runs them for ten minutes


@pytest.mark.parametrize("number", range(FUZZ_CASES))
def test_a_snapshot_of_whatever_is_printed_can_be_taken(number: int) -> None:
    case, totals = make_case(number), Totals()
    run_case(case, totals)
    assert totals.snapshots == len(case.steps)
