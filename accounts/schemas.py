"""What a client may change about a space."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from accounts.models import LANGUAGES, validate_timezone
from aiworker.embedding.registry import models_offered
from api.schemas import ClosedBody, Text


def _timezone(value: str) -> str:
    try:
        validate_timezone(value)
    except Exception as error:
        raise ValueError("Use an IANA time zone name such as Europe/Berlin.") from error
    return value


def _language(value: str) -> str:
    codes = [code for code, _ in LANGUAGES]
    if value not in codes:
        raise ValueError(f"Use one of: {', '.join(codes)}.")
    return value


def _embedding_model(value: str) -> str:
    if value not in models_offered():
        raise ValueError(f"Use one of: {', '.join(models_offered())}.")
    return value


class SpaceSettings(ClosedBody):
    """The settings that a space takes along into an archive, each by its column."""

    name: Annotated[str, Text(100)] = ""
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    language: Annotated[str, AfterValidator(_language)] = "en"
    agent_core_writes: Literal["allow", "deny"] = "allow"
    context_namespaces: Annotated[list[Annotated[str, Text(100)]], Field(max_length=50)] = []
    dreams_enabled: bool = True
    events_kept_days: Annotated[int, Field(ge=1, le=3650)] = 365


class SpaceUpdate(SpaceSettings):
    """The body of PATCH /v1/space: only what is given changes."""

    embedding_model: Annotated[str, AfterValidator(_embedding_model)] = ""


class SpaceDeleteParams(ClosedBody):
    """Query parameters of DELETE /v1/space: the space's name confirms it."""

    confirm: Annotated[str, Text(100)]
