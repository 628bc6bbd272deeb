"""Tool arguments as JSON Schema 2020-12, made from the models that check them."""

from typing import Any

from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def input_schema(model: type[BaseModel], texts: dict[str, str]) -> dict[str, Any]:
    """Return the closed object schema of a model's fields; `texts` describes those that the model leaves bare.

    A field that may be null says only what else it may be: left out means the same, and is shorter. Defaults that
    say no more than "nothing" are left out too. Raises ValueError for a field without a description.
    """
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.get("$defs", {})
    properties = {name: _tidy(value, definitions) for name, value in schema.get("properties", {}).items()}
    for name, value in properties.items():
        value["description"] = texts.get(name) or value.get("description")
        if not value["description"]:
            raise ValueError(f"{model.__name__}.{name} has no description.")
    required = schema.get("required", [])
    ordered = {name: properties[name] for name in sorted(properties, key=lambda name: name not in required)}
    made = {"$schema": DIALECT, "type": "object", "properties": ordered, "additionalProperties": False}
    return made | ({"required": required} if required else {})


def _tidy(value: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema without references, titles, null alternatives, empty defaults and other dialects' words."""
    if isinstance(value, list):
        return [_tidy(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        rest = {name: item for name, item in value.items() if name != "$ref"}
        return _tidy(definitions[value["$ref"].rpartition("/")[2]] | rest, definitions)
    if "anyOf" in value:
        options = [option for option in value["anyOf"] if option != {"type": "null"}]
        if len(options) == 1:
            rest = {name: item for name, item in value.items() if name != "anyOf"}
            return _tidy(options[0] | rest, definitions)
    tidy = {}
    for name, item in value.items():
        if (name == "title" and isinstance(item, str)) or name == "discriminator":
            continue
        if name == "default":
            if item in (None, "", [], {}, False):
                continue
            # A list that is written with commas has its default written so, too.
            tidy[name] = ",".join(item) if isinstance(item, list) and value.get("type") == "string" else item
        elif name == "properties":
            tidy[name] = {key: _tidy(schema, definitions) for key, schema in item.items()}
        else:
            tidy[name] = _tidy(item, definitions)
    return tidy
