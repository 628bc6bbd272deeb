"""The Django application `memories`."""

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Registration of `memories`."""

    name = "memories"
