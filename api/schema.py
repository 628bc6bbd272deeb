"""The OpenAPI 3.1 document: drf-spectacular walks the addresses, api.openapi says what each takes and answers."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, cast

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from api import errors
from api.openapi import agentstate, ai, core, dreams
from api.openapi.links import LINKS
from api.openapi.narrowing import HEADER, ITEM, LIST, PARTS, narrowed
from api.openapi.operations import Operation, ref
from api.views import ApiView
from memories.transfer.schemas import IMPORT_TYPES

OPERATIONS = core.OPERATIONS | agentstate.OPERATIONS | dreams.OPERATIONS | ai.OPERATIONS
SHAPES = core.SHAPES | agentstate.SHAPES | dreams.SHAPES | ai.SHAPES
JSON, ZIP, BYTES = "application/json", "application/zip", "application/octet-stream"
REFERENCE = "#/components/schemas/{model}"
UNKNOWN = Operation({200: None})
ERRORS: dict[int, tuple[type[errors.ApiError], ...]] = {
    401: (errors.Unauthorized,),
    403: (errors.Forbidden,),
    404: (errors.NotFound, errors.MemoryNotFound),
    405: (errors.MethodNotAllowed,),
    409: (errors.Conflict, errors.VersionConflict, errors.IdempotencyInProgress),
    412: (errors.PreconditionFailed,),
    413: (errors.PayloadTooLarge,),
    415: (errors.UnsupportedMediaType,),
    422: (errors.Invalid, errors.IdempotencyConflict),
    429: (errors.RateLimited,),
    500: (errors.ApiError,),
    502: (errors.AiError,),
    503: (errors.Unavailable,),
}
HEADERS = {
    "X-Request-Id": {"description": "Names the request in the log.", "schema": {"type": "string"}},
    "ETag": {"description": "The version of the object, for If-Match.", "schema": {"type": "string"}},
    "Link": {"description": 'The next page: <…>; rel="next".', "schema": {"type": "string"}},
    "Location": {"description": "The job's address.", "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string"}},
    "RateLimit": {
        "description": "What is left: requests (r), and seconds until there are more (t). Absent without limits.",
        "schema": {"type": "string"}, "example": '"key";r=299;t=0',
    },
    "RateLimit-Policy": {
        "description": "The limit that RateLimit speaks of: requests at once (q), and seconds until all are back (w).",
        "schema": {"type": "string"}, "example": '"key";q=300;w=15',
    },
    "Idempotency-Replayed": {
        "description": "Present when this is the answer to an earlier request with the same Idempotency-Key.",
        "schema": {"const": "true"},
    },
    "X-Search-Pending": {
        "description": "How many memories search by meaning does not know yet; absent when it knows all.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"}, "example": "4",
    },
    "WWW-Authenticate": {
        "description": "How to authenticate.", "schema": {"type": "string"}, "example": 'Bearer realm="commonplace"',
    },
}  # fmt: skip
LIMITS = ("RateLimit", "RateLimit-Policy")
TAGS = {"memories": "Memories", "export": "Transfer", "import": "Transfer", "health": "Service"}


def body_models() -> list[type[BaseModel]]:
    """Return every model of a request body."""
    return list(dict.fromkeys(operation.body for operation in OPERATIONS.values() if operation.body))


def without_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an update: what is absent stays as it is, whatever the model holds in its place."""
    properties = {
        name: {key: value for key, value in inner.items() if key != "default"}
        for name, inner in schema["properties"].items()
    }
    return schema | {"properties": properties}


@cache
def components() -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of bodies and answers by name."""
    _, found = models_json_schema([(model, "validation") for model in body_models()], ref_template=REFERENCE)
    bodies = dict(found["$defs"])
    for name in ("MemoryUpdate", "SpaceUpdate"):
        bodies[name] = without_defaults(bodies[name])
    return {name: narrowed(name, schema) for name, schema in bodies.items()} | SHAPES


def parameters_of(model: type[BaseModel]) -> list[dict[str, Any]]:
    """Return a query model as OpenAPI parameters; lists are separated by commas."""
    schema = narrowed(model.__name__, model.model_json_schema(ref_template=REFERENCE))
    parameters = []
    for name, inner in schema["properties"].items():
        choices = [choice for choice in inner.get("anyOf", []) if choice != {"type": "null"}]
        shape = choices[0] if choices else {key: value for key, value in inner.items() if key != "title"}
        parameter = {
            "name": name, "in": "query", "required": name in schema.get("required", []),
            "schema": shape, "description": inner.get("description", ""),
        }  # fmt: skip
        if shape.get("type") == "array":
            items = {"pattern": ITEM} | shape["items"]
            parameter |= {"style": "form", "explode": False, "schema": shape | LIST | {"items": items}}
        parameters.append(parameter)
    return parameters


def header(name: str, description: str, example: str, pattern: str) -> dict[str, Any]:
    """Return an optional header parameter."""
    return {
        "name": name, "in": "header", "required": False, "description": description, "example": example,
        "schema": {"type": "string", "pattern": pattern},
    }  # fmt: skip


class ApiSchema(AutoSchema):
    """Describes one method of one ApiView."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any
    ) -> dict[str, Any] | None:
        """Return the operation object, None for a view that is no part of the API."""
        if not isinstance(self.view, ApiView):
            return None
        return operation_object(self.view, path, method)


def operation_object(view: ApiView, path: str, method: str) -> dict[str, Any]:
    """Return the OpenAPI operation of a view's method."""
    operation = OPERATIONS.get(f"{method} {path}", UNKNOWN)
    docstring = (getattr(view, method.lower()).__doc__ or "").strip()
    headers = [*LIMITS, *(["Idempotency-Replayed"] if method == "POST" else [])]
    headers += ["X-Search-Pending"] if path == "/v1/memories/search" else []
    scope = view.scopes.get(method)
    found: dict[str, Any] = {
        "operationId": operation_id(method, path),
        "tags": [TAGS.get(path.split("/")[2], path.split("/")[2].title())],
        "summary": docstring.splitlines()[0].partition(". ")[0].rstrip(".") if docstring else path,
        "description": " ".join(docstring.split()) + (f" Needs the scope `{scope}`." if scope else ""),
        "security": [{"bearer": []}, {"apiKey": []}],
        "parameters": parameters(operation, path, method),
        "responses": {
            str(status): answer_object(operation, status, shape, headers)
            for status, shape in sorted(operation.answers.items())
        }
        | {str(status): error_object(status) for status in statuses(operation, path, method)},
    }
    if body := request_body(operation, path):
        found["requestBody"] = body
    return found


def operation_id(method: str, path: str) -> str:
    """Return an id such as get_memories_memory_id."""
    return f"{method.lower()}_{re.sub('[^a-z_]+', '_', path.removeprefix('/v1/')).strip('_')}"


def parameters(operation: Operation, path: str, method: str) -> list[dict[str, Any]]:
    """Return path, query and header parameters."""
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": PARTS[name]} for name in re.findall(r"{(\w+)}", path)
    ]
    for model in operation.query:
        found += parameters_of(model)
    if method == "POST":
        found.append(
            header("Idempotency-Key", "Makes a repetition answer the same and do nothing.", "7d8f4c1e", HEADER)
        )
    if 202 in operation.answers:
        found.append(header("Prefer", "`respond-async`: do not wait, answer 202 with a job.", "respond-async", HEADER))
    if method in {"PUT", "PATCH", "DELETE"}:
        found.append(header("If-Match", "Only when the object still has this version.", '"3"', '^("[0-9]+"|[*])$'))
    return found


def request_body(operation: Operation, path: str) -> dict[str, Any] | None:
    """Return the request body, None for an operation without one."""
    if path == "/v1/import":
        content = {JSON: shape_media("ImportFile"), "application/x-ndjson": {"schema": {"type": "string"}}}
        # Files of other products: text and zips, found out by their content or named by `format`.
        content |= {media_type: {"schema": {"type": "string"}} for media_type in sorted(IMPORT_TYPES - set(content))}
        return {"required": True, "content": content}
    if path == "/v1/space/import":
        return {"required": True, "content": {kind: {"schema": ref("Archive")} for kind in (ZIP, BYTES)}}
    if operation.body is None:
        return None
    media = {"schema": ref(operation.body.__name__), "examples": {"example": {"value": operation.example}}}
    return {"required": True, "content": {JSON: media}}


def shape_media(shape: str) -> dict[str, Any]:
    """Return the media type object of a shape, with its example."""
    return {"schema": ref(shape), "examples": {"example": {"value": SHAPES[shape]["examples"][0]}}}


def headers_named(names: Iterable[str]) -> dict[str, Any]:
    """Return the header objects of an answer."""
    return {name: HEADERS[name] for name in names}


def answer_object(operation: Operation, status: int, shape: str | None, headers: Iterable[str] = ()) -> dict[str, Any]:
    """Return the response object of a success; `headers` come with every answer of the operation."""
    names = ["X-Request-Id", *headers]
    if status == 202:
        names.append("Location")
    if status == 304 or shape in {"Memory", "Fact", "Record", "KeyValue", "JournalEntry"}:
        names.append("ETag")
    if shape is not None and ("next_cursor" in SHAPES[shape].get("properties", {}) or shape == "MemoryList"):
        names.append("Link")
    found: dict[str, Any] = {"description": shape or "No content", "headers": headers_named(names)}
    if shape == "Archive":
        found["content"] = {ZIP: {"schema": ref(shape)}}
    elif shape is not None:
        found["content"] = {JSON: shape_media(shape)}
        if shape == "Export":
            found["content"]["application/x-ndjson"] = {"schema": {"type": "string"}}
    if shape in LINKS:
        found["links"] = {name: link_object(target, pointers) for name, (target, pointers) in LINKS[shape].items()}
    return found


def link_object(target: str, pointers: Mapping[str, str]) -> dict[str, Any]:
    """Return a link by which what the pointers find in an answer leads to another operation."""
    parameters = {name: f"$response.body#{pointer}" for name, pointer in pointers.items()}
    return {"operationId": operation_id(*target.split()), "parameters": parameters}


def statuses(operation: Operation, path: str, method: str) -> list[int]:
    """Return the statuses of the errors that an operation may answer."""
    found = {401, 403, 422, 429, 500, 503}
    if "{" in path or path in {"/v1/handoff", "/v1/conversations/extract"}:
        found.add(404)
    if method != "GET":
        found |= {409, 413, 415}
    if method in {"PUT", "PATCH", "DELETE", "POST"}:
        found.add(412)
    if path in {"/v1/extract", "/v1/compress", "/v1/handoff"}:
        found.add(502)
    return sorted(found)


def error_object(status: int) -> dict[str, Any]:
    """Return the response object of an error, with an example of each code."""
    kinds: tuple[type[errors.ApiError], ...] = ERRORS[status]
    if status == 422:
        kinds += (errors.NoApiKey,)
    found: dict[str, Any] = {
        "description": "; ".join(f"`{kind.code}`" for kind in kinds),
        "headers": headers_named(["X-Request-Id", *(["WWW-Authenticate"] if status == 401 else LIMITS)]),
        "content": {
            JSON: {
                "schema": ref("Error"),
                "examples": {
                    kind.code: {"value": {"error": kind.code, "message": kind.default, "details": {}}} for kind in kinds
                },
            }
        },
    }
    if status in {429, 503}:
        found["headers"] |= headers_named(["Retry-After"])
    return found


def complete(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Return the document with what no ApiView describes: health, the schemas, how to authenticate."""
    result["paths"]["/v1/health"] = {
        "get": {
            "operationId": "get_health",
            "tags": ["Service"],
            "summary": "Tell the state of the service",
            "description": "Needs no credential; with one, memories_count is that of its space.",
            "security": [{}, {"bearer": []}],
            "responses": {
                "200": answer_object(Operation({200: "Health"}), 200, "Health"),
                "401": error_object(401),
                "503": error_object(503),
            },
        }
    }
    result["paths"]["/v1/openapi.json"] = {
        "get": {
            "operationId": "get_openapi",
            "tags": ["Service"],
            "summary": "Return this document",
            "security": [{}],
            "responses": {"200": answer_object(Operation({200: "OpenApi"}), 200, "OpenApi")},
        }
    }
    result["paths"] = dict(sorted(result["paths"].items()))
    result["components"] = {
        "schemas": components(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: `om_…`."},
            "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        },
    }
    result["servers"] = [{"url": "/"}]
    return result


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document, made once in a process."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return cast(dict[str, Any], generator.get_schema(request=None, public=True))  # type: ignore[no-untyped-call]
