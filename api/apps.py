"""The Django application `api`."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Registration of `api`."""

    name = "api"
