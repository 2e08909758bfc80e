"""The runtime about itself: `runtime.info`."""

import msgspec

from hawse.api.spec import Reply, Spec


class AskRuntime(msgspec.Struct):
    """What the runtime is, and what it holds."""


class RuntimeInfo(Reply, frozen=True, kw_only=True):
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


METHODS = {"runtime.info": Spec(AskRuntime, RuntimeInfo)}
