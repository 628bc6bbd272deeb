"""The form that makes a key, in words instead of scopes."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

from accounts.permissions import FULL_SCOPES, READ_SCOPES, ROLE_SCOPES, SCOPES
from api.text import text_problem

PRESETS = {
    "full": "Read and write: everything but approving actions",
    "read": "Only read",
    "write": "Only write: it stores memories and finds none",
    "approve": "Only approve: it decides on actions that other keys propose",
    "custom": "Choose below",
}
PRESET_SCOPES = {
    "full": FULL_SCOPES, "read": READ_SCOPES, "write": frozenset({"memories:write"}),
    "approve": frozenset({"actions:decide"}),
}  # fmt: skip
TYPES = [("semantic", "Facts"), ("episodic", "Events"), ("procedural", "How-to")]
EXPIRY = [("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year")]


def comma_list(text: str) -> list[str] | None:
    """Return the parts of a comma-separated list, None for an empty one: no limit."""
    return [part.strip() for part in text.split(",") if part.strip()] or None


class KeyForm(forms.Form):
    """What a new key is for and what it may do."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="For you, to tell it from the others, such as Claude on my laptop."
    )
    tool = forms.CharField(
        label="It writes as", max_length=100, required=False,
        help_text="The tool’s name, such as claude or cursor. The key then writes under this name and no other.",
    )  # fmt: skip
    preset = forms.ChoiceField(label="It may", choices=list(PRESETS.items()), initial="full", widget=forms.RadioSelect)
    scopes = forms.MultipleChoiceField(
        label="In detail", choices=list(SCOPES.items()), required=False, widget=forms.CheckboxSelectMultiple
    )
    read_tools = forms.CharField(
        label="Reads what these tools wrote", max_length=500, required=False,
        help_text="Names separated by commas. Left empty: all of them.",
    )  # fmt: skip
    namespaces = forms.CharField(
        label="Stays within these namespaces", max_length=500, required=False,
        help_text="Such as project:a, separated by commas. Left empty: everywhere.",
    )  # fmt: skip
    types = forms.MultipleChoiceField(
        label="Stays within these kinds", choices=TYPES, required=False, widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all of them.",
    )  # fmt: skip
    quarantine = forms.BooleanField(
        label="What it writes waits until you let it in", required=False,
        help_text="For a tool that you do not trust yet. It may not do what cannot wait: delete, tidy up, write to the "
        "journal, records, values and conversations.",
    )  # fmt: skip
    expires = forms.ChoiceField(label="It stops working", choices=EXPIRY, required=False)

    def __init__(self, *args: Any, role: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.allowed = ROLE_SCOPES[role]
        offered = [(scope, words) for scope, words in SCOPES.items() if scope in self.allowed]
        self.fields["scopes"].choices = offered  # type: ignore[attr-defined]
        if "actions:decide" not in self.allowed:
            presets = [(name, words) for name, words in PRESETS.items() if name != "approve"]
            self.fields["preset"].choices = presets  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Turn the answers into the arguments of apikey_create."""
        data = super().clean() or {}
        for name in ("name", "tool", "read_tools", "namespaces"):
            if text_problem(str(data.get(name, ""))):
                self.add_error(name, "It contains a character that cannot be stored.")
        chosen = PRESET_SCOPES.get(data.get("preset", ""), frozenset(data.get("scopes", [])))
        scopes = chosen & self.allowed
        if not scopes and not self.errors:
            self.add_error("scopes", "Tick at least one thing that the key may do.")
        if {"actions:propose", "actions:decide"} <= scopes:
            self.add_error("scopes", "One key cannot both propose and approve actions: nobody approves their own.")
        data["scopes"] = sorted(scopes)
        return data

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of apikey_create that a valid form stands for."""
        data = self.cleaned_data
        days = int(data["expires"] or 0)
        return {
            "name": data["name"], "scopes": data["scopes"], "tool": data["tool"].strip() or None,
            "read_tools": comma_list(data["read_tools"]), "namespaces": comma_list(data["namespaces"]),
            "types": data["types"] or None, "quarantine": data["quarantine"],
            "expires_at": timezone.now() + timedelta(days=days) if days else None,
        }  # fmt: skip
