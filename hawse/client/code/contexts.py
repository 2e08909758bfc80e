"""`box.code`: runs code, and manages code contexts, whose runs share variables."""

import builtins
from typing import Unpack

from hawse.api.code import CodeContextInfo, CodeCreate, CodeGet, CodeLanguage, CodeLanguages, CodeList, CodeRun
from hawse.client.base.environment import Directory, Env, directory, environment
from hawse.client.base.keywords import declared_callbacks
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.code.context import OUTPUT_LIMIT, Callbacks, CodeContext, collect, run_stream
from hawse.client.code.results import CodeResult


class Code(SandboxPart):
    """Runs code in a sandbox. The handle doesn't have to be closed."""

    def create(
        self,
        language: str | None = None,
        *,
        id: str | None = None,
        kernel: str | None = None,
        cwd: Directory | None = None,
        env: Env | None = None,
        timeout: float | None = None,
    ) -> CodeContext:
        """Create a code context. Await the result, or use it with `async with`; leaving the block deletes the context.

        Args:
            language: The language; None means the kernel's language, or python.
            id: The id of the context; None means a random id.
            kernel: The name of an installed Jupyter kernel; None means the default kernel of `language`.
            cwd: The context's initial working directory.
            env: Variables to add to the context's environment; None unsets a variable.
            timeout: Default time limit for runs, in seconds; None means no limit.

        Raises:
            HawseError: When awaited: `conflict` if the id is taken, `language_unavailable`, `spawn_failed`,
                `limit_exceeded`.
        """
        wanted = CodeCreate(
            id=id,
            language=language,
            kernel=kernel,
            cwd=directory(cwd),
            env=environment(env),
            timeout=timeout,
        )
        return CodeContext(self._calls, self._sandbox, wanted, create=True, window=self._window)

    def attach(self, id: str) -> CodeContext:
        """Return the context with this id.

        Await it, or use it with `async with`; leaving the block does not delete the context.

        Raises:
            HawseError: When awaited: `not_found`.
        """
        return CodeContext(self._calls, self._sandbox, CodeCreate(id=id), create=False, window=self._window)

    async def run(
        self,
        source: str,
        language: str | None = None,
        *,
        timeout: float | None = None,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
        **callbacks: Unpack[Callbacks],
    ) -> CodeResult:
        """Run code in a new executor, which ends after the run. See `CodeContext.run`.

        Args:
            source: The code.
            language: The language; None means python.
            timeout: Time limit in seconds; None means no limit.
            key: Calls with the same key, from any client, join the same run.
            max_output: Number of bytes to keep from the start of stdout and stderr.
            callbacks: `on_stdout`, `on_stderr`, `on_result`, `on_error`, `on_input`; see `Callbacks`.

        Raises:
            HawseError: `language_unavailable`, `spawn_failed`, and the error that closed the client.
        """
        callbacks = declared_callbacks(callbacks, Callbacks, "run", awaited=("on_input",))
        stdin = "on_input" in callbacks or None
        params = CodeRun(source=source, language=language, timeout=timeout, stdin=stdin)
        stream = run_stream(self._calls, params, sandbox=self._sandbox, key=key, window=self._window)
        return await collect(stream, callbacks, max_output)

    async def get(self, id: str) -> CodeContextInfo:
        """Return a context's current state. Raises `not_found`."""
        return await self._request(CodeGet(context=id))

    async def list(self) -> builtins.list[CodeContextInfo]:
        """Return all contexts."""
        return (await self._request(CodeList())).contexts

    async def languages(self) -> builtins.list[CodeLanguage]:
        """Return the languages that are installed or can be installed."""
        return (await self._request(CodeLanguages())).languages
