"""The Django application `notebook`."""

from django.apps import AppConfig


class NotebookConfig(AppConfig):
    """Registration of `notebook`."""

    name = "notebook"
