"""The Django application `aiworker`."""

from django.apps import AppConfig


class AiworkerConfig(AppConfig):
    """Registration of `aiworker`."""

    name = "aiworker"
