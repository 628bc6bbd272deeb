"""The Django application `grants`."""

from django.apps import AppConfig


class GrantsConfig(AppConfig):
    """Registration of `grants`."""

    name = "grants"
