"""/oauth/*: the consent page, tokens and their revocation."""

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.text import slugify
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider import views as toolkit
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.models import Application
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.views.mixins import OAuthLibMixin

from accounts.models import Space, User
from api.errors import RateLimited, error_response
from grants.addresses import public_url, same_resource
from grants.forms import ConsentForm
from grants.limits import address_take, too_large
from grants.scopes import GRANT_SCOPES

PER_MINUTE = 120
GRANT_TYPES = frozenset({"authorization_code", "refresh_token"})


@dataclass(frozen=True)
class Consent:
    """What a person has agreed to, on its way to the validator."""

    space: Space
    tool: str


@dataclass(frozen=True)
class Asked:
    """A valid authorization request: who asks for what, and where the answer goes."""

    application: Application
    scopes: list[str]
    credentials: dict[str, Any]

    @property
    def redirect_uri(self) -> str:
        """Return where the answer goes."""
        return str(self.credentials["redirect_uri"])


class Refused(Exception):
    """The request ends here, with this answer."""

    def __init__(self, response: HttpResponseBase) -> None:
        self.response = response


@method_decorator(never_cache, name="dispatch")
class AuthorizeView(OAuthLibMixin, View):  # type: ignore[misc]
    """The consent page. The request itself stays in the address, and is checked again when the form comes back."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Check the request before anybody signs in for it."""
        try:
            address_take(request, "authorizations", PER_MINUTE)
            self.asked = self.read(request)
        except RateLimited as error:
            return error_page(request, error.message, error.status)
        except Refused as refused:
            return refused.response
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        """Show who asks for what."""
        name = self.asked.application.name or client_host(self.asked)
        initial = {"scopes": self.asked.scopes, "tool": slugify(name)[:100] or "assistant"}
        return self.page(ConsentForm(user=cast(User, request.user), scopes=self.asked.scopes, initial=initial))

    def post(self, request: HttpRequest) -> HttpResponse:
        """Send the person back with a code, or with their refusal."""
        if request.POST.get("decision") != "allow":
            return self.answer_error("access_denied", "The person refused.")
        form = ConsentForm(request.POST, user=cast(User, request.user), scopes=self.asked.scopes)
        if not form.is_valid():
            return self.page(form, 400)
        chosen = [scope for scope in self.asked.scopes if scope in form.cleaned_data["scopes"]]
        consent = Consent(form.cleaned_data["space"], form.cleaned_data["tool"])
        credentials = self.asked.credentials | {"resource": request.GET.getlist("resource"), "consent": consent}
        try:
            url, *_ = self.create_authorization_response(request, " ".join(chosen), credentials, allow=True)
        except OAuthToolkitError as error:
            return self.answer_error(error.oauthlib_error.error, error.oauthlib_error.description)
        return redirect_out(url)

    def read(self, request: HttpRequest) -> Asked:
        """Return what is asked. Raises Refused: with a page when the client is unknown, else by a redirect."""
        if any("\x00" in text for pair in request.GET.lists() for text in [pair[0], *pair[1]]):
            raise Refused(error_page(request, "The address holds a character that no client sends."))
        try:
            scopes, credentials = self.validate_authorization_request(request)
            application = Application.objects.get(client_id=credentials["client_id"])
        except (FatalClientError, Application.DoesNotExist):
            raise Refused(
                error_page(
                    request,
                    "The application that sent you here is unknown, or wants the answer sent to an address that "
                    "it has not registered. Start the connection in the application again.",
                )
            ) from None
        except OAuthToolkitError as error:
            problem = error.oauthlib_error
            redirect = problem.redirect_uri or request.GET.get("redirect_uri", "")
            raise Refused(self.redirect_error(redirect, problem.error, problem.description or "")) from None
        except ValueError:
            raise Refused(error_page(request, "The address of this page is damaged.")) from None
        self.asked = Asked(application, [scope for scope in GRANT_SCOPES if scope in scopes], credentials)
        if request.GET.get("code_challenge_method") != "S256":
            raise Refused(self.answer_error("invalid_request", "Use PKCE with code_challenge_method S256."))
        resources = request.GET.getlist("resource")
        if len(resources) != 1 or not same_resource(resources[0], request):
            sentence = "Name this server's MCP endpoint, and nothing else, as the resource."
            raise Refused(self.answer_error("invalid_target", sentence))
        return self.asked

    def page(self, form: ConsentForm, status: int = 200) -> HttpResponse:
        """Return the consent page."""
        context = {
            "form": form,
            "asked": self.asked,
            "host": client_host(self.asked),
            "scopes": GRANT_SCOPES,
        }
        response = render(self.request, "oauth/consent.html", context, status=status)
        # The answer to the form is a redirect to the client, which browsers hold to this directive as well.
        response._csp_update = {"form-action": [source_of(self.asked.redirect_uri)]}  # type: ignore[attr-defined]
        return response

    def answer_error(self, code: str, description: str) -> HttpResponse:
        """Return the client's redirect with an error."""
        return self.redirect_error(self.asked.redirect_uri, code, description)

    def redirect_error(self, redirect_uri: str, code: str, description: str) -> HttpResponse:
        """Return a redirect with an error, the client's state and the issuer (RFC 9207)."""
        values = {"error": code, "error_description": description, "iss": public_url(self.request)}
        state = self.request.GET.get("state")
        if state is not None:
            values["state"] = state
        mark = "&" if "?" in redirect_uri else "?"
        return redirect_out(f"{redirect_uri}{mark}{urlencode(values)}")


def redirect_out(url: str) -> HttpResponse:
    """Return a redirect to a client, whose address may have an application's own scheme."""
    response: HttpResponse = OAuth2ResponseRedirect(url, oauth2_settings.ALLOWED_REDIRECT_URI_SCHEMES)
    return response


def client_host(asked: Asked) -> str:
    """Return where the answer goes, in a word that a person knows."""
    parts = urlsplit(asked.redirect_uri)
    return (parts.hostname or parts.scheme) if parts.scheme.startswith("http") else parts.scheme


def source_of(uri: str) -> str:
    """Return the source expression of an address for Content-Security-Policy."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def error_page(request: HttpRequest, sentence: str, status: int = 400) -> HttpResponse:
    """Return the page for a request that cannot be sent back to anybody."""
    return render(request, "oauth/error.html", {"sentence": sentence}, status=status)


def refusal(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a form that is not even looked at, None for one that is."""
    try:
        address_take(request, "tokens", PER_MINUTE)
    except RateLimited as error:
        return error_response(error)
    if too_large(request):
        return oauth_error("invalid_request", "The form is too large.", 413)
    if any("\x00" in text for pair in request.POST.lists() for text in [pair[0], *pair[1]]):
        return oauth_error("invalid_request", "The form holds a character that no client sends.")
    return None


def oauth_error(code: str, description: str, status: int = 400) -> JsonResponse:
    """Return an error as RFC 6749, section 5.2, has it."""
    return JsonResponse(
        {"error": code, "error_description": description}, status=status, headers={"Cache-Control": "no-store"}
    )


@method_decorator(csrf_exempt, name="dispatch")
class TokenView(toolkit.TokenView):  # type: ignore[misc]
    """Codes and refresh tokens in, tokens out."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer new tokens."""
        refused = refusal(request)
        if refused is not None:
            return refused
        if request.POST.get("grant_type") not in GRANT_TYPES:
            return oauth_error("unsupported_grant_type", "Use authorization_code or refresh_token.")
        try:
            response: HttpResponse = self.authorization_flow_token_response(request)
        except ValueError:
            return oauth_error("invalid_request", "The form is damaged.")
        response.headers["Content-Type"] = "application/json"
        response.headers["Cache-Control"] = "no-store"
        return response


@method_decorator(csrf_exempt, name="dispatch")
class RevokeView(toolkit.RevokeTokenView):  # type: ignore[misc]
    """A token in, and its grant is at an end."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer 200, whether there was such a token or not (RFC 7009)."""
        refused = refusal(request)
        if refused is not None:
            return refused
        try:
            response: HttpResponse = super().post(request, *args, **kwargs)
        except ValueError:
            return oauth_error("invalid_request", "The form is damaged.")
        return response
