"""Forms of spaces, team and settings."""

from typing import Any
from zoneinfo import available_timezones

from django import forms

from accounts.models import LANGUAGES, Role
from accounts.schemas import SpaceUpdate
from aiworker.embedding.registry import models_offered
from api.errors import Invalid
from api.schemas import parse


class SpaceForm(forms.Form):
    """The name of a new space."""

    name = forms.CharField(label="Name", max_length=100, help_text="Such as the name of your team or project.")


class InvitationForm(forms.Form):
    """Whom to invite, as what."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    role = forms.ChoiceField(label="As", initial="member")

    def __init__(self, *args: Any, roles: set[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {value: str(label) for value, label in Role.choices}
        choices = [(value, labels[value]) for value in Role.values if value in roles]
        self.fields["role"].choices = choices  # type: ignore[attr-defined]


def zone_choices(*kept: str) -> list[tuple[str, str]]:
    """Return the time zones that places have, and UTC; of the others (GB, EST5EDT, Etc/GMT+9) only those `kept`."""
    places = {zone for zone in available_timezones() if "/" in zone and not zone.startswith("Etc/")}
    return [(zone, zone.replace("_", " ")) for zone in sorted(places | {"UTC", *kept})]


class SettingsForm(forms.Form):
    """The settings of a space."""

    name = forms.CharField(label="Name", max_length=100)
    timezone = forms.ChoiceField(label="Time zone", help_text="Days of the journal begin and end by it.")
    language = forms.ChoiceField(
        label="Language", choices=LANGUAGES, help_text="The search knows its word forms besides those of others."
    )
    embedding_model = forms.ChoiceField(
        label="Embedding model",
        help_text="What finds by meaning: bge-small-en-v1.5 knows English, multilingual-e5-small some hundred "
        "languages. After a change the old one answers until the new one has read everything.",
    )
    agent_core_writes = forms.ChoiceField(
        label="Tools may write core memories", choices=[("allow", "Yes"), ("deny", "No, only people")],
        help_text="Core memories are shown to every tool at the start of every task.",
    )  # fmt: skip
    context_namespaces = forms.CharField(
        label="Key-value namespaces in the context", required=False, max_length=2000,
        help_text="Tools see these values at the start of a task. Names separated by commas.",
    )  # fmt: skip
    dreams_enabled = forms.BooleanField(
        label="Dreams", required=False,
        help_text="A connected tool may tidy the memory up once a day, under strict rules; each time can be undone.",
    )  # fmt: skip
    events_kept_days = forms.IntegerField(
        label="Days that the event log is kept", min_value=1, max_value=3650
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["timezone"].choices = zone_choices(self.initial["timezone"])  # type: ignore[attr-defined]
        models = dict.fromkeys([self.initial["embedding_model"], *models_offered()])
        self.fields["embedding_model"].choices = [(name, name) for name in models]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Check the answers with the rules of PATCH /v1/space."""
        data = super().clean() or {}
        if not self.errors:
            try:
                self.update = parse(SpaceUpdate, self.raw(data))
            except Invalid as error:
                for path, sentences in error.details["fields"].items():
                    self.add_error(path.partition(".")[0], sentences)
        return data

    def raw(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the answers in the shape of the body of PATCH /v1/space; a model that stays need not be offered."""
        names = [part.strip() for part in data["context_namespaces"].split(",")]
        raw = data | {"context_namespaces": [name for name in names if name]}
        if "embedding_model" not in self.changed_data:
            del raw["embedding_model"]
        return raw

    def changes(self) -> dict[str, Any]:
        """Return the settings of a valid form by name."""
        return self.update.model_dump(exclude_unset=True)


class NameForm(forms.Form):
    """What a person is called."""

    name = forms.CharField(
        label="Name", max_length=150, required=False, help_text="People who share a space with you see it."
    )
