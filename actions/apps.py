"""The Django application `actions`."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    """Registration of `actions`."""

    name = "actions"
