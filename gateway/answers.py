"""Errors as HTTP answers: the same fields as on the wire, with the status of the table."""

import msgspec
from starlette.responses import Response

from hawse.wire import HawseError


class Problem(msgspec.Struct, frozen=True):
    """What the body of an HTTP error says (docs/wire.md section 8)."""

    code: str
    message: str
    retryable: bool
    admitted: str


def json_response(value: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store"}
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def error_response(error: HawseError) -> Response:
    return json_response(Problem(error.code, error.message, error.retryable, error.admitted), error.status)
