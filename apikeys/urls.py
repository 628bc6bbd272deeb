"""The pages of connections."""

from django.urls import path

from apikeys import pages

urlpatterns = [
    path("connections", pages.connection_list, name="connection-list"),
    path("connections/new", pages.connection_new, name="connection-new"),
    path("connections/<int:key_id>", pages.connection_detail, name="connection-detail"),
    path("connections/<int:key_id>/check", pages.connection_check, name="connection-check"),
    path("connections/<int:key_id>/revoke", pages.connection_revoke, name="connection-revoke"),
    path("connections/assistants/<int:grant_id>/end", pages.grant_end, name="grant-end"),
]
