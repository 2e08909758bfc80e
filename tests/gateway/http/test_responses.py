import json

from hawse.wire import HawseError
from hawse.wire.errors import MESSAGE_MAX
from hawse_gateway.http.responses import error_response, json_response


def test_an_error_has_the_status_of_the_table_and_the_fields_of_the_wire() -> None:
    response = error_response(HawseError("limit_exceeded", "too many", details={"limit": 1}))
    assert response.status_code == 429
    assert json.loads(bytes(response.body)) == {
        "code": "limit_exceeded",
        "message": "too many",
        "retryable": True,
        "admitted": "no",
        "details": {"limit": 1},
    }


def test_a_message_that_quotes_received_text_is_truncated() -> None:
    response = error_response(HawseError("invalid_params", "é" * 500_000))
    assert json.loads(bytes(response.body))["message"] == "é" * (MESSAGE_MAX - 1) + "…"


def test_an_internal_error_has_no_details() -> None:
    response = error_response(HawseError("internal", "a bug", details={"traceback": "line 1"}))
    assert "details" not in json.loads(bytes(response.body))


def test_a_response_is_json_that_must_not_be_cached() -> None:
    response = json_response({"a": 1}, 201)
    assert (response.status_code, response.body) == (201, b'{"a":1}')
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
