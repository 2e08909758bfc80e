"""Lets deepagents (LangChain, LangGraph) use a sandbox as its backend for files and commands."""

from pathlib import PurePosixPath

import hawse.sync
from hawse.adapters.extra import extra
from hawse.client import HawseError, InvalidParamsError, IsDirectoryError, NotFoundError, PermissionDeniedError

with extra("deepagents"):
    from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
    from deepagents.backends.sandbox import BaseSandbox

__all__ = ["Backend"]

OUTPUT_MAX = 1 << 20  # maximum size of each output stream of a command, in bytes
TIMEOUT = 30 * 60  # default time limit for commands, in seconds


class Backend(BaseSandbox):
    """An agent backend: `create_deep_agent(backend=Backend(box))`.

    The sandbox's image needs Python 3, because deepagents uses it to read and edit files. Methods can be called from
    any thread; their asynchronous versions run in threads.
    """

    def __init__(self, box: hawse.sync.Sandbox) -> None:
        """Create a backend.

        Args:
            box: The sandbox, from a `hawse.sync` client that must remain open while the agent works.
        """
        self._box = box

    @property
    def id(self) -> str:
        """The id of the sandbox."""
        return self._box.id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Run a shell command. After `timeout` seconds, the command and all processes it started are killed."""
        limit = TIMEOUT if timeout is None else timeout or None  # 0 means no limit
        done = self._box.exec(command, timeout=limit, max_output=OUTPUT_MAX)
        output = done.text + done.stderr_text
        if done.timed_out:
            output += f"\nended after {limit} seconds"
        return ExecuteResponse(output=output, exit_code=done.code, truncated=done.truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files, creating missing directories."""
        return [FileUploadResponse(path=path, error=self._upload(path, content)) for path, content in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read files."""
        return [self._download(path) for path in paths]

    def _upload(self, path: str, content: bytes) -> str | None:
        try:
            self._box.files.write(path, content)
        except HawseError as error:
            return _reason(error, path)
        return None

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path=path, content=self._box.files.read(path))
        except HawseError as error:
            return FileDownloadResponse(path=path, error=_reason(error, path))


def _reason(error: HawseError, path: str) -> str:
    """Return the deepagents error code for an error, or the error's text if there is no such code."""
    if isinstance(error, NotFoundError):
        return "file_not_found"
    if isinstance(error, PermissionDeniedError):
        return "permission_denied"
    if isinstance(error, IsDirectoryError):
        return "is_directory"
    if isinstance(error, InvalidParamsError) or not PurePosixPath(path).is_absolute():
        return "invalid_path"
    return f"{error.code}: {error.message}"
