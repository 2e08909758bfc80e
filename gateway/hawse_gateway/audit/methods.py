"""The handler for `audit.list`."""

from hawse.api.access import AuditEntry, AuditList, AuditListResult
from hawse.api.rights import ACCESS, Right
from hawse.rpc import handles
from hawse.wire import HawseError, Principal
from hawse_gateway.audit.files import Position
from hawse_gateway.audit.log import AuditLog


class AuditMethods:
    """The handler for `audit.list`."""

    def __init__(self, log: AuditLog) -> None:
        self._log = log

    @handles(AuditList, caller=True, stops=True)
    async def list(self, params: AuditList, caller: Principal) -> AuditListResult:
        own = [right for right in map(Right.parse, caller.rights) if right.terminal is None]
        everywhere = any(right.includes(Right(ACCESS)) for right in own)

        def wanted(entry: AuditEntry) -> bool:
            return _matches(params, entry) and (
                everywhere
                or (entry.sandbox is not None and any(right.includes(Right(ACCESS, entry.sandbox)) for right in own))
            )

        try:
            return await self._log.page(
                wanted,
                after=None if params.after is None else Position.parse(params.after),
                before=None if params.before is None else Position.parse(params.before),
                since=params.since,
                limit=params.limit,
            )
        except OSError as error:
            raise HawseError("io_error", f"the audit log cannot be read: {error}") from error


def _matches(params: AuditList, entry: AuditEntry) -> bool:
    method = params.method
    return (
        (params.since is None or entry.time >= params.since)
        and (params.until is None or entry.time < params.until)
        and (params.user is None or entry.user == params.user)
        and (method is None or entry.action == method or (method.endswith(".") and entry.action.startswith(method)))
        and (params.sandbox is None or entry.sandbox == params.sandbox)
        and (params.outcome is None or entry.outcome == params.outcome)
    )
