"""The runtime itself: reports on its state, and methods that only a gateway may call."""

from typing import Annotated

import msgspec
from msgspec import Meta

from hawse.api.rights import CONTROL
from hawse.api.sandboxes import SandboxPort
from hawse.api.spec import Nothing, Params, Reply, method
from hawse.wire.frames import OFFSET_MAX

# ---- values


class RuntimeInfoResult(Reply, frozen=True, kw_only=True):
    """A description of the runtime.

    Attributes:
        runtime: Id of the running runtime, which changes each time it starts.
        pid: Process id of the runtime.
        version: The runtime's hawse version.
        started: When the runtime was started, in seconds since 1970.
        terminals: Number of terminals, including exited ones that are still listed.
        processes: Number of processes and running commands, including exited processes that are still listed.
        sessions: Number of sessions with a running shell.
        open_fds: Number of file descriptors the runtime has open.
        tasks: Number of asyncio tasks in the runtime.
        memory: Resident memory of the runtime, in bytes.
    """

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


class RuntimeActivityResult(Reply, frozen=True, kw_only=True):
    """Activity in a sandbox.

    Attributes:
        idle: Seconds since the last activity; 0 while the sandbox is active.
        busy: Current activities, such as `process server`; at most 16 entries.
        asleep: Whether the runtime is refusing calls because it has been idle for `sleep_after`.
        previews: Digests of its preview tokens (`hawse.api.ports.preview_digest`).
    """

    idle: float
    busy: list[str]
    asleep: bool
    previews: list[str] | None = None


# Upper bounds of the histogram buckets, in seconds, inclusive.
ECHO_BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


Count = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
Counts = Annotated[tuple[Count, ...], Meta(min_length=len(ECHO_BOUNDS) + 1, max_length=len(ECHO_BOUNDS) + 1)]


class EchoHistogram(Reply, frozen=True, kw_only=True):
    """Histogram of the time between input to a terminal and its next output.

    The upper bounds of the buckets are 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500 and 1,000 ms. The last
    bucket has no upper bound.

    Attributes:
        counts: Number of measurements in each bucket, not cumulative.
        seconds: Sum of all measurements, in seconds.
    """

    counts: Counts
    seconds: float


class RuntimeMetricsResult(Reply, frozen=True, kw_only=True):
    """The current state of the runtime, and its counters since startup.

    `cpu`, `output`, `reseeds` and `echo` are counters; the other numbers are current values. See docs/metrics.md.

    Attributes:
        started: When the runtime was started, in seconds since 1970.
        cpu: CPU time that the runtime itself has used, in seconds.
        memory: Resident memory of the runtime, in bytes.
        open_fds: Number of file descriptors the runtime has open.
        terminals: Number of running terminals.
        processes: Number of running processes, including `exec` commands.
        sessions: Number of running sessions.
        viewers: Number of viewers attached to all terminals.
        lag: Number of bytes of output still to be sent to all viewers in total.
        lag_max: Number of bytes of output still to be sent to the viewer that is furthest behind.
        journals: Memory used by output journals, in bytes.
        snapshots: Memory used by snapshots for viewers, in bytes.
        recordings: Number of recordings in progress.
        output: Number of bytes programs have written to terminals.
        reseeds: Number of snapshots sent to viewers in place of output.
        echo: Histogram of the time between input and the next output."""

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
    """Describe the runtime and its load."""


@method("runtime.metrics", safe=True, passive=True)
class RuntimeMetrics(Params[RuntimeMetricsResult], kw_only=True):
    """Return the runtime's counters, which a gateway serves at `/metrics`."""


@method("runtime.configure", requires=CONTROL, passive=True, safe=True)
class RuntimeConfigure(Params[Nothing], kw_only=True):
    """Replace the sandbox's configuration. Only a gateway can call this method.

    The environment applies to programs started after the call. A configuration with a lower revision than the current
    one is ignored.

    Args:
        revision: Number that increases with each change to the configuration.
        env: Environment for all programs; a call's own `env` is added to it.
        ports: Ports that have a preview, unless the preview has been revoked.
        files: Content of text files, keyed by path in the workspace. Only the first configuration that has files writes
            them.
    """

    revision: int
    env: dict[str, str] = msgspec.field(default_factory=dict)
    ports: list[SandboxPort] = msgspec.field(default_factory=list)
    files: dict[str, str] = msgspec.field(default_factory=dict)


@method("runtime.activity", requires=CONTROL, passive=True, safe=True)
class RuntimeActivity(Params[RuntimeActivityResult], kw_only=True):
    """Return how long the sandbox has been idle. Only a gateway can call this method.

    A sandbox is active while a process or command runs, while a terminal has a viewer, or while any call is open,
    except calls that only watch.

    Args:
        sleep_after: Number of seconds of idleness before the runtime refuses calls, because it is about to be stopped;
            null means never.
    """

    sleep_after: float | None = None
