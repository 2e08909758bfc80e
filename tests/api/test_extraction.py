"""`file.extract`, as it is declared."""

from hawse.api import METHODS
from hawse.api.extraction import FileExtract, FileExtractProgress
from hawse.api.rights import WRITE


def test_it_requires_write_reports_progress_and_is_bounded_by_default() -> None:
    spec = METHODS["file.extract"]
    assert (spec.params, spec.requires, spec.audited) == (FileExtract, WRITE, True)
    assert spec.events == {"progress": FileExtractProgress}
    assert (FileExtract(path="a").max_entries, FileExtract(path="a").max_bytes) == (100_000, 4 << 30)
