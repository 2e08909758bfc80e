"""`GET /metrics` for Prometheus: counters from the gateway and the runtimes.

Metrics are collected when the endpoint is scraped, so they cost nothing on the data path. Only sandboxes with a link
are queried, because querying other sandboxes could start them.
"""

import asyncio
import os
import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from hawse.api.rights import OPERATE, check
from hawse.api.runtime import ECHO_BOUNDS, RuntimeMetricsResult
from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.http.responses import error_response
from hawse_gateway.metrics.prometheus_text import MEDIA_TYPE, Exposition, Family, Histogram
from hawse_gateway.upstream.call import UpstreamCall
from hawse_gateway.upstream.sandbox_link import SandboxLink

ANSWER_TIME: Final = 1.0  # seconds to wait for a runtime's response before reporting it as down

# A runtime's metrics, keyed by the name of their field in `RuntimeMetricsResult`.
RUNTIME: Final = {
    "terminals": Family("hawse_terminals", "gauge", "Terminals whose program runs."),
    "processes": Family("hawse_processes", "gauge", "Running processes, except those in terminals and sessions."),
    "sessions": Family("hawse_sessions", "gauge", "Sessions whose shell runs."),
    "recordings": Family("hawse_recordings", "gauge", "Recordings in progress."),
    "viewers": Family("hawse_viewers", "gauge", "Viewers of terminals."),
    "lag": Family("hawse_viewer_lag_bytes", "gauge", "Output not yet sent to viewers, in total."),
    "lag_max": Family("hawse_viewer_lag_max_bytes", "gauge", "Output not yet sent to the slowest viewer."),
    "reseeds": Family("hawse_reseeds_total", "counter", "Snapshots sent to viewers that missed some output."),
    "output": Family("hawse_output_bytes_total", "counter", "Bytes written to terminals by programs."),
    "journals": Family("hawse_journal_bytes", "gauge", "Memory used for terminal output."),
    "snapshots": Family("hawse_snapshot_cache_bytes", "gauge", "Memory used for snapshots that are not sent yet."),
    "cpu": Family("hawse_runtime_cpu_seconds_total", "counter", "CPU time used by the runtime."),
    "memory": Family("hawse_runtime_resident_memory_bytes", "gauge", "Resident memory of the runtime."),
    "open_fds": Family("hawse_runtime_open_fds", "gauge", "Open file descriptors of the runtime."),
    "started": Family("hawse_runtime_start_time_seconds", "gauge", "Start time of the runtime, in seconds since 1970."),
}
ECHO: Final = Family("hawse_echo_seconds", "histogram", "Time from input to the terminal's next output.")
UP: Final = Family("hawse_sandbox_up", "gauge", "Whether the runtime has responded, for each sandbox with a link.")
CHANNELS: Final = Family("hawse_link_channels", "gauge", "Open calls on the link to a sandbox.")


class RuntimeAnswer(NamedTuple):
    """One runtime's metrics, or None if it did not respond in time."""

    link: SandboxLink
    metrics: RuntimeMetricsResult | None


class MetricsEndpoint:
    """The handler for `/metrics`.


    Args:
        access_policy: Authenticates callers, who must have the right `operate`.
        collectors: Functions that add metric families to the response, in this order.
    """

    def __init__(
        self, access_policy: AccessPolicy, collectors: Sequence[Callable[[Exposition], Awaitable[None]]]
    ) -> None:
        self._access_policy = access_policy
        self._collectors = collectors

    async def __call__(self, http: HttpRequest) -> Response:
        try:
            check(self._access_policy.admit(http.scope).principal, OPERATE)
        except HawseError as error:
            return error_response(error)
        out = Exposition()
        for collect in self._collectors:
            await collect(out)
        return Response(out.text(), headers={"content-type": MEDIA_TYPE, "cache-control": "no-store"})


class ProcessMetrics:
    """Adds metrics for the gateway's process, under Prometheus's standard names."""

    def __init__(self) -> None:
        self._started = time.time()

    async def collect(self, out: Exposition) -> None:
        self._add(out)

    def _add(self, out: Exposition) -> None:
        with open("/proc/self/statm") as statm:
            memory = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        files, most = len(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        cpu, since = time.process_time(), self._started
        out.add(Family("process_cpu_seconds_total", "counter", "CPU time used by the gateway."), [({}, cpu)])
        out.add(Family("process_resident_memory_bytes", "gauge", "Resident memory of the gateway."), [({}, memory)])
        out.add(Family("process_open_fds", "gauge", "Open file descriptors."), [({}, files)])
        out.add(Family("process_max_fds", "gauge", "Maximum number of open file descriptors."), [({}, most)])
        out.add(Family("process_start_time_seconds", "gauge", "Start time of the gateway."), [({}, since)])


async def ask(link: SandboxLink) -> RuntimeAnswer:
    """Query a connected runtime's metrics. Returns within `ANSWER_TIME` seconds and never raises."""
    metrics = None
    try:
        async with asyncio.timeout(ANSWER_TIME):
            if link.ready:  # the link may have been lost while other runtimes were queried
                async with UpstreamCall(link, "runtime.metrics", {}, principal=GATEWAY) as request:
                    metrics = msgspec.convert(await request.result(), RuntimeMetricsResult)
    except (TimeoutError, HawseError, msgspec.MsgspecError):
        pass  # the runtime is stuck, lost, or too old for this method
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
