"""The Django application `events`."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Registration of `events`."""

    name = "events"
