"""Forms of sign-up, sign-in, team and settings."""

from typing import Any

from allauth.account.forms import LoginForm as BaseLoginForm
from allauth.account.forms import SignupForm as BaseSignupForm
from django import forms


class PlainFields:
    """Labels and hints in our own words; no placeholders, which vanish when they are needed."""

    WORDS = {
        "email": ("E-mail address", ""), "login": ("E-mail address", ""), "password": ("Password", ""),
        "password1": ("Password", "At least 10 characters. A few unrelated words do well."),
    }  # fmt: skip

    def reword(self, fields: dict[str, Any]) -> None:
        """Set label and help text of the fields that have words."""
        for name, field in fields.items():
            field.widget.attrs.pop("placeholder", None)
            if name in self.WORDS:
                field.label, field.help_text = self.WORDS[name]


class SignupForm(PlainFields, BaseSignupForm):  # type: ignore[misc]
    """E-mail address and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reword(self.fields)


class LoginForm(PlainFields, BaseLoginForm):  # type: ignore[misc]
    """E-mail address and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reword(self.fields)


class SpaceForm(forms.Form):
    """The name of a new space."""

    name = forms.CharField(label="Name", max_length=100, help_text="Such as the name of your team or project.")
