"""What happens around sign-up and sign-in that django-allauth leaves to us."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from accounts.access import space_transaction
from accounts.models import Switch, User
from accounts.services import space_create
from accounts.sessions import session_access
from accounts.switches import switched_on
from config.keys import derived_key
from events.services import event_record

PERSONAL = "Personal"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # the library has no types
    """Sign-up and sign-in by e-mail address."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether strangers may sign up; somebody with an invitation always may."""
        open_to_all = settings.SIGN_UP_OPEN and switched_on(Switch.Name.SIGN_UP)
        return open_to_all or "invitation" in request.session

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Store a new person together with their personal space."""
        with transaction.atomic():
            user = super().save_user(request, user, form, commit)
            if commit:
                space_create(owner=user, name=PERSONAL)
        return user

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        """Note the sign-in in the current space and send the person on."""
        access = session_access(request)
        if access is not None:
            with space_transaction(access):
                event_record(access=access, type="session.started", object_kind="user", object_ids=[str(user.pk)])
        response: HttpResponse = super().post_login(request, user, **kwargs)
        return response

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the ways to show once more that it is them, in our own words."""
        words = {
            "reauthenticate": "Use the password", "reauthenticate_by_code": "Have a code sent to my address",
            "mfa_reauthenticate": "Use the authenticator app or a recovery code",
            "mfa_reauthenticate:webauthn": "Use a passkey or security key",
        }  # fmt: skip
        methods = super().get_reauthentication_methods(user)
        return [method | {"description": words[method["id"]]} for method in methods]


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # the library has no types
    """Sign-up by another service."""

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """Store a new person together with their personal space."""
        with transaction.atomic():
            user: User = super().save_user(request, sociallogin, form)
            if not user.memberships.exists():
                space_create(owner=user, name=PERSONAL)
        return user


class SecondStepAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # the library has no types
    """Second steps of sign-in; their secrets are stored encrypted."""

    @cached_property
    def fernet(self) -> Fernet:
        """Return the cipher, whose key comes from SECRET_KEY."""
        return Fernet(derived_key("second step"))

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Return the name on offer for a new passkey."""
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return "Passkey" if count == 0 else f"Passkey {count + 1}"

    def encrypt(self, text: str) -> str:
        """Return the text as it is stored."""
        return self.fernet.encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored text in the clear."""
        return self.fernet.decrypt(encrypted_text.encode()).decode()
