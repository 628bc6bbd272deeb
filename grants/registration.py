"""Dynamic client registration (RFC 7591): open to every client, counted by address."""

from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from oauth2_provider.generators import generate_client_id, generate_client_secret
from oauth2_provider.models import Application
from pydantic import Field

from api.body import json_body
from api.errors import ApiError, Invalid, RateLimited
from api.schemas import Body, Text, parse
from grants.limits import MAX_BODY_BYTES, address_take
from grants.validator import redirect_allowed

AuthMethod = Literal["none", "client_secret_post", "client_secret_basic"]


class ClientMetadata(Body):
    """What a client says about itself; what this server has no use for is ignored."""

    redirect_uris: Annotated[list[Annotated[str, Text(2_000)]], Field(min_length=1, max_length=20)]
    client_name: Annotated[str, Text(255, minimum=0)] | None = None
    grant_types: Annotated[list[str], Field(max_length=10)] = ["authorization_code"]
    response_types: Annotated[list[str], Field(max_length=10)] = ["code"]
    token_endpoint_auth_method: AuthMethod = "client_secret_basic"  # noqa: S105


@csrf_exempt
@require_POST
def register(request: HttpRequest) -> JsonResponse:
    """Register a client and answer its id, with a secret unless it says that it can keep none."""
    try:
        address_take(request, "registrations", settings.OAUTH_REGISTRATIONS_PER_MINUTE)
        metadata = parse(ClientMetadata, json_body(request, MAX_BODY_BYTES)[1])
    except RateLimited as error:
        return JsonResponse(error.envelope(), status=error.status, headers=error.headers)
    except Invalid as error:
        fields = error.details.get("fields", {})
        code = "invalid_redirect_uri" if any("redirect_uris" in name for name in fields) else "invalid_client_metadata"
        return _refused(code, " ".join(f"{name}: {' '.join(texts)}" for name, texts in fields.items()))
    except ApiError as error:
        return _refused("invalid_client_metadata", error.message, error.status)
    if "authorization_code" not in metadata.grant_types or "code" not in metadata.response_types:
        return _refused("invalid_client_metadata", "This server has the grant type authorization_code only.")
    for uri in metadata.redirect_uris:
        if not redirect_usable(uri):
            return _refused(
                "invalid_redirect_uri",
                "A redirect goes to https, to http on this machine, or to a scheme of a known application, "
                "without user name, fragment or white space.",
            )
    application, secret = client_create(metadata)
    return JsonResponse(
        client_present(application, metadata, secret), status=201, headers={"Cache-Control": "no-store"}
    )


def redirect_usable(uri: str) -> bool:
    """Return whether a redirect can be registered."""
    return redirect_allowed(uri) and not any(character.isspace() or character in "#@\\" for character in uri)


def client_create(metadata: ClientMetadata) -> tuple[Application, str | None]:
    """Return a registered client and its secret, None for a public client."""
    public = metadata.token_endpoint_auth_method == "none"  # noqa: S105
    secret = None if public else generate_client_secret()
    application = Application.objects.create(
        client_id=generate_client_id(),
        client_secret=secret or "",
        client_type=Application.CLIENT_PUBLIC if public else Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=" ".join(metadata.redirect_uris),
        name=metadata.client_name or "",
        registration_source=Application.RegistrationSource.DCR,
    )
    return application, secret


def client_present(application: Application, metadata: ClientMetadata, secret: str | None) -> dict[str, Any]:
    """Return the answer to a registration (RFC 7591, section 3.2.1)."""
    body: dict[str, Any] = {
        "client_id": application.client_id,
        "client_id_issued_at": int(application.created.timestamp()),
        "redirect_uris": metadata.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": metadata.token_endpoint_auth_method,
    }
    if metadata.client_name:
        body["client_name"] = application.name
    if secret is not None:
        body |= {"client_secret": secret, "client_secret_expires_at": 0}
    return body


def _refused(code: str, description: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": code, "error_description": description}, status=status)
