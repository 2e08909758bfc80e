"""The queue and the thread of the audit log, and its pages."""

import threading
from pathlib import Path

from hawse.api.access import AuditEntry
from hawse_gateway.audit.files import AuditFiles, Position
from hawse_gateway.audit.log import AuditLog
from tests.support.gateway import eventually


def entry(number: int, action: str = "exec") -> AuditEntry:
    return AuditEntry(time=float(number), action=action, outcome="ok")


class HeldFiles(AuditFiles):
    """A disk that hangs until `go` is set."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.go = threading.Event()

    def append(self, lines: bytes) -> None:
        self.go.wait()
        super().append(lines)


async def test_pages_are_the_newest_entries_first_over_all_segments(tmp_path: Path) -> None:
    log = AuditLog(AuditFiles(tmp_path, segment_bytes=2000))
    async with log.running():
        for number in range(100):
            log.record(entry(number))
            if not number % 10:
                await log.flush()
        times, before = list[float](), None
        while True:
            page = await log.page(lambda one: one.time % 2 == 0, before=before, limit=7)
            times += [one.time for one in page.entries]
            if page.before is None:
                break
            before = Position.parse(page.before)
    assert times == [float(number) for number in range(98, -1, -2)]
    assert len(AuditFiles(tmp_path).numbers()) > 2
    assert (log.written, log.lost) == (100, 0)


async def test_a_page_ends_at_the_entry_given_as_after(tmp_path: Path) -> None:
    log = AuditLog(AuditFiles(tmp_path))
    async with log.running():
        for number in range(5):
            log.record(entry(number))
        all_ = (await log.page(lambda one: True, limit=9)).entries
        newer = await log.page(lambda one: True, after=Position.parse(all_[2].position), limit=9)
        assert newer.entries == all_[:2]
        assert newer.before is None
        newest = Position.parse(all_[0].position)
        assert not (await log.page(lambda one: True, after=newest, limit=9)).entries


async def test_a_search_from_a_time_on_does_not_read_the_whole_log(tmp_path: Path) -> None:
    log = AuditLog(AuditFiles(tmp_path))
    seen = list[float]()
    async with log.running():
        for number in range(0, 1000, 10):
            log.record(entry(number))

        def wanted(one: AuditEntry) -> bool:
            seen.append(one.time)
            return False

        await log.page(wanted, since=900.0, limit=1)
    assert min(seen) >= 900 - 60


async def test_a_disk_that_hangs_costs_entries_and_delays_nothing(tmp_path: Path) -> None:
    files = HeldFiles(tmp_path)
    log = AuditLog(files, queue=10)
    async with log.running():
        log.record(entry(0))
        await eventually(lambda: not log.waiting)  # the thread has it, and hangs
        for number in range(1, 31):
            log.record(entry(number))
        assert log.lost == 20
        files.go.set()
        page = await log.page(lambda one: True, limit=100)
    assert [one.time for one in page.entries] == [float(number) for number in range(10, -1, -1)]
    assert log.written == 11


async def test_entries_lost_to_a_failing_disk_are_counted(tmp_path: Path) -> None:
    directory = tmp_path / "audit"
    directory.write_text("in the way")
    log = AuditLog(AuditFiles(directory))
    async with log.running():
        log.record(entry(1))
        await log.flush()
        assert (log.written, log.lost) == (0, 1)
        directory.unlink()
        log.record(entry(2))
        assert [one.time for one in (await log.page(lambda one: True, limit=9)).entries] == [2.0]


async def test_entries_are_written_before_the_end(tmp_path: Path) -> None:
    log = AuditLog(AuditFiles(tmp_path))
    async with log.running():
        for number in range(1000):
            log.record(entry(number))
    assert log.written == 1000
    log.record(entry(1))  # after the end: ignored


async def test_a_damaged_line_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "audit-000000001.jsonl").write_bytes(b'{"time": 1, "act\n\xff\n')
    log = AuditLog(AuditFiles(tmp_path))
    async with log.running():
        log.record(entry(2))
        assert [one.time for one in (await log.page(lambda one: True, limit=9)).entries] == [2.0]


async def test_without_files_nothing_is_kept() -> None:
    log = AuditLog(None)
    async with log.running():
        log.record(entry(1))
        assert (await log.page(lambda one: True, limit=9)).entries == []
