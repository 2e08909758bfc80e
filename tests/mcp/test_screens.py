from hawse.mcp.screens import ROWS_MAX, Changes, Screens


def test_the_rows_that_changed_since_a_screen_are_returned() -> None:
    screens = Screens()
    screens.add("i", 10, ["a", "b", "c", ""])
    assert screens.changes("i", 10, ["a", "b", "c", ""]) == Changes(0, {})
    assert screens.changes("i", 10, ["a", "B", "c", ""]) == Changes(0, {2: "B"})
    assert screens.changes("i", 10, ["a", "", "c", "d"]) == Changes(0, {2: "", 4: "d"})


def test_rows_that_moved_up_have_not_changed() -> None:
    screens = Screens()
    screens.add("i", 10, ["a", "b", "c", "$"])
    assert screens.changes("i", 10, ["c", "$", "d", "e"]) == Changes(2, {3: "d", 4: "e"})
    assert screens.changes("i", 10, ["b", "c", "$ ls", "d"]) == Changes(1, {3: "$ ls", 4: "d"})


def test_a_screen_that_is_unknown_or_mostly_new_has_no_changes() -> None:
    screens = Screens()
    screens.add("i", 10, ["a", "b", "c"])
    assert screens.changes("i", 11, ["a", "b", "c"]) is None
    assert screens.changes("other", 10, ["a", "b", "c"]) is None
    assert screens.changes("i", 10, ["a", "b", "c", "d"]) is None
    assert screens.changes("i", 10, ["x", "y", "c"]) is None
    assert screens.changes("i", 10, ["x", "y", "z"]) is None


def test_an_offset_of_two_different_screens_is_unknown() -> None:
    screens = Screens()
    screens.add("i", 10, ["ab", "c"])
    screens.add("i", 10, ["a", "b"])  # after a resize
    assert screens.changes("i", 10, ["a", "b"]) is None
    screens.add("i", 10, ["a", "b"])
    assert screens.changes("i", 10, ["a", "b"]) is None


def test_the_oldest_screens_are_forgotten() -> None:
    screens = Screens(limit=650)
    for offset in range(5):
        screens.add("i", offset, ["text"])
        screens.add("i", offset, ["text"])
    known = [offset for offset in range(5) if screens.changes("i", offset, ["text"]) is not None]
    assert known == [2, 3, 4]
    screens.add("i", 9, ["text"] * (ROWS_MAX + 1))
    assert screens.changes("i", 9, ["text"] * (ROWS_MAX + 1)) is None
