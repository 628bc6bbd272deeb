"""The Django application `dreams`."""

from django.apps import AppConfig


class DreamsConfig(AppConfig):
    """Registration of `dreams`."""

    name = "dreams"
