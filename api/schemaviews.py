"""/v1/openapi.json and /v1/docs: the API described for programs and for people, from this machine alone."""

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from api.openviews import safe_only
from api.renderers import json_text
from api.schema import document


@cache
def document_bytes() -> bytes:
    """Return the OpenAPI document as JSON."""
    return json_text(document()).encode()


@safe_only
def openapi(request: HttpRequest) -> HttpResponse:
    """Answer the OpenAPI document; needs no credential."""
    return HttpResponse(document_bytes(), content_type="application/json")


@safe_only
def docs(request: HttpRequest) -> HttpResponse:
    """Show the OpenAPI document as a page on which requests can be tried."""
    return render(request, "api/docs.html")
