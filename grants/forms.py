"""The consent form: which space, how much, and under which name."""

from typing import Any

from django import forms

from accounts.models import Space, User
from accounts.places import places_of
from api.text import text_blank, text_clean, text_problem
from grants.scopes import GRANT_SCOPES

MAX_TOOL = 100


class SpaceField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django takes none at run time
    """A choice among the spaces of a person."""

    def __init__(self, user: User) -> None:
        spaces = Space.objects.filter(memberships__user=user).order_by("name", "pk")
        super().__init__(queryset=spaces, empty_label=None, label="Space")
        self.names = {place.space_id: place.label for place in places_of(user)}

    def label_from_instance(self, space: Space) -> str:
        """Return what the space is called among this person's."""
        return self.names[space.pk]


class ConsentForm(forms.Form):
    """What a person decides about an assistant that asks to connect."""

    space: "SpaceField"
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="It may",
        error_messages={"required": "Choose at least one, or refuse the connection."},
    )
    tool = forms.CharField(max_length=MAX_TOOL, label="It writes as")

    def __init__(self, *args: Any, user: User, scopes: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["space"] = SpaceField(user)
        choices = self.fields["scopes"]
        assert isinstance(choices, forms.MultipleChoiceField)
        choices.choices = [(name, GRANT_SCOPES[name]) for name in scopes]

    def clean_tool(self) -> str:
        """Return the tool's name without characters that no reader sees."""
        name: str = self.cleaned_data["tool"]
        if text_problem(name) or text_blank(name):
            raise forms.ValidationError("Give a name with at least one visible character.")
        return text_clean(name).strip()
