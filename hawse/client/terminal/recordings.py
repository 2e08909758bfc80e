"""`box.recordings`: terminal and desktop recordings. `Terminal.record` and `Desktop.record` start one."""

import builtins

from hawse.api.recordings import RecordingGet, RecordingInfo, RecordingList, RecordingListResult, RecordingWatch
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.client.terminal.recording import Recording


class Recordings(SandboxPart):
    """A sandbox's recordings. The handle doesn't have to be closed."""

    def attach(self, id: str) -> Recording:
        """Return a handle to a running or finished recording. Nothing is sent."""
        return Recording(self._calls, self._sandbox, id, window=self._window)

    async def get(self, id: str) -> RecordingInfo:
        """Return a recording's current state. Raises `not_found`."""
        return await self._request(RecordingGet(id=id))

    async def list(self, *, terminal: str | None = None) -> builtins.list[RecordingInfo]:
        """Return all recordings, or only one terminal's, newest first."""
        return (await self._request(RecordingList(terminal=terminal))).recordings

    def watch(self, *, terminal: str | None = None) -> StateStream[builtins.list[RecordingInfo]]:
        """Return a context manager and iterator over the running recordings, now and after every change."""
        call = StateStreamCall(RecordingWatch(terminal=terminal), sandbox=self._sandbox, window=self._window)
        return StateStream(self._calls, call, _recordings_of)


def _recordings_of(state: RecordingListResult) -> list[RecordingInfo]:
    return state.recordings
