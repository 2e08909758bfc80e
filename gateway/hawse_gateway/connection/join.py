"""`GET /v1/join`: authenticates and serves machines that become sandboxes (docs/wire.md section 12)."""

import asyncio
import logging
from contextlib import suppress
from typing import Final, Protocol

from starlette.types import Receive, Scope, Send

from hawse.api.rights import JOIN, OWN, Right, check
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal, RemoteProtocolError
from hawse.wire.join import (
    AGAIN,
    CONFLICT,
    JOIN_SUBPROTOCOL,
    Join,
    JoinAccepted,
    Refused,
    encode_join,
    parse_machine,
)
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.call_check import Owns
from hawse_gateway.auth.identity import Identity, principal_in
from hawse_gateway.auth.open_connections import OpenConnections, ended
from hawse_gateway.core.context import CallContext, current
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.responses import error_response
from hawse_gateway.providers.joined.machines import Machine, MachineSocket
from hawse_gateway.providers.joined.provider import JoinedProvider
from hawse_gateway.sandboxes.joining import JoinedSandboxes
from hawse_gateway.transport.uvicorn_websocket import SOCKET

log = logging.getLogger(__name__)

MACHINES: Final = 256  # maximum number of connected machines
HELLO_TIMEOUT: Final = 10.0  # seconds to wait for the `join` message
CLOSES: Final = {"unauthenticated": 4401, "forbidden": 4403, "conflict": CONFLICT, "limit_exceeded": 4429}


class OpenSocket(MachineSocket, Protocol):
    """A machine's WebSocket. The endpoint closes it."""

    async def close(self, code: int, reason: str) -> None: ...


class MachineAudit(Protocol):
    """The subset of the audit log's interface needed to record machines."""

    def machine(
        self, action: str, principal: Principal, address: str, sandbox: str, name: str, outcome: str = "ok"
    ) -> None:
        """Record that a machine has joined as a sandbox (`join`) or disconnected (`leave`)."""

    def refusal(self, context: CallContext, code: str, path: str) -> None:
        """Record that a machine was refused."""


class _FirstMessage:
    """Receives a machine's first message, `join`."""

    def __init__(self) -> None:
        self.message: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def receive(self, message: str | bytes) -> None:
        if self.message.done():
            return  # ignored, because the machine must wait for the response to its first message
        if isinstance(message, str):
            self.message.set_result(message)
        else:
            self.message.set_exception(RemoteProtocolError("the first message must be `join`"))

    def lost(self) -> None:
        if not self.message.done():
            self.message.set_exception(ConnectionResetError())

    def resume_writing(self) -> None:
        """Do nothing, since there is no pending output."""


class JoinEndpoint:
    """The ASGI application for `/v1/join`."""

    def __init__(
        self,
        access_policy: AccessPolicy,
        connections: OpenConnections,
        provider: JoinedProvider,
        joining: JoinedSandboxes,
        audit: MachineAudit,
        *,
        owns: Owns,
    ) -> None:
        """Create the endpoint.

        Args:
            access_policy: Authenticates machines.
            connections: Ends connections when the machine's credential is revoked or expires.
            provider: Keeps track of the connected machines.
            joining: Updates the rows of sandboxes.
            audit: Notified when machines join, leave or are refused.
            owns: Returns whether a caller owns a sandbox.
        """
        self._access_policy = access_policy
        self._connections = connections
        self._provider = provider
        self._joining = joining
        self._audit = audit
        self._owns = owns
        self._shares = Shares(MACHINES, "machines")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        denied: HawseError | None = None
        try:
            if JOIN_SUBPROTOCOL not in scope["subprotocols"]:
                raise HawseError("protocol_error", f"the machine must offer the subprotocol {JOIN_SUBPROTOCOL}")
            self._access_policy.check_origin(scope["headers"], scope["scheme"])
        except HawseError as error:
            denied = error
        await receive()  # websocket.connect
        if denied is not None:
            await error_response(denied)(scope, receive, send)
            return
        await send({"type": "websocket.accept", "subprotocol": JOIN_SUBPROTOCOL, "headers": []})
        socket: OpenSocket = scope["extensions"][SOCKET]
        try:
            code, reason = await self._serve(scope, socket)
        except HawseError as error:
            name = address_of(scope)
            log.info("< machine %s refused: %s", name, error, extra={"peer": name, "code": error.code})
            self._audit.refusal(current(), error.code, scope["path"])
            refused = Refused(code=error.code, message=error.message[:1024], retryable=error.retryable)
            socket.write(encode_join(refused))
            close_code = error.close_code if isinstance(error, RemoteProtocolError) else 4400
            code, reason = CLOSES.get(error.code, close_code), error.code
        except ConnectionResetError:
            return
        with suppress(OSError):
            await socket.close(code, reason)

    async def _serve(self, scope: Scope, socket: OpenSocket) -> tuple[int, str]:
        """Serve a machine until the connection ends. Return the close code and reason."""
        identity = self._access_policy.identity(scope)
        if identity is None:
            raise HawseError("unauthenticated", "the token is missing or not valid, or its sandbox was deleted")
        address = address_of(scope)
        self._connections.check(identity, address)
        with self._shares.hold(identity.principal):
            return await self._serve_known(socket, identity, address)

    async def _serve_known(self, socket: OpenSocket, identity: Identity, address: str) -> tuple[int, str]:
        """Serve a machine with a valid credential."""
        first = await _first_message(socket)
        sandbox = self._sandbox(identity.principal, first)
        unit = await self._joining.unit(sandbox)
        machine = Machine(socket, sandbox=sandbox, unit=unit, runtime=first.runtime, why=self._joining.why)
        revoked: list[bool] = []

        def end() -> None:
            revoked.append(True)
            machine.lost()

        with self._connections.hold(identity, address, end):
            self._provider.machines.add(machine)
            socket.attach(machine)
            try:
                await self._keep(machine, socket, identity, address, first.name)
            finally:
                if self._provider.machines.remove(machine):
                    self._provider.disconnected(machine.unit)
                machine.lost()  # ends the link after an error or when the gateway shuts down
                socket.attach(None)
        if revoked:
            raise ended()
        if machine.problem is not None:
            raise machine.problem
        if machine.left is not None:
            await self._joining.leave(sandbox, machine.runtime, machine.left)
            return 1000, ""
        return AGAIN, "connect again"

    async def _keep(self, machine: Machine, socket: OpenSocket, identity: Identity, address: str, name: str) -> None:
        known = {"sandbox": machine.sandbox, "peer": address}
        await self._joining.begin(machine.sandbox)
        machine.running = True
        self._provider.machines.notify()
        socket.write(encode_join(JoinAccepted(sandbox=machine.sandbox)))
        log.info("< machine %s (%r) is sandbox %s", address, name, machine.sandbox, extra=known)
        self._audit.machine("join", identity.principal, address, machine.sandbox, name)
        try:
            await machine.ended.wait()
        finally:
            outcome = "ok" if machine.left is not None else "interrupted"
            log.info("= machine %s of sandbox %s: %s", address, machine.sandbox, machine.left or outcome, extra=known)
            self._audit.machine("leave", identity.principal, address, machine.sandbox, name, outcome)

    def _sandbox(self, principal: Principal, message: Join) -> str:
        """Return the id of the sandbox that a machine wants to join as. Raises `HawseError`."""
        places = {Right.parse(text).sandbox for text in principal.rights}
        sandbox = message.sandbox or (places.pop() if len(places) == 1 else None)
        if sandbox is None or sandbox == OWN:
            raise HawseError("invalid_params", "the token is not limited to one sandbox: name the sandbox to join")
        check(principal_in(principal, sandbox, own=self._owns(principal, sandbox)), JOIN)
        return sandbox


async def _first_message(socket: OpenSocket) -> Join:
    """Return a machine's `join` message. Raises `HawseError`, or `ConnectionResetError` if the machine disconnects
    first.
    """
    first = _FirstMessage()
    socket.attach(first)  # type: ignore[arg-type]
    try:
        async with asyncio.timeout(HELLO_TIMEOUT):
            message = parse_machine(await first.message)
    except TimeoutError:
        raise HawseError("hello_timeout", f"no `join` within {HELLO_TIMEOUT:g} s") from None
    finally:
        socket.attach(None)
    if not isinstance(message, Join):
        raise RemoteProtocolError("the first message must be `join`")
    return message
