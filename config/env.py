"""Typed readers of the environment: what cannot be read stops the start with one sentence; what is empty is unset."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def env_str(name: str, default: str = "") -> str:
    """Return the contents of the file that NAME_FILE names, or the variable, or, when that is empty, the default."""
    file = os.environ.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: {error.strerror}: {file}") from None
    return os.environ.get(name, "").strip() or default


def env_int(name: str, default: int, *, minimum: int = 0) -> int:
    """Return the variable as a whole number of at least `minimum`."""
    value = env_str(name, str(default))
    if not value.isascii() or not value.isdigit() or int(value) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {minimum}.")
    return int(value)


def env_bool(name: str, default: bool) -> bool:
    """Return the variable as a switch: on, true, yes, 1 or off, false, no, 0."""
    value = env_str(name, "on" if default else "off").lower()
    if value in {"on", "true", "yes", "1"}:
        return True
    if value in {"off", "false", "no", "0"}:
        return False
    raise ImproperlyConfigured(f"{name} must be on or off.")


def env_list(name: str, default: str = "") -> list[str]:
    """Return the variable as the list of its comma-separated parts, blanks left out."""
    return [part.strip() for part in env_str(name, default).split(",") if part.strip()]


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """Return the variable when it is one of `choices`."""
    value = env_str(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of: {', '.join(choices)}.")
    return value
