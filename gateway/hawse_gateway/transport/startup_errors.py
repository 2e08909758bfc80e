"""Reports a failed startup in one sentence."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class StartupErrors:
    """Replaces the traceback of an expected error with its message. Other errors are bugs and keep their traceback."""

    def __init__(self, app: ASGIApp, expected: tuple[type[Exception], ...]) -> None:
        self._app = app
        self._expected = expected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        failed: list[Message] = []

        async def hold_failure(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                failed.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, hold_failure)
        except BaseException as error:
            cause = _cause(error)
            if failed and isinstance(cause, self._expected):
                failed[0] = {
                    **failed[0],
                    "message": f"! the gateway cannot start: {getattr(cause, 'message', '') or cause}",
                }
            raise
        finally:
            for message in failed:
                await send(message)


def _cause(error: BaseException) -> BaseException:
    """Return the error itself, or the only error in a group of a task group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
