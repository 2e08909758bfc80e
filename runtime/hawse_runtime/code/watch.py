"""`code.watch`: reports the state of a context and its runs whenever it changes."""

from collections.abc import Callable, Iterable

from hawse.api import Nothing
from hawse.api.code import CodeWatched
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse_runtime.code.context import Context
from hawse_runtime.code.run import Run


def watch(call: ServerCall, context: Context, runs: Callable[[], Iterable[Run]]) -> None:
    """Serve `call` until the context is deleted. `runs` returns the retained runs of all contexts."""

    def read() -> CodeWatched:
        own = (context.id, context.instance)
        found = [run.describe() for run in runs() if (run.context, run.instance) == own]
        return CodeWatched(context=context.describe(), runs=found)

    stream = LatestValueStream(call, "changed", read, lambda stream: context.watchers.pop(stream, None))
    context.watchers[stream] = call
    call.serve(stream)


def end_watches(context: Context) -> None:
    """End calls that are watching a deleted context."""
    for call in list(context.watchers.values()):
        call.result(Nothing())
