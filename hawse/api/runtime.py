"""The runtime about itself: `runtime.info`, `runtime.metrics`."""

from typing import Annotated

from msgspec import Meta

from hawse.api.spec import Params, Reply, method
from hawse.wire.frames import OFFSET_MAX

# ---- values


class RuntimeInfoResult(Reply, frozen=True, kw_only=True):
    """`runtime` is the id of this incarnation, `started` in seconds since 1970, `memory` its resident bytes."""

    runtime: str
    pid: int
    version: str
    started: float
    terminals: int
    processes: int
    sessions: int
    open_fds: int
    tasks: int
    memory: int


# s, of the classes of a histogram: the first holds what took no longer than the first bound, and so on.
ECHO_BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


Count = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]


Counts = Annotated[tuple[Count, ...], Meta(min_length=len(ECHO_BOUNDS) + 1, max_length=len(ECHO_BOUNDS) + 1)]


class EchoHistogram(Reply, frozen=True, kw_only=True):
    """How long after input came output. `counts` has one more class than `ECHO_BOUNDS`: what took longer than all.

    `seconds` is the sum of all times.
    """

    counts: Counts
    seconds: float


class RuntimeMetricsResult(Reply, frozen=True, kw_only=True):
    """What is now, and what was counted since `started` (seconds since 1970).

    Now: `memory` (resident bytes), `open_fds`, what runs (`terminals`, `processes`, `sessions`), `viewers` of
    terminals, `lag` (bytes they have yet to be sent, all together) and `lag_max` (of the one that is furthest behind),
    `journals` and `snapshots` (bytes of memory), `recordings` that go on. Counted: `cpu` (seconds), `output` (bytes
    that programs wrote to terminals), `reseeds` (of viewers), `echo`.
    """

    started: float
    cpu: float
    memory: Count
    open_fds: Count
    terminals: Count
    processes: Count
    sessions: Count
    viewers: Count
    lag: Count
    lag_max: Count
    journals: Count
    snapshots: Count
    recordings: Count
    output: Count
    reseeds: Count
    echo: EchoHistogram


# ---- methods


@method("runtime.info", safe=True)
class RuntimeInfo(Params[RuntimeInfoResult], kw_only=True):
    """What the runtime is, and what it holds."""


@method("runtime.metrics", safe=True)
class RuntimeMetrics(Params[RuntimeMetricsResult], kw_only=True):
    """What the runtime counts, for a gateway's `/metrics`."""
