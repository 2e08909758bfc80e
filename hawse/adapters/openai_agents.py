"""Sandbox tools for the OpenAI Agents SDK: the SDK's shell and editor, and the `hawse mcp` tools as functions."""

import json
from collections.abc import Collection
from typing import Any

from hawse.adapters.extra import extra
from hawse.adapters.tools import BoundTool, bound_tools
from hawse.client import Sandbox
from hawse.wire import HawseError

with extra("openai-agents"):
    from agents import (
        ApplyPatchTool,
        FunctionTool,
        ShellCallOutcome,
        ShellCommandOutput,
        ShellCommandRequest,
        ShellResult,
        ShellTool,
        apply_diff,
    )
    from agents.editor import ApplyPatchOperation, ApplyPatchResult

__all__ = ["Editor", "editor_tool", "function_tools", "shell_tool"]

OUTPUT_MAX = 64 << 10  # maximum size of each output stream, in bytes, unless the model asks for less
TIMEOUT = 120.0  # default time limit for commands, in seconds


def shell_tool(box: Sandbox, **options: Any) -> ShellTool:
    """Return the SDK's shell tool, which runs its commands in a sandbox. Each command gets its own shell.

    Args:
        box: The sandbox, from a client opened in the current event loop.
        options: Other arguments for `agents.ShellTool`, such as `needs_approval`.
    """

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action = request.data.action
        timeout = action.timeout_ms / 1000 if action.timeout_ms else TIMEOUT
        limit = min(action.max_output_length or OUTPUT_MAX, OUTPUT_MAX)
        output = [await _run(box, command, timeout, limit) for command in action.commands]
        return ShellResult(output=output, max_output_length=action.max_output_length)

    return ShellTool(executor=execute, **options)


async def _run(box: Sandbox, command: str, timeout: float, limit: int) -> ShellCommandOutput:
    try:
        done = await box.exec(command, timeout=timeout, max_output=limit)
    except HawseError as error:
        failed = ShellCallOutcome(type="exit", exit_code=126)  # a shell's exit code for a command that it can't start
        return ShellCommandOutput(stderr=f"{error.code}: {error.message}", outcome=failed, command=command)
    outcome = ShellCallOutcome(type="timeout" if done.timed_out else "exit", exit_code=done.code)
    return ShellCommandOutput(stdout=done.text, stderr=done.stderr_text, outcome=outcome, command=command)


class Editor:
    """An `agents.editor.ApplyPatchEditor` for files in a sandbox.

    If a file has changed since it was read, the operation fails instead of overwriting the file, and the model can then
    reread it.
    """

    def __init__(self, box: Sandbox) -> None:
        self._files = box.files

    async def create_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Create a file along with any missing directories. Fails if the file exists."""
        try:
            text = apply_diff("", operation.diff or "", mode="create")
            await self._files.write(operation.path, text.encode(), if_version="")
        except (HawseError, ValueError) as error:
            return _failed(str(error))
        return _completed(f"Created {operation.path}")

    async def update_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Apply a diff to a file, and move the file if the operation names another path."""
        try:
            version = (await self._files.stat(operation.path)).version
            before = await self._files.read_text(operation.path)
            after = apply_diff(before, operation.diff or "")
            await self._files.write(operation.path, after.encode(), if_version=version)
            if operation.move_to:
                await self._files.move(operation.path, operation.move_to)
        except (HawseError, ValueError) as error:
            return _failed(str(error))
        return _completed(f"Updated {operation.move_to or operation.path}")

    async def delete_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Delete a file."""
        try:
            await self._files.delete(operation.path)
        except HawseError as error:
            return _failed(str(error))
        return _completed(f"Deleted {operation.path}")


def editor_tool(box: Sandbox, **options: Any) -> ApplyPatchTool:
    """Return the SDK's editor tool for files in a sandbox.

    Args:
        box: The sandbox, from a client opened in the current event loop.
        options: Other arguments for `agents.ApplyPatchTool`, such as `needs_approval`.
    """
    return ApplyPatchTool(editor=Editor(box), **options)


def function_tools(box: Sandbox, names: Collection[str] | None = None) -> list[FunctionTool]:
    """Return the `hawse mcp` tools as function tools, for models that do not support the shell and the editor.

    Args:
        box: The sandbox, from a client opened in the current event loop.
        names: Names of the tools to include; None means all.

    Raises:
        ValueError: There is no tool with one of these names.
    """
    return [_function_tool(tool) for tool in bound_tools(box, names)]


def _function_tool(tool: BoundTool) -> FunctionTool:
    async def invoke(_: Any, arguments: str) -> str:
        return (await tool.call(json.loads(arguments or "{}"))).text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=dict(tool.schema),
        on_invoke_tool=invoke,
        strict_json_schema=False,  # strict mode does not allow optional arguments
    )


def _completed(text: str) -> ApplyPatchResult:
    return ApplyPatchResult(status="completed", output=text)


def _failed(text: str) -> ApplyPatchResult:
    return ApplyPatchResult(status="failed", output=text)
