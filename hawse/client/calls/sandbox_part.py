"""The base class for the parts of a sandbox, such as `box.terminals` and `box.files`."""

from hawse.api import Params
from hawse.client.calls.call_table import CallTable, R


class SandboxPart:
    """Sends calls to one sandbox. The handle doesn't have to be closed."""

    def __init__(self, calls: CallTable, sandbox: str, *, window: int) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
            window: Number of bytes the server can send on each channel before the client reads them.
        """
        self._calls = calls
        self._sandbox = sandbox
        self._window = window

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of sandbox {self._sandbox!r}>"

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
