import pytest

from hawse.plain.lines import is_alert, shape, size_of


@pytest.mark.parametrize(
    "text",
    [
        "npm ERR! code E404",
        "E: Unable to locate package nothing",
        "W: Failed to fetch",
        "  warning: unused variable",
        "main.c:3:5: error: 'x' undeclared",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "E       AssertionError",
        "TimeoutError: 3",
        "tests/a.py:3: DeprecationWarning: old",
        "build_failed=1",
        "Traceback (most recent call last):",
        "fatal: not a git repository",
        "sh: 1: nothing: not found",
        "Segmentation fault (core dumped)",
        "thread 'main' panicked at src/main.rs",
    ],
)
def test_reports_of_problems_are_recognized(text: str) -> None:
    assert is_alert(text)


@pytest.mark.parametrize(
    "text", ["Compiling serde v1.0", "Collecting requests", "Unpacking liberror-perl (0.17) ...", ""]
)
def test_other_lines_are_not(text: str) -> None:
    assert not is_alert(text)


def test_the_same_message_with_another_count_has_the_same_shape() -> None:
    assert shape("12 failed, 3 passed ") == shape("7 failed, 90 passed") != shape("7 failed")


def test_the_size_counts_invalid_bytes_as_one() -> None:
    assert size_of(b"\xff\xe2\x82a".decode(errors="surrogateescape")) == 4
    assert size_of("é漢") == 5
