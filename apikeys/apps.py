"""The Django application `apikeys`."""

from django.apps import AppConfig


class ApikeysConfig(AppConfig):
    """Registration of `apikeys`."""

    name = "apikeys"
