"""Converts errors to HTTP responses, with the wire format's fields and the status from the error table."""

import math
from typing import Any

import msgspec
from starlette.responses import Response

from hawse.wire import HawseError
from hawse.wire.errors import Admitted, sendable
from hawse_gateway.core.context import CURRENT


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error response. It contains a `code` from docs/wire.md section 8, and states whether a retry can succeed and
    whether the call had started.

    `request` is the id of the request in the gateway's logs.
    """

    code: str
    message: str
    retryable: bool
    admitted: Admitted
    details: Any = None
    request: str | None = None


def problem(error: HawseError) -> Problem:
    details = None if error.code == "internal" else error.details  # clients don't get details about bugs
    request = error.request or _request()
    return Problem(error.code, sendable(error.message), error.retryable, error.admitted, details, request)


def _request() -> str | None:
    context = CURRENT.get()
    return None if context is None else context.request


def json_response(value: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def error_response(error: HawseError) -> Response:
    response = json_response(problem(error), error.status)
    if isinstance(error.details, dict) and isinstance(wait := error.details.get("retry_after"), int | float):
        response.headers["retry-after"] = str(max(1, math.ceil(wait)))  # whole seconds (RFC 9110, section 10.2.3)
    return response
