"""The audit log feature: provides the log, `audit.list` and metrics."""

from hawse_gateway.audit.files import AuditFiles
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.audit.methods import AuditMethods
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.metrics.prometheus_text import Exposition, Family
from hawse_gateway.providers.state_directory import StateDirectory


def _build(gateway: Composition) -> None:
    log = gateway.ensure(AuditLog, lambda: AuditLog(AuditFiles(gateway.part(StateDirectory).root / "audit")))
    trail = gateway.add(AuditTrail(log))
    gateway.observers.append(trail)
    gateway.methods.append(AuditMethods(log))
    gateway.running.append(log.running())

    async def collect(out: Exposition) -> None:
        out.add(
            Family("hawse_audit_entries_total", "counter", "Entries of the audit log by result."),
            [
                ({"result": "written"}, log.written),
                ({"result": "lost"}, log.lost),
                ({"result": "suppressed"}, trail.suppressed),
            ],
        )

    gateway.metrics.append(collect)


AUDIT = Feature("audit", _build)
