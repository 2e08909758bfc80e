"""The audit log: `audit.list`, a method of the gateway itself."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hawse.api.rights import ACCESS
from hawse.api.spec import SELECTED, Params, Reply, method
from hawse.api.types import matching

PAGE_MAX: Final = 1000  # entries of one answer: below the size of a control message

Position = Annotated[str, matching(r"^[0-9]{1,9}:[0-9]{1,12}$(?!\n)", "a position of an earlier answer")]
Text = Annotated[str, Meta(max_length=128)]
Time = Annotated[float, Meta(ge=0, le=1e11)]


class AuditEntry(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the audit log.

    Attributes:
        time: When it was written, in seconds since 1970: a call when it ended, a stream also when it began.
        action: The method that was called, or `connect`, `disconnect`, `refused` or `egress`: a request of a program
            that the proxy of its sandbox has refused.
        outcome: `ok`, `open` for a stream that has begun, the code of the error, or the reason of the proxy.
        user: The `id` of the caller; empty if it was not authenticated.
        name: The name of the caller; may be empty.
        kind: `owner`, `user`, `guest` or `service`; empty if it was not authenticated.
        credential: The id of the caller's token, link or session. Null: the configured token of the owner, or none.
        address: Address of the client, `HOST:PORT`; empty for calls of the gateway itself.
        request: The id of the call or request, which logs and errors also name.
        sandbox: The sandbox that the call was for. Null: none.
        on: What it acted on: parameters such as `id`, `path` and `terminal`, never values that may be secret.
        position: Where the entry is in the log, for `before` and `after`.
    """

    time: float
    action: str
    outcome: str
    user: str = ""
    name: str = ""
    kind: str = ""
    credential: str | None = None
    address: str = ""
    request: str = ""
    sandbox: str | None = None
    on: dict[str, str] = msgspec.field(default_factory=dict)
    position: str = ""


class AuditListResult(Reply, frozen=True, kw_only=True):
    """A page of the audit log.

    Attributes:
        entries: The entries, the newest first. There may be none although there are more.
        before: The value of `before` for the next page, with older entries. Null: this is the last page.
    """

    entries: list[AuditEntry]
    before: str | None = None


@method("audit.list", safe=True, requires=ACCESS, terminal=SELECTED, sandbox=False, raises=("io_error",))
class AuditList(Params[AuditListResult], kw_only=True):
    """List entries of the audit log of this gateway, the newest first.

    A caller that may not give access to all sandboxes gets the entries of those to which it may.

    Attributes:
        since: Only entries from this time on, in seconds since 1970.
        until: Only entries before this time, in seconds since 1970.
        user: Only entries of the caller with this `id`.
        method: Only entries of this action. One that ends with `.` selects all that begin with it: `token.`.
        sandbox: Only entries of this sandbox.
        outcome: Only entries with this outcome.
        after: Only entries that are newer than the one at this position.
        before: Only entries that are older than the one at this position: the next page.
        limit: The number of entries that is sufficient.
    """

    since: Time | None = None
    until: Time | None = None
    user: Text | None = None
    method: Text | None = None
    sandbox: Text | None = None
    outcome: Text | None = None
    after: Position | None = None
    before: Position | None = None
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = 100
