"""`box.sessions`: a sandbox's persistent shells."""

from hawse.api.sessions import SessionCreate, SessionGet, SessionInfo, SessionList
from hawse.client.base.environment import Directory, Env, directory, environment
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.process.processes import Processes
from hawse.client.process.session import Session


class Sessions(SandboxPart):
    """A sandbox's sessions. The handle doesn't have to be closed."""

    def create(
        self,
        id: str | None = None,
        *,
        cwd: Directory | None = None,
        env: Env | None = None,
        shell: str | None = None,
        command_timeout: float | None = None,
    ) -> Session:
        """Create a persistent shell. Await the result, or use it with `async with`; leaving the block deletes the
        session.

        Args:
            id: The id of the session; None means a random id.
            cwd: The shell's initial working directory.
            env: Variables to add to the shell's environment; None unsets a variable.
            shell: The path of the shell; None means bash.
            command_timeout: Default time limit for commands, in seconds; None means no limit.

        Raises:
            HawseError: When awaited: `conflict` if the id is taken, `spawn_failed`, `limit_exceeded`.
        """
        return self._handle(
            SessionCreate(
                id=id, cwd=directory(cwd), env=environment(env), shell=shell, command_timeout=command_timeout
            ),
            create=True,
        )

    def attach(self, id: str) -> Session:
        """Return the session with this id.

        Await it, or use it with `async with`; leaving the block does not delete the session.

        Raises:
            HawseError: When awaited: `not_found`.
        """
        return self._handle(SessionCreate(id=id), create=False)

    async def get(self, id: str) -> SessionInfo:
        """Return a session's current state, including how it ended. Raises `not_found`."""
        return await self._request(SessionGet(id=id))

    async def list(self) -> list[SessionInfo]:
        """Return the running sessions and those that ended most recently."""
        return (await self._request(SessionList())).sessions

    def _handle(self, wanted: SessionCreate, *, create: bool) -> Session:
        attach = Processes(self._calls, self._sandbox, window=self._window).attach
        return Session(self._calls, self._sandbox, wanted, create=create, window=self._window, attach=attach)
