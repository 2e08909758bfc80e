"""The OpenAPI document: valid, complete, and derived from the declarations of the methods."""

import json
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from hawse.api import GATEWAY, METHODS
from hawse.wire.errors import ERRORS
from hawse_gateway.http.openapi import document, without_tuples

DOCUMENT = document()
CALL = "/v1/sandboxes/{sandbox}/"


def test_the_document_is_valid() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_method_is_an_operation() -> None:
    operations = {
        op["operationId"] for path in DOCUMENT["paths"].values() for op in path.values() if "operationId" in op
    }
    assert operations - {"files.delete", "files.get", "files.head", "files.put"} == METHODS.keys() | GATEWAY.keys()


@pytest.mark.parametrize("method", METHODS)
def test_an_operation_has_the_parameters_results_and_rights_of_its_method(method: str) -> None:
    spec, operation = METHODS[method], DOCUMENT["paths"][CALL + method]["post"]
    assert operation["summary"] == spec.summary
    content = operation["responses"]["200"]["content"]
    assert ("text/event-stream" in content) is spec.stream
    if spec.stream:
        events = content["text/event-stream"]["x-events"]
        assert events.keys() == spec.events.keys() | {name for name in spec.output if name} | {"result", "error"}
    assert ("application/octet-stream" in operation["requestBody"]["content"]) is spec.input


def test_every_body_has_a_schema_that_generators_of_clients_read() -> None:
    contents = [
        content
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
        if "operationId" in operation
        for described in (operation.get("requestBody", {}), *operation["responses"].values())
        for content in described.get("content", {}).items()
    ]
    assert [kind for kind, content in contents if not content.get("schema")] == []
    binary = [content["schema"] for kind, content in contents if kind == "application/octet-stream"]
    assert {(schema["type"], schema["format"]) for schema in binary} == {("string", "binary")}


def test_a_collected_result_has_the_fields_of_the_method_and_its_output_as_text() -> None:
    content = DOCUMENT["paths"][CALL + "exec"]["post"]["responses"]["200"]["content"]["application/json"]
    result, collected = (part["properties"] for part in content["schema"]["allOf"])
    assert {"code", "signal", "timed_out"} <= result.keys()
    assert collected["stdout"] == {"type": "string"}
    assert not result.keys() & collected.keys(), "the fields have two types"


def test_every_error_is_listed_under_its_status() -> None:
    codes = {
        code: int(name.removeprefix("E"))
        for name, response in DOCUMENT["components"]["responses"].items()
        for code in response["content"]["application/json"]["schema"]["allOf"][1]["properties"]["code"]["enum"]
    }
    assert codes == {code: kind.status for code, kind in ERRORS.items()}


def test_an_operation_lists_common_errors_and_the_errors_of_its_method() -> None:
    responses = DOCUMENT["paths"][CALL + "terminal.lease"]["post"]["responses"]
    assert responses["409"]["description"] == "`conflict`, `key_conflict`, `outcome_unknown`, `stopped`"
    assert responses["409"]["$ref"] == "#/components/responses/E409"
    assert "507" not in responses


def test_bounds_come_from_the_types() -> None:
    properties: dict[str, Any] = DOCUMENT["components"]["schemas"]["TerminalResize"]["properties"]
    assert (properties["cols"]["minimum"], properties["cols"]["maximum"]) == (1, 1000)


def test_tuples_become_arrays_of_fixed_length_for_all_generators() -> None:
    text = json.dumps(DOCUMENT)
    assert "prefixItems" not in text
    assert '"items": false' not in text


def test_a_tuple_of_one_type_names_it_once() -> None:
    pair = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": False}
    mixed = {"a": [{"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}]}
    assert without_tuples(pair) == {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    kinds = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert without_tuples(mixed) == {"a": [{"items": kinds, "minItems": 2, "maxItems": 2}]}
