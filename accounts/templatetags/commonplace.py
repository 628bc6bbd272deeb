"""Template filters and tags: times in words, invisible characters made visible, addresses with a changed query."""

import json
import unicodedata
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from accounts.permissions import SCOPES
from api.text import INVISIBLE, JOINER
from config.mail import mail_is_printed

register = template.Library()
HIDDEN_CATEGORIES = {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"}
ODD_SPACES = {"\u00a0", "\u2007", "\u202f", "\u3000", "\u2800", "\u3164", "\u115f", "\u1160", "\uffa0"}
PLAIN = {"\n", "\t"}


def time_words(value: datetime, now: datetime) -> str:
    """Return how long ago a time was, or its date, in the current time zone: short words for a list."""
    local, today = timezone.localtime(value), timezone.localtime(now)
    clock = f"{local.hour}:{local.minute:02d}"
    ago = now - value
    if timedelta(0) <= ago < timedelta(minutes=1):
        return "just now"
    if timedelta(0) <= ago < timedelta(hours=1):
        return f"{int(ago.total_seconds() // 60)} min ago"
    if local.date() == today.date():
        return f"today, {clock}"
    if local.date() == today.date() - timedelta(days=1):
        return f"yesterday, {clock}"
    if local.date() == today.date() + timedelta(days=1):
        return f"tomorrow, {clock}"
    day = f"{local.day} {local:%b}"
    return day if local.year == today.year else f"{day} {local.year}"


@register.simple_tag
def when(value: datetime | None, missing: str = "never") -> str:
    """Return a <time> element in words, with the exact time behind it."""
    if value is None:
        return missing
    local = timezone.localtime(value)
    exact = f"{local.day} {local:%B %Y, %H:%M:%S %Z}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', value.isoformat(), exact, time_words(value, timezone.now())
    )


@register.filter
def moment(text: str) -> str:
    """Return a time that was sent as ISO 8601 in words, in the current time zone; what is none stays as it is."""
    value = parse_datetime(text)
    if value is None or timezone.is_naive(value):
        return text
    local = timezone.localtime(value)
    return f"{local.day} {local:%B %Y, %H:%M %Z}"


@register.filter
def browser(user_agent: str) -> str:
    """Return a browser and its system in words, such as Firefox on Windows; what is not known stays as it was sent."""
    # Each names those that it descends from, so the youngest comes first.
    names = {"Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome",
             "Chrome/": "Chrome", "Safari/": "Safari"}  # fmt: skip
    systems = {"iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "CrOS": "ChromeOS",
               "Macintosh": "a Mac", "Linux": "Linux"}  # fmt: skip
    name = next((words for mark, words in names.items() if mark in user_agent), "")
    system = next((words for mark, words in systems.items() if mark in user_agent), "")
    return f"{name} on {system}" if name and system else user_agent


def hidden(character: str) -> bool:
    """Return whether a reader would not see this character, or could take it for another."""
    if character in PLAIN:
        return False
    return (
        character in ODD_SPACES
        or unicodedata.category(character) in HIDDEN_CATEGORIES
        or bool(INVISIBLE.match(character) or JOINER.match(character))
    )


@register.filter
def visible(text: Any) -> SafeString:
    """Return the text escaped, with every character that no reader sees written out as its code point."""
    parts: list[str] = []
    for character in str(text):
        if hidden(character):
            name = unicodedata.name(character, "control character").lower()
            parts.append(f'<span class="invisible" title="{escape(name)}">U+{ord(character):04X}</span>')
        else:
            parts.append(escape(character))
    return mark_safe("".join(parts))  # noqa: S308  # every part is escaped above


@register.filter
def pretty(value: Any) -> str:
    """Return a JSON value over several lines, its characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False)


@register.filter
def scope_words(scope: str) -> str:
    """Return what a scope allows, in words."""
    return SCOPES.get(scope, scope)


@register.filter
def get(mapping: dict[str, Any], key: str) -> Any:
    """Return a value of a dictionary by a key that is a variable."""
    return mapping.get(key)


register.simple_tag(mail_is_printed)


@register.filter
def a_an(word: str) -> str:
    """Return the word with its article."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
