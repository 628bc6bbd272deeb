"""The pages of events."""

from django.urls import path

from events import pages

urlpatterns = [
    path("events", pages.event_list, name="event-list"),
    path("events.csv", pages.event_csv, name="event-csv"),
]
