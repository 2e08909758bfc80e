"""The bounds of journals and of their readers."""

from hawse_runtime.journal.limits import JournalLimits


def test_the_fastest_reader_is_paused_for_before_its_journal_is_full() -> None:
    limits = JournalLimits()
    assert limits.flow.room < limits.each // 2 <= limits.total
