"""Runs code in the tests of the runtime.

done = await run(client, "print(1)")
assert (done.status, done.stdout) == ("ok", b"1\\n")
"""

from dataclasses import dataclass
from typing import Any

from tests.support.runtime import Channel, Client


@dataclass
class Done:
    """A run that has ended."""

    result: dict[str, Any]
    stdout: bytes
    stderr: bytes
    bundles: bytes
    events: list[tuple[str, Any]]

    @property
    def status(self) -> str:
        """The status, with the name of the error, if any."""
        error = self.result["error"]
        return f"{self.result['status']}: {error['name']}" if error else str(self.result["status"])

    def named(self, name: str) -> list[Any]:
        """The values of the events with this name."""
        return [value for event, value in self.events if event == name]

    @property
    def text(self) -> str:
        """The value of the last expression, as plain text."""
        text: str = self.named("value")[-1]["data"]["text/plain"]
        return text


async def create(client: Client, context: str = "c", **params: Any) -> dict[str, Any]:
    """Create a context."""
    made: dict[str, Any] = await client.ask("code.create", {"id": context, **params})
    return made


def begin(
    client: Client,
    source: str,
    context: str | None = "c",
    *,
    key: str | None = None,
    generous: bool = True,
    **params: Any,
) -> Channel:
    """Call `code.run`."""
    return client.call("code.run", {"context": context, "source": source, **params}, key=key, generous=generous)


async def answer(client: Client, call: Channel, value: str = "") -> None:
    """Wait for a run's first question, which arrives after all earlier output, and answer it."""
    request = (await call.event("input"))["request"]
    await client.ask("code.answer", run=(await call.event("opened"))["run"], request=request, value=value)


async def end(call: Channel) -> Done:
    """Wait for a run to end."""
    result = await call.result()
    events = [(event.name, event.value) for event in call.events if event.name != "waiting"]
    return Done(result, bytes(call.output), bytes(call.stderr), bytes(call.screen), events)


async def run(client: Client, source: str, context: str | None = "c", **params: Any) -> Done:
    """Run code to completion."""
    return await end(begin(client, source, context, **params))
