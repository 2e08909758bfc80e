"""Creates sandboxes without the policy of `sandbox.create`."""

from dataclasses import replace

from hawse.api.sandboxes import SandboxCreate, SandboxInfo
from hawse_gateway.sandboxes.lifecycle import Sandboxes


async def create(
    sandboxes: Sandboxes, params: SandboxCreate, owner: str = "owner", grants: dict[str, str] | None = None
) -> SandboxInfo:
    return await sandboxes.create(replace(sandboxes.resolve(params, owner), grants=grants or {}))
