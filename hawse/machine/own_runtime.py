"""The runtime on this machine: a separate process that serves one directory and ends with this process.

The runtime reads a pipe that this process holds open, so the runtime ends all programs in the sandbox even if this
process is killed. If both are killed, the next runtime with the same state directory ends any remaining processes.
"""

import asyncio
import os
import secrets
import sys
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from pathlib import Path
from typing import Final

from hawse.link.sockets import socket_address
from hawse.wire import HawseError

START_TIMEOUT: Final = 30.0  # s
STOP_TIMEOUT: Final = 15.0  # seconds all programs have to exit before the runtime is killed
# Exit code of a runtime whose directory is in use by another runtime.
ALREADY_RUNNING: Final = 3
LOG_MAX: Final = 1 << 20  # maximum log size in bytes; if the log is larger, the next start creates a new one
LOG_TAIL: Final = 2000  # number of bytes of the log quoted in an error
CHUNK: Final = 64 << 10  # maximum number of bytes per read
SOCKET: Final = "runtime.sock"
LOG: Final = "runtime.log"


class OwnRuntime:
    """The runtime. `start` and `stop` can be called repeatedly; each start gets its own id.

    Args:
        state: The directory for the runtime's private files, which no other runtime may use. It is created if it is
            missing.
        workspace: The directory where programs start.
        sandbox: The sandbox's name, as shown in the process list.
    """

    def __init__(self, state: Path, workspace: Path, sandbox: str = "joined") -> None:
        self.id = ""
        self._state = state
        self._workspace = workspace
        self._sandbox = sandbox
        self._process: Process | None = None
        self._held: int | None = None  # this process's end of the pipe

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the runtime, and return once it is accepting connections.

        Raises:
            HawseError: `unavailable` if the runtime did not start, `conflict` if another runtime is using the state
                directory.
        """
        self._release()
        self.id = secrets.token_hex(8)
        try:
            self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
            log = self._state / LOG
            keep = log.exists() and log.stat().st_size <= LOG_MAX
            until, self._held = os.pipe()
            ready, told = os.pipe()
            try:
                with log.open("ab" if keep else "wb") as output:
                    self._process = await asyncio.create_subprocess_exec(
                        *self._command(until, told),
                        stdin=DEVNULL,
                        stdout=output,
                        stderr=output,
                        cwd="/",
                        env={name: value for name, value in os.environ.items() if not name.startswith("HAWSE_")},
                        pass_fds=(until, told),
                        start_new_session=True,  # a terminal's Ctrl-C must not end the runtime before this process does
                    )
            except BaseException:
                os.close(ready)
                raise
            finally:
                os.close(until)
                os.close(told)
        except OSError as error:
            raise HawseError("unavailable", f"cannot start the runtime: {error}") from error
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._ready(self._process, ready)
        except TimeoutError:
            await self.stop()
            raise HawseError("unavailable", f"the runtime did not start within {START_TIMEOUT:g} s") from None
        finally:
            os.close(ready)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the runtime. Raises `OSError` if the runtime has exited."""
        with socket_address(self._state / SOCKET) as path:
            return await asyncio.open_unix_connection(path, limit=CHUNK)

    async def ended(self) -> int:
        """Wait for the runtime to exit, and return its exit code."""
        assert self._process is not None
        return await self._process.wait()

    async def stop(self) -> None:
        """End the runtime and all programs in the sandbox. Returns once they have exited."""
        self._release()
        if (process := self._process) is None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await process.wait()
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
        await process.wait()

    # ---- inside

    def _command(self, until: int, ready: int) -> list[str]:
        command = [sys.executable, "-I", "-m", "hawse_runtime"]  # isolated mode: no imports from the workspace
        places = ["--socket", str(self._state / SOCKET), "--private", str(self._state)]
        places += ["--workspace", str(self._workspace)]
        pipes = ["--until", str(until), "--ready", str(ready)]
        return [*command, *places, "--id", self.id, "--sandbox", self._sandbox, *pipes]

    async def _ready(self, process: Process, ready: int) -> None:
        """Wait until the runtime reports that it is listening. Raises `HawseError` if the runtime exits instead."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(ready, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(ready)
        if os.read(ready, 1):
            return
        code = await process.wait()
        if code == ALREADY_RUNNING:
            raise HawseError("conflict", "this directory is already shared with that gateway")
        raise HawseError("unavailable", f"the runtime failed to start with exit code {code}: {self._tail()}")

    def _tail(self) -> str:
        with suppress(OSError), (self._state / LOG).open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_TAIL))
            return file.read().decode(errors="replace").strip()
        return ""

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
