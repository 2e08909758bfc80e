"""Decides what to record in the audit log: calls that change something, connections, and refusals.

Only the parameters in `NAMED` are logged. Other parameters may be secret: environments, input, file contents, commands
and credentials.
"""

import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from hawse.api import GATEWAY, METHODS, Spec
from hawse.api.access import AuditEntry
from hawse.api.egress import EgressRefusal
from hawse.wire import HawseError, Principal, Result
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.core.context import CallContext
from hawse_gateway.limits.rates import RateTable, network_of
from hawse_gateway.upstream.observer import ObservedCall

NAMED: Final = (
    "id",
    "terminal",
    "session",
    "context",
    "sandbox",
    "path",
    "to",
    "port",
    "role",
    "user",
    "signal",
    "action",
    "ref",
    "tunnel",
    "mount",
    "backup",
    "bucket",
    "desktop",
    "image",
    "provider",
    "run",
    "allow",
    "deny",
    "secrets",
)
VALUE_MAX: Final = 256  # maximum length of a logged value, in characters
REFUSALS: Final = 60  # maximum number of refusals logged per address, in a burst and then per minute
PREVIEW_INTERVAL: Final = 60.0  # minimum seconds between entries per preview visitor, since pages send many requests
UNAUTHENTICATED: Final = Principal(id="nobody", name="", kind="", rights=())

_PARAMS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Made(msgspec.Struct):
    """The id of the object that a call created, taken from the call's result. A token's secret is in a different field,
    so the secret is never logged."""

    id: str | None = None
    info: "_Made | None" = None


_RESULT: Final = msgspec.json.Decoder(_Made)


class AuditTrail:
    """Records calls on all of a gateway's links to sandboxes. Implements `CallObserver`. Its methods never block or
    raise."""

    def __init__(self, log: AuditLog, *, clock: Callable[[], float] = time.time) -> None:
        """Create the trail.

        Args:
            log: The log to write to.
            clock: Returns seconds since 1970.
        """
        self.log = log
        self.suppressed = 0  # number of refusals not logged because there were too many from one address
        self._clock = clock
        self._open: dict[ObservedCall, AuditEntry] = {}
        self._refusals = RateTable(REFUSALS / 60, REFUSALS)
        self._previews = RateTable(1 / PREVIEW_INTERVAL, 1)

    # ---- connections and requests

    def connection(self, action: str, principal: Principal | None, address: str, outcome: str = "ok") -> None:
        """Record that a client has connected or disconnected.

        Args:
            action: `connect`, `disconnect`, or another action that isn't a method name.
            principal: The client. None if it is not authenticated.
            address: The client's address, `HOST:PORT`.
            outcome: `ok`, or why the connection ended.
        """
        self.log.record(self._entry(action, principal or UNAUTHENTICATED, CallContext(address), outcome))

    def machine(
        self, action: str, principal: Principal, address: str, sandbox: str, name: str, outcome: str = "ok"
    ) -> None:
        """Record that a machine joined the gateway as a sandbox, or that it disconnected.

        Args:
            action: `join` or `leave`.
            principal: The caller whose credential the machine used.
            address: The machine's address, `HOST:PORT`.
            sandbox: The id of the sandbox that the machine joined as.
            name: The name that the machine gave itself.
            outcome: `ok`, or `interrupted` if the machine can reconnect.
        """
        on = {"machine": name[:VALUE_MAX]}
        self.log.record(self._entry(action, principal, CallContext(address), outcome, sandbox, on))

    def refusal(self, context: CallContext, code: str, path: str) -> None:
        """Record the refusal of a request, unless it has already been recorded.

        Args:
            context: The request.
            code: The error code.
            path: The URL path. The query is left out because it can contain a ticket.
        """
        if not context.audited:
            context.audited = True
            entry = self._entry("refused", UNAUTHENTICATED, context, code)
            self._refused(msgspec.structs.replace(entry, user="", on={"path": path[:VALUE_MAX]}))

    def preview(self, visitor: Principal, address: str, sandbox: str, port: int) -> None:
        """Record that a visitor has opened a preview. Each visitor is recorded at most once per `PREVIEW_INTERVAL`.

        Args:
            visitor: The visitor's principal, whose id is different for each preview.
            address: The visitor's address, `HOST:PORT`.
            sandbox: The sandbox.
            port: The port in the sandbox.
        """
        if self._previews.take(f"{visitor.id} {network_of(address)}"):
            self.log.record(self._entry("preview", visitor, CallContext(address), "ok", sandbox, {"port": str(port)}))

    def egress(self, sandbox: str, refusal: EgressRefusal) -> None:
        """Record that a sandbox's proxy refused a program's request."""
        on = {"host": refusal.host, "port": str(refusal.port), "method": refusal.method, "at": f"{refusal.time:.3f}"}
        entry = self._entry("egress", UNAUTHENTICATED, CallContext(""), refusal.reason, sandbox, on)
        self.log.record(msgspec.structs.replace(entry, user=""))

    # ---- calls

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        spec = _spec(call, sandbox)
        if spec is not None and not spec.audited:
            return
        entry = self._entry(call.call.method, call.principal, call.context, "open", sandbox, _named(call.call.params))
        if sandbox is None and spec is not None:
            entry = msgspec.structs.replace(entry, sandbox=_place(spec, entry.on))
        self._open[call] = entry
        if spec is not None and spec.stream:
            self.log.record(entry)

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        entry = self._open.pop(call, None)
        if entry is None:
            return
        on = entry.on
        if result is not None and "id" not in on and (made := _made(result)) is not None:
            on = {**on, "id": made}
        sandbox = on.get("id") if entry.sandbox is None and entry.action == "sandbox.create" else entry.sandbox
        self.log.record(msgspec.structs.replace(entry, time=self._clock(), outcome=outcome, on=on, sandbox=sandbox))

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        call.context.audited = True
        named = _named(call.call.params)
        self._refused(self._entry(call.call.method, call.principal, call.context, error.code, sandbox, named))

    # ---- inside

    def _refused(self, entry: AuditEntry) -> None:
        """Record a refusal, unless its address has had too many. The limit prevents a single client from pushing all
        other entries out of the log."""
        if self._refusals.take(network_of(entry.address)):
            self.log.record(entry)
        else:
            self.suppressed += 1

    def _entry(
        self,
        action: str,
        principal: Principal,
        context: CallContext,
        outcome: str,
        sandbox: str | None = None,
        on: Mapping[str, str] | None = None,
    ) -> AuditEntry:
        return AuditEntry(
            time=self._clock(),
            action=action,
            outcome=outcome,
            user=principal.id,
            name=principal.name,
            kind=principal.kind,
            credential=principal.credential,
            address=context.address,
            request=context.request,
            sandbox=sandbox,
            on=dict(on or {}),
        )


def _spec(call: ObservedCall, sandbox: str | None) -> Spec | None:
    return (GATEWAY if sandbox is None else METHODS).get(call.call.method)


def _place(spec: Spec, on: Mapping[str, str]) -> str | None:
    """Return the sandbox that a call to a gateway method refers to."""
    name = spec.target or "sandbox"
    return on.get(name) or _defaults(spec.params).get(name)


@cache
def _defaults(params: Any) -> dict[str, str]:
    return {field.name: field.default for field in msgspec.structs.fields(params) if isinstance(field.default, str)}


def _named(params: Any) -> dict[str, str]:
    """Return the parameters that identify what a call acts on, as text."""
    try:
        given = _PARAMS.decode(params)
        values = {name: msgspec.json.decode(given[name]) for name in NAMED if name in given}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}  # invalid parameters are refused by the method itself
    texts = {name: " ".join(map(str, value)) if isinstance(value, list) else value for name, value in values.items()}
    return {name: str(value)[:VALUE_MAX] for name, value in texts.items() if isinstance(value, str | int)}


def _made(result: Result) -> str | None:
    try:
        made = _RESULT.decode(result.value)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    found = made.id if made.info is None else made.info.id
    return None if found is None else found[:VALUE_MAX]
