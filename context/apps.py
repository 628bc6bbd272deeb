"""The Django application `context`."""

from django.apps import AppConfig


class ContextConfig(AppConfig):
    """Registration of `context`."""

    name = "context"
