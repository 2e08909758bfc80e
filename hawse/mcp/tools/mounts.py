"""`mount_list`: the buckets, directories and backups mounted in a sandbox."""

from hawse.api.mounts import MountInfo
from hawse.client import Sandbox
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.plain.excerpt import excerpt


async def _offered(box: Sandbox) -> bool:
    return bool(await box.mounts.list())


@tool("mount_list", safe=True, offered=_offered)
class MountListTool(Arguments):
    """List the mounts of this sandbox: external buckets and directories, with their paths in the workspace.

    Written files are uploaded about a second after they are closed, unless the mount is read-only. Changes in a
    backup's overlay remain in the sandbox.
    """

    async def run(self, call: ToolCall) -> Answer:
        found = await call.box.mounts.list()
        text = "\n".join(map(_line, found)) or "there are none"
        return Answer(excerpt(text, call.limit), data={"mounts": [_data(one) for one in found]})


def _line(info: MountInfo) -> str:
    facts = [info.state if info.reason is None else f"{info.state}: {info.reason}"]
    if info.read_only:
        facts.append("read-only")
    if info.pending:
        facts.append(f"{info.pending} files are not uploaded yet")
    return f"{info.path}  {info.source}  {', '.join(facts)}"


def _data(info: MountInfo) -> dict[str, object]:
    found = {
        "id": info.id,
        "path": info.path,
        "bucket": info.bucket,
        "backup": info.backup,
        "read_only": info.read_only,
    }
    return {**found, "state": info.state, "reason": info.reason, "pending": info.pending}
