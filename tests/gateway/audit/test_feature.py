from pathlib import Path

from hawse_gateway.audit.feature import AUDIT
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.audit.methods import AuditMethods
from hawse_gateway.audit.trail import AuditTrail
from tests.support.composed import composed, contributed, scraped
from tests.support.principals import VIEWER


async def test_the_audit_log_is_in_the_state_directory_and_its_entries_are_counted(tmp_path: Path) -> None:
    composition = composed(AUDIT, tmp_path)
    assert AuditMethods in contributed(composition)
    assert composition.part(AuditTrail) in composition.observers
    async with composition.started():
        composition.part(AuditTrail).connection("connect", VIEWER, "127.0.0.1:1")
        await composition.part(AuditLog).flush()
        assert 'hawse_audit_entries_total{result="written"} 1' in await scraped(composition)
    assert list((tmp_path / "audit").iterdir())
