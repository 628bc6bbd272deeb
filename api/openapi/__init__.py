"""What every address takes and answers, as data; api.schema makes the OpenAPI document of it."""
