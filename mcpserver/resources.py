"""Resources: the owner's context, for clients that attach it without a tool call."""

from typing import Any

from accounts.access import Access
from mcpserver.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Era, ProtocolError


def resources_for(access: Access) -> list[dict[str, Any]]:
    """Return the resources that an access may read."""
    return []


def resource_read(access: Access, uri: str, era: Era) -> list[dict[str, Any]]:
    """Return the contents of a resource. Raises ProtocolError for one that the access cannot read."""
    code = INVALID_PARAMS if era == "modern" else RESOURCE_NOT_FOUND
    sentence = "There is no such resource. resources/list names those that there are."
    raise ProtocolError(code, sentence, data={"uri": uri})
