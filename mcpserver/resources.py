"""Resources: the owner's context, for clients that attach it without a tool call."""

from typing import Any

from accounts.access import Access
from api.renderers import json_text
from context.services import context_get
from mcpserver.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Era, ProtocolError
from mcpserver.rows import CONTEXT_SCOPES

CONTEXT_URI = "commonplace://context"
CONTEXT = {
    "uri": CONTEXT_URI,
    "name": "context",
    "title": "Context",
    "description": "Who the person is, what is due and what was going on: the same as the tool get_context.",
    "mimeType": "application/json",
}


def resources_for(access: Access) -> list[dict[str, Any]]:
    """Return the resources that an access may read."""
    return [CONTEXT] if not access.scopes.isdisjoint(CONTEXT_SCOPES) else []


def resource_read(access: Access, uri: str, era: Era) -> list[dict[str, Any]]:
    """Return the contents of a resource. Raises ProtocolError for one that the access cannot read."""
    if uri != CONTEXT_URI or access.scopes.isdisjoint(CONTEXT_SCOPES):
        code = INVALID_PARAMS if era == "modern" else RESOURCE_NOT_FOUND
        sentence = "There is no such resource. resources/list names those that there are."
        raise ProtocolError(code, sentence, data={"uri": uri})
    text = json_text(context_get(access=access))
    return [{"uri": CONTEXT_URI, "mimeType": "application/json", "text": text}]
