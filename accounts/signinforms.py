"""The forms of django-allauth with labels and hints in our own words."""

from typing import Any

from allauth.account import forms as account
from allauth.mfa.base import forms as second_step
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as webauthn
from allauth.socialaccount import forms as social

PASSWORD_HINT = "At least 10 characters. A few unrelated words do well."  # noqa: S105  # a sentence
CODE = ("Code", "")


class Reworded:
    """Gives fields the label and hint of WORDS, by name; no placeholders, which vanish when they are needed."""

    WORDS: dict[str, tuple[str, str]] = {}  # subclasses replace it

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields  # type: ignore[attr-defined]
        for name, field in fields.items():
            field.widget.attrs.pop("placeholder", None)
            if name in self.WORDS:
                field.label, field.help_text = self.WORDS[name]


class SignupForm(Reworded, account.SignupForm):  # type: ignore[misc]
    """E-mail address and password."""

    WORDS = {"email": ("E-mail address", ""), "password1": ("Password", PASSWORD_HINT)}


class LoginForm(Reworded, account.LoginForm):  # type: ignore[misc]
    """E-mail address and password."""

    WORDS = {"login": ("E-mail address", ""), "password": ("Password", ""), "remember": ("Stay signed in", "")}


class ResetPasswordForm(Reworded, account.ResetPasswordForm):  # type: ignore[misc]
    """Where to send the link."""

    WORDS = {"email": ("E-mail address", "")}


class NewPassword(Reworded):
    """A password that is typed twice."""

    WORDS = {
        "oldpassword": ("Password now", ""), "password1": ("New password", PASSWORD_HINT),
        "password2": ("New password once more", ""),
    }  # fmt: skip


class ResetPasswordKeyForm(NewPassword, account.ResetPasswordKeyForm):  # type: ignore[misc]
    """The new password after a link."""


class ChangePasswordForm(NewPassword, account.ChangePasswordForm):  # type: ignore[misc]
    """The password now and the new one."""


class SetPasswordForm(NewPassword, account.SetPasswordForm):  # type: ignore[misc]
    """The first password of an account that had none."""


class ReauthenticateForm(Reworded, account.ReauthenticateForm):  # type: ignore[misc]
    """The password once more."""

    WORDS = {"password": ("Password", "")}


class ConfirmCodeForm(Reworded, account.ConfirmReauthenticationCodeForm):  # type: ignore[misc]
    """The code that was sent."""

    WORDS = {"code": CODE}


class AuthenticateForm(Reworded, second_step.AuthenticateForm):  # type: ignore[misc]
    """A code of the app, or one for recovery, at sign-in."""

    WORDS = {"code": CODE}


class SecondStepForm(Reworded, second_step.ReauthenticateForm):  # type: ignore[misc]
    """A code of the app, or one for recovery, once more."""

    WORDS = {"code": CODE}


class ActivateAppForm(Reworded, totp.ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app."""

    WORDS = {"code": ("Code that the app shows", "")}


class AddPasskeyForm(Reworded, webauthn.AddWebAuthnForm):  # type: ignore[misc]
    """The name of a passkey, and whether it does without a password: the usual way."""

    WORDS = {
        "name": ("Name", "To tell it from others, such as: my phone."),
        "passwordless": ("It lets me in without the password", "Otherwise it is asked for after the password."),
    }  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].initial = True


class EditPasskeyForm(Reworded, webauthn.EditWebAuthnForm):  # type: ignore[misc]
    """The name of a passkey."""

    WORDS = {"name": ("Name", "")}


class SocialSignupForm(Reworded, social.SignupForm):  # type: ignore[misc]
    """The address of a person whom another service did not name one of."""

    WORDS = {"email": ("E-mail address", "")}
