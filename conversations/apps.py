"""The Django application `conversations`."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    """Registration of `conversations`."""

    name = "conversations"
