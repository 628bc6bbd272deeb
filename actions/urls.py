"""The pages of approvals."""

from django.urls import path

from actions import pages

urlpatterns = [
    path("actions", pages.action_list, name="action-list"),
    path("a/<str:action_id>", pages.action_detail, name="action-page"),
    path("a/<str:action_id>/decide", pages.action_decide, name="action-decide"),
]
