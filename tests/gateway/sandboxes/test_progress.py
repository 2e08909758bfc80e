import pytest

from hawse_gateway.providers.base import Progress
from hawse_gateway.sandboxes.progress import ProgressTable


def test_the_progress_of_a_start_is_reported_to_those_that_wait_for_it() -> None:
    table, seen, changed = ProgressTable(), list[Progress](), list[str]()
    table.on_change = changed.append
    first, second = Progress(phase="pulling", done=0.5), Progress(phase="starting")
    table.report("a", first)
    with table.observed("a", seen.append):
        table.report("b", second)
        table.report("a", second)
    table.report("a", first)
    assert seen == [first, second]
    assert changed == ["a", "b", "a", "a"]
    table.report("a", None)
    assert table.latest("a") is None
    assert table.latest("b") == second


def test_an_observer_that_fails_does_not_end_the_start(caplog: pytest.LogCaptureFixture) -> None:
    table, seen = ProgressTable(), list[Progress]()

    def fail(progress: Progress) -> None:
        raise KeyError("a bug")

    with table.observed("a", fail), table.observed("a", seen.append), table.observed("a", None):
        table.report("a", Progress(phase="starting"))
    assert len(seen) == 1
    assert "a bug" in caplog.text
