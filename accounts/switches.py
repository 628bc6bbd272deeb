"""Switches of features that the operator sets for all, looked up at most every few seconds."""

import time

from accounts.models import Switch
from api.errors import Forbidden

KEPT_SECONDS = 15.0
_kept: dict[str, tuple[float, bool]] = {}


def switched_on(name: str) -> bool:
    """Return whether the operator lets a feature be used; each process remembers the answer for some seconds."""
    now = time.monotonic()
    until, on = _kept.get(name, (0.0, True))
    if now >= until:
        on = not Switch.objects.filter(name=name, on=False).exists()
        _kept[name] = (now + KEPT_SECONDS, on)
    return on


def switch_require(name: Switch.Name) -> None:
    """Raise Forbidden while the operator has switched a feature off."""
    if not switched_on(name):
        raise Forbidden(f"The operator has switched this off for now: {name.label.lower()}.", {"switch": name})


def switches_forget() -> None:
    """Look the switches up anew: the operator has changed one."""
    _kept.clear()
