"""The pages of conversations."""

from django.urls import path

from conversations import pages

urlpatterns = [
    path("conversations", pages.conversation_list, name="conversation-list"),
    path("conversations/<str:conversation_id>", pages.conversation_detail, name="conversation-detail"),
    path("conversations/<str:conversation_id>/delete", pages.conversation_remove, name="conversation-remove"),
]
