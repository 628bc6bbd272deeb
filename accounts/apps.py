"""The Django application `accounts`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Registration of `accounts`."""

    name = "accounts"
