from contextlib import suppress

import pytest
from starlette.types import Message, Receive, Scope, Send

from hawse.wire import HawseError
from hawse_gateway.store.base import StoreError
from hawse_gateway.transport.startup_errors import StartupErrors

TRACEBACK = "Traceback (most recent call last): …"


async def messages(error: BaseException | None, *, started: bool = False) -> list[Message]:
    """Return the messages of an application that fails with an error like Starlette."""
    sent: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if started:
            await send({"type": "lifespan.startup.complete"})
        if error is not None:
            phase = "shutdown" if started else "startup"
            await send({"type": f"lifespan.{phase}.failed", "message": TRACEBACK})
            raise error

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(Exception):
        await StartupErrors(application, (HawseError, StoreError))({"type": "lifespan"}, receive, send)
    return sent


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (HawseError("unavailable", "the engine does not respond"), "the engine does not respond"),
        (StoreError("redis: no answer"), "redis: no answer"),
        (ExceptionGroup("tasks", [ExceptionGroup("more", [HawseError("unavailable", "no cluster")])]), "no cluster"),
    ],
)
async def test_a_provider_that_does_not_respond_is_reported_in_a_sentence(error: Exception, text: str) -> None:
    message = {"type": "lifespan.startup.failed", "message": f"! the gateway cannot start: {text}"}
    assert await messages(error) == [message]


@pytest.mark.parametrize("error", [KeyError("a bug"), ExceptionGroup("two", [HawseError("a"), HawseError("b")])])
async def test_a_bug_keeps_its_traceback(error: Exception) -> None:
    assert await messages(error) == [{"type": "lifespan.startup.failed", "message": TRACEBACK}]


async def test_other_messages_are_passed_on() -> None:
    assert await messages(None, started=True) == [{"type": "lifespan.startup.complete"}]
    failed = {"type": "lifespan.shutdown.failed", "message": TRACEBACK}
    assert (await messages(HawseError("unavailable"), started=True))[1:] == [failed]
