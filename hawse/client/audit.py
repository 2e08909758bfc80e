"""A gateway's audit log: `client.audit`."""

from hawse.api.access import PAGE_MAX, AuditEntry, AuditList, AuditListResult
from hawse.client.calls.call_table import CallTable


class AuditTrail:
    """The audit log entries that this client may read: all, or only entries for sandboxes it may give access to."""

    def __init__(self, calls: CallTable) -> None:
        self._calls = calls

    async def page(self, params: AuditList) -> AuditListResult:
        """Return one page. Raises `HawseError` (`forbidden`, `io_error`)."""
        return await self._calls.request(params, sandbox=None)

    async def list(
        self,
        *,
        since: float | None = None,
        until: float | None = None,
        user: str | None = None,
        method: str | None = None,
        sandbox: str | None = None,
        outcome: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """Return the latest matching entries, newest first.

        Args:
            since: Only entries from this time on, in seconds since 1970.
            until: Only entries before this time.
            user: Only entries for this user.
            method: Only entries for this action, or for all actions with this prefix if it ends with a dot, such as
                `token.`.
            sandbox: Only entries for this sandbox.
            outcome: Only entries with this outcome, such as `ok` or `forbidden`.
            after: Only entries newer than the one at this `position`.
            limit: Maximum number of entries.

        Raises:
            HawseError: `forbidden`, `io_error`.
        """
        found = list[AuditEntry]()
        before = None
        while len(found) < limit:
            page = await self.page(
                AuditList(
                    since=since,
                    until=until,
                    user=user,
                    method=method,
                    sandbox=sandbox,
                    outcome=outcome,
                    after=after,
                    before=before,
                    limit=min(limit - len(found), PAGE_MAX),
                )
            )
            found += page.entries
            before = page.before
            if before is None:
                break
        return found
