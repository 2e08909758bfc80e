"""`GET /metrics` for Prometheus: counters of the gateway and of the runtimes.

Numbers are read when the endpoint is scraped; nothing is measured for it while data passes. Sandboxes without a link
are not asked, since that could start them.
"""

import asyncio
import os
import resource
import time
from collections.abc import Callable
from typing import Final, NamedTuple, get_args

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from hawse.api.rights import OPERATE, check
from hawse.api.runtime import ECHO_BOUNDS, RuntimeMetricsResult
from hawse.api.sandboxes import SandboxInfo, SandboxState
from hawse.build import BUILD
from hawse.wire import HawseError
from hawse_gateway import VERSION
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.connection.endpoint import ConnectEndpoint
from hawse_gateway.egress.refusals import Counters
from hawse_gateway.http.responses import error_response
from hawse_gateway.metrics.prometheus_text import MEDIA_TYPE, Exposition, Family, Histogram
from hawse_gateway.providers.joined.machines import Machines
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.upstream.call import UpstreamCall
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

ANSWER_TIME: Final = 1.0  # s for a runtime to respond before it is reported as down
STATES: Final[tuple[str, ...]] = get_args(SandboxState)

# By the field of `RuntimeMetricsResult`.
RUNTIME: Final = {
    "terminals": Family("hawse_terminals", "gauge", "Terminals whose program runs."),
    "processes": Family("hawse_processes", "gauge", "Processes that run, beside those in terminals and sessions."),
    "sessions": Family("hawse_sessions", "gauge", "Sessions whose shell runs."),
    "recordings": Family("hawse_recordings", "gauge", "Recordings in progress."),
    "viewers": Family("hawse_viewers", "gauge", "Viewers of terminals."),
    "lag": Family("hawse_viewer_lag_bytes", "gauge", "Output that viewers have yet to be sent, all together."),
    "lag_max": Family("hawse_viewer_lag_max_bytes", "gauge", "The same, of the viewer that is furthest behind."),
    "reseeds": Family("hawse_reseeds_total", "counter", "Snapshots given to viewers instead of output they missed."),
    "output": Family("hawse_output_bytes_total", "counter", "Bytes that programs have written to terminals."),
    "journals": Family("hawse_journal_bytes", "gauge", "Memory that output is kept in."),
    "snapshots": Family("hawse_snapshot_cache_bytes", "gauge", "Memory of snapshots that are not sent yet."),
    "cpu": Family("hawse_runtime_cpu_seconds_total", "counter", "Processor time of the runtime."),
    "memory": Family("hawse_runtime_resident_memory_bytes", "gauge", "Resident memory of the runtime."),
    "open_fds": Family("hawse_runtime_open_fds", "gauge", "Open file descriptors of the runtime."),
    "started": Family("hawse_runtime_start_time_seconds", "gauge", "When the runtime was started, since 1970."),
}
ECHO: Final = Family("hawse_echo_seconds", "histogram", "From input to a terminal's next output, in the runtime.")
UP: Final = Family("hawse_sandbox_up", "gauge", "Whether the runtime has answered; only of those with a link.")
CHANNELS: Final = Family("hawse_link_channels", "gauge", "Calls on the link to a sandbox.")


class RuntimeAnswer(NamedTuple):
    """The metrics of one runtime, or None if it did not respond in time."""

    link: SandboxLink
    metrics: RuntimeMetricsResult | None


class MetricsEndpoint:
    """The endpoint. Call `links` only while the application runs. `machines` are those that can join, if enabled."""

    def __init__(
        self,
        access_policy: AccessPolicy,
        sandboxes: Sandboxes,
        connect: ConnectEndpoint,
        links: Callable[[], Links],
        audit: AuditTrail,
        machines: Machines | None = None,
    ) -> None:
        self._audit = audit
        self._machines = machines
        self._access_policy = access_policy
        self._sandboxes = sandboxes
        self._connect = connect
        self._links = links
        self._started = time.time()

    async def __call__(self, http: HttpRequest) -> Response:
        try:
            check(self._access_policy.admit(http.scope).principal, OPERATE)
        except HawseError as error:
            return error_response(error)
        answers = await asyncio.gather(*map(ask, self._links().ready()))
        out = Exposition()
        self._add_gateway(out, await self._sandboxes.list())
        add_runtimes(out, answers)
        self._add_process(out)
        return Response(out.text(), headers={"content-type": MEDIA_TYPE, "cache-control": "no-store"})

    def _add_gateway(self, out: Exposition, sandboxes: list[SandboxInfo]) -> None:
        connect, counts = self._connect, self._connect.counts
        states: list[str] = [sandbox.state for sandbox in sandboxes]
        channels = sum(len(client.connection.channels) for client in connect.open)
        info = Family("hawse_info", "gauge", "The version and the build of the gateway.")
        out.add(info, [({"version": VERSION, "build": BUILD}, 1)])
        out.add(Family("hawse_connections", "gauge", "Clients that are connected."), [({}, connect.client_count)])
        out.add(
            Family("hawse_connections_total", "counter", "Clients accepted since the start."), [({}, connect.accepted)]
        )
        out.add(Family("hawse_channels", "gauge", "Calls of clients that are open."), [({}, channels)])
        out.add(Family("hawse_calls_total", "counter", "Calls of clients."), [({}, counts.calls)])
        out.add(
            Family("hawse_bytes_total", "counter", "Bytes of WebSocket messages, from clients and to them."),
            [({"direction": "in"}, counts.bytes_in), ({"direction": "out"}, counts.bytes_out)],
        )
        audit = self._audit
        out.add(
            Family("hawse_audit_entries_total", "counter", "Entries of the audit log, by what became of them."),
            [
                ({"result": "written"}, audit.log.written),
                ({"result": "lost"}, audit.log.lost),
                ({"result": "suppressed"}, audit.suppressed),
            ],
        )
        for provider in self._sandboxes.providers.values():
            if provider.egress is not None:
                _add_egress(out, provider.egress.follower.totals(), provider.egress.follower.lost)
        if self._machines is not None:
            _add_machines(out, self._machines)
        out.add(
            Family("hawse_sandboxes", "gauge", "Sandboxes by state."),
            [({"state": state}, states.count(state)) for state in STATES],
        )

    def _add_process(self, out: Exposition) -> None:
        """Add the metrics of the gateway's process, under the names that all exporters use."""
        with open("/proc/self/statm") as statm:
            memory = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        files, most = len(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        cpu, since = time.process_time(), self._started
        out.add(Family("process_cpu_seconds_total", "counter", "Processor time of the gateway."), [({}, cpu)])
        out.add(Family("process_resident_memory_bytes", "gauge", "Its resident memory."), [({}, memory)])
        out.add(Family("process_open_fds", "gauge", "Its open file descriptors."), [({}, files)])
        out.add(Family("process_max_fds", "gauge", "Its maximum number of open file descriptors."), [({}, most)])
        out.add(Family("process_start_time_seconds", "gauge", "When it was started, since 1970."), [({}, since)])


def _add_machines(out: Exposition, machines: Machines) -> None:
    """Add the machines that have joined."""
    connected = Family("hawse_machines", "gauge", "Machines that have joined and are connected.")
    again = Family(
        "hawse_machine_connections_total", "counter", "Connections of machines, the first and repeated ones."
    )
    first = machines.connections - machines.reconnections
    out.add(connected, [({}, len(machines.all()))])
    out.add(again, [({"kind": "first"}, first), ({"kind": "again"}, machines.reconnections)])


def _add_egress(out: Exposition, totals: Counters, lost: int) -> None:
    """Add the counters of the proxies of filtered networks."""
    connections = Family("hawse_egress_connections", "gauge", "Connections to proxies of filtered networks.")
    requests = Family("hawse_egress_requests_total", "counter", "Requests to these proxies, by what became of them.")
    content = Family("hawse_egress_bytes_total", "counter", "Bytes of the content of requests and of answers.")
    unwritten = Family("hawse_egress_refusals_lost_total", "counter", "Refusals that are not in the audit log.")
    cpu = Family("hawse_egress_cpu_seconds_total", "counter", "Processor time of these proxies.")
    memory = Family("hawse_egress_resident_memory_bytes", "gauge", "Their resident memory.")
    out.add(connections, [({}, totals.connections)])
    out.add(cpu, [({}, totals.cpu)])
    out.add(memory, [({}, totals.memory)])
    out.add(requests, [({"result": "passed"}, totals.requests), ({"result": "refused"}, totals.refused)])
    out.add(content, [({"direction": "out"}, totals.sent), ({"direction": "in"}, totals.received)])
    out.add(unwritten, [({}, lost)])


async def ask(link: SandboxLink) -> RuntimeAnswer:
    """Ask a runtime for its metrics, unless that would start it. Returns within `ANSWER_TIME` and never raises."""
    metrics = None
    try:
        async with asyncio.timeout(ANSWER_TIME):
            if link.ready:  # it may have been lost
                async with UpstreamCall(link, "runtime.metrics", {}, principal=GATEWAY) as request:
                    metrics = msgspec.convert(await request.result(), RuntimeMetricsResult)
    except (TimeoutError, HawseError, msgspec.MsgspecError):
        pass  # it is stuck or lost, or lacks this method
    return RuntimeAnswer(link, metrics)


def add_runtimes(out: Exposition, answers: list[RuntimeAnswer]) -> None:
    out.add(UP, [({"sandbox": link.sandbox}, int(metrics is not None)) for link, metrics in answers])
    out.add(CHANNELS, [({"sandbox": link.sandbox}, link.channels) for link, _ in answers])
    known = [({"sandbox": link.sandbox}, metrics) for link, metrics in answers if metrics is not None]
    for name, family in RUNTIME.items():
        out.add(family, [(labels, getattr(metrics, name)) for labels, metrics in known])
    out.add(
        ECHO, [(labels, Histogram(ECHO_BOUNDS, metrics.echo.counts, metrics.echo.seconds)) for labels, metrics in known]
    )
