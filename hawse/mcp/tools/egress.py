"""`egress_refusals`: why programs in a sandbox that uses the `filtered` network cannot reach a host."""

from datetime import UTC, datetime
from typing import Annotated, Final

from msgspec import Meta, to_builtins

from hawse.api.egress import EgressReason, EgressRefusal
from hawse.client import Sandbox
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.plain.excerpt import excerpt

REASONS: Final[dict[EgressReason, str]] = {
    "rule": "no rule allows it, or a rule denies it",
    "method": "the rules for this host allow other methods",
    "address": "the host's address is private or belongs to this machine",
    "name": "the host name is not valid, or has no address",
    "mismatch": "the request names a different host than the connection",
    "protocol": "the proxy does not support this protocol; it forwards HTTP/1.1 and WebSockets over TLS",
    "upgrade": "the WebSocket handshake is not valid",
    "encoding": "the response to a request with a secret is compressed",
}
Count = Annotated[int, Meta(ge=1, le=100)]


async def _offered(box: Sandbox) -> bool:
    return (await box.egress.get()).filtered


@tool("egress_refusals", safe=True, offered=_offered)
class EgressRefusalsTool(Arguments):
    """List this sandbox's network rules and its programs' latest refused requests, each with the reason.

    Use this if a program such as curl, pip or git cannot connect or gets a 403 status. The tool does not change any
    rules.

    Args:
        limit: Maximum number of refusals, newest first.
    """

    limit: Count = 20

    async def run(self, call: ToolCall) -> Answer:
        info = await call.box.egress.get()
        if not info.filtered:
            text = "This sandbox's network is not filtered, so no proxy refuses requests. A failure has another cause."
            return Answer(text, data={"filtered": False, "allow": [], "deny": [], "refusals": []})
        found = info.recent[::-1][: self.limit]
        lines = [f"Allowed: {', '.join(info.allow) or 'nothing'}"]
        if info.deny:
            lines.append(f"Always denied: {', '.join(info.deny)}")
        if not info.running:
            lines.append("The sandbox's proxy is not running.")
        lines.append("Refused last:" if found else "Nothing was refused.")
        lines += [_line(refusal) for refusal in found]
        refusals = [to_builtins(refusal) for refusal in found]
        data = {"filtered": True, "allow": info.allow, "deny": info.deny, "refusals": refusals}
        return Answer(excerpt("\n".join(lines), call.limit, "ask for less"), data=data)


def _line(refusal: EgressRefusal) -> str:
    """Describe a refusal in one line, such as `12:00:00 UTC  GET evil.example:443  rule: no rule allows it`."""
    at = datetime.fromtimestamp(refusal.time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    request = f"{refusal.method or 'request'} {refusal.host or 'to an unknown host'}"
    port = f":{refusal.port}" if refusal.port else ""
    return f"{at}  {request}{port}  {refusal.reason}: {REASONS[refusal.reason]}"
