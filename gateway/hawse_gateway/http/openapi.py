"""Generates the OpenAPI 3.1 document for the HTTP API from the types in `hawse.api`."""

from collections.abc import Container, Iterable
from functools import cache
from typing import Any, Final

import msgspec

from hawse.api import GATEWAY, METHODS, Spec
from hawse.api.documentation import documentation, struct_types
from hawse.api.files import FileDeleteResult, FileTransferResult
from hawse.api.spec import EVERY_CALL
from hawse.wire.errors import ERRORS
from hawse_gateway import VERSION
from hawse_gateway.http.responses import Problem
from hawse_gateway.http.sse import MEDIA_TYPE, marks

REF: Final = "#/components/schemas/{name}"
JSON: Final = "application/json"
BYTES: Final = "application/octet-stream"
# OpenAPI 3.1 does not require a schema for bytes, but some client generators skip operations without a schema.
BINARY: Final = {"type": "string", "format": "binary"}
SANDBOX: Final = {"name": "sandbox", "in": "path", "required": True, "schema": {"type": "string"}, "example": "local"}
TIMEOUT: Final = {
    "name": "timeout",
    "in": "query",
    "description": "Seconds until the call fails with `deadline_exceeded`.",
    "schema": {"type": "number", "exclusiveMinimum": 0},
}
KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A repeated call with the same key joins the running call or gets its result. It runs only once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 128},
}
LAST: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The `id` of the last received event. The response continues after it.",
    "schema": {"type": "string"},
}
# Error codes that any HTTP request can return in addition to EVERY_CALL.
OF_EVERY_REQUEST: Final = ("origin_denied", "not_found", "too_large", "limit_exceeded")
EXTRA_SCHEMAS: Final = {
    "Chunk": {
        "description": "Bytes of a stream, as `text` if they are valid UTF-8 and otherwise as `data` in base64.",
        "type": "object",
        "properties": {
            "offset": {"type": "integer", "minimum": 0},
            "text": {"type": "string"},
            "data": {"type": "string", "contentEncoding": "base64"},
        },
        "required": ["offset"],
    },
    "CollectedEvent": {
        "description": "An event in a response that is not a stream.",
        "type": "object",
        "properties": {"event": {"type": "string"}, "data": {}},
        "required": ["event", "data"],
    },
}


@cache
def document() -> dict[str, Any]:
    """Return the document as JSON-compatible values."""
    # The document is encoded and decoded to turn tuples in default values into lists.
    built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(_built()))
    return built


def _built() -> dict[str, Any]:
    names, schemas = _schemas()
    paths: dict[str, Any] = {
        f"/v1/{name}": {"post": _operation(name, spec, names, schemas)} for name, spec in GATEWAY.items()
    }
    for name, spec in METHODS.items():
        paths[f"/v1/sandboxes/{{sandbox}}/{name}"] = {
            "parameters": [SANDBOX],
            "post": _operation(name, spec, names, schemas),
        }
    paths["/v1/sandboxes/{sandbox}/files/{path}"] = _files(names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hawse",
            "version": VERSION,
            "description": "The methods of the sandboxes and the gateway over HTTP. See docs/wire.md section 11.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas | EXTRA_SCHEMAS,
            "responses": {f"E{status}": _problem(status, names) for status in sorted(_by_status())},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas() -> tuple[dict[Any, Any], dict[str, Any]]:
    """Return a reference for each type in `hawse.api`, along with the referenced schemas."""
    types: dict[Any, None] = {Problem: None}
    for spec in (METHODS | GATEWAY).values():
        types |= dict.fromkeys((spec.params, spec.result, *spec.events.values()))
    references, schemas = msgspec.json.schema_components(types, ref_template=REF)
    for name, struct in struct_types(types).items():
        schema, text = schemas[name], documentation(struct.cls)
        schema["description"] = text.text
        for field in struct.fields:
            if field.name in text.fields:
                schema["properties"][field.encode_name]["description"] = text.fields[field.name]
    return dict(zip(types, references, strict=True)), without_tuples(schemas)


def without_tuples(schema: Any) -> Any:
    """Change the schemas of tuples to fixed-length arrays, because many client generators don't support
    `prefixItems`."""
    if isinstance(schema, list):
        return [without_tuples(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: without_tuples(value) for name, value in schema.items()}
    if (kinds := changed.pop("prefixItems", None)) is not None:
        distinct = [kind for index, kind in enumerate(kinds) if kind not in kinds[:index]]
        changed["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        changed |= {"minItems": len(kinds), "maxItems": len(kinds)}
    return changed


def _operation(name: str, spec: Spec, names: dict[Any, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    keyed = [KEY, *([LAST] if marks(spec) else [])]
    content: dict[str, Any] = {JSON: {"schema": names[spec.params]}}
    if spec.input:
        described = {"description": "The call's input. Its parameters are JSON in `params` in the query."}
        content[BYTES] = {"schema": BINARY | described}
        keyed.append({"name": "params", "in": "query", "content": {JSON: {"schema": names[spec.params]}}})
    required = any(field.required for field in msgspec.structs.fields(spec.params))
    return {
        "operationId": name,
        "summary": spec.summary,
        "description": documentation(spec.params).text,
        "tags": [name.partition(".")[0]],
        "parameters": [TIMEOUT, *keyed] if name in METHODS else [],
        "requestBody": {"required": required, "content": content},
        "responses": {"200": {"description": _text(spec.result), "content": _answers(spec, names, schemas)}}
        | _problems(spec.raises),
    }


def _answers(spec: Spec, names: dict[Any, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    outputs = [name for name in spec.output if name]
    if not spec.stream:
        return {JSON: {"schema": names[spec.result]}}
    collected: dict[str, Any] = {name: {"type": "string"} for name in outputs}
    if outputs:
        collected["encoding"] = {"enum": ["utf-8", "base64"]}
    collected |= {"events": {"type": "array", "items": {"$ref": REF.format(name="CollectedEvent")}}}
    collected |= {"truncated": {"type": "boolean"}}
    kinds = {name: names[event] for name, event in spec.events.items()}
    kinds |= {name: {"$ref": REF.format(name="Chunk")} for name in outputs}
    kinds |= {"result": names[spec.result], "error": names[Problem]}
    kept = names[spec.result] if not outputs else _without(schemas[spec.result.__name__], collected)
    return {
        JSON: {"schema": {"allOf": [kept, {"type": "object", "properties": collected}]}},
        MEDIA_TYPE: {"schema": {"type": "string", "description": f"Events: {', '.join(kinds)}."}, "x-events": kinds},
    }


def _without(schema: dict[str, Any], fields: Container[str]) -> dict[str, Any]:
    """Return a result's schema without `fields`, the final offsets. The response contains the bytes instead."""
    properties = {name: value for name, value in schema["properties"].items() if name not in fields}
    required = [name for name in schema.get("required", ()) if name not in fields]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


# Parameters and responses of the file routes, which are not defined in `hawse.api`.
FILE_PATH: Final[dict[str, Any]] = {
    "name": "path",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "Relative to the workspace, or absolute if it starts with a slash. Do not encode slashes.",
}
RANGE: Final[dict[str, Any]] = {"name": "Range", "in": "header", "schema": {"type": "string"}}
MODE: Final[dict[str, Any]] = {"name": "mode", "in": "query", "schema": {"type": "string", "pattern": "^[0-7]{1,4}$"}}
RECURSIVE: Final[dict[str, Any]] = {"name": "recursive", "in": "query", "schema": {"type": "boolean", "default": False}}
PARENTS: Final[dict[str, Any]] = {"name": "parents", "in": "query", "schema": {"type": "boolean", "default": True}}
IF_MATCH: Final[dict[str, Any]] = {
    "name": "If-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The file's ETag.",
}
IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "*: there must be no file yet.",
}
WHOLE_FILE: Final[dict[str, Any]] = {"200": {"description": "The file.", "content": {BYTES: {"schema": BINARY}}}}
FILE_PART: Final[dict[str, Any]] = {
    "206": {"description": "The requested range of the file.", "content": {BYTES: {"schema": BINARY}}},
    "416": {"description": "The range is outside the file."},
}


def _files(names: dict[Any, Any]) -> dict[str, Any]:
    done = {"200": {"description": _text(FileTransferResult), "content": {JSON: {"schema": names[FileTransferResult]}}}}

    def operation(
        name: str, spec: Spec, summary: str, parameters: list[Any], responses: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "operationId": name,
            "summary": summary,
            "tags": ["files"],
            "parameters": parameters,
            "responses": responses | _problems(spec.raises),
        }

    return {
        "parameters": [SANDBOX, FILE_PATH],
        "get": operation(
            "files.get", METHODS["file.read"], "Download a file or a range of it.", [RANGE], WHOLE_FILE | FILE_PART
        ),
        "head": operation(
            "files.head",
            METHODS["file.stat"],
            "A file's size and version.",
            [RANGE],
            {"200": {"description": "The file exists; the headers describe it."}},
        ),
        "put": operation(
            "files.put",
            METHODS["file.write"],
            "Replace a file with the body, atomically.",
            [MODE, PARENTS, IF_MATCH, IF_NONE_MATCH, KEY],
            done,
        )
        | {"requestBody": {"required": True, "content": {BYTES: {"schema": BINARY}}}},
        "delete": operation(
            "files.delete",
            METHODS["file.delete"],
            "Delete a file or a directory.",
            [RECURSIVE, KEY],
            {"200": {"description": _text(FileDeleteResult), "content": {JSON: {"schema": names[FileDeleteResult]}}}},
        ),
    }


def _by_status() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for code, kind in ERRORS.items():
        found.setdefault(kind.status, []).append(code)
    return found


def _problems(raises: Iterable[str]) -> dict[str, Any]:
    """Return an operation's error responses: the errors common to all requests, and the errors in its method's
    `raises`."""
    codes = {*EVERY_CALL, *OF_EVERY_REQUEST, *raises}
    return {
        str(status): {"$ref": f"#/components/responses/E{status}", "description": _listed(sorted(codes & set(known)))}
        for status, known in sorted(_by_status().items())
        if codes & set(known)
    }


def _problem(status: int, names: dict[Any, Any]) -> dict[str, Any]:
    codes = _by_status()[status]
    schema = {"allOf": [names[Problem], {"properties": {"code": {"enum": codes}}}]}
    return {"description": _listed(codes), "content": {JSON: {"schema": schema}}}


def _listed(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def _text(shape: Any) -> str:
    return documentation(shape).text or "Done."
